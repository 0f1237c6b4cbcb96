// The page of plots: sections, figures and their tables. What is drawn in them stands in plots-*.js.
// Drawings are SVG of Observable Plot: names are text nodes there too, and colours follow the page's variables.
(function (app) {
  "use strict";

  const sections = [];
  const ORDER = ["evaluation", "changes", "latency", "cost", "tokens", "steps", "context", "rates", "curves", "confusion", "mismatches", "cases", "sweeps"];
  const NARROWEST = 260;

  /** An element with attributes and children; strings become text nodes and nothing else. */
  function el(tag, attributes, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (name === "on") for (const [kind, listener] of Object.entries(value)) made.addEventListener(kind, listener);
      else if (value !== null && value !== undefined && value !== false) made.setAttribute(name, value === true ? "" : String(value));
    }
    made.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== ""));
    return made;
  }

  /** A link to the run of a row; plain text where there is no row. */
  function rowLink(row, text) {
    const shown = app.label(text, 120);
    if (!Number.isInteger(row)) return document.createTextNode(shown);
    return el("a", { href: app.runHref(row) }, shown);
  }

  // ---------------------------------------------------------------- figures

  /** Draws when it comes near the screen, again when its width changes. `make(width)` gives an SVG element or null. */
  class Drawing {
    constructor(holder, make) {
      Object.assign(this, { holder, make, width: 0, near: false });
      this.size = new ResizeObserver(() => this.draw());
      this.sight = new IntersectionObserver((entries) => this.seen(entries), { rootMargin: "600px" });
      this.size.observe(holder);
      this.sight.observe(holder);
    }

    seen(entries) {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      this.near = true;
      this.sight.disconnect();
      this.draw();
    }

    draw() {
      const width = Math.floor(this.holder.clientWidth);
      if (!this.near || width < 1 || width === this.width) return;
      this.width = width;
      const drawn = this.make(Math.max(NARROWEST, width));
      this.holder.replaceChildren(...(drawn ? [drawn] : []));
    }

    again() {
      this.width = 0;
      this.draw();
    }

    end() {
      this.size.disconnect();
      this.sight.disconnect();
    }
  }

  const SHORT = 40;

  /** A number stands on one line, a short text breaks between words only, a long one wherever it must. */
  function kindOfCell(value) {
    if (!(value instanceof Node)) return value === null ? null : "n";
    return value.textContent.length > SHORT ? "long" : null;
  }

  /** A table of the numbers of a figure: `head` names, `rows` of strings, numbers or nodes. */
  function tableOf({ head, rows }, caption) {
    const cells = (row) => row.map((value) => el("td", { class: kindOfCell(value) }, value === null ? app.NONE : value instanceof Node ? value : String(value)));
    return el(
      "div", { class: "plot-table", tabindex: "0", role: "region", "aria-label": `${caption}, as a table` },
      el("table", {}, el("thead", {}, el("tr", {}, head.map((name) => el("th", { scope: "col" }, name)))),
        el("tbody", {}, rows.map((row) => el("tr", {}, cells(row))))),
    );
  }

  /** A figure with its title, a sentence on what it shows, its legend, and a button that shows its numbers as a table. */
  function figure(state, { title, note, legend, draw, table, wide }) {
    const holder = el("div", { class: "plot-drawing" });
    const drawing = draw ? new Drawing(holder, draw) : null;
    if (drawing) state.drawings.push(drawing);
    const body = el("div", { class: "plot-body" }, draw ? holder : null);
    const button = table && el("button", { type: "button", class: "plot-switch", "aria-pressed": "false" }, "as table");
    let shown = null;
    function toggle() {
      const asTable = shown === null;
      shown = asTable ? tableOf(table(), title) : null;
      body.replaceChildren(...[shown || (draw ? holder : null)].filter(Boolean));
      button.setAttribute("aria-pressed", String(asTable));
      button.textContent = asTable ? "as drawing" : "as table";
      if (!asTable && drawing) drawing.again();
    }
    if (button) button.addEventListener("click", toggle);
    return el(
      "figure", { class: wide ? "plot-figure plot-wide" : "plot-figure" },
      el("figcaption", {}, el("span", { class: "plot-title" }, title), button || null),
      note ? el("p", { class: "plot-note" }, note) : null,
      legend || null,
      body,
    );
  }

  /** What opens and shuts, and is open on paper. `make()` gives what is inside, once, when it is first seen. */
  function fold(state, { open = false, kind = "" }, summary, make) {
    const made = el("details", { class: `plot-sweep ${kind}`.trim(), open }, el("summary", {}, summary));
    let filled = false;
    function fill() {
      if (filled) return;
      filled = true;
      made.append(...[make()].flat().filter(Boolean));
    }
    if (open) fill();
    made.addEventListener("toggle", () => made.open && fill());
    state.folds.push({ made, fill });
    return made;
  }

  /** Opens all that is shut and draws all that is not drawn; returns what shuts again what was opened for it. */
  function unfolded(state) {
    state.papers.forEach((paper) => paper(true));
    const shut = state.folds.filter(({ made }) => made.isConnected && !made.open);
    shut.forEach(({ made, fill }) => {
      fill();
      made.open = true;
    });
    state.drawings.forEach((one) => one.seen([{ isIntersecting: true }]));
    return () => {
      shut.forEach(({ made }) => {
        made.open = false;
      });
      state.papers.forEach((paper) => paper(false));
    };
  }

  /** Names of colours with a mark each; `entries` are [class of the mark, text]. */
  function legend(...entries) {
    return el("ul", { class: "plot-legend" }, entries.map(([mark, text]) =>
      el("li", {}, el("span", { class: `plot-mark ${mark}`, "aria-hidden": "true" }), text)));
  }

  /** A drawing of the library. A click near a point opens the run of its row. */
  function plot(options, label) {
    const drawn = window.Plot.plot({ className: "harness-plot", style: { fontSize: "11px", overflow: "visible" }, ...options });
    drawn.setAttribute("role", "img");
    drawn.setAttribute("aria-label", label);
    drawn.addEventListener("click", () => {
      const row = drawn.value && drawn.value.row;
      if (Number.isInteger(row)) app.go({ page: "run", row });
    });
    return drawn;
  }

  // ---------------------------------------------------------------- the page

  /** A section registers itself: `data(state)` gives what it draws from, null for nothing; `draw(state, data)` its nodes. */
  function section(id, title, data, draw) {
    sections.push({ id, title, data, draw });
  }

  function stateOf({ overview, plots }) {
    const rows = (overview && overview.rows) || [];
    const manyArms = new Set(rows.map((row) => app.plain(row.arm))).size > 1;
    const name = (row) => (rows[row] ? `${app.plain(rows[row].name || rows[row].id)}${manyArms ? `@${app.plain(rows[row].arm)}` : ""}` : "");
    return { overview: overview || {}, plots: plots || {}, rows, name, drawings: [], folds: [], papers: [] };
  }

  function filled(state) {
    const found = sections.map((one) => ({ ...one, found: one.data(state) })).filter((one) => one.found !== null);
    return found.sort((a, b) => ORDER.indexOf(a.id) - ORDER.indexOf(b.id));
  }

  function contents(found) {
    const jump = (id) => () => document.getElementById(`plots-${id}`).scrollIntoView({ block: "start" });
    return el("nav", { class: "plot-contents", "aria-label": "Plots" }, found.map((one) =>
      el("button", { type: "button", on: { click: jump(one.id) } }, one.title)));
  }

  /** What stands above the plots of a report without runs: its verdict, and how it is made again. */
  function head(state) {
    const { verdict, command } = state.overview.review || {};
    if (state.rows.length) return null;
    const said = verdict && !state.plots.evaluation;
    return el("header", { class: "plot-head" },
      said ? el("p", { class: "plot-lead" }, el("strong", { class: `plot-outcome plot-${verdict.outcome.toLowerCase()}` }, verdict.outcome), ` ${app.label(verdict.text, 600)}`) : null,
      command ? el("p", { class: "plot-note" }, "again: ", el("code", {}, app.label(command, 600))) : null);
  }

  function mount(element, given) {
    const state = stateOf(given);
    const found = given && given.plots ? filled(state) : [];
    const parts = found.map((one) =>
      el("section", { class: "plot-section", id: `plots-${one.id}`, "aria-label": one.title },
        el("h2", {}, one.title), one.draw(state, one.found)));
    const nothing = el("p", { class: "plot-none" }, "Nothing to plot: no run of this report has numbers.");
    element.replaceChildren(el("div", { class: "plots" }, head(state), found.length > 1 ? contents(found) : null, found.length ? parts : nothing));
    let shut = null;
    const ended = app.whenPrinting((is) => {
      if (is && shut === null) shut = unfolded(state);
      else if (!is && shut !== null) {
        shut();
        shut = null;
      }
    });
    return () => {
      ended();
      state.drawings.forEach((one) => one.end());
      element.replaceChildren();
    };
  }

  app.plots = { el, rowLink, figure, fold, legend, plot, section, tableOf, stateOf };
  window.harnessPlots = { mount };
})(window.harnessApp);
