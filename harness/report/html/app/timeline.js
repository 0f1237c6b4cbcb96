// Both runs side by side: pairs of blocks in their aligned order; long equal stretches are shut.
(function (app) {
  "use strict";
  const { html, hooks } = app;
  const { useMemo } = hooks;
  const SHUT_FROM = 2;
  const LONG = 80; // from here on the browser may leave out of its work what is not in sight
  const SIGNS = app.table({ equal: "=", changed: "≠", "only-base": "−", "only-candidate": "+" });
  const WORDS = app.table({ equal: "equal", changed: "differs", "only-base": "only in the base", "only-candidate": "only in the candidate" });

  /** Pairs, where equal ones that follow each other are one stretch {from, to}; others stand alone (from === to). */
  function stretches({ pairs, gaps = [] }) {
    const out = [];
    const broken = new Set(gaps.map((gap) => gap.at));
    pairs.forEach((pair, index) => {
      const last = out[out.length - 1];
      if (pair.kind === "equal" && last && last.kind === "equal" && !broken.has(index)) last.to = index;
      else out.push({ kind: pair.kind, from: index, to: index });
    });
    return out;
  }

  const isShut = (one, open) => one.kind === "equal" && one.to - one.from + 1 >= SHUT_FROM && !open.has(one.from);

  /** What can be selected, in order: each pair that is shown, and each shut stretch as one (by its first pair). */
  function stops(detail, open) {
    return stretches(detail).flatMap((one) => {
      if (isShut(one, open)) return [one];
      return Array.from({ length: one.to - one.from + 1 }, (_, k) => ({ kind: one.kind, from: one.from + k, to: one.from + k, of: one.from }));
    });
  }

  const blockOf = (detail, side, index) => (index === null || index === undefined || !detail[side] ? null : detail[side].blocks[index]);

  function pairBlocks(detail, pair) {
    return { base: blockOf(detail, "base", pair.base), candidate: blockOf(detail, "candidate", pair.candidate) };
  }

  function nameOf(detail, pair) {
    const { base, candidate } = pairBlocks(detail, pair);
    return app.blockName(base || candidate || { kind: "step" });
  }

  function stretchName(detail, { from, to }) {
    const pairs = detail.pairs.slice(from, to + 1);
    const blocks = pairs.map((pair) => pairBlocks(detail, pair).base || pairBlocks(detail, pair).candidate);
    const steps = blocks.filter((block) => block && block.kind === "step");
    const calls = steps.reduce((sum, block) => sum + (block.calls || []).length, 0);
    if (steps.length === 0) return `${app.plural(pairs.length, "equal block")}: ${blocks.map((block) => app.blockName(block)).join(", ")}`;
    const agents = new Set(steps.map((block) => app.plain(block.agent)));
    const numbers = steps.length === 1 || agents.size > 1 ? "" : ` (${steps[0].step} to ${steps[steps.length - 1].step})`;
    return `${app.plural(steps.length, "equal step")}${numbers}${calls ? `, ${app.plural(calls, "call")}` : ""}`;
  }

  function Shut({ detail, stop, selected, onSelect, onToggle }) {
    return html`<div class=${`pair shut ${selected ? "selected" : ""}`} data-pair=${stop.from} role="listitem">
      <span class="gutter" aria-hidden="true">=</span>
      <button type="button" class="shut-button" tabindex=${selected ? 0 : -1} aria-expanded="false" onFocus=${() => onSelect(stop.from)} onClick=${() => onToggle(stop.from)}>
        ${stretchName(detail, stop)} <span class="muted">show</span>
      </button>
    </div>`;
  }

  function Flags({ detail, index }) {
    const first = detail.first === index;
    const shown = detail.shown === index && Boolean((detail.explanation || {}).effect);
    if (!first && !shown) return null;
    return html`<div class="flags">
      ${first && html`<span class="flag first">first divergence</span>`}
      ${shown && html`<span class="flag shown">first thing done differently</span>`}
    </div>`;
  }

  // A step may differ in nothing but what its model was given.
  function RequestDiffers({ detail, base, candidate }) {
    const names = app.requestDifferences(detail, base, candidate);
    return names.length > 0 ? html`<span class="tag differs">given differently: ${names.join(", ")}</span>` : null;
  }

  // When it happened, and by which events, is no difference; what the model was given is told apart.
  const NOT_COMPARED = /^(seqs?|turn|step|lane|nLanes|delays|asked|nChunks|requests?|durationMs|.*(Seq|Ms))$/;

  /** All that is drawn of a block, as one text; messages in place of their numbers. */
  const drawnOf = (detail, block) => JSON.stringify({ ...block, inputs: (block.inputs || []).map((at) => detail.messages[at]) }, (key, value) => (NOT_COMPARED.test(key) ? undefined : value));

  /** Blocks that were told apart by what was cut from both look alike: that is said. */
  function LooksAlike({ detail, base, candidate }) {
    if (!detail.cutText || !base || !candidate || app.requestDifferences(detail, base, candidate).length > 0) return null;
    if (drawnOf(detail, base) !== drawnOf(detail, candidate)) return null;
    return html`<p class="note differs">They differ, but only in what this file does not hold.</p>`;
  }

  function Empty({ side }) {
    return html`<div class="block none" aria-label=${`nothing in ${side}`}><span class="muted">nothing here in the ${side}</span></div>`;
  }

  function drawn(detail, base, candidate, differs) {
    const side = (name, block, other) => {
      if (!detail[name]) return null;
      return block ? html`<${app.Block} block=${block} other=${differs && other ? other : undefined} side=${name} detail=${detail} />` : html`<${Empty} side=${name} />`;
    };
    return {
      given: differs && html`<${RequestDiffers} detail=${detail} base=${base} candidate=${candidate} />`,
      alike: differs && html`<${LooksAlike} detail=${detail} base=${base} candidate=${candidate} />`,
      sides: html`<div class=${detail.base && detail.candidate ? "sides two" : "sides"}>${side("base", base, candidate)}${side("candidate", candidate, base)}</div>`,
    };
  }

  function Pair({ detail, index, selected, onSelect, onToggle, of, row }) {
    const pair = detail.pairs[index];
    const { base, candidate } = pairBlocks(detail, pair);
    const request = (base && base.request) || (candidate && candidate.request);
    // Where a whole side is missing, that is said once above and not at each block.
    const word = detail.base && detail.candidate ? pair.kind : "alone";
    const label = `${nameOf(detail, pair)}${WORDS[word] ? ", " + WORDS[word] : ""}${detail.first === index ? ", first divergence" : ""}`;
    // Kept as they are: moving the selection draws no block anew.
    const { given, alike, sides } = useMemo(() => drawn(detail, base, candidate, pair.kind === "changed"), [detail, index]);
    return html`<article class=${`pair ${word} ${selected ? "selected" : ""} ${detail.first === index ? "is-first" : ""}`} role="listitem"
      data-pair=${index} tabindex=${selected ? 0 : -1} aria-label=${label} onFocus=${() => onSelect(index)}>
      <${Flags} detail=${detail} index=${index} />
      <div class="pair-head">
        <span class="gutter" aria-hidden="true">${SIGNS[word] || ""}</span>
        <span class="pair-word muted">${WORDS[word] || ""}</span>
        ${given}
        ${request && html`<a class="seen-link" tabindex="-1" href=${app.runHref(row, { at: index, view: "seen" })}>what the model saw</a>`}
        ${of === index && pair.kind === "equal" && (detail.pairs[index + 1] || {}).kind === "equal" && !gapAt(detail, index + 1) && html`<button type="button" class="quiet" tabindex="-1" onClick=${() => onToggle(of)}>shut</button>`}
      </div>
      ${alike}${sides}
    </article>`;
  }

  /** How many pairs are left out before this one. */
  const gapAt = (detail, index) => ((detail.gaps || []).find((gap) => gap.at === index) || {}).n || 0;

  const Gap = ({ n }) => (n ? html`<p class="note gap">${app.plural(n, "block")} of the runs left out here.</p>` : null);

  function turnOf(detail, pair) {
    const { base, candidate } = pairBlocks(detail, pair);
    return (base || candidate || {}).turn;
  }

  /** `at`: the selected pair; `open`: stretches that are shown; `onSelect` and `onToggle` change them. */
  function Timeline({ detail, at, open, onSelect, onToggle, row }) {
    const shown = useMemo(() => stops(detail, open), [detail, open]);
    let turn;
    return html`<section class="timeline" aria-label="timeline">
      <div class=${shown.length > LONG ? "pairs long" : "pairs"} role="list">
        ${shown.map((stop) => {
          const next = turnOf(detail, detail.pairs[stop.from]);
          const newTurn = next !== undefined && next !== null && next !== turn;
          if (newTurn) turn = next;
          const selected = at >= stop.from && at <= stop.to;
          const key = stop.from;
          return html`${gapAt(detail, key) > 0 && html`<${Gap} key=${`gap-${key}`} n=${gapAt(detail, key)} />`}${newTurn && html`<h3 class="turn" key=${`turn-${key}`} role="presentation">turn ${next}</h3>`}
            ${isShut(stop, open)
              ? html`<${Shut} key=${`shut-${key}`} detail=${detail} stop=${stop} selected=${selected} onSelect=${onSelect} onToggle=${onToggle} />`
              : html`<${Pair} key=${key} detail=${detail} index=${key} of=${stop.of} selected=${selected} onSelect=${onSelect} onToggle=${onToggle} row=${row} />`}`;
        })}
        <${Gap} n=${gapAt(detail, detail.pairs.length)} />
      </div>
      ${["base", "candidate"].map((side) => detail[side] && html`<${app.CutNote} n=${detail[side].cut} what=${`${side} block`} />`)}
    </section>`;
  }

  Object.assign(app, { Timeline, stops, pairBlocks, pairName: nameOf });
})(window.harnessApp);
