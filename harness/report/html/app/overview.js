// The first page: verdict, filters, the list of all scenarios.
(function (app) {
  "use strict";
  const { html, hooks } = app;
  const { useMemo, useRef, useState, useEffect, useLayoutEffect } = hooks;

  // Where the reader was in the list, for the way back from a run.
  let lastSelected = null;

  function scrollToRow(list, position, rowHeight) {
    const top = list.getBoundingClientRect().top + window.scrollY + position * rowHeight;
    const room = 120; // the bar at the top and the head of the list
    if (top - room < window.scrollY) window.scrollTo(0, top - room);
    else if (top + rowHeight + 24 > window.scrollY + window.innerHeight) window.scrollTo(0, top + rowHeight + 24 - window.innerHeight);
  }

  function focusRow(index) {
    const link = document.querySelector(`.run-row[data-row="${index}"] a`);
    if (link) link.focus({ preventScroll: true });
    return link !== null;
  }

  /** Moves the selection and, once the row is in the page, the focus. */
  function useSelection(rows) {
    const [selected, set] = useState(lastSelected);
    const wanted = useRef(null);
    useEffect(() => {
      lastSelected = selected;
    }, [selected]);
    function moveTo(position) {
      const row = rows[Math.max(0, Math.min(rows.length - 1, position))];
      if (!row) return;
      const list = document.querySelector(".run-rows");
      const height = parseFloat(getComputedStyle(list).getPropertyValue("--row-height")) || 52;
      scrollToRow(list, rows.indexOf(row), height);
      // At once where the row is in the page: the next key may come before the next frame, and belongs to the list.
      if (!focusRow(row.index)) {
        document.activeElement.blur();
        wanted.current = row.index;
      }
      set(row.index);
    }
    useEffect(() => {
      if (wanted.current === null) return undefined;
      // The scroll brings the row into the page a frame later.
      const frame = window.requestAnimationFrame(() => {
        focusRow(wanted.current);
        wanted.current = null;
      });
      return () => window.cancelAnimationFrame(frame);
    });
    const position = rows.findIndex((row) => row.index === selected);
    return { selected, select: (row) => set(row.index), position, moveTo };
  }

  function Search({ params, field, onEnterList }) {
    function onKey(event) {
      if (event.key === "ArrowDown" || event.key === "Enter") onEnterList();
      else if (event.key === "Escape") event.target.value ? app.stay({ q: "" }) : event.target.blur();
      else return;
      event.preventDefault();
      event.stopPropagation();
    }
    return html`<input ref=${field} class="search" type="search" placeholder="Filter: name, tool, cause, model …  ( / )" aria-label="filter scenarios by text"
      value=${params.q || ""} onInput=${(event) => app.stay({ q: event.target.value })} onKeyDown=${onKey} />`;
  }

  function usePageKeys(selection, rows, field) {
    const step = (by) => () => selection.moveTo(selection.position < 0 ? 0 : selection.position + by);
    const keys = {
      "/": () => field.current.select(),
      j: step(1), ArrowDown: step(1), k: step(-1), ArrowUp: step(-1),
      PageDown: step(15), PageUp: step(-15),
      Home: () => selection.moveTo(0), End: () => selection.moveTo(rows.length - 1),
      Enter: () => (selection.position < 0 ? false : app.go({ page: "run", row: selection.selected })),
      x: app.clearFilters,
    };
    keys.n = () => nextChanged(selection, rows, 1);
    keys.p = () => nextChanged(selection, rows, -1);
    keys.f = () => selection.moveTo(Math.max(0, rows.findIndex((row) => row.change !== "same")));
    app.useKeys(keys, 1);
  }

  function nextChanged(selection, rows, by) {
    for (let at = selection.position + by; at >= 0 && at < rows.length; at += by) {
      if (rows[at].change !== "same") return selection.moveTo(at);
    }
    return undefined;
  }

  /** What became of all scenarios, also of those that are not listed. */
  const allCounts = ({ counts = {} }) => app.CHANGES.filter((kind) => counts[kind] > 0).map((kind) => `${kind} ${app.count(counts[kind])}`).join(", ");

  const WHY = app.table({ number: "this file tells no more than that", size: "for more there was no room in this file" });

  /** Of how many scenarios the runs are in this file, and why not of more; nothing where of all. */
  function inFull({ nDetails, detailsLeftOut }) {
    const why = detailsLeftOut && detailsLeftOut.n > 0 && WHY[detailsLeftOut.why];
    return why ? `the runs of ${app.plural(nDetails, "scenario")} in full, the most interesting first: ${why}` : "";
  }

  function Listed({ rows, params }) {
    const { overview } = app;
    const left = overview.nRows - app.rows.length;
    return html`<p class="listed" role="status" aria-live="polite">
      <strong>${app.count(rows.length)}</strong> of ${app.plural(app.rows.length, "scenario")}
      ${left > 0 && html` <span class="muted">(${app.count(left)} more are not in this file: the least interesting ones; of all ${app.plural(overview.nRows, "scenario")}: ${allCounts(overview)})</span>`}
      ${inFull(overview) && html` <span class="muted in-full">${inFull(overview)}</span>`}
      ${app.anyFilter(params) && html` <button type="button" class="quiet" onClick=${app.clearFilters}>clear filters</button>`}
    </p>`;
  }

  function Overview({ params }) {
    const field = useRef(null);
    const { rows, counts } = useMemo(() => app.filterRows(app.rows, params), [params]);
    const selection = useSelection(rows);
    usePageKeys(selection, rows, field);
    useLayoutEffect(() => {
      // Back from a run: where one was. Otherwise: the top.
      if (lastSelected !== null && selection.position > 0) selection.moveTo(selection.position);
      else window.scrollTo(0, 0);
    }, []);
    const [open, setOpen] = useState(false);
    return html`<main class="overview">
      <${app.Banner} />
      <section class="browse" aria-label="scenarios">
        <div class="toolbar">
          <${Search} params=${params} field=${field} onEnterList=${() => selection.moveTo(Math.max(0, selection.position))} />
          <${app.ChangeChips} params=${params} counts=${counts} />
          <button type="button" class="facets-button" aria-expanded=${open ? "true" : "false"} onClick=${() => setOpen(!open)}>Filters</button>
          <${app.SortSelect} params=${params} />
        </div>
        <div class=${open ? "columns facets-open" : "columns"}>
          <aside aria-label="filters"><${app.Facets} params=${params} counts=${counts} /></aside>
          <div class="list">
            <${Listed} rows=${rows} params=${params} />
            <${app.Rows} rows=${rows} params=${params} selected=${selection.position < 0 ? (rows[0] || {}).index : selection.selected} onSelect=${selection.select} />
            ${rows.length === 0 && html`<p class="empty">Nothing fits. <button type="button" class="quiet" onClick=${app.clearFilters}>clear filters</button> (<${app.Key}>x<//>)</p>`}
          </div>
        </div>
      </section>
    </main>`;
  }

  Object.assign(app, { Overview, inFull });
})(window.harnessApp);
