// The confusion matrix of an evaluation: what was right in rows, what was chosen in columns.
(function (app) {
  "use strict";
  const P = app.plots;
  const { el } = P;

  function cellsOf(matrix) {
    const right = new Set(matrix.right.map(([i, j]) => `${i},${j}`));
    return matrix.cells.flatMap((row, i) => {
      const sum = row.reduce((a, b) => a + b, 0);
      return row.map((n, j) => ({ i, j, n, share: sum ? n / sum : 0, right: right.has(`${i},${j}`), expected: matrix.rows[i], chosen: matrix.columns[j], sum }));
    });
  }

  function drawn(matrix, width) {
    const cells = cellsOf(matrix).filter((cell) => cell.n);
    const room = P.roomFor(matrix.rows, width);
    const longest = matrix.columns.reduce((most, name) => Math.max(most, Math.min(22, Array.from(app.label(name, 400)).length)), 4);
    const top = Math.round(longest * 4.6) + 24;
    const size = Math.max(16, Math.min(56, (width - room.margin - 90) / matrix.columns.length));
    const colour = (cell) => (cell.right ? "var(--plot-good)" : "var(--plot-bad)");
    return P.plot({
      width: Math.min(width, Math.round(room.margin + 90 + size * matrix.columns.length)), height: top + 10 + Math.min(34, size) * matrix.rows.length,
      marginLeft: room.margin, marginTop: top, marginBottom: 6, marginRight: 90, padding: 0.05,
      x: { type: "band", domain: matrix.columns.map((_, j) => j), axis: "top", tickSize: 0, label: null, tickRotate: -40, tickFormat: (j) => P.ending(matrix.columns[j], 22) },
      y: { type: "band", domain: matrix.rows.map((_, i) => i), tickSize: 0, label: null, tickFormat: (i) => P.ending(matrix.rows[i], room.most) },
      marks: [
        Plot.cell(cellsOf(matrix), { x: "j", y: "i", fill: "var(--plot-muted)", fillOpacity: 0.08 }),
        Plot.cell(cells, { x: "j", y: "i", fill: colour, fillOpacity: (cell) => 0.12 + 0.8 * cell.share }),
        Plot.text(cells, { x: "j", y: "i", text: (cell) => app.count(cell.n), fill: "currentColor", stroke: "var(--plot-panel)", strokeWidth: 3, strokeOpacity: 0.75, fontWeight: (cell) => (cell.right ? 400 : 700) }),
        Plot.tip(cells, Plot.pointer({ x: "j", y: "i", fill: "var(--plot-panel)", stroke: "var(--plot-muted)", title: (cell) => `expected ${app.label(cell.expected, 60)}\nchosen ${app.label(cell.chosen, 60)}\n${app.count(cell.n)} of ${app.count(cell.sum)} (${P.share(cell.share)})` })),
      ],
    }, `Confusion matrix of ${app.label(matrix.arm, 60)}: expected in rows, chosen in columns`);
  }

  const table = (matrix) => () => ({
    head: ["expected", ...matrix.columns.map((name) => app.label(name, 60))],
    rows: matrix.rows.map((name, i) => [el("span", {}, app.label(name, 60)), ...matrix.cells[i].map((n) => (n ? app.count(n) : ""))]),
  });

  function figure(state, matrix) {
    const left = matrix.leftOut ? ` ${app.plural(matrix.leftOut, "name")} of the rarest are left out.` : "";
    const side = matrix.side ? `${matrix.side}: ` : "";
    return P.figure(state, {
      title: `${side}${app.label(matrix.arm, 80)}`, note: `Expected in rows, chosen in columns; the shade is the share of its row.${left}`,
      legend: P.legend(["plot-less", "right"], ["plot-more", "wrong"]), draw: (width) => drawn(matrix, width), table: table(matrix), wide: matrix.columns.length > 8,
    });
  }

  P.section("confusion", "Confusion matrix", (state) => ((state.plots.confusion || []).length ? state.plots.confusion : null),
    (state, matrices) => el("div", { class: "plot-grid" }, matrices.map((matrix) => figure(state, matrix))));
})(window.harnessApp);
