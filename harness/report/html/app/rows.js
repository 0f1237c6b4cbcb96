// The list of runs. Only rows in sight (and a few around) are in the page: every row is equally high.
(function (app) {
  "use strict";
  const { html, hooks } = app;
  const { useState, useRef, useLayoutEffect, useEffect, useCallback } = hooks;
  const AROUND = 12;

  /** First and last row in sight of a list that scrolls with the page. Printing shows them all. */
  function useWindow(list, n) {
    const [range, set] = useState({ from: 0, to: 40, height: 34 });
    const measure = useCallback(() => {
      if (!list.current) return;
      const height = parseFloat(getComputedStyle(list.current).getPropertyValue("--row-height")) || 34;
      const above = -list.current.getBoundingClientRect().top;
      // Whole steps of AROUND: most scroll events change nothing.
      const from = Math.max(0, Math.floor((above / height - AROUND) / AROUND) * AROUND);
      const to = from + Math.ceil(window.innerHeight / height / AROUND) * AROUND + 3 * AROUND;
      set((old) => (old.from === from && old.to === to && old.height === height ? old : { from, to, height }));
    }, []);
    useLayoutEffect(measure, [n]);
    useEffect(() => {
      const all = () => set((old) => ({ ...old, from: 0, to: Infinity }));
      window.addEventListener("scroll", measure, { passive: true });
      window.addEventListener("resize", measure);
      window.addEventListener("beforeprint", all);
      window.addEventListener("afterprint", measure);
      return () => {
        window.removeEventListener("scroll", measure);
        window.removeEventListener("resize", measure);
        window.removeEventListener("beforeprint", all);
        window.removeEventListener("afterprint", measure);
      };
    }, []);
    return { ...range, to: Math.min(range.to, n), from: Math.min(range.from, Math.max(0, n - 1)) };
  }

  function Delta({ base, candidate, write, name }) {
    if (!app.hasBase) return html`<span class="cell delta number" role="cell" data-name=${name}>${write(candidate)}</span>`;
    const text = app.signed(base, candidate, write);
    const tone = text.startsWith("+") ? "more" : text ? "less" : "none";
    const both = app.known(base) && app.known(candidate);
    const title = both ? `${name}: ${write(base)} → ${write(candidate)}` : `${name}: not known on both sides`;
    return html`<span class=${`cell delta number ${tone}`} role="cell" title=${title} data-name=${name}>${text || (both ? "=" : app.NONE)}</span>`;
  }

  function Parted({ row }) {
    if (row.base || row.candidate) {
      return html`<span class="cell parted" role="cell" title=${app.label(row.line || "", 400)}>
        <span class="where">${row.step !== null && row.step !== undefined ? `step ${row.step}` : app.label(row.where || "", 30)}</span>
        <code class="from">${app.label(row.base || app.NONE, 120)}</code><span class="arrow">→</span><code class="to">${app.label(row.candidate || app.NONE, 120)}</code>
      </span>`;
    }
    const words = row.line || { same: "no difference", missing: "not among the candidate's runs", new: "not among the base's runs" }[row.change] || row.reason || "";
    return html`<span class="cell parted muted" role="cell" title=${app.label(words, 400)}>${app.label(words, 160)}</span>`;
  }

  function Trials({ row }) {
    if (!(row.nBase > 1 || row.nCandidate > 1)) return null;
    const side = (passed, n) => `${app.count(passed || 0)}/${app.count(n || 0)}`;
    const text = app.hasBase ? `${side(row.passedBase, row.nBase)} → ${side(row.passedCandidate, row.nCandidate)}` : side(row.passedCandidate, row.nCandidate);
    return html` <span class="trials muted" title="trials that passed">${text}</span>`;
  }

  function Row({ row, selected, onSelect }) {
    const href = app.runHref(row.index);
    return html`<div class=${`run-row ${selected ? "selected" : ""}`} role="row" data-row=${row.index}
      onClick=${(event) => event.target.closest("a") || app.go({ page: "run", row: row.index })}>
      <span class="cell change" role="cell"><${app.Badge} word=${row.change || row.outcomeCandidate} /></span>
      <span class="cell name" role="cell">
        <a href=${href} tabindex=${selected ? 0 : -1} onFocus=${() => onSelect(row)} title=${app.label(row.name || row.id, 300)}>${app.label(row.name || row.id, 120)}</a>
        ${row.arm && html` <span class="arm muted">@${app.label(row.arm, 40)}</span>`}
        ${row.quarantined && html` <span class="badge calm" title="a known flake">quarantined</span>`}
      </span>
      <${Parted} row=${row} />
      <span class="cell cause" role="cell" title=${app.label(row.causeText || row.cause || "", 300)}>${app.label(row.causeText || row.cause || "", 80)}</span>
      <span class="cell result" role="cell"><${app.Outcomes} base=${row.outcomeBase} candidate=${row.outcomeCandidate} /><${Trials} row=${row} /></span>
      <${Delta} base=${row.stepsBase} candidate=${row.stepsCandidate} write=${app.count} name="steps" />
      <${Delta} base=${row.tokensBase} candidate=${row.tokensCandidate} write=${app.count} name="tokens" />
      <${Delta} base=${row.costBase} candidate=${row.costCandidate} write=${app.money} name="cost" />
    </div>`;
  }

  function HeadCell({ name, sort, params, children }) {
    if (!sort) return html`<span class=${`cell ${name}`} role="columnheader">${children}</span>`;
    const on = params.sort === sort;
    return html`<span class=${`cell ${name}`} role="columnheader" aria-sort=${on ? (sort === "name" || sort === "step" ? "ascending" : "descending") : "none"}>
      <button type="button" class=${on ? "column on" : "column"} onClick=${() => app.stay({ sort: on ? "" : sort })}>${children}</button>
    </span>`;
  }

  function Head({ params }) {
    return html`<div class="run-row head" role="row">
      <${HeadCell} name="change">change<//>
      <${HeadCell} name="name" sort="name" params=${params}>scenario<//>
      <${HeadCell} name="parted" sort="step" params=${params}>where they part<//>
      <${HeadCell} name="cause">cause<//>
      <${HeadCell} name="result">outcome<//>
      <${HeadCell} name="delta" sort="steps" params=${params}>steps<//>
      <${HeadCell} name="delta" sort="tokens" params=${params}>tokens<//>
      <${HeadCell} name="delta" sort="cost" params=${params}>cost<//>
    </div>`;
  }

  /** All rows that fit, as a table that only holds those in sight. */
  function Rows({ rows, params, selected, onSelect }) {
    const list = useRef(null);
    const { from, to, height } = useWindow(list, rows.length);
    return html`<div class="runs" role="table" aria-label="runs" aria-rowcount=${rows.length + 1}>
      <${Head} params=${params} />
      <div class="run-rows" role="rowgroup" ref=${list} style=${{ paddingTop: `${from * height}px`, paddingBottom: `${Math.max(0, rows.length - to) * height}px` }}>
        ${rows.slice(from, to).map((row) => html`<${Row} key=${row.index} row=${row} selected=${row.index === selected} onSelect=${onSelect} />`)}
      </div>
    </div>`;
  }

  Object.assign(app, { Rows });
})(window.harnessApp);
