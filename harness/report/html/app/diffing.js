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

  /**
   * A JSON text in one spelling: without white space, names of objects in order, texts with one set of escapes. Numbers stay
   * as they were sent and repeated keys all stay: reading them would round the ones and drop the others.
   */
  function canonical(text) {
    const open = [{ items: [] }];
    for (const token of text.match(TOKENS) || []) {
      const top = open[open.length - 1];
      if (token === "{" || token === "[") open.push({ object: token === "{", items: [], key: null });
      else if (token === "}" || token === "]") {
        open.pop();
        if (top.object) top.items.sort(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0));
        put(open[open.length - 1], top.object ? `{${top.items.map((item) => item.join(":")).join()}}` : `[${top.items.join()}]`);
      } else if (token !== "," && token !== ":") put(top, token[0] === '"' ? JSON.stringify(JSON.parse(token)) : token);
    }
    return open[0].items[0];
  }

  function put(place, value) {
    if (!place.object) place.items.push(value);
    else if (place.key === null) place.key = value;
    else {
      place.items.push([place.key, value]);
      place.key = null;
    }
  }

  /** True where two JSON texts say the same in other words (order of keys, white space, escapes). */
  function sameValue(base, candidate) {
    return isJson(base) && isJson(candidate) && canonical(base) === canonical(candidate);
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

  /**
   * For each of `left` the place of what stands beside it in `right` (-1: nothing): by the first key those that are equal, then
   * by the next those that are left. Those in the same order find each other first, then those in another.
   */
  function pairUp(left, right, keys) {
    const partner = new Array(left.length).fill(-1);
    const taken = new Set();
    const take = (a, b) => {
      partner[a] = b;
      taken.add(b);
    };
    for (const key of keys) {
      const free = [left.map((_, at) => at).filter((at) => partner[at] < 0), right.map((_, at) => at).filter((at) => !taken.has(at))];
      let [a, b] = [0, 0];
      for (const { base, candidate } of alignKeys(free[0].map((at) => key(left[at])), free[1].map((at) => key(right[at])))) {
        if (base !== null && base === candidate) take(free[0][a], free[1][b]);
        a += base !== null;
        b += candidate !== null;
      }
      for (const at of free[0].filter((one) => partner[one] < 0)) {
        const other = free[1].find((one) => !taken.has(one) && key(right[one]) === key(left[at]));
        if (other !== undefined) take(at, other);
      }
    }
    return partner;
  }

  /** Which of `left` stand in another order than what they were paired with: as few as tell it. */
  function movedOf(partner) {
    const pairs = partner.map((to, from) => [from, to]).filter(([, to]) => to >= 0);
    const there = pairs.map(([, to]) => to);
    const inOrder = [...there].sort((one, other) => one - other);
    const kept = new Set();
    alignKeys(there, inOrder).forEach((row) => row.base !== null && row.base === row.candidate && kept.add(row.base));
    return new Set(pairs.filter(([, to]) => !kept.has(to)).map(([from]) => from));
  }

  app.diffing = { pairUp, movedOf, layOut, bothLaidOut, sameValue, words, lines, marks, alignKeys };
})(window.harnessApp);
