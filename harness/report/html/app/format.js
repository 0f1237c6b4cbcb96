// Numbers for people. Unknown is an en dash, never 0.
(function (app) {
  "use strict";
  const NONE = "–";
  const grouped = new Intl.NumberFormat("en-US");

  const known = (value) => typeof value === "number" && Number.isFinite(value);
  // Whole numbers that JavaScript would round come as their digits.
  const digits = (value) => typeof value === "string" && /^-?\d+$/.test(value);
  /** A number that is told, whether or not JavaScript can hold it exactly. */
  const told = (value) => known(value) || digits(value);
  /** The nearest number that JavaScript has, for drawing and for order; null where nothing is told. */
  const number = (value) => (known(value) ? value : digits(value) ? Number(value) : null);
  const count = (value) => (known(value) ? grouped.format(value) : digits(value) ? value : NONE);
  const plural = (n, one, many = one + "s") => `${count(n)} ${n === 1 ? one : many}`;

  function trimmed(value, places) {
    return value.toFixed(places).replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "");
  }

  /** Milliseconds as ms, s or min. */
  function ms(value) {
    if (digits(value)) return `${value} ms`;
    if (!known(value)) return NONE;
    const size = Math.abs(value);
    if (size < 1000) return `${trimmed(value, size < 10 ? 1 : 0)} ms`;
    if (size < 60000) return `${trimmed(value / 1000, 2)} s`;
    return `${trimmed(value / 60000, 1)} min`;
  }

  /** Micro-dollars as dollars, with as many places as are told. */
  function money(value) {
    if (digits(value)) return `${value} µ$`;
    if (!known(value)) return NONE;
    const dollars = value / 1e6;
    const size = Math.abs(dollars);
    if (size === 0) return "$0";
    return (value < 0 ? "−$" : "$") + (size >= 1 ? size.toFixed(2) : trimmed(size, size >= 0.01 ? 4 : 6));
  }

  /** Candidate against base in percent, with its sign. */
  function percent(from, to) {
    const [base, candidate] = [number(from), number(to)];
    if (!known(base) || !known(candidate) || base === 0) return "";
    const change = ((candidate - base) / base) * 100;
    if (Math.abs(change) < 0.05) return "±0 %";
    return `${change > 0 ? "+" : "−"}${trimmed(Math.abs(change), Math.abs(change) < 10 ? 1 : 0)} %`;
  }

  const whole = (value) => digits(value) || Number.isInteger(value);

  /** Candidate less base, as a number or, where that would round it, as digits; null where a side is not told. */
  function difference(base, candidate) {
    if (!told(base) || !told(candidate)) return null;
    if (!(digits(base) || digits(candidate)) || !(whole(base) && whole(candidate))) return number(candidate) - number(base);
    const by = BigInt(candidate) - BigInt(base);
    return Number.isSafeInteger(Number(by)) ? Number(by) : String(by);
  }

  /** A signed difference written by `write`; empty where a side is not known or nothing differs. */
  function signed(base, candidate, write = count) {
    const by = difference(base, candidate);
    if (by === null || by === 0) return "";
    if (digits(by)) return by.startsWith("-") ? `−${write(by.slice(1))}` : `+${write(by)}`;
    return by > 0 ? `+${write(by)}` : `−${write(-by)}`;
  }

  /** A number that may be a mean: with two places where it is small, none where it is large. */
  function amount(value) {
    if (!known(value)) return count(value);
    const size = Math.abs(value);
    return count(Number(value.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : 2)));
  }

  const commit = (text) => (text ? app.label(text, 12).slice(0, 10) : "");

  Object.assign(app, { NONE, known, told, number, count, plural, ms, money, percent, difference, signed, amount, commit });
})(window.harnessApp);
