// Starts the page: the bar at the top, the route's view, the keys that hold everywhere.
(function (app) {
  "use strict";
  const { html, hooks, render } = app;
  const { useState, useEffect, useRef } = hooks;

  function Bar({ page, onHelp }) {
    const link = (name, href, title) => html`<a href=${href} class=${page === name ? "on" : ""} aria-current=${page === name ? "page" : null}>${title}</a>`;
    return html`<header class="bar">
      <span class="brand">harness <span class="muted">${app.hasBase ? "comparison" : "report"}</span></span>
      <nav aria-label="pages">
        ${app.rows.length > 0 && link("overview", app.writeRoute({ page: "overview", params: page === "overview" ? {} : app.lastFilters }), "Scenarios")}
        ${app.plotData && window.harnessPlots && link("plots", "#/plots", "Plots")}
      </nav>
      <span class="bar-end">
        <button type="button" onClick=${app.toggleTheme} title="light or dark ( t )" aria-label="switch between light and dark">◐</button>
        <button type="button" onClick=${onHelp} title="keys ( ? )" aria-label="keys">?</button>
      </span>
    </header>`;
  }

  function Plots() {
    const room = useRef(null);
    useEffect(() => window.harnessPlots.mount(room.current, { overview: app.overview, plots: app.plotData }), []);
    return html`<main class="plots-page"><div ref=${room}></div></main>`;
  }

  function View({ route }) {
    const plotted = app.plotData && window.harnessPlots;
    if (route.page === "run") return html`<${app.Run} index=${route.row} params=${route.params} />`;
    if (plotted && (route.page === "plots" || app.rows.length === 0)) return html`<${Plots} />`;
    return html`<${app.Overview} params=${route.params} />`;
  }

  function Page() {
    const route = app.useRoute();
    const [help, setHelp] = useState(false);
    const toRuns = () => app.go({ page: "overview", params: app.lastFilters || {} });
    app.useKeys({
      "?": () => setHelp(true), t: app.toggleTheme, o: toRuns, Escape: () => (route.page === "plots" ? toRuns() : false),
      g: () => (app.plotData && window.harnessPlots ? app.go({ page: "plots" }) : false),
    }, 0);
    return html`<${Bar} page=${route.page} onHelp=${() => setHelp(true)} />
      <${View} key=${route.page === "run" ? `run-${route.row}` : route.page} route=${route} />
      ${help && html`<${app.Help} onClose=${() => setHelp(false)} />`}`;
  }

  let generation = 0;

  /** Reads the data and draws the page anew, whatever was shown before. */
  function start() {
    app.readOverview();
    generation += 1;
    render(html`<${Page} key=${generation} />`, document.getElementById("app"));
  }

  app.start = start;
  start();
})(window.harnessApp);
