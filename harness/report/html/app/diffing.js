// What differs between two texts, by jsdiff. Every comparison is bounded in time: a page that hangs shows nothing.
(function (app) {
  "use strict";
  const { Diff } = window;
  const LINES = { timeout: 400, maxEditLength: 4000 };
  const WORDS = { timeout: 60, maxEditLength: 1000 };
  const WORDS_AT_MOST = 20000;
  // Laid out, a text may grow so far and no further: indentation grows with the square of the depth.
  const DEEPEST = 60;
  const LONGER_AT_MOST = 8;
  const ALWAYS_ALLOWED = 4000;

  const STRING = '"(?:[^"\\\\]|\\\\.)*"';
  const TOKENS = new RegExp(`${STRING}|[{}\\[\\],:]|[^\\s{}\\[\\],:"]+`, "gs");

  function isJson(text) {
    try {
      JSON.parse(text);
      return true;
    } catch {
      return false;
    }
  }

  /**
   * JSON text laid out over lines, token by token: long numbers, repeated keys and escapes stay exactly as they were sent
   * (reading and writing it again would change them). null where the text is no JSON, or nested so deeply that its
   * indentation would outgrow it: then the text as it is tells more.
   */
  function layOut(text) {
    if (!isJson(text)) return null;
    const tokens = text.match(TOKENS) || [];
    const most = ALWAYS_ALLOWED + LONGER_AT_MOST * text.length;
    let depth = 0;
    let out = "";
    for (let index = 0; index < tokens.length; index += 1) {
      const token = tokens[index];
      const empty = (token === "{" && tokens[index + 1] === "}") || (token === "[" && tokens[index + 1] === "]");
      if (token === "{" || token === "[") {
        depth += 1;
        out += token + (empty ? "" : "\n" + "  ".repeat(depth));
      } else if (token === "}" || token === "]") {
        depth -= 1;
        const opened = tokens[index - 1] === "{" || tokens[index - 1] === "[";
        out += (opened ? "" : "\n" + "  ".repeat(depth)) + token;
      } else if (token === ",") out += ",\n" + "  ".repeat(depth);
      else out += token === ":" ? ": " : token;
      if (depth > DEEPEST || out.length > most) return null;
    }
    return out;
  }

  /** Both texts laid out, or both as they are: a difference of the one form and the other would tell nothing. */
  function bothLaidOut(base, candidate) {
    const texts = [base, candidate];
    const found = texts.map(layOut);
    const tooDeep = found.some((one, at) => one === null && isJson(texts[at]));
    return tooDeep ? texts : found.map((one, at) => one ?? texts[at]);
  }

  function sorted(value) {
    if (Array.isArray(value)) return value.map(sorted);
    if (value === null || typeof value !== "object") return value;
    return Object.keys(value).sort().map((key) => [key, sorted(value[key])]);
  }

  /** True where two JSON texts say the same in other words (order of keys, white space). */
  function sameValue(base, candidate) {
    try {
      return JSON.stringify(sorted(JSON.parse(base))) === JSON.stringify(sorted(JSON.parse(candidate)));
    } catch {
      return false; // one of them is no JSON, or too deep to be walked: then its text is all there is
    }
  }

  /** Pieces [text, differs] of both sides of two texts that are short enough to compare word by word. */
  function words(base, candidate) {
    const whole = { base: [[base, true]], candidate: [[candidate, true]] };
    if (base.length + candidate.length > WORDS_AT_MOST) return whole;
    const changes = Diff.diffWordsWithSpace(base, candidate, WORDS);
    if (!changes) return whole;
    const sides = { base: [], candidate: [] };
    for (const change of changes) {
      if (!change.added) sides.base.push([change.value, Boolean(change.removed)]);
      if (!change.removed) sides.candidate.push([change.value, Boolean(change.added)]);
    }
    return sides;
  }

  function pairedRows(removed, added, a, b) {
    const rows = [];
    for (let k = 0; k < Math.max(removed.length, added.length); k += 1) {
      if (k < removed.length && k < added.length) {
        rows.push({ kind: "changed", a: a + k, b: b + k, base: removed[k], candidate: added[k] });
      } else if (k < removed.length) rows.push({ kind: "removed", a: a + k, text: removed[k] });
      else rows.push({ kind: "added", b: b + k, text: added[k] });
    }
    return rows;
  }

  /** Rows {kind: same|changed|removed|added, a, b: line numbers from 1, text | base, candidate}; `rough`: too unlike to align. */
  function lines(base, candidate) {
    const left = base.split("\n");
    const right = candidate.split("\n");
    let changes = Diff.diffArrays(left, right, LINES);
    const rough = !changes;
    if (rough) changes = [{ value: left, removed: true }, { value: right, added: true }];
    const rows = [];
    let a = 1;
    let b = 1;
    for (let index = 0; index < changes.length; index += 1) {
      const { value, removed, added } = changes[index];
      if (!removed && !added) {
        value.forEach((text, k) => rows.push({ kind: "same", a: a + k, b: b + k, text }));
        a += value.length;
        b += value.length;
        continue;
      }
      const next = changes[index + 1];
      const pairs = removed && next && next.added;
      const gone = removed ? value : [];
      const come = pairs ? next.value : added ? value : [];
      rows.push(...pairedRows(gone, come, a, b));
      a += gone.length;
      b += come.length;
      if (pairs) index += 1;
    }
    return { rows, rough };
  }

  /** Pieces [text, differs] of each side, lines first and words inside lines that changed. */
  function marks(base, candidate) {
    const sides = { base: [], candidate: [] };
    const { rows, rough } = lines(base, candidate);
    const nBase = base.split("\n").length;
    const nCandidate = candidate.split("\n").length;
    const end = (line, n) => (line < n ? "\n" : "");
    for (const row of rows) {
      if (row.kind === "same") {
        sides.base.push([row.text + end(row.a, nBase), false]);
        sides.candidate.push([row.text + end(row.b, nCandidate), false]);
      } else if (row.kind === "changed") {
        const inside = words(row.base, row.candidate);
        sides.base.push(...inside.base, [end(row.a, nBase), false]);
        sides.candidate.push(...inside.candidate, [end(row.b, nCandidate), false]);
      } else if (row.kind === "removed") sides.base.push([row.text + end(row.a, nBase), true]);
      else sides.candidate.push([row.text + end(row.b, nCandidate), true]);
    }
    return { base: joined(sides.base), candidate: joined(sides.candidate), rough };
  }

  function joined(pieces) {
    const out = [];
    for (const [text, differs] of pieces) {
      const last = out[out.length - 1];
      if (text === "") continue;
      if (last && last[1] === differs) last[0] += text;
      else out.push([text, differs]);
    }
    return out;
  }

  /** Lines of two lists of keys (such as numbers of messages), aligned: [{base, candidate}], null where a side has none. */
  function alignKeys(base, candidate) {
    const changes = Diff.diffArrays(base, candidate, LINES) || [{ value: base, removed: true }, { value: candidate, added: true }];
    const out = [];
    for (let index = 0; index < changes.length; index += 1) {
      const { value, removed, added } = changes[index];
      if (!removed && !added) value.forEach((key) => out.push({ base: key, candidate: key }));
      else {
        const next = changes[index + 1];
        const pairs = removed && next && next.added;
        const gone = removed ? value : [];
        const come = pairs ? next.value : added ? value : [];
        for (let k = 0; k < Math.max(gone.length, come.length); k += 1) {
          out.push({ base: k < gone.length ? gone[k] : null, candidate: k < come.length ? come[k] : null });
        }
        if (pairs) index += 1;
      }
    }
    return out;
  }

  app.diffing = { layOut, bothLaidOut, sameValue, words, lines, marks, alignKeys };
})(window.harnessApp);
