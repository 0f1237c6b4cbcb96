// The strip of a sweep: a row for each kind of injection, a cell for each place, in the order of the run.
(function (app) {
  "use strict";
  const P = app.plots;
  const { el } = P;

  const SIGNS = {
    ".": ["clean", "clean: judged, nothing found"],
    "~": ["close", "close: began in the tick of the cancel, stopped at once"],
    X: ["red", "red: a check found something"],
    "?": ["flaky", "flaky: the loop did not repeat itself"],
    "-": ["void", "void: too late, nothing to judge"],
    "!": ["error", "error"],
  };
  const COLOUR = { clean: "var(--plot-good)", close: "var(--plot-warn)", red: "var(--plot-bad)", flaky: "var(--plot-flaky)", void: "var(--plot-void)", error: "var(--plot-error)" };
  const OPACITY = { clean: 0.55, void: 0.5 };
  const NARROW = 9;
  const NARROWEST = 1.5;

  const WORST_FIRST = ["X", "!", "?", "~", "-", "."];

  /** Cells as they are drawn: one a place, or where there is no room for that, the worst of each `each` places. */
  function cellsOf(sweep, each = 1) {
    return sweep.rows.flatMap((row, at) => {
      const found = [];
      for (let place = 0; place < row.signs.length; place += each) {
        const signs = row.signs.slice(place, place + each);
        const sign = WORST_FIRST.find((one) => signs.includes(one)) || "!";
        found.push({ at, place, end: place + signs.length, sign, kind: SIGNS[sign][0], name: row.name });
      }
      return found;
    });
  }

  function tip(cell) {
    const where = cell.end - cell.place > 1 ? `places ${app.count(cell.place + 1)} to ${app.count(cell.end)}, the worst of them` : `place ${app.count(cell.place + 1)}`;
    return `${app.label(cell.name, 80)}, ${where}\n${SIGNS[cell.sign][1]}`;
  }

  /** `.18 X2 -4`: the signs with how often each stands. */
  function runLengths(signs) {
    const found = [];
    for (const sign of signs) {
      const last = found[found.length - 1];
      if (last && last[0] === sign) last[1] += 1;
      else found.push([sign, 1]);
    }
    return found.map(([sign, n]) => sign + n).join(" ");
  }

  function strip(sweep, width) {
    const room = P.roomFor(sweep.rows.map((row) => row.name), width);
    const n = Math.max(...sweep.rows.map((row) => row.signs.length), 1);
    const size = Math.min(18, (width - room.margin - 12) / n);
    const cells = cellsOf(sweep, Math.max(1, Math.ceil(NARROWEST / size)));
    const marks = [
      Plot.rect(cells, {
        x1: "place", x2: "end", y1: (cell) => cell.at, y2: (cell) => cell.at + 1,
        insetLeft: size > 4 ? 1 : 0, insetTop: 2, insetBottom: 2, fill: (cell) => COLOUR[cell.kind], fillOpacity: (cell) => OPACITY[cell.kind] || 0.95,
      }),
      Plot.axisY(sweep.rows.map((_, at) => at + 0.5), { tickSize: 0, label: null, tickFormat: (at) => P.ending(sweep.rows[Math.floor(at)].name, room.most) }),
      Plot.tip(cells, Plot.pointer({ x: (cell) => (cell.place + cell.end) / 2, y: (cell) => cell.at + 0.5, fill: "var(--plot-panel)", stroke: "var(--plot-muted)", title: tip })),
    ];
    if (size >= NARROW) marks.push(Plot.text(cells.filter((cell) => cell.sign !== "."), { x: (cell) => cell.place + 0.5, y: (cell) => cell.at + 0.5, text: "sign", fontWeight: 700, fill: "var(--plot-on)" }));
    return P.plot({
      width, height: 12 + sweep.rows.length * 22, marginLeft: room.margin, marginRight: 4, marginTop: 4, marginBottom: 4,
      x: { domain: [0, (width - room.margin - 8) / size], axis: null }, y: { domain: [0, sweep.rows.length], reverse: true, axis: null },
      marks,
    }, `Strip of ${app.label(sweep.scenario, 80)}: ${sweep.rows.map((row) => `${app.label(row.name, 40)} ${runLengths(row.signs)}`).join("; ")}`);
  }

  function stripTable(sweep) {
    const kinds = Object.keys(SIGNS);
    const counted = (row, sign) => Array.from(row.signs).filter((one) => one === sign).length;
    return {
      head: ["injected", ...kinds.map((sign) => SIGNS[sign][0]), "in order"],
      rows: sweep.rows.map((row) => [el("span", {}, app.label(row.name, 80)), ...kinds.map((sign) => app.count(counted(row, sign))), runLengths(row.signs)]),
    };
  }

  function wrong(sweep) {
    const cells = sweep.cells || [];
    if (!cells.length && !sweep.why) return null;
    const items = cells.map((cell) => el("li", {},
      el("strong", { class: `plot-outcome plot-${cell.outcome}` }, cell.outcome), ` ${app.label(cell.injection, 200)}`,
      cell.why ? `: ${app.label(cell.why, 400)}` : null,
      (cell.findings || []).length ? el("ul", {}, cell.findings.map((finding) => el("li", {}, el("code", {}, app.label(finding.check, 80)), ` ${app.label(finding.message, 600)}`, (finding.events || []).length ? ` (events ${finding.events.join(", ")})` : "")),
        cell.findingsLeftOut ? el("li", {}, `${app.plural(cell.findingsLeftOut, "finding")} more`) : null) : null));
    const left = sweep.cellsLeftOut ? el("li", {}, `${app.plural(sweep.cellsLeftOut, "cell")} more`) : null;
    return el("div", { class: "plot-wrong" }, sweep.why ? el("p", {}, app.label(sweep.why, 600)) : null, el("ul", {}, items, left),
      sweep.reproduction ? el("p", {}, "shown again by ", el("code", {}, app.label(sweep.reproduction, 400))) : null);
  }

  function head(sweep) {
    return `${app.plural(sweep.nCells ?? cellsOf(sweep).length, "cell")}${app.known(sweep.nJudged) ? `, ${app.count(sweep.nJudged)} judged` : ""}${app.known(sweep.nRuns) ? `, ${app.plural(sweep.nRuns, "run")}` : ""}`;
  }

  function one(state, sweep) {
    const figure = () => sweep.rows.length && P.figure(state, { title: head(sweep), draw: (width) => strip(sweep, width), table: () => stripTable(sweep), wide: true });
    const bad = sweep.outcome !== "PASS" && sweep.outcome !== "INVALID";
    const side = sweep.side ? el("small", {}, `${sweep.side}: `) : null;
    const summary = [side, el("strong", { class: `plot-outcome plot-${sweep.outcome.toLowerCase()}` }, sweep.outcome === "INVALID" ? "NOT SWEPT" : sweep.outcome),
      ` ${app.label(sweep.scenario, 120)} `, el("small", {}, app.label(sweep.subject, 60))].filter(Boolean);
    return P.fold(state, { open: bad || state.plots.sweeps.length <= 12 }, summary, () => [figure(), wrong(sweep)]);
  }

  function draw(state, sweeps) {
    const kinds = Object.values(SIGNS).map(([kind, text]) => [`plot-cell-${kind}`, text]);
    // A scenario that both sides swept is one.
    const named = (some) => new Set(some.map((sweep) => app.plain(sweep.scenario))).size;
    const red = sweeps.filter((sweep) => sweep.outcome === "FAIL");
    const sides = [...new Set(sweeps.map((sweep) => sweep.side).filter(Boolean))];
    const bad = sides.length > 1 ? sides.map((side) => `${side}: ${app.count(red.filter((sweep) => sweep.side === side).length)} with a red cell`).join(", ") : `${app.count(red.length)} with a red cell`;
    const left = state.plots.sweepsLeftOut ? ` ${app.plural(state.plots.sweepsLeftOut, "strip")} of the least interesting are left out.` : "";
    return [el("p", { class: "plot-lead" }, `${app.plural(sides.length > 1 ? named(sweeps) : sweeps.length, "scenario")}, ${bad}.${left}`), P.legend(...kinds), el("div", {}, sweeps.map((sweep) => one(state, sweep)))];
  }

  P.section("sweeps", "Sweeps", (state) => ((state.plots.sweeps || []).length ? state.plots.sweeps : null), draw);
})(window.harnessApp);
