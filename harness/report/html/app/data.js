// The data blocks of the file. `overview` and `plots` are read at the start, a run's details when it is opened.
(function (app) {
  "use strict";

  function block(id) {
    const element = document.getElementById(id);
    return element ? JSON.parse(element.textContent) : null;
  }

  const details = new Map();
  const AT_MOST_OPEN = 8;

  /** The details of a row, or null where the file holds none. The last few that were opened stay read. */
  function detailOf(row) {
    const number = row && row.detail;
    if (number === null || number === undefined) return null;
    if (!details.has(number)) {
      if (details.size >= AT_MOST_OPEN) details.delete(details.keys().next().value);
      details.set(number, block(`detail-${number}`));
    }
    return details.get(number);
  }

  /** The part of a name before its first slash: scenarios lie in folders of their family. */
  function family(row) {
    const name = app.plain(row.name || row.id);
    const cut = name.indexOf("/");
    return cut > 0 ? name.slice(0, cut) : "";
  }

  /** All that free text is looked for in, in small letters; made once a row. */
  function haystack(row) {
    const parts = [row.id, row.name, row.arm, row.line, row.causeText, row.cause, row.base, row.candidate, row.where];
    parts.push(row.model, row.subject, row.reason, row.outcomeBase, row.outcomeCandidate, row.change);
    for (const names of [row.failing, row.rules]) if (Array.isArray(names)) parts.push(...names);
    return parts.map(app.plain).join("\n").toLowerCase();
  }

  /** Reads what is always shown. `rows` keep their place in the file as `index`: routes name them by it. */
  function readOverview() {
    details.clear();
    const overview = block("overview") || { format: "", review: {}, rows: [], nRows: 0 };
    const plots = block("plots");
    const rows = (overview.rows || []).map((row, index) => ({ ...row, index, family: family(row), text: haystack(row), facets: app.table({}) }));
    const comparison = (overview.review && overview.review.comparison) || {};
    // A file of one side (an evaluation, a sweep) has no base: its columns are left out.
    app.manyArms = new Set(rows.map((row) => row.arm || "")).size > 1;
    app.hasBase = Boolean(comparison.base) || rows.some((row) => row.outcomeBase);
    app.gated = ((overview.review && overview.review.verdict && overview.review.verdict.results) || []).length > 0;
    Object.assign(app, { overview, plotData: plots, rows, comparison, review: overview.review || {} });
    return app;
  }

  Object.assign(app, { readOverview, detailOf });
})(window.harnessApp);
