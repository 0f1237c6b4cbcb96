// Latency, cost, tokens and steps: base against candidate, scenario by scenario, and how far each is from its base.
(function (app) {
  "use strict";
  const P = app.plots;
  const MOST_LINES = 25;
  const FEWEST_FOR_CLOUD = 6;
  const FEWEST_FOR_SPREAD = 20;
  const FEWEST_MOVED = 3;

  const MEASURES = [
    { id: "latency", title: "Latency", more: "slower", less: "faster", write: (value) => app.ms(value) },
    { id: "cost", title: "Cost", more: "dearer", less: "cheaper", write: (value) => app.money(value) },
    { id: "tokens", title: "Tokens", more: "more", less: "fewer", write: (value) => app.amount(value), whole: true },
    { id: "steps", title: "Steps", more: "more", less: "fewer", write: (value) => app.amount(value), whole: true },
  ];

  /** The rows that tell a measure: both means, the difference, and whether it is more than noise. */
  function linesOf(state, measure) {
    const found = [];
    for (const line of state.plots.measures || []) {
      if (!line[measure.id]) continue;
      const told = line[measure.id]; // what is drawn may be rounded, what is written stands as it was told
      const [base, candidate, noise] = told.map(app.number);
      // Of the numbers as they were told: those that are drawn may be equal where these are not.
      const difference = app.number(app.difference(told[0], told[1]));
      const beyond = Boolean(difference) && (noise === null || Math.abs(difference) > noise);
      const way = !difference ? "same" : difference > 0 ? "more" : "less";
      found.push({ row: line.row, name: state.name(line.row), trials: line.trials, told, base, candidate, noise, difference, beyond, way });
    }
    return found;
  }

  /** None where nobody tells the measure, and where it is 0 everywhere. */
  const toldOf = (lines) => (lines.some((line) => line.base || line.candidate) ? lines : null);

  const paired = (lines) => lines.filter((line) => line.difference !== null);
  const COLOUR = { more: "var(--plot-bad)", less: "var(--plot-good)", same: "var(--plot-muted)" };
  const shade = (line) => (line.way === "same" ? 0.6 : line.beyond ? 0.9 : 0.3);

  function change(line, measure) {
    if (line.difference === null) return "";
    const noise = line.noise === null ? "" : ` ± ${measure.write(line.noise)}`;
    if (line.difference === 0) return `${measure.write(0)}${noise}`;
    const relative = app.percent(line.base, line.candidate);
    return `${app.signed(line.told[0], line.told[1], measure.write)}${noise}${relative ? ` (${relative})` : ""}`;
  }

  function tip(line, measure) {
    const sides = `${measure.write(line.told[0])} → ${measure.write(line.told[1])}`;
    const many = line.trials[0] > 1 || line.trials[1] > 1 ? `\nmeans of ${line.trials[0]} and ${line.trials[1]} trials` : "";
    return `${app.label(line.name, 120)}\n${sides}\n${change(line, measure)}${many}`;
  }

  const tableOf = (lines, measure) => () => ({
    head: ["scenario", "base", "candidate", "difference", "trials"],
    rows: lines.map((line) => [
      P.rowLink(line.row, line.name), measure.write(line.told[0]), measure.write(line.told[1]), change(line, measure) || app.NONE,
      `${line.trials[0]}, ${line.trials[1]}`,
    ]),
  });

  // ---------------------------------------------------------------- drawings

  const bothOf = (lines) => lines.flatMap((line) => [line.base, line.candidate]);

  /** Each scenario a point; above the line the candidate takes more. */
  function cloud(lines, measure, width) {
    const values = bothOf(lines);
    const scale = P.scaleOf(values, measure, 5);
    const ends = scale.domain;
    const barred = lines.filter((line) => line.noise && lines.length <= 200);
    const low = (line) => Math.max(ends[0], line.candidate - line.noise);
    const high = (line) => Math.min(ends[1], line.candidate + line.noise);
    const behind = [...lines].sort((a, b) => Number(a.way !== "same") - Number(b.way !== "same"));
    return P.plot({
      width, height: Math.min(width, 420), marginLeft: 62, marginBottom: 40, marginRight: 20,
      x: { ...P.scaleOf(values, measure, P.fitting(width - 90, ends, measure, 5)), label: "base", grid: true }, y: { ...scale, label: "candidate", grid: true },
      marks: [
        Plot.line([ends, ends].map((_, at) => [ends[at], ends[at]]), { stroke: "var(--plot-muted)", strokeDasharray: "4 3" }),
        Plot.ruleX(barred, { x: "base", y1: low, y2: high, stroke: "var(--plot-muted)", strokeOpacity: 0.6 }),
        Plot.dot(behind, {
          x: "base", y: "candidate", r: lines.length > 400 ? 2.2 : 3.5,
          fill: (line) => COLOUR[line.way], fillOpacity: shade,
        }),
        Plot.tip(lines, Plot.pointer({ x: "base", y: "candidate", title: (line) => tip(line, measure), fill: "var(--plot-panel)", stroke: "var(--plot-muted)", maxRadius: 30 })),
      ],
    }, `${measure.title} of ${app.plural(lines.length, "scenario")}, base across, candidate upward`);
  }

  /** The scenarios that moved most: from the base's mark to the candidate's, with the noise around it. */
  function movers(lines, measure, width) {
    const names = new Map(lines.map((line) => [line.row, line.name]));
    const room = P.roomFor([...names.values()], width);
    const right = 14 + Math.round(6 * Math.max(...lines.map((line) => change(line, measure).length)));
    const values = bothOf(lines);
    const scale = P.scaleOf(values, measure, P.fitting(width - room.margin - right, values, measure, 8));
    const low = (line) => Math.max(scale.domain[0], line.candidate - line.noise);
    const high = (line) => Math.min(scale.domain[1], line.candidate + line.noise);
    const at = { y: "row" };
    return P.plot({
      width, height: 44 + lines.length * 22, marginLeft: room.margin, marginRight: right, marginTop: 6, marginBottom: 32,
      x: { ...scale, grid: true },
      y: { type: "band", domain: lines.map((line) => line.row), label: null, tickSize: 0, tickFormat: (row) => P.ending(names.get(row), room.most) },
      marks: [
        Plot.ruleY(lines.filter((line) => line.noise), { ...at, x1: low, x2: high, stroke: "var(--plot-muted)", strokeWidth: 7, strokeOpacity: 0.35 }),
        Plot.link(lines, { y1: "row", y2: "row", x1: "base", x2: "candidate", stroke: (line) => COLOUR[line.way], strokeWidth: 2, strokeOpacity: shade }),
        Plot.dot(lines, { ...at, x: "base", r: 3.5, fill: "var(--plot-panel)", stroke: "var(--plot-base)", strokeWidth: 1.5 }),
        Plot.dot(lines, { ...at, x: "candidate", r: 4, fill: (line) => COLOUR[line.way], fillOpacity: shade }),
        Plot.text(lines, { ...at, frameAnchor: "right", textAnchor: "start", dx: 8, text: (line) => change(line, measure), fillOpacity: (line) => (line.beyond ? 1 : 0.65) }),
        Plot.tip(lines, Plot.pointerY({ ...at, x: "candidate", title: (line) => tip(line, measure), fill: "var(--plot-panel)", stroke: "var(--plot-muted)" })),
      ],
    }, `The ${app.plural(lines.length, "scenario")} whose ${measure.title.toLowerCase()} moved most`);
  }

  const FACTORS = [1 / 16, 1 / 8, 1 / 4, 1 / 2, 1 / 1.5, 1 / 1.2, 1, 1.2, 1.5, 2, 4, 8, 16];
  const factorText = (value) => (value < 1 ? `÷ ${Number((1 / value).toFixed(1))}` : value > 1 ? `× ${Number(value.toFixed(1))}` : "same");

  /** Of the factors within `far` those that find place, from the middle outward. */
  function factorTicks(far, pixels) {
    const inside = FACTORS.map(Math.log2).filter((at) => Math.abs(at) <= far).sort((a, b) => Math.abs(a) - Math.abs(b));
    const apart = (46 / pixels) * 2 * far;
    return inside.reduce((kept, at) => (kept.every((other) => Math.abs(other - at) >= apart) ? [...kept, at] : kept), []);
  }

  /** How many scenarios take how many times what they took. */
  function spread(lines, measure, width) {
    const ratios = lines.filter((line) => line.base > 0 && line.candidate > 0).map((line) => Math.log2(line.candidate / line.base));
    const far = Math.min(4, Math.max(0.3, ...ratios.map(Math.abs)));
    const inside = ratios.map((ratio) => Math.max(-far, Math.min(far, ratio)));
    const n = 2 * Math.max(6, Math.min(15, Math.round(Math.sqrt(ratios.length)))) + 1;
    const bins = Array.from({ length: n }, (_, at) => ({ low: -far + (2 * far * at) / n, high: -far + (2 * far * (at + 1)) / n, count: 0 }));
    for (const value of inside) bins[Math.min(n - 1, Math.floor(((value + far) / (2 * far)) * n))].count += 1;
    const filledBins = bins.filter((bin) => bin.count);
    const colour = (bin) => (bin.low < 0 && bin.high > 0 ? "var(--plot-muted)" : bin.low >= 0 ? "var(--plot-bad)" : "var(--plot-good)");
    return P.plot({
      width, height: 200, marginLeft: 46, marginBottom: 36,
      x: { domain: [-far, far], ticks: factorTicks(far, width - 70), tickFormat: (at) => factorText(2 ** at), label: null },
      y: { grid: true, label: "scenarios", labelArrow: "none", ticks: 4, tickFormat: (at) => (Number.isInteger(at) ? app.count(at) : "") },
      marks: [
        Plot.rectY(filledBins, { x1: "low", x2: "high", y: "count", insetLeft: 1, fill: colour, fillOpacity: 0.75 }),
        Plot.ruleY([0]),
        Plot.tip(filledBins, Plot.pointerX({ x: (bin) => (bin.low + bin.high) / 2, y: "count", fill: "var(--plot-panel)", stroke: "var(--plot-muted)", title: (bin) => `${app.plural(bin.count, "scenario")}\n${factorText(2 ** bin.low)} to ${factorText(2 ** bin.high)}` })),
      ],
    }, `How many scenarios take how many times the ${measure.title.toLowerCase()} of the base`);
  }

  const valueOf = (line) => line.candidate ?? line.base;
  const sideOf = (line) => (line.candidate === null ? "base" : "candidate");

  /** Where no scenario has both sides: those that take most, each in the colour of the side that has it. */
  function bars(lines, measure, width) {
    const names = new Map(lines.map((line) => [line.row, line.name]));
    const room = P.roomFor([...names.values()], width);
    const value = valueOf;
    const scale = P.linearOf(Math.max(...lines.map(value)), measure, P.fitting(width - room.margin - 80, lines.map(value), measure, 8));
    return P.plot({
      width, height: 44 + lines.length * 22, marginLeft: room.margin, marginRight: 80, marginTop: 6, marginBottom: 32,
      x: { ...scale, grid: true },
      y: { type: "band", domain: lines.map((line) => line.row), label: null, tickSize: 0, tickFormat: (row) => P.ending(names.get(row), room.most) },
      marks: [
        Plot.barX(lines, { y: "row", x: value, fill: (line) => `var(--plot-${sideOf(line)})`, fillOpacity: 0.75, insetTop: 3, insetBottom: 3 }),
        Plot.text(lines, { y: "row", x: value, text: (line) => measure.write(value(line)), textAnchor: "start", dx: 6 }),
        Plot.tip(lines, Plot.pointerY({ y: "row", x: value, title: (line) => `${app.label(line.name, 120)}\n${app.hasBase ? `only in the ${sideOf(line)}: ` : ""}${measure.write(value(line))}`, fill: "var(--plot-panel)", stroke: "var(--plot-muted)" })),
      ],
    }, `The scenarios that take most: ${measure.title.toLowerCase()}`);
  }

  // ---------------------------------------------------------------- words

  function over(state, { nScenarios }) {
    const n = state.overview.nPaired ?? nScenarios;
    return `${n > nScenarios ? `${app.count(nScenarios)} of ` : ""}${app.plural(n, "scenario")}${n > nScenarios ? ": of the others not every trial tells it" : ""}`;
  }

  function sentence(state, lines, measure) {
    const total = (state.plots.totals || {})[measure.id];
    const both = paired(lines);
    const parts = [];
    if (total) {
      const noise = total.noise === null || total.noise === undefined ? "noise unknown: not every scenario has repeated trials" : `noise ± ${measure.write(total.noise)}`;
      parts.push(`In all ${measure.write(total.base)} → ${measure.write(total.candidate)} (${app.percent(total.base, total.candidate) || (app.number(total.base) === 0 ? "from nothing" : app.NONE)}, ${noise}) over ${over(state, total)}.`);
    }
    const ways = (way) => both.filter((line) => line.way === way);
    if (both.length) {
      const beyond = ways("more").filter((line) => line.beyond && line.noise !== null).length;
      const told = both.some((line) => line.noise !== null) ? ` (${app.count(beyond)} by more than their noise)` : "";
      parts.push(`${app.count(ways("more").length)} ${measure.more}${told}, ${app.count(ways("less").length)} ${measure.less}, ${app.count(ways("same").length)} the same.`);
    }
    const alone = lines.length - both.length;
    if (both.length && alone > 0) parts.push(`${app.plural(alone, "scenario")} told by one side only ${alone === 1 ? "is" : "are"} not drawn.`);
    const left = (state.plots.nRows || 0) - (state.plots.measures || []).length;
    if (left > 0) parts.push(`${app.plural(left, "scenario")} of the least interesting are left out.`);
    return parts.join(" ");
  }

  const ORDER = { more: 0, less: 1, same: 2 };

  /** What is more than noise comes first; then candidates that take more stand above those that take less. */
  function mostMoved(lines) {
    const moved = lines.filter((line) => line.way !== "same");
    const further = (a, b) => Number(b.beyond) - Number(a.beyond) || Math.abs(b.difference) - Math.abs(a.difference) || a.row - b.row;
    return moved.sort(further).slice(0, MOST_LINES).sort((a, b) => ORDER[a.way] - ORDER[b.way] || further(a, b));
  }

  function ways(measure, repeated) {
    const entries = [["plot-more", `candidate ${measure.more}`], ["plot-less", measure.less], ["plot-same", "the same"]];
    if (repeated) entries.push(["plot-noise", "noise: two standard errors (pale: within it)"]);
    return P.legend(...entries);
  }

  function figuresOf(state, lines, measure) {
    const both = paired(lines);
    if (!both.length) return [ofOneSide(state, lines, measure)];
    const repeated = both.some((line) => line.noise !== null);
    const moved = mostMoved(both);
    const n = both.filter((line) => line.way !== "same").length;
    const found = [];
    const beside = [];
    if (moved.length) {
      found.push(P.figure(state, {
        note: P.axisNote(bothOf(moved)),
        title: n > moved.length ? `The ${moved.length} of ${app.count(n)} that moved most` : `What moved`,
        legend: P.legend(["plot-base-mark", "base"], ["plot-more", `candidate: ${measure.more}`], ["plot-less", `candidate: ${measure.less}`], ...(repeated ? [["plot-noise", "noise"]] : [])),
        draw: (width) => movers(moved, measure, width), table: tableOf(both, measure),
      }));
    } else {
      found.push(P.figure(state, { title: "What moved", note: "Nothing: each scenario takes what it took.", table: tableOf(both, measure) }));
    }
    if (both.length >= FEWEST_FOR_CLOUD && n >= FEWEST_MOVED) {
      beside.push(P.figure(state, {
        title: "Each scenario a point: above the line the candidate takes more", note: P.axisNote(bothOf(both)), legend: ways(measure, repeated),
        draw: (width) => cloud(both, measure, width), table: tableOf(both, measure),
      }));
    }
    if (both.length >= FEWEST_FOR_SPREAD && n >= FEWEST_MOVED) {
      beside.push(P.figure(state, { title: "How many scenarios take how many times as much", draw: (width) => spread(both, measure, width) }));
    }
    return beside.length ? [...found, P.el("div", { class: "plot-stack" }, beside)] : found;
  }

  function ofOneSide(state, lines, measure) {
    const most = [...lines].sort((a, b) => valueOf(b) - valueOf(a) || a.row - b.row).slice(0, MOST_LINES);
    return P.figure(state, {
      title: lines.length > most.length ? `The ${most.length} of ${app.count(lines.length)} that take most` : "Each scenario",
      legend: app.hasBase ? P.legend(...["base", "candidate"].filter((side) => lines.some((line) => sideOf(line) === side)).map((side) => [`plot-${side}-dot`, `only in the ${side}`])) : null,
      draw: (width) => bars(most, measure, width), table: tableOf(lines, measure),
    });
  }

  for (const measure of MEASURES) {
    P.section(measure.id, measure.title,
      (state) => toldOf(linesOf(state, measure)),
      (state, lines) => [P.el("p", { class: "plot-lead" }, sentence(state, lines, measure)), P.el("div", { class: "plot-grid" }, figuresOf(state, lines, measure))]);
  }
})(window.harnessApp);
