// The list of scenarios. Only rows in sight (and a few around) are in the page: every row is equally high.
(function (app) {
  "use strict";
  const { html, hooks } = app;
  const { useState, useRef, useLayoutEffect, useEffect, useCallback, useMemo } = hooks;
  const AROUND = 8;
  const NOTHING = app.table({ same: "no difference", missing: "in the base only", new: "in the candidate only" });

  /** First and last row in sight of a list that scrolls with the page. Printing shows them all. */
  function useWindow(list, n) {
    const [range, set] = useState({ from: 0, to: 40, height: 52 });
    const measure = useCallback(() => {
      if (!list.current) return;
      const height = parseFloat(getComputedStyle(list.current).getPropertyValue("--row-height")) || 52;
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

  function Delta({ base, candidate, write, name, mean }) {
    if (!app.hasBase) return html`<span class="cell delta number" role="cell" data-name=${name}>${write(candidate)}</span>`;
    const text = app.signed(base, candidate, write);
    const tone = text.startsWith("+") ? "more" : text ? "less" : "none";
    const both = app.told(base) && app.told(candidate);
    const title = both ? `${name}: ${write(base)} → ${write(candidate)}${mean}` : `${name}: not known on both sides`;
    return html`<span class=${`cell delta number ${tone}`} role="cell" title=${title} data-name=${name}>${text || (both ? "=" : app.NONE)}</span>`;
  }

  function Parted({ row }) {
    if (row.base || row.candidate) {
      return html`<span class="parted" title=${app.label(row.line || "", 400)}>
        <code class="from">${app.label(row.base ?? app.NONE, 120)}</code><span class="arrow">→</span><code class="to">${app.label(row.candidate ?? app.NONE, 120)}</code>
      </span>`;
    }
    const words = NOTHING[row.change] || row.line || row.reason || "";
    return html`<span class="parted muted" title=${app.label(row.line || words, 400)}><span class="where">${app.label(words, 160)}</span></span>`;
  }

  // Trials that passed, where there were several: that says more than one word.
  function TrialsSide({ passed, n, outcome }) {
    if (!n) return html`<span class="muted">${app.NONE}</span>`;
    if (n === 1) return html`<${app.OutcomeBadge} word=${outcome} />`;
    return html`<span class=${`outcome ${app.tone(outcome)}`} title=${`${app.label(outcome, 20)}: ${passed} of ${n} trials passed`}>${passed}/${n}</span>`;
  }

  function Result({ row }) {
    if (!(row.nBase > 1 || row.nCandidate > 1)) return html`<${app.Outcomes} base=${row.outcomeBase} candidate=${row.outcomeCandidate} />`;
    const candidate = html`<${TrialsSide} passed=${row.passedCandidate} n=${row.nCandidate} outcome=${row.outcomeCandidate} />`;
    if (!app.hasBase || (row.nBase === row.nCandidate && row.passedBase === row.passedCandidate && row.outcomeBase === row.outcomeCandidate)) return candidate;
    return html`<span class="outcomes"><${TrialsSide} passed=${row.passedBase} n=${row.nBase} outcome=${row.outcomeBase} /><span class="arrow"> → </span>${candidate}</span>`;
  }

  // The folder may be cut first: the end of a name tells them apart.
  function Name({ row }) {
    const name = app.label(row.name || row.id, 160);
    const cut = name.lastIndexOf("/") + 1;
    return html`${cut > 0 && html`<span class="folder">${name.slice(0, cut)}</span>`}<span class="leaf">${name.slice(cut)}</span>`;
  }

  const DELTAS = [
    { name: "steps", base: "stepsBase", candidate: "stepsCandidate", write: app.amount, width: "48px" },
    { name: "tokens", base: "tokensBase", candidate: "tokensCandidate", write: app.amount, width: "58px" },
    { name: "cost", base: "costBase", candidate: "costCandidate", write: app.money, width: "70px" },
    { name: "time", sort: "latency", base: "latencyBase", candidate: "latencyCandidate", write: app.ms, width: "66px" },
  ];

  /** Columns of amounts that some run knows; without any, the names get the room. */
  function deltas() {
    const told = (key) => app.rows.some((row) => row[key]);
    return DELTAS.filter(({ base, candidate }) => told(base) || told(candidate));
  }

  const FATES = app.table({ failed: ["bad", "fails"], errored: ["bad", "error"], held: ["calm", "held back"], warned: ["warn", "warned of"], undecided: ["warn", "not decided"] });

  /** What the gate makes of a row, and by which rules. Without a gate every difference fails, which its own word says. */
  function Fate({ row }) {
    const [tone, word] = FATES[row.fate] || [];
    if (!word || (row.fate === "failed" && !app.gated)) return null;
    const rules = (row.rules || []).join(", ");
    const text = rules ? `${word}: ${rules}` : word;
    return html`<span class=${`badge fate ${tone}`} title=${app.label(text, 300)}>${app.label(text, 60)}</span>`;
  }

  const differText = (row) => (row.nBase > 1 && row.nCandidate > 1 && row.nDiffer > 0 ? `${app.plural(row.nDiffer, "pair")} of trials ${row.nDiffer === 1 ? "differs" : "differ"}` : null);
  const meanText = (row) => (row.nBase > 1 || row.nCandidate > 1 ? ` (means of ${row.nBase} and ${row.nCandidate} trials)` : "");

  function Row({ row, selected, onSelect, columns }) {
    const where = row.where || (app.known(row.step) ? `step ${row.step}` : "");
    return html`<div class=${`run-row ${selected ? "selected" : ""}`} role="row" data-row=${row.index}
      onClick=${(event) => event.target.closest("a") || app.go({ page: "run", row: row.index })}>
      <span class="cell change" role="cell"><${app.Badge} word=${row.change || row.outcomeCandidate} /></span>
      <span class="cell main" role="cell"><span class="name">
        <a href=${app.runHref(row.index)} tabindex=${selected ? 0 : -1} onFocus=${() => onSelect(row)} title=${app.label(row.name || row.id, 300)}><${Name} row=${row} /></a>
        ${where && html`<span class="where">${app.label(where, 80)}</span>`}
        ${app.manyArms && row.arm && html`<span class="arm muted">@${app.label(row.arm, 40)}</span>`}
        <${Fate} row=${row} />
        ${row.quarantined && row.fate !== "held" && html`<span class="badge calm" title="quarantined: a known flake">flake</span>`}
      </span><${Parted} row=${row} /></span>
      <span class="cell cause" role="cell" title=${app.label(row.causeText || row.cause || "", 300)}>${app.label(row.causeText || row.cause || "", 80)}</span>
      <span class="cell result" role="cell" title=${differText(row)}><${Result} row=${row} /></span>
      ${columns.map((one) => html`<${Delta} key=${one.name} base=${row[one.base]} candidate=${row[one.candidate]} write=${one.write} name=${one.name} mean=${meanText(row)} />`)}
    </div>`;
  }

  function HeadCell({ name, sort, params, children }) {
    if (!sort) return html`<span class=${`cell ${name}`} role="columnheader">${children}</span>`;
    const on = params.sort === sort;
    return html`<span class=${`cell ${name}`} role="columnheader" aria-sort=${on ? (sort === "name" || sort === "step" ? "ascending" : "descending") : "none"}>
      <button type="button" class=${on ? "column on" : "column"} onClick=${() => app.stay({ sort: on ? "" : sort })}>${children}</button>
    </span>`;
  }

  function Head({ params, columns }) {
    return html`<div class="run-row head" role="row">
      <${HeadCell} name="change">change<//>
      <${HeadCell} name="main" sort="name" params=${params}>${app.hasBase ? "scenario, and where the sides part" : "scenario"}<//>
      <${HeadCell} name="cause">cause<//>
      <${HeadCell} name="result">outcome<//>
      ${columns.map((one) => html`<${HeadCell} key=${one.name} name="delta" sort=${one.sort || one.name} params=${params}>${one.name}<//>`)}
    </div>`;
  }

  /** All rows that fit, as a table that only holds those in sight. */
  function Rows({ rows, params, selected, onSelect }) {
    const list = useRef(null);
    const { from, to, height } = useWindow(list, rows.length);
    const columns = useMemo(deltas, []);
    const result = app.rows.some((row) => row.nBase > 1 || row.nCandidate > 1) || !app.hasBase ? "86px" : "126px";
    const widths = `74px minmax(0, 1fr) minmax(172px, 0.4fr) ${result} ${columns.map((one) => one.width).join(" ")}`;
    return html`<div class="runs" role="table" style=${{ "--columns": widths }} aria-label="scenarios" aria-rowcount=${rows.length + 1}>
      <${Head} params=${params} columns=${columns} />
      <div class="run-rows" role="rowgroup" ref=${list} style=${{ paddingTop: `${from * height}px`, paddingBottom: `${Math.max(0, rows.length - to) * height}px` }}>
        ${rows.slice(from, to).map((row) => html`<${Row} key=${row.index} row=${row} selected=${row.index === selected} onSelect=${onSelect} columns=${columns} />`)}
      </div>
    </div>`;
  }

  Object.assign(app, { Rows });
})(window.harnessApp);
