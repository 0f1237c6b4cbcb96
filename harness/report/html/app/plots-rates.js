// Pass rates of both sides with their intervals, and how far the candidate's is from the base's.
(function (app) {
  "use strict";
  const P = app.plots;
  const { el } = P;

  const LEVEL = "95 %";
  const SIDES = ["base", "candidate"];
  const COLOUR = { base: "var(--plot-base)", candidate: "var(--plot-candidate)" };
  const SHIFT = { base: -5, candidate: 5 };

  function rateText(side) {
    if (!side || !app.known(side.rate)) return app.NONE;
    const bounds = app.known(side.low) && app.known(side.high) ? ` [${(side.low * 100).toFixed(1)}, ${(side.high * 100).toFixed(1)}]` : "";
    return `${P.share(side.rate)}${bounds}`;
  }

  const countText = (side) => (side ? `${app.count(side.n)} of ${app.count(side.of)}` : app.NONE);

  function differenceText(line) {
    const found = line.difference;
    if (!found) return "";
    const bounds = app.known(found.low) && app.known(found.high) ? ` [${P.points(found.low)}, ${P.points(found.high)}]` : "";
    return `${P.points(found.mean)} points${bounds}`;
  }

  const label = (line) => (line.group === "family" ? `${line.name || "(no folder)"}/` : line.name);

  function rows(lines) {
    return lines.flatMap((line, at) => SIDES.filter((side) => line[side] && app.known(line[side].rate)).map((side) => ({ at, side, row: line.row, line, ...line[side] })));
  }

  function tip(one) {
    const hat = app.known(one.passHat) ? `\npass^${one.k} ${P.share(one.passHat)}` : "";
    const name = one.line.base ? `${one.side}: ` : "";
    return `${app.label(label(one.line), 120)}\n${name}${rateText(one)}, ${countText(one)} trials, ${app.plural(one.units, "unit")}${hat}`;
  }

  function drawn(lines, width) {
    const given = rows(lines);
    const room = P.roomFor(lines.map(label), width);
    const right = width > 620 ? 210 : 60;
    const y = { type: "band", domain: lines.map((_, at) => at), label: null, tickSize: 0, tickFormat: (at) => P.ending(label(lines[at]), room.most) };
    const marks = [];
    for (const side of SIDES) {
      const of = given.filter((one) => one.side === side);
      const dy = given.some((one) => one.side !== side) ? SHIFT[side] : 0;
      const hats = of.filter((one) => app.known(one.passHat));
      marks.push(
        Plot.ruleY(of.filter((one) => app.known(one.low)), { y: "at", x1: "low", x2: "high", stroke: COLOUR[side], strokeWidth: 2, dy }),
        Plot.dot(of, { y: "at", x: "rate", r: 4.5, fill: (one) => (app.known(one.low) ? COLOUR[side] : "var(--plot-panel)"), stroke: COLOUR[side], strokeWidth: 1.5, dy }),
        Plot.dot(hats, { y: "at", x: "passHat", symbol: "diamond", r: 4.5, fill: "var(--plot-panel)", stroke: "var(--plot-muted)", strokeWidth: 1.5, dy }),
        Plot.tip(of, Plot.pointer({ y: "at", x: "rate", dy, title: tip, fill: "var(--plot-panel)", stroke: "var(--plot-muted)", maxRadius: 24 })),
      );
    }
    if (width > 620) marks.push(Plot.text(lines, { y: (_, at) => at, frameAnchor: "right", textAnchor: "start", dx: 10, text: (line) => differenceText(line) || sidesText(line) }));
    return P.plot({
      width, height: 46 + lines.length * 30, marginLeft: room.margin, marginRight: right, marginTop: 6, marginBottom: 32,
      x: { domain: [0, 1], ticks: [0, 0.25, 0.5, 0.75, 1], tickFormat: (value) => `${value * 100} %`, label: null, grid: true, inset: 4 }, y,
      marks,
    }, `Pass rates with their intervals, ${app.plural(lines.length, "line")}`);
  }

  function sidesText(line) {
    const sides = SIDES.filter((side) => line[side]);
    return sides.map((side) => countText(line[side])).join(" → ");
  }

  function table(lines) {
    const two = lines.some((line) => line.base) ;
    return {
      head: two ? ["", "base", "passed", "candidate", "passed", "difference"] : ["", "rate", "passed", "units"],
      rows: lines.map((line) => {
        const name = P.rowLink(line.row, label(line));
        if (!two) return [name, rateText(line.candidate), countText(line.candidate), line.candidate ? app.count(line.candidate.units) : app.NONE];
        return [name, rateText(line.base), countText(line.base), rateText(line.candidate), countText(line.candidate), differenceText(line) || app.NONE];
      }),
    };
  }

  function legendOf(lines) {
    const entries = lines.some((line) => line.base) ? [["plot-base-dot", "base"], ["plot-candidate-dot", "candidate"]] : [["plot-candidate-dot", "pass rate"]];
    entries.push(["plot-interval", `interval at ${LEVEL}; hollow: too few for one`]);
    if (lines.some((line) => SIDES.some((side) => line[side] && app.known(line[side].passHat)))) entries.push(["plot-diamond", "pass^k: every trial passes"]);
    return P.legend(...entries);
  }

  function ratesFigure(state, lines, title, note) {
    return P.figure(state, { title, note, legend: legendOf(lines), draw: (width) => drawn(lines, width), table: () => table(lines), wide: true });
  }

  function draw(state, lines) {
    const left = state.plots.ratesLeftOut || {};
    const arms = lines.filter((line) => line.group === "arm");
    const over = lines.filter((line) => line.group === "all" || line.group === "family");
    const each = lines.filter((line) => line.group === "scenario");
    const found = [];
    if (arms.length) found.push(ratesFigure(state, arms, "Arms", `The mean over units (a case, or its group) of the share of their planned trials that passed; the interval is Wilson's over units.${state.plots.armsLeftOut ? ` ${app.plural(state.plots.armsLeftOut, "arm")} more, in neither rates nor matrices.` : ""}`));
    if (over.length) {
      const note = `A scenario counts once, by the share of its trials that passed. The interval is Wilson's over scenarios; that of the difference is over paired scenarios.${left.families ? ` ${app.plural(left.families, "family", "families")} more.` : ""}`;
      found.push(ratesFigure(state, over, "Over scenarios", note));
    }
    if (each.length) {
      found.push(ratesFigure(state, each, "Scenarios with several trials, those that moved most first", `The interval is Wilson's over trials.${left.scenarios ? ` ${app.plural(left.scenarios, "scenario")} more.` : ""}`));
    }
    const why = state.plots.ratesWhy;
    return [why ? el("p", { class: "plot-lead" }, `Differences have no interval: ${app.label(why, 200)}`) : null, ...found].filter(Boolean);
  }

  P.section("rates", "Pass rates", (state) => ((state.plots.rates || []).length ? state.plots.rates : null), draw);
  Object.assign(P, { rateText });
})(window.harnessApp);
