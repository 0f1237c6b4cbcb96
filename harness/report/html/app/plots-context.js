// How many tokens each step showed the model: the whole context, as the provider counted it, else estimated.
(function (app) {
  "use strict";
  const P = app.plots;
  const MOST_CHOICES = 500;

  /** A side as {n, tokens, steps?, told, limit?}; null where no step is known. */
  const sideOf = (side) => (side && side.tokens && side.tokens.length ? side : null);

  function pointsOf(side, name) {
    if (!side) return [];
    return side.tokens.map((tokens, at) => ({ side: name, step: side.steps ? side.steps[at] : at + 1, tokens }));
  }

  const peak = (side) => (side ? side.tokens.reduce((a, b) => Math.max(a, b), 0) : null);

  const STROKE = { base: "var(--plot-base)", candidate: "var(--plot-candidate)" };

  function lines(entry, width) {
    const given = [...pointsOf(entry.base, "base"), ...pointsOf(entry.candidate, "candidate")];
    const limits = [...new Set([entry.base, entry.candidate].filter((side) => side && side.limit).map((side) => side.limit))];
    const last = Math.max(...given.map((point) => point.step));
    const high = Math.max(...given.map((point) => point.tokens), ...limits.filter((limit) => limit <= 3 * Math.max(1, peak(entry.base), peak(entry.candidate))));
    const few = last <= 12;
    const ticks = few ? Array.from({ length: last }, (_, at) => at + 1) : undefined;
    return P.plot({
      width, height: 260, marginLeft: 62, marginBottom: 40, marginRight: 24,
      x: { domain: [few ? 0.7 : 1, few ? last + 0.3 : last], ticks: ticks || Math.floor(width / 60), label: "step", labelArrow: "none", tickFormat: (at) => (Number.isInteger(at) ? app.count(at) : "") },
      y: { domain: [0, high * 1.06 || 1], grid: true, ticks: 5, label: "tokens shown to the model", labelArrow: "none", tickFormat: (value) => app.count(value) },
      marks: [
        Plot.ruleY(limits.filter((limit) => limit <= high), { stroke: "var(--plot-bad)", strokeDasharray: "5 3" }),
        Plot.text(limits.filter((limit) => limit <= high), { y: (limit) => limit, frameAnchor: "left", text: (limit) => `limit ${app.count(limit)}`, textAnchor: "start", dx: 4, dy: -7, fill: "var(--plot-bad)" }),
        Plot.line(given, { x: "step", y: "tokens", z: "side", stroke: (point) => STROKE[point.side], strokeWidth: 2, strokeOpacity: 0.85, strokeDasharray: null }),
        Plot.dot(given, { x: "step", y: "tokens", r: (point) => (last > 60 ? 0 : point.side === "base" ? 4.5 : 3), fill: (point) => (point.side === "base" ? "var(--plot-panel)" : STROKE.candidate), stroke: (point) => STROKE[point.side], strokeWidth: 1.5 }),
        Plot.tip(given, Plot.pointerX({ x: "step", y: "tokens", fill: "var(--plot-panel)", stroke: "var(--plot-muted)", title: (point) => `${point.side}, step ${app.count(point.step)}\n${app.count(point.tokens)} tokens` })),
      ],
    }, "Tokens shown to the model at each step");
  }

  function told(side, name) {
    if (!side) return `${name}: no request`;
    const count = side.told === side.n ? "as the provider counted" : side.told ? `${app.count(side.told)} as the provider counted, the others estimated` : "estimated, since no provider counted";
    return `${name}: ${app.plural(side.n, "step")}, at most ${app.count(peak(side))} tokens (${count})${side.n > side.tokens.length ? `; ${app.count(side.tokens.length)} of them drawn` : ""}`;
  }

  const noteOf = (entry) => [told(entry.base, "base"), told(entry.candidate, "candidate")].filter((text, at) => [entry.base, entry.candidate][at] || entry.base || entry.candidate).join("; ");

  function stepTable(entry) {
    const steps = new Map();
    for (const point of [...pointsOf(entry.base, "base"), ...pointsOf(entry.candidate, "candidate")]) {
      steps.set(point.step, { ...(steps.get(point.step) || {}), [point.side]: point.tokens });
    }
    const sorted = [...steps.entries()].sort(([a], [b]) => a - b);
    return { head: ["step", "base", "candidate"], rows: sorted.map(([step, at]) => [step, app.count(at.base), app.count(at.candidate)]) };
  }

  const LEGEND = () => P.legend(["plot-base-mark", "base"], ["plot-candidate-mark", "candidate"]);
  const whole = (entry) => ({ ...entry, base: sideOf(entry.base), candidate: sideOf(entry.candidate) });

  function oneRun(state, entry, title) {
    return P.figure(state, { title, note: noteOf(entry), legend: LEGEND(), draw: (width) => lines(entry, width), table: () => stepTable(entry), wide: true });
  }

  /** For the page of one run: its entry of `plots.context`. */
  function context(element, given) {
    const entry = whole(given || {});
    const state = P.stateOf({});
    const some = entry.base || entry.candidate;
    element.replaceChildren(el("div", { class: "plots" }, some ? oneRun(state, entry, "Context size at each step") : el("p", { class: "plot-none" }, "No request of this run is known.")));
    state.drawings.forEach((one) => one.seen([{ isIntersecting: true }])); // it was asked for, or goes to paper
    return () => { state.drawings.forEach((one) => one.end()); element.replaceChildren(); };
  }

  const { el } = P;

  // ---------------------------------------------------------------- all runs

  function grown(entry) {
    return entry.base && entry.candidate ? peak(entry.candidate) - peak(entry.base) : 0;
  }

  const peaksOf = (state, entries) => entries.filter((entry) => entry.base && entry.candidate).map((entry) => ({ row: entry.row, name: state.name(entry.row), base: peak(entry.base), candidate: peak(entry.candidate) }));
  const valuesOf = (both) => both.flatMap((one) => [one.base, one.candidate]);

  function peaks(both, width) {
    const write = (value) => app.count(Math.round(value));
    const measure = { write, whole: true };
    const values = valuesOf(both);
    const scale = P.scaleOf(values, measure, 5);
    const colour = (one) => (one.candidate > one.base ? "var(--plot-bad)" : one.candidate < one.base ? "var(--plot-good)" : "var(--plot-muted)");
    return P.plot({
      width, height: Math.min(width, 380), marginLeft: 62, marginBottom: 40, marginRight: 20,
      x: { ...P.scaleOf(values, measure, P.fitting(width - 90, values, measure, 5)), label: "base: largest context, tokens", grid: true }, y: { ...scale, label: "candidate", grid: true },
      marks: [
        Plot.line(scale.domain.map((value) => [value, value]), { stroke: "var(--plot-muted)", strokeDasharray: "4 3" }),
        Plot.dot(both, { x: "base", y: "candidate", r: both.length > 400 ? 2.2 : 3.5, fill: colour, fillOpacity: 0.8 }),
        Plot.tip(both, Plot.pointer({ x: "base", y: "candidate", fill: "var(--plot-panel)", stroke: "var(--plot-muted)", maxRadius: 30, title: (one) => `${app.label(one.name, 120)}\n${write(one.base)} → ${write(one.candidate)} tokens` })),
      ],
    }, "The largest context of each scenario, base across, candidate upward");
  }

  function peakTable(state, entries) {
    return {
      head: ["scenario", "base: steps", "largest, tokens", "candidate: steps", "largest, tokens"],
      rows: entries.map((entry) => [P.rowLink(entry.row, state.name(entry.row)), app.count(entry.base && entry.base.n), app.count(peak(entry.base)), app.count(entry.candidate && entry.candidate.n), app.count(peak(entry.candidate))]),
    };
  }

  /** One run at a time, the one whose context grew most first. */
  function chosen(state, entries) {
    const holder = el("div", {});
    const select = el("select", { "aria-label": "scenario" }, entries.slice(0, MOST_CHOICES).map((entry, at) =>
      el("option", { value: at }, `${app.label(state.name(entry.row) || `run ${entry.detail}`, 80)}${grown(entry) ? ` (${grown(entry) > 0 ? "+" : "−"}${app.count(Math.abs(grown(entry)))} tokens)` : ""}`)));
    const open = el("span", { class: "plot-open" });
    function show() {
      const entry = entries[Number(select.value)];
      holder.replaceChildren(oneRun(state, entry, "Context size at each step"));
      open.replaceChildren(P.rowLink(entry.row, "open this run"));
    }
    select.addEventListener("change", show);
    show();
    return el("div", { class: "plot-wide" }, el("p", { class: "plot-choice" }, el("label", {}, "Run: ", select), " ", open), holder);
  }

  function draw(state, entries) {
    const sorted = [...entries].sort((a, b) => grown(b) - grown(a) || a.row - b.row);
    const both = sorted.filter((entry) => entry.base && entry.candidate);
    const more = both.filter((entry) => grown(entry) > 0).length;
    const less = both.filter((entry) => grown(entry) < 0).length;
    const lead = both.length ? `The largest context grew in ${app.count(more)}, shrank in ${app.count(less)} of ${app.plural(both.length, "scenario")} told in full.` : `${app.plural(sorted.length, "scenario")} told in full.`;
    const found = [chosen(state, sorted)];
    if (both.length >= 6 && more + less > 0) {
      const points = peaksOf(state, sorted);
      found.push(P.figure(state, { title: "The largest context of each scenario", note: P.axisNote(valuesOf(points)), draw: (width) => peaks(points, width), table: () => peakTable(state, sorted) }));
    }
    return [el("p", { class: "plot-lead" }, lead), el("div", { class: "plot-grid" }, found)];
  }

  P.section("context", "Context size",
    (state) => {
      const rowOf = new Map(state.rows.map((row, at) => [row.detail, at]));
      const entries = (state.plots.context || []).map(whole).filter((entry) => entry.base || entry.candidate);
      return entries.length ? entries.map((entry) => ({ ...entry, row: rowOf.get(entry.detail) })) : null;
    }, draw);
  window.harnessPlots.context = context;
})(window.harnessApp);
