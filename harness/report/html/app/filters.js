// What the list shows: pure functions of rows and choices, and the controls that make the choices.
(function (app) {
  "use strict";
  const { html, hooks } = app;
  const NO_VALUE = "(none)";

  // "setup changed (limits.steps); …" goes with all that begins alike.
  const causeWord = (row) => app.plain(row.causeText || row.cause).split(/ \(|;/)[0];

  // Each facet: its name in the address, its title, and the values that a row has in it.
  const FACETS = [
    { name: "outcome", title: "Outcome", of: (row) => [row.outcomeCandidate || row.outcomeBase || NO_VALUE] },
    { name: "cause", title: "Cause", of: (row) => (row.causeText || row.cause ? [causeWord(row)] : []) },
    { name: "fate", title: "Verdict", of: (row) => (row.fate ? [row.fate] : []) },
    { name: "rule", title: "Rule", of: (row) => (Array.isArray(row.rules) ? row.rules : []) },
    { name: "check", title: "Failing check", of: (row) => (Array.isArray(row.failing) ? row.failing : []) },
    { name: "family", title: "Family", of: (row) => (row.family ? [row.family] : []) },
    { name: "model", title: "Model", of: (row) => [row.model || NO_VALUE] },
    { name: "quarantine", title: "Quarantine", of: (row) => (row.quarantined ? ["quarantined"] : []) },
  ];
  const CHANGE = { name: "change", title: "Change", of: (row) => [row.change] };
  const ALL = [CHANGE, ...FACETS];

  const difference = (base, candidate) => (row) => app.number(app.difference(row[base], row[candidate]));
  const SORTS = app.table({
    "": { title: "worst first", of: null },
    name: { title: "name", of: (row) => app.plain(row.name || row.id) },
    step: { title: "step", of: (row) => row.step },
    steps: { title: "more steps", of: difference("stepsBase", "stepsCandidate"), down: true },
    tokens: { title: "more tokens", of: difference("tokensBase", "tokensCandidate"), down: true },
    cost: { title: "more cost", of: difference("costBase", "costCandidate"), down: true },
    latency: { title: "more time", of: difference("latencyBase", "latencyCandidate"), down: true },
  });

  // An address may be cut or made by hand: what cannot be read stands for itself.
  function decoded(text) {
    try {
      return decodeURIComponent(text);
    } catch {
      return text;
    }
  }

  const chosen = (params, name) => new Set((params[name] || "").split(",").filter(Boolean).map(decoded));
  const written = (values) => [...values].map(encodeURIComponent).join(",");

  function matchers(params) {
    const words = (params.q || "").toLowerCase().split(/\s+/).filter(Boolean);
    const tests = ALL.map((facet) => ({ facet, values: chosen(params, facet.name) })).filter(({ values }) => values.size > 0);
    return { words, tests };
  }

  /** The values of a row in a facet, made once: each key that is pressed asks them of every row. */
  function valuesOf(facet, row) {
    const made = row.facets[facet.name];
    return made || (row.facets[facet.name] = facet.of(row).map(app.plain));
  }

  const holds = ({ facet, values }, row) => valuesOf(facet, row).some((value) => values.has(value));

  /** Rows that fit all choices, in the chosen order; and, for each facet, how many rows each value would leave. */
  function filterRows(rows, params) {
    const { words, tests } = matchers(params);
    const counts = Object.fromEntries(ALL.map((facet) => [facet.name, new Map()]));
    const kept = [];
    for (const row of rows) {
      if (!words.every((word) => row.text.includes(word))) continue;
      const failed = tests.filter((test) => !holds(test, row));
      if (failed.length === 0) kept.push(row);
      // A facet counts as if nothing were chosen in it: its other values stay reachable.
      for (const facet of ALL) {
        if (failed.length > 1 || (failed.length === 1 && failed[0].facet !== facet)) continue;
        for (const value of valuesOf(facet, row)) counts[facet.name].set(value, (counts[facet.name].get(value) || 0) + 1);
      }
    }
    return { rows: sortRows(kept, params.sort || ""), counts };
  }

  function sortRows(rows, sort) {
    const { of, down } = SORTS[sort] || SORTS[""];
    if (!of) return rows;
    const keyed = rows.map((row) => [of(row), row]);
    const sign = down ? -1 : 1;
    keyed.sort(([one, a], [other, b]) => {
      if (one === other) return a.index - b.index;
      if (one === null || one === undefined) return 1; // unknown last, whichever way
      if (other === null || other === undefined) return -1;
      return (one < other ? -1 : 1) * sign;
    });
    return keyed.map(([, row]) => row);
  }

  function toggle(params, name, value) {
    const values = chosen(params, name);
    if (!values.delete(value)) values.add(value);
    app.stay({ [name]: written(values) });
  }

  function clearFilters() {
    app.stay(Object.fromEntries([["q", ""], ["sort", ""], ...ALL.map((facet) => [facet.name, ""])]));
  }

  const anyFilter = (params) => Boolean(params.q) || ALL.some((facet) => params[facet.name]);

  function Chip({ params, name, value, n, toned = false }) {
    const on = chosen(params, name).has(value);
    return html`<button type="button" class=${`chip ${toned ? app.tone(value) : ""} ${on ? "on" : ""}`} aria-pressed=${on ? "true" : "false"}
      onClick=${() => toggle(params, name, value)}>
      <span class="chip-name" title=${app.label(value)}>${app.label(value, 60)}</span> <span class="chip-count">${app.count(n)}</span>
    </button>`;
  }

  /** Values by number of rows; chosen ones stay though nothing is left of them. */
  function Facet({ facet, params, counts }) {
    const SHOWN = 7;
    const [open, set] = hooks.useState(false);
    const found = new Map(counts);
    chosen(params, facet.name).forEach((value) => found.has(value) || found.set(value, 0));
    if (found.size === 0 || (found.size === 1 && facet.name === "model")) return null;
    const values = [...found].sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1));
    const shown = open ? values : values.slice(0, SHOWN);
    return html`<fieldset class="facet"><legend>${facet.title}</legend>
      ${shown.map(([value, n]) => html`<${Chip} key=${value} params=${params} name=${facet.name} value=${value} n=${n} />`)}
      ${values.length > SHOWN && html`<button type="button" class="quiet" onClick=${() => set(!open)}>${open ? "fewer" : `${values.length - SHOWN} more`}</button>`}
    </fieldset>`;
  }

  function Facets({ params, counts }) {
    return html`<div class="facets">
      ${FACETS.map((facet) => html`<${Facet} key=${facet.name} facet=${facet} params=${params} counts=${counts[facet.name]} />`)}
    </div>`;
  }

  function ChangeChips({ params, counts }) {
    const kinds = app.CHANGES.filter((kind) => counts.change.has(kind) || chosen(params, "change").has(kind));
    return html`<div class="change-chips" role="group" aria-label="kind of change">
      ${kinds.map((kind) => html`<${Chip} key=${kind} params=${params} name="change" value=${kind} n=${counts.change.get(kind) || 0} toned />`)}
    </div>`;
  }

  function SortSelect({ params }) {
    return html`<label class="sort"><span class="muted">Order</span>
      <select value=${params.sort || ""} onChange=${(event) => app.stay({ sort: event.target.value })}>
        ${Object.entries(SORTS).map(([value, { title }]) => html`<option value=${value}>${title}</option>`)}
      </select></label>`;
  }

  Object.assign(app, { filterRows, clearFilters, anyFilter, Facets, ChangeChips, SortSelect });
})(window.harnessApp);
