// Scales, ticks and labels that several plots share.
(function (app) {
  "use strict";
  const FAR = 30;
  const VERY_FAR = 1000;

  /** The kind of scale for values >= 0: by powers of ten where they lie far apart, by roots where some of them are 0. */
  function kindOf(values) {
    const some = values.filter((value) => value > 0);
    if (some.length < 2) return "linear";
    const ratio = Math.max(...some) / Math.min(...some);
    if (some.length === values.length) return ratio > FAR ? "log" : "linear";
    return ratio > VERY_FAR ? "sqrt" : "linear";
  }

  const KINDS = { linear: "", log: "Axes go by powers of ten.", sqrt: "Axes go by square roots, since some values are 0 and others lie far apart." };

  /** What is to be said of the axes of these values: nothing where equal lengths are equal amounts. */
  const axisNote = (values) => KINDS[kindOf(values)];

  function powers(low, high, steps) {
    const found = [];
    for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power += 1) {
      for (const step of steps) {
        const value = step * 10 ** power;
        if (value >= low * 0.999 && value <= high * 1.001) found.push(value);
      }
    }
    return found;
  }

  /** Few round places between two positive bounds. */
  function logTicks(low, high, most = 6) {
    for (const steps of [[1, 2, 5], [1, 3], [1]]) {
      const found = powers(low, high, steps);
      if (found.length <= most && found.length > 1) return found;
    }
    const tens = powers(low, high, [1]);
    const each = Math.ceil(tens.length / most) || 1;
    return tens.filter((_, at) => at % each === 0);
  }

  /** How many marks find place on so many pixels, where each is written as wide as the widest of these values. */
  function fitting(pixels, values, measure, most = 6) {
    const widest = values.reduce((n, value) => Math.max(n, measure.write(value).length, measure.write(value / 3).length), 1);
    return Math.max(2, Math.min(most, Math.floor(pixels / (widest * 6.6 + 14))));
  }

  /** From 0 to `high`; of what is counted only whole places are marked. */
  function linearOf(high, measure, most = 6) {
    const top = (high || 1) * 1.05;
    const ticks = d3.ticks(0, top, most).filter((value) => !measure.whole || Number.isInteger(value));
    return { type: "linear", label: null, tickFormat: (value) => measure.write(value), labelArrow: "none", domain: [0, top], ticks };
  }

  /** Options of an axis that shows these values (>= 0) as `measure` writes them. */
  function scaleOf(values, measure, most = 6) {
    const kind = kindOf(values);
    const high = values.reduce((a, b) => Math.max(a, b), 0) || 1;
    if (kind !== "log") return { ...linearOf(high, measure, most), type: kind };
    const low = values.reduce((a, b) => Math.min(a, b), high);
    const domain = [low / 1.15, high * 1.15];
    return { type: kind, label: null, tickFormat: (value) => measure.write(value), labelArrow: "none", domain, ticks: logTicks(...domain, most) };
  }

  /** A name for an axis: its end tells most, since names begin with what they share. */
  function ending(text, most) {
    const name = app.label(text, 400);
    const characters = Array.from(name);
    return characters.length <= most ? name : "…" + characters.slice(characters.length - most + 1).join("");
  }

  /** Room for names on the left, and how many characters find place in it. */
  function roomFor(names, width) {
    const most = Math.max(10, Math.floor((width * 0.38) / 6.4));
    const longest = names.reduce((n, name) => Math.max(n, Math.min(most, Array.from(app.label(name, 400)).length)), 4);
    return { most, margin: Math.round(longest * 6.4) + 16 };
  }

  const share = (value) => (app.known(value) ? `${(value * 100).toFixed(1)} %` : app.NONE);
  const points = (value) => (app.known(value) ? `${value > 0 ? "+" : value < 0 ? "−" : "±"}${Math.abs(value * 100).toFixed(1)}` : app.NONE);

  Object.assign(app.plots, { kindOf, axisNote, logTicks, fitting, linearOf, scaleOf, ending, roomFor, share, points });
})(window.harnessApp);
