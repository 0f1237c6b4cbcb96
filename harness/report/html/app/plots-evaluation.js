// What an evaluation came to: its lines, arms, the comparison that decides, curves, and classes of mismatch.
(function (app) {
  "use strict";
  const P = app.plots;
  const { el } = P;
  const TIP = { fill: "var(--plot-panel)", stroke: "var(--plot-muted)" };

  // ---------------------------------------------------------------- lines and arms

  function told(state, found) {
    const lines = found.lines.map(([label, text]) => el("tr", {}, el("th", { scope: "row" }, label), el("td", {}, app.label(text, 1000))));
    const rule = el("tr", {}, el("th", { scope: "row" }, "rule"), el("td", {}, app.label(found.rule, 1000)));
    const table = el("div", { class: "plot-lines" }, el("table", {}, el("tbody", {}, rule, lines)));
    const first = el("p", { class: "plot-lead" }, el("strong", { class: `plot-outcome plot-${found.outcome.toLowerCase()}` }, app.label(found.verdict, 120)), ` ${app.label(found.headline, 400)}`);
    return [first, table, ...found.arms.map((one) => arm(state, one)), found.armsLeftOut ? el("p", { class: "plot-note" }, `${app.plural(found.armsLeftOut, "arm")} more.`) : null, factors(state, found), el("p", { class: "plot-note" }, found.note)].filter(Boolean);
  }

  function arm(state, one) {
    const said = [one.counts, one.steadiness, one.spent, ...one.stages.map(([stage, n]) => `${app.count(n)} ${stage}`), ...one.whyNoCall.map(([why, n]) => `${app.count(n)} without a call, since ${why}`)];
    if (one.never[1]) said.push(`a forbidden tool called in ${app.count(one.never[0])} of ${app.plural(one.never[1], "trial")}`);
    const changes = one.changes.length ? ` (${one.changes.map((text) => app.label(text, 200)).join("; ")})` : "";
    return P.fold(state, { open: true }, [el("strong", {}, app.label(one.name, 120)), changes], () => el("ul", { class: "plot-said" }, said.map((text) => el("li", {}, app.label(text, 600)))));
  }

  function factors(state, found) {
    if (!found.factors.length) return null;
    const rows = found.factors.map((line) => [el("span", {}, app.label(line.arm, 80)), el("span", {}, app.label(line.text, 200)), el("span", {}, app.label(line.changes, 300))]);
    return P.fold(state, {}, "Each arm against the first (description)", () => P.tableOf({ head: ["arm", "against the first", "changes"], rows }, "Each arm against the first"));
  }

  P.section("evaluation", "Evaluation", (state) => state.plots.evaluation || null, told);

  // ---------------------------------------------------------------- the comparison

  // How far units moved comes to two places: a tenth of a point would be told of what nobody knows.
  const whole = (share) => P.points(share).replace(/\.0$/, "");

  function spread(found, width) {
    const bars = found.spread.map(([difference, n]) => ({ difference, n }));
    const colour = (bar) => (bar.difference < 0 ? "var(--plot-bad)" : bar.difference > 0 ? "var(--plot-good)" : "var(--plot-muted)");
    const most = Math.max(...bars.map((bar) => bar.n), 1);
    const marks = [];
    if (app.known(found.low)) marks.push(Plot.rectX([found], { x1: "low", x2: "high", y1: 0, y2: most * 1.12, fill: "var(--plot-candidate)", fillOpacity: 0.14 }));
    marks.push(
      Plot.rectY(bars, { x1: (bar) => bar.difference - 0.018, x2: (bar) => bar.difference + 0.018, y: "n", fill: colour, fillOpacity: 0.8 }),
      Plot.text(bars, { x: "difference", y: "n", text: (bar) => app.count(bar.n), dy: -7 }),
      Plot.ruleX([-found.margin], { stroke: "var(--plot-bad)", strokeDasharray: "5 3" }),
      Plot.text([found], { x: (one) => -one.margin, frameAnchor: "top", text: () => "margin", dx: -4, textAnchor: "end", fill: "var(--plot-bad)" }),
      Plot.ruleX([found.mean], { stroke: "currentColor", strokeWidth: 1.5 }),
      Plot.ruleY([0]),
      Plot.tip(bars, Plot.pointerX({ x: "difference", y: "n", ...TIP, title: (bar) => `${app.plural(bar.n, "unit")}\n${whole(bar.difference)} points, rounded` })),
    );
    return P.plot({
      width, height: 240, marginLeft: 50, marginBottom: 42, marginTop: 22,
      x: { domain: [-1.06, 1.06], ticks: [-1, -0.5, 0, 0.5, 1], tickFormat: (at) => P.points(at).replace(".0", ""), label: "points of a unit's rate, candidate minus base", labelArrow: "none" },
      y: { domain: [0, most * 1.12], grid: true, ticks: 4, label: "units", labelArrow: "none", tickFormat: (at) => (Number.isInteger(at) ? app.count(at) : "") },
      marks,
    }, "How many units changed by how much");
  }

  function changes(state, found) {
    const level = app.known(found.level) ? ` at ${Number((found.level * 100).toFixed(4))} %` : "";
    const bounds = app.known(found.low) ? ` [${P.points(found.low)}, ${P.points(found.high)}]${level}` : ", no interval";
    const title = `${app.label(found.base, 60)} to ${app.label(found.candidate, 60)}: ${P.points(found.mean)} points${bounds}`;
    const drawn = found.spread.length ? P.figure(state, {
      title, note: "Bars: units by how much their rate changed. Line: the mean; shaded: its interval; dashed: what was declared to be too much.",
      draw: (width) => spread(found, width), table: () => ({ head: ["points, rounded to whole ones", "units"], rows: found.spread.map(([difference, n]) => [whole(difference), app.count(n)]) }), wide: true,
    }) : el("p", {}, title);
    const rows = found.flips.map((flip) => [el("span", { class: `plot-outcome plot-${flip.way === "worse" ? "red" : "clean"}` }, flip.way), el("span", {}, app.label(flip.case, 120)), flip.text]);
    const left = found.nWorse + found.nBetter - found.flips.length;
    const flips = rows.length ? [el("h3", {}, `${app.count(found.nWorse)} worse, ${app.count(found.nBetter)} better, ${app.count(found.nSame)} the same`), P.tableOf({ head: ["", "case", "passed"], rows }, "Cases that changed"), left > 0 ? el("p", { class: "plot-note" }, `${app.plural(left, "case")} more.`) : null] : [];
    return [drawn, ...flips].filter(Boolean);
  }

  P.section("changes", "The comparison", (state) => state.plots.changes || null, changes);

  // ---------------------------------------------------------------- curves

  const PALETTE = ["var(--plot-candidate)", "var(--plot-bad)", "var(--plot-good)", "var(--plot-flaky)", "var(--plot-warn)", "var(--plot-base)"];
  const MOST_CURVES = PALETTE.length;

  function curve(found, width) {
    const shown = found.lines.slice(0, MOST_CURVES);
    const points = shown.flatMap((line, at) => line.points.map((point) => ({ ...point, at, arm: line.arm })));
    const labels = new Map(points.map((point) => [point.x, point.label || app.count(point.x)]));
    return P.plot({
      width, height: 240, marginLeft: 50, marginBottom: 42,
      x: { domain: [Math.min(...labels.keys()) - 0.3, Math.max(...labels.keys()) + 0.3], ticks: [...labels.keys()], tickFormat: (x) => app.label(labels.get(x), 24), label: found.name, labelArrow: "none" },
      y: { domain: [0, 1], ticks: [0, 0.25, 0.5, 0.75, 1], tickFormat: (value) => `${value * 100} %`, grid: true, label: null },
      marks: [
        Plot.ruleX(points.filter((point) => app.known(point.low)), { x: "x", y1: "low", y2: "high", stroke: (point) => PALETTE[point.at], strokeOpacity: 0.6 }),
        Plot.line(points, { x: "x", y: "rate", z: "at", stroke: (point) => PALETTE[point.at], strokeWidth: 2 }),
        Plot.dot(points, { x: "x", y: "rate", r: 4, fill: (point) => PALETTE[point.at] }),
        Plot.tip(points, Plot.pointer({ x: "x", y: "rate", ...TIP, title: (point) => `${app.label(point.arm || found.name, 80)}: ${app.label(point.label || String(point.x), 60)}\n${P.rateText(point)} of ${app.plural(point.units, "unit")}` })),
      ],
    }, `Pass rate and ${found.name}`);
  }

  function curves(state, found) {
    return el("div", { class: "plot-grid" }, found.map((one) => {
      const trends = one.lines.map((line) => `${line.arm ? app.label(line.arm, 60) : one.name}${line.trend}`).slice(0, MOST_CURVES).join("; ");
      const names = one.lines.slice(0, MOST_CURVES).map((line, at) => [`plot-curve-${at}`, app.label(line.arm, 60)]);
      return P.figure(state, {
        title: `Pass rate and ${one.name}`, note: `${trends}. Each p is of one trend, and not corrected for how many there are.`,
        legend: one.lines.length > 1 ? P.legend(...names) : null, draw: (width) => curve(one, width),
        table: () => ({ head: ["arm", one.name, "rate", "units"], rows: one.lines.flatMap((line) => line.points.map((point) => [el("span", {}, app.label(line.arm, 80)), app.label(point.label || String(point.x), 60), P.rateText(point), app.count(point.units)])) }),
      });
    }));
  }

  P.section("curves", "Curves", (state) => ((state.plots.curves || []).length ? state.plots.curves : null), curves);

  // ---------------------------------------------------------------- mismatches

  function kinds(lines, width) {
    const arms = [...new Set(lines.map((line) => line.arm))];
    const names = lines.map((line) => (arms.length > 1 ? `${line.kind}, ${line.arm}` : line.kind));
    const room = P.roomFor(names, width);
    const scale = P.linearOf(Math.max(...lines.map((line) => line.trials)), { write: app.count, whole: true }, P.fitting(width - room.margin - 60, lines.map((line) => line.trials), { write: app.count }, 6));
    return P.plot({
      width, height: 44 + lines.length * 22, marginLeft: room.margin, marginRight: 60, marginTop: 6, marginBottom: 32,
      x: { ...scale, grid: true, label: "trials" }, y: { type: "band", domain: lines.map((_, at) => at), label: null, tickSize: 0, tickFormat: (at) => P.ending(names[at], room.most) },
      marks: [
        Plot.barX(lines, { y: (_, at) => at, x: "trials", fill: "var(--plot-bad)", fillOpacity: 0.7, insetTop: 3, insetBottom: 3 }),
        Plot.text(lines, { y: (_, at) => at, x: "trials", text: (line) => app.count(line.trials), textAnchor: "start", dx: 6 }),
      ],
    }, "Classes of mismatch, and in how many trials each was seen");
  }

  function mismatches(state, found) {
    const span = (text) => el("span", {}, app.label(text, 200));
    const parts = [];
    if (found.kinds.length) {
      parts.push(P.figure(state, {
        title: "Classes of mismatch", draw: (width) => kinds(found.kinds.slice(0, 40), width),
        table: () => ({ head: ["arm", "mismatch", "trials", "for example"], rows: found.kinds.map((line) => [span(line.arm), span(line.kind), app.count(line.trials), span((line.example || []).filter(Boolean).join(" "))]) }),
      }));
    }
    const tables = [];
    const add = (title, head, rows) => rows.length && tables.push(el("figure", { class: "plot-figure" }, el("figcaption", {}, el("span", { class: "plot-title" }, title)), P.tableOf({ head, rows }, title)));
    add("Arguments, the worst first", ["argument", "arm", "right", "share"], found.arguments.map((line) => [span(line.name), span(line.arm), `${app.count(line.right)} of ${app.count(line.n)}`, P.share(line.right / line.n)]));
    add("Tags", ["tag", "arm", "cases", "passed"], found.tags.map((line) => [span(line.tag), span(line.arm), app.count(line.cases), `${app.count(line.passed)} of ${app.count(line.planned)}`]));
    const left = found.leftOut ? el("p", { class: "plot-note" }, `${app.plural(found.leftOut, "line")} more.`) : null;
    return [el("div", { class: "plot-grid" }, parts, tables), left].filter(Boolean);
  }

  P.section("mismatches", "Mismatches", (state) => {
    const found = state.plots.mismatches;
    return found && (found.kinds.length || found.arguments.length || found.tags.length) ? found : null;
  }, mismatches);
})(window.harnessApp);
