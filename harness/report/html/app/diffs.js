// Differences as they are shown: one side with its marks, or both sides line by line.
(function (app) {
  "use strict";
  const { html, hooks } = app;
  const { useMemo, useState } = hooks;
  const FOLD_ABOVE = 8;
  const CONTEXT = 3;

  /** One side of a text: what differs from the other side is marked. `other` null: nothing to compare with. */
  function Marked({ text, other, side, json = false }) {
    const pieces = useMemo(() => {
      if (other === null || other === undefined || other === text) return [[(json && app.diffing.layOut(text)) || text, false]];
      const [mine, theirs] = json ? app.diffing.bothLaidOut(text, other) : [text, other];
      const found = side === "base" ? app.diffing.marks(mine, theirs) : app.diffing.marks(theirs, mine);
      return found[side];
    }, [text, other, side, json]);
    return pieces.map(([piece, differs]) => {
      if (!differs) return html`<${app.Text} value=${piece} />`;
      return side === "base"
        ? html`<del><${app.Text} value=${piece} /></del>`
        : html`<ins><${app.Text} value=${piece} /></ins>`;
    });
  }

  /** Stretches of rows: equal ones that are long become {folded: rows}. */
  function stretches(rows, fold) {
    if (!fold) return rows.map((row) => ({ row }));
    const out = [];
    let index = 0;
    while (index < rows.length) {
      let end = index;
      while (end < rows.length && rows[end].kind === "same") end += 1;
      const before = index === 0 ? 0 : CONTEXT;
      const after = end === rows.length ? 0 : CONTEXT;
      const hidden = end - index - before - after;
      if (hidden >= FOLD_ABOVE - CONTEXT) {
        rows.slice(index, index + before).forEach((row) => out.push({ row }));
        out.push({ folded: rows.slice(index + before, end - after) });
        rows.slice(end - after, end).forEach((row) => out.push({ row }));
      } else rows.slice(index, end).forEach((row) => out.push({ row }));
      if (end < rows.length) out.push({ row: rows[end] });
      index = end + 1;
    }
    return out;
  }

  function Line({ a, b, sign, kind, children }) {
    return html`<tr class=${`line ${kind}`}>
      <td class="number">${a || ""}</td><td class="number">${b || ""}</td>
      <td class="sign">${sign}</td><td class="content">${children}</td>
    </tr>`;
  }

  function Row({ row, before }) {
    const [a, b] = [row.a, row.b].map((line, at) => line && before[at] !== null && line + (before[at] || 0));
    if (row.kind === "same") return html`<${Line} a=${a} b=${b} sign=" " kind="same"><${app.Text} value=${row.text} /><//>`;
    if (row.kind === "removed") return html`<${Line} a=${a} sign="−" kind="removed"><${app.Text} value=${row.text} /><//>`;
    if (row.kind === "added") return html`<${Line} b=${b} sign="+" kind="added"><${app.Text} value=${row.text} /><//>`;
    return html`<${Line} a=${a} sign="−" kind="removed"><${Marked} text=${row.base} other=${row.candidate} side="base" /><//>
      <${Line} b=${b} sign="+" kind="added"><${Marked} text=${row.candidate} other=${row.base} side="candidate" /><//>`;
  }

  function Folded({ rows, before }) {
    const [wanted, set] = useState(false);
    if (app.usePrinting() || wanted) return rows.map((row) => html`<${Row} row=${row} before=${before} />`);
    return html`<tr class="folded"><td colspan="4">
      <button type="button" class="quiet" onClick=${() => set(true)}>${app.plural(rows.length, "equal line")}: show</button>
    </td></tr>`;
  }

  /**
   * Both sides line by line, base's lines with −, candidate's with +. Long equal stretches fold where `fold` says so.
   * `before`: how many lines of each side this file does not hold before these (null: not known, so lines have no number).
   */
  function LineDiff({ base, candidate, json = false, fold = true, name = "difference", before = [0, 0] }) {
    const { rows, rough, respelled } = useMemo(() => {
      const [left, right] = json ? app.diffing.bothLaidOut(base, candidate) : [base, candidate];
      return { ...app.diffing.lines(left, right), respelled: json && base !== candidate && app.diffing.sameValue(base, candidate) };
    }, [base, candidate, json]);
    return html`<div class="diff" role="group" aria-label=${name}>
      ${rough && html`<p class="note">Too unlike to align: all lines of the base, then all of the candidate.</p>`}
      ${respelled && html`<p class="note">The same value, spelled in another way (order of keys, white space or escapes).</p>`}
      <table class="lines"><tbody>
        ${stretches(rows, fold).map((one) => (one.folded ? html`<${Folded} rows=${one.folded} before=${before} />` : html`<${Row} row=${one.row} before=${before} />`))}
      </tbody></table>
    </div>`;
  }

  Object.assign(app, { Marked, LineDiff });
})(window.harnessApp);
