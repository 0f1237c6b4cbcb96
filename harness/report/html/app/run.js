// The page of one run: what it came to, why, and the timeline; and the way to what the model saw.
(function (app) {
  "use strict";
  const { html, hooks } = app;
  const { useState, useMemo, useEffect, useLayoutEffect, useRef } = hooks;

  const differs = (pair) => pair.kind !== "equal";

  /** The block that holds an event, by its number; -1 where none in this file does. Blocks of several agents lie within each other. */
  const seqBlock = (side, seq) => (side ? side.blocks.findIndex((block) => block.seqs.some(([from, to]) => from <= seq && seq < to)) : -1);

  const pairOfBlock = (detail, side, block) => detail.pairs.findIndex((pair) => pair[side] === block);


  // A shut stretch takes the focus on its button.
  function focusPair(at, block) {
    window.requestAnimationFrame(() => {
      const element = document.querySelector(`[data-pair="${at}"]`);
      if (!element) return;
      element.scrollIntoView({ block: block || "nearest" });
      (element.matches(".shut") ? element.querySelector("button") : element).focus({ preventScroll: true });
    });
  }

  /** The list that a run is walked in: as it was filtered and ordered, or all of it where this one is not left in it. */
  function walked(row) {
    const listed = app.filterRows(app.rows, app.lastFilters || {}).rows;
    const rows = listed.includes(row) ? listed : app.rows;
    const at = rows.indexOf(row);
    return { before: rows[at - 1], after: rows[at + 1], at, n: rows.length, some: rows.length < app.rows.length };
  }

  const openRun = (row) => row && app.go({ page: "run", row: row.index });

  /** The pair that the address names; where it names none, or nothing that is one, that where the runs part. */
  function placeOf(detail, params) {
    const start = app.known(detail.shown) ? detail.shown : app.known(detail.first) ? detail.first : 0;
    const wanted = params.at === undefined ? NaN : Math.trunc(Number(params.at));
    return Math.max(0, Math.min(detail.pairs.length - 1, Number.isFinite(wanted) ? wanted : start));
  }

  /** Selection in the timeline: what moves it, by keyboard or by a click elsewhere on the page. */
  function useSelection(detail, params) {
    const [open, setOpen] = useState(() => new Set(detail.pairs.some(differs) ? [] : [0])); // all equal: nothing to find, so nothing is shut
    const at = placeOf(detail, params);
    const shown = useMemo(() => app.stops(detail, open), [detail, open]);
    const position = Math.max(0, shown.findIndex((stop) => at >= stop.from && at <= stop.to));
    const select = (index) => index !== at && app.stay({ at: index });
    function moveTo(stop, block) {
      if (!stop) return;
      app.stay({ at: stop.from });
      focusPair(stop.from, block);
    }
    /** To a pair that may lie in a shut stretch: it is opened. */
    function show(index) {
      const stop = shown.find((one) => index >= one.from && index <= one.to);
      if (stop && stop.from !== stop.to) setOpen(new Set(open).add(stop.from));
      app.stay({ at: index });
      focusPair(index, "center");
    }
    function toggle(from) {
      const next = new Set(open);
      if (!next.delete(from)) next.add(from);
      setOpen(next);
      app.stay({ at: from });
      focusPair(from);
    }
    function toNextDifference(by) {
      for (let k = position + by; k >= 0 && k < shown.length; k += by) if (differs(shown[k])) return moveTo(shown[k], "center");
      return undefined;
    }
    return { at, open, shown, position, select, moveTo, show, toggle, toNextDifference };
  }

  function useRunKeys(selection, detail, row) {
    const { shown, position } = selection;
    const stop = shown[position];
    const step = (by) => () => selection.moveTo(shown[Math.max(0, Math.min(shown.length - 1, position + by))]);
    app.useKeys({
      j: step(1), ArrowDown: step(1), k: step(-1), ArrowUp: step(-1),
      Home: () => selection.moveTo(shown[0]), End: () => selection.moveTo(shown[shown.length - 1]),
      n: () => selection.toNextDifference(1), p: () => selection.toNextDifference(-1),
      f: () => (app.known(detail.first) ? selection.show(detail.first) : false),
      Enter: () => (stop && stop.of === undefined && stop.kind === "equal" ? selection.toggle(stop.from) : openSeen(detail, row, selection.at)),
      e: () => stop && stop.kind === "equal" && selection.toggle(stop.of ?? stop.from),
      m: () => openSeen(detail, row, selection.at),
    }, 1);
  }

  const hasRequest = (detail, at) => {
    const { base, candidate } = app.pairBlocks(detail, detail.pairs[at]);
    return Boolean((base && base.request) || (candidate && candidate.request));
  };

  const hasRequests = (detail) => detail.pairs.some((pair, at) => hasRequest(detail, at));

  /** Says that the files hold no requests, and takes the focus when somebody asks for them all the same. */
  function NoRequests({ detail }) {
    const sides = ["base", "candidate"].filter((side) => detail[side]);
    const who = sides.map((side) => detail[side].subject).filter(Boolean).map((subject) => app.label(subject, 60));
    return html`<p class="note no-requests" tabindex="-1">What the model saw is not known: ${sides.length > 1 ? "the files of these runs hold" : "the file of this run holds"} no model request${who.length ? html` (${[...new Set(who)].join(", ")} tells of none)` : ""}.</p>`;
  }

  /** The step at or after this place whose request is known, else the one before it; -1 where none is. */
  function seenFrom(detail, at) {
    for (let k = at; k < detail.pairs.length; k += 1) if (hasRequest(detail, k)) return k;
    for (let k = at - 1; k >= 0; k -= 1) if (hasRequest(detail, k)) return k;
    return -1;
  }

  /** To what the model saw there. Where nothing is known of it, to the sentence that says so. */
  function openSeen(detail, row, at) {
    const found = seenFrom(detail, at);
    if (found >= 0) return app.go({ page: "run", row: row.index, params: { at: found, view: "seen" } });
    return app.reveal(document.querySelector(".no-requests"));
  }

  function seenStep(detail, at, by) {
    for (let k = at + by; k >= 0 && k < detail.pairs.length; k += by) if (hasRequest(detail, k)) return app.stay({ at: k });
    return undefined;
  }

  function SideFacts({ name, side }) {
    if (!side) return html`<div class=${`side-facts ${name}`}><span class="side-name">${app.sideName(name)}</span> <span class="muted">no run on this side</span></div>`;
    const facts = [side.nTurns > 1 && app.plural(side.nTurns, "turn"), app.plural(side.nSteps, "step"), side.nRequests > side.nSteps && app.plural(side.nRequests, "request"), app.ms(side.durationMs), side.model && app.label(side.model, 60), side.subject && app.label(side.subject, 60), side.trial !== undefined && side.trial !== null && `trial ${side.trial}`, app.known(side.seed) && `seed ${side.seed}`].filter(Boolean);
    return html`<div class=${`side-facts ${name}`}>
      <span class="side-name">${app.sideName(name)}</span> <${app.OutcomeBadge} word=${side.outcome} /> <strong>${app.label(side.status, 40)}</strong>${side.reason && html` <span>(<${app.Text} value=${side.reason} />)</span>`}${side.state && html` <span class="state">${app.label(side.state, 160)}</span>`}
      <div class="muted">${facts.join(" · ")}</div>
      ${side.parent && html`<div class="muted">Goes on from run <code><${app.Text} value=${side.parent.runId} /></code> behind its event ${app.plain(side.parent.seq)}: <${app.Text} value=${side.parent.why} /></div>`}
      ${side.realTime && html`<div class="muted">In real time: <${app.Text} value=${side.realTime} /></div>`}
      ${side.torn && html`<p class="note">The last line of its file is torn, and not read.</p>`}
      ${side.interrupted && html`<p class="note">The run was interrupted: its file has no end.</p>`}
      ${side.alive && side.alive.length > 0 && html`<p class="note bad">Still running when it was over: <strong>${app.label(side.alive.join(", "), 400)}</strong></p>`}
      ${side.file && html`<div class="muted file"><code><${app.Text} value=${side.file} /></code></div>`}
    </div>`;
  }

  /** Where the scenario is written, of those that are told first. */
  function Source({ row }) {
    const source = (app.review.sources || []).find((one) => one.scenario === row.name);
    return source ? html`<div class="muted source">written in <code><${app.Text} value=${`${source.file}:${source.line}`} /></code></div>` : null;
  }

  function Head({ row, detail }) {
    const { before, after, at, n, some } = useMemo(() => walked(row), [row]);
    return html`<header class="run-head">
      <div class="run-title">
        <a href=${app.writeRoute({ page: "overview", params: app.lastFilters || {} })} class="back" title="back to all scenarios (Esc)">← all scenarios</a>
        <h2 tabindex="-1"><${app.Text} value=${row.name || row.id} />${app.manyArms && row.arm && html` <span class="muted">@<${app.Text} value=${row.arm} /></span>`}</h2>
        <${app.Badge} word=${row.change || row.outcomeCandidate} /> <${app.Outcomes} base=${row.outcomeBase} candidate=${row.outcomeCandidate} />
        <span class="buttons">
          <span class="muted walked">${app.count(at + 1)} of ${app.count(n)}${some ? " listed" : ""}</span>
          <button type="button" onClick=${() => openRun(before)} disabled=${!before} title="previous scenario of the list ( [ )">‹ previous</button>
          <button type="button" onClick=${() => openRun(after)} disabled=${!after} title="next scenario of the list ( ] )">next ›</button>
        </span>
      </div>
      <${Source} row=${row} />
      ${detail && html`<div class="run-sides">${app.hasBase && html`<${SideFacts} name="base" side=${detail.base} />`}<${SideFacts} name="candidate" side=${detail.candidate} /></div>`}
    </header>`;
  }

  /** Context size per step, drawn by the plots' own code into an element that preact leaves alone. */
  function ContextPlot({ entry }) {
    const room = useRef(null);
    useLayoutEffect(() => window.harnessPlots.context(room.current, entry), [entry]); // before the page goes to paper
    return html`<div ref=${room}></div>`;
  }

  function Context({ row }) {
    const entry = ((app.plotData && app.plotData.context) || []).find((one) => one.detail === row.detail);
    if (!entry || !window.harnessPlots || !window.harnessPlots.context) return null;
    return html`<div class="context-plot"><${app.Fold} title="Context size at each step"><${ContextPlot} entry=${entry} /><//></div>`;
  }

  function WithDetail({ row, detail, params }) {
    const selection = useSelection(detail, params);
    useRunKeys(selection, detail, row);
    useLayoutEffect(() => {
      // A link to a step leads there; else the page begins with why.
      if (params.at === undefined) {
        window.scrollTo(0, 0);
        document.querySelector(".run-head h2").focus({ preventScroll: true });
      } else focusPair(selection.at, "center");
    }, []);
    const requests = useMemo(() => hasRequests(detail), [detail]);
    const everything = useMemo(() => new Set(detail.pairs.keys()), [detail]);
    const open = app.usePrinting() ? everything : selection.open;
    const toBlock = (side, block) => selection.show(pairOfBlock(detail, side, block));
    const toEvent = (side, seq) => toBlock(side, seqBlock(detail[side], seq));
    toEvent.holds = (side, seq) => seqBlock(detail[side], seq) >= 0;
    return html`<main class="run">
      <${Head} row=${row} detail=${detail} />
      <${app.Why} row=${row} detail=${detail} onEvent=${toEvent} />
      <${app.RunMap} base=${detail.base} candidate=${detail.candidate} onBlock=${toBlock} />
      <${Context} row=${row} />
      <div class="timeline-head"><h3>Timeline</h3>
        <div class="buttons">
          ${app.known(detail.first) && html`<button type="button" onClick=${() => selection.show(detail.first)}>first divergence <${app.Key}>f<//></button>`}
          <button type="button" onClick=${() => selection.toNextDifference(-1)}>previous <${app.Key}>p<//></button>
          <button type="button" onClick=${() => selection.toNextDifference(1)}>next difference <${app.Key}>n<//></button>
          ${requests && html`<button type="button" onClick=${() => openSeen(detail, row, selection.at)}>what the model saw <${app.Key}>m<//></button>`}
        </div>
      </div>
      ${!requests && html`<${NoRequests} detail=${detail} />`}
      ${detail.cutText > 0 && html`<${app.CutNote} n=${detail.cutText} />`}
      <${app.Timeline} detail=${detail} at=${selection.at} open=${open} onSelect=${selection.select} onToggle=${selection.toggle} row=${row.index} />
    </main>`;
  }

  function WithoutDetail({ row }) {
    return html`<main class="run">
      <${Head} row=${row} detail=${null} />
      <${app.Why} row=${row} detail=${null} />
      <p class="note">The runs of this scenario are not in this file${app.inFull(app.overview) ? `. It holds ${app.inFull(app.overview)}` : ""}; their own files hold them.</p>
    </main>`;
  }

  function Run({ index, params }) {
    const row = app.rows[index];
    const leave = () => app.go({ page: "overview", params: app.lastFilters || {} });
    app.useKeys({ Escape: leave, "[": () => row && openRun(walked(row).before), "]": () => row && openRun(walked(row).after) }, 0.5);
    if (!row) return html`<main class="run"><p class="empty">This file has no scenario number ${index}. <a href="#/">All scenarios</a></p></main>`;
    const detail = app.detailOf(row);
    if (!detail || !detail.pairs || detail.pairs.length === 0) return html`<${WithoutDetail} row=${row} />`;
    const at = seenFrom(detail, placeOf(detail, params));
    if (params.view === "seen" && at >= 0) return html`<${app.Seen} detail=${detail} row=${row} at=${at} step=${(by) => seenStep(detail, at, by)} />`;
    return html`<${WithDetail} key=${index} row=${row} detail=${detail} params=${params} />`;
  }

  Object.assign(app, { Run });
})(window.harnessApp);
