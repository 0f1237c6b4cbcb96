// What each key does. The overlay takes the focus and gives it back.
(function (app) {
  "use strict";
  const { html, hooks } = app;

  const KEYS = [
    ["Everywhere", [["?", "this help"], ["t", "light or dark"], ["o", "all scenarios"], ["g", "plots"], ["Esc", "back, or shut"]]],
    ["All scenarios", [["/", "filter by text"], ["j k ↓ ↑", "next, previous"], ["n p", "next, previous that changed"], ["f", "first that changed"], ["Enter", "open its runs"], ["x", "clear filters"]]],
    ["A scenario's runs", [["f", "first divergence"], ["n p", "next, previous difference"], ["j k ↓ ↑", "next, previous block"], ["Enter", "open equal steps; on a step: what the model saw"], ["e", "open or shut equal steps"], ["m", "what the model saw at this step"], ["[ ]", "previous, next scenario of the list"]]],
    ["What the model saw", [["j k → ←", "next, previous step"], ["d", "only differences"], ["m Esc", "back to the timeline"]]],
  ];

  function Help({ onClose }) {
    const box = hooks.useRef(null);
    app.useKeys({ Escape: onClose, "?": onClose, only: true }, 3);
    hooks.useLayoutEffect(() => {
      const before = document.activeElement;
      box.current.focus();
      return () => before && before.focus && before.focus();
    }, []);
    // The only thing to tab to is the button: the focus stays inside.
    const keep = (event) => {
      if (event.key !== "Tab") return;
      event.preventDefault();
      box.current.querySelector("button").focus();
    };
    return html`<div class="veil" onClick=${(event) => event.target === event.currentTarget && onClose()}>
      <div class="help" role="dialog" aria-modal="true" aria-label="keys" tabindex="-1" ref=${box} onKeyDown=${keep}>
        <div class="help-head"><h2>Keys</h2><button type="button" onClick=${onClose}>close</button></div>
        <div class="help-groups">${KEYS.map(([title, keys]) => html`<section key=${title}><h3>${title}</h3>
          <dl>${keys.map(([names, what]) => html`<dt>${names.split(" ").map((name) => html`<${app.Key}>${name}<//> `)}</dt><dd>${what}</dd>`)}</dl></section>`)}</div>
      </div>
    </div>`;
  }

  app.Help = Help;
})(window.harnessApp);
