// Time drawn as lanes: model requests, tool bodies (those that overlap lie on lanes of their own), children, and marks.
(function (app) {
  "use strict";
  const { html } = app;

  const MARKS = app.table({
    cancel: "cancel requested", delivered: "cancel delivered", quiescent: "quiescent", limit: "limit reached", "turn-end": "turn ends",
    requested: "stop requested", context: "context changed", discarded: "input discarded",
  });

  /** What a side did, as bars {lane, from, to, seqs, kind, text, block} and marks {at, seq, kind, text}. Times in ms of that run. */
  function drawing(side, only) {
    const blocks = only ? [only] : (side && side.blocks) || [];
    const bars = [];
    const marks = [];
    blocks.forEach((block, index) => {
      const agent = app.plain(block.agent);
      if (block.kind === "step" && app.known(block.startMs)) bars.push(modelBar(block, agent, index, blocks[index + 1]));
      (block.calls || []).forEach((call) => bodies(call).forEach((body) => {
        if (app.known(body.startMs) || app.known(body.startSeq)) bars.push(bodyBar(body, call, block, agent, index));
      }));
      (block.marks || []).forEach((mark) => marks.push({ at: mark.timeMs, seq: mark.seq ?? block.seq, kind: mark.kind, text: mark.text || MARKS[mark.kind] || mark.kind }));
    });
    if (!only && side) addRunMarks(side, marks);
    return { bars, marks: marks.filter((mark) => app.known(mark.at) && mark.kind in MARKS && (!only || mark.kind !== "turn-end")) };
  }

  // A call that ran more than once (a retry, another call in its place) has a list of its bodies.
  const bodies = (call) => (call.bodies && call.bodies.length > 0 ? call.bodies.map((body) => ({ lane: call.lane, ...body })) : [call]);

  function modelBar(block, agent, index, next) {
    const starts = (block.calls || []).map((call) => call.startSeq).filter(app.known);
    const toSeq = Math.min(...starts, next && app.known(next.seq) ? next.seq : block.seq + 2);
    return {
      lane: `${agent}\u0000model`, from: block.startMs, to: bodyStart(block), seqs: [block.seq, Math.max(block.seq + 1, toSeq)],
      kind: "model", text: `${app.blockName(block)}: model request`, block: index,
    };
  }

  function bodyBar(body, call, block, agent, index) {
    const from = app.known(body.startMs) ? body.startMs : block.startMs;
    const to = app.known(body.endMs) ? body.endMs : block.endMs;
    const name = app.label(body.name || call.name, 30);
    return {
      lane: `${agent}\u0000tool ${body.lane || 0}`, from, to: Math.max(to || 0, from), seqs: [body.startSeq ?? block.seq, body.endSeq ?? (body.startSeq ?? block.seq) + 1],
      kind: `tool ${body.outcome || "unsettled"}`, text: `${name}: ${app.known(body.endMs) ? app.ms(body.endMs - from) : "did not end"}`, name, block: index,
    };
  }

  function addRunMarks(side, marks) {
    if (!marks.some((mark) => mark.kind === "cancel")) {
      (side.cancels || []).forEach((one) => marks.push({ at: one.timeMs, seq: one.seq, kind: "cancel", text: `cancel by ${app.plain(one.by)}` }));
    }
    if (app.known(side.quiescentMs) && !marks.some((mark) => mark.kind === "quiescent")) {
      marks.push({ at: side.quiescentMs, kind: "quiescent", text: "quiescent" });
    }
  }

  // The model's own time ends where the first tool body begins.
  function bodyStart(block) {
    const starts = (block.calls || []).map((call) => call.startMs).filter(app.known);
    const end = app.known(block.endMs) ? block.endMs : block.startMs;
    return starts.length ? Math.max(block.startMs, Math.min(end, ...starts)) : end;
  }

  // As wide as a bar is drawn at least (30-run.css), as a share of the whole.
  const NARROWEST = 0.006;

  /** Bars of tools on as few lanes as let no two be drawn over each other, agent by agent. */
  function packed(drawn, scale) {
    const least = (scale.to - scale.from) * NARROWEST;
    const ends = new Map();
    const tools = drawn.bars.filter((bar) => bar.kind !== "model").sort((one, other) => one.from - other.from || one.seqs[0] - other.seqs[0]);
    const lanes = new Map(tools.map((bar) => {
      const agent = bar.lane.split("\u0000")[0];
      const taken = ends.get(agent) || [];
      let lane = taken.findIndex((end) => end <= bar.from);
      if (lane < 0) lane = taken.length;
      taken[lane] = Math.max(bar.to, bar.from + least);
      ends.set(agent, taken);
      return [bar, `${agent}\u0000tool ${lane}`];
    }));
    const bars = drawn.bars.map((bar) => (lanes.has(bar) ? { ...bar, lane: lanes.get(bar) } : bar));
    return { ...drawn, bars, lanes: sortLanes([...new Set(bars.map((bar) => bar.lane))]) };
  }

  function sortLanes(names) {
    const key = (name) => {
      const [agent, lane] = name.split("\u0000");
      return [agent, lane === "model" ? -1 : Number(lane.slice(5))];
    };
    return [...names].sort((one, other) => {
      const [a, n] = key(one);
      const [b, m] = key(other);
      return a === b ? n - m : a < b ? -1 : 1;
    });
  }

  function span(drawings) {
    const times = drawings.flatMap(({ bars, marks }) => [...bars.flatMap((bar) => [bar.from, bar.to]), ...marks.map((mark) => mark.at)]);
    return times.length ? { from: Math.min(...times), to: Math.max(...times) } : { from: 0, to: 0 };
  }

  // A virtual clock may not have moved at all: then what happened is drawn by the numbers of its events.
  function inOrder(drawn) {
    const bars = drawn.bars.map((bar) => ({ ...bar, from: bar.seqs[0], to: bar.seqs[1] }));
    const last = Math.max(...bars.map((bar) => bar.to));
    return { ...drawn, bars, marks: drawn.marks.map((mark) => ({ ...mark, at: mark.kind === "quiescent" ? last + 1 : (mark.seq ?? last + 1) })) };
  }

  function laneName(name) {
    const [agent, lane] = name.split("\u0000");
    if (agent) return lane === "model" ? `↳ ${app.label(agent, 40)}` : "";
    return lane === "model" ? "model" : lane === "tool 0" ? "tools" : "";
  }

  function Track({ drawn, scale, side, label, onBlock }) {
    const place = (at) => `${(((at - scale.from) / (scale.to - scale.from)) * 100).toFixed(3)}%`;
    const width = (bar) => `${(((bar.to - bar.from) / (scale.to - scale.from)) * 100).toFixed(3)}%`;
    return html`<div class=${`track ${side}`} role="img" aria-label=${label}>
      ${drawn.lanes.map((lane) => html`<div class="lane" key=${lane}>
        <span class="lane-name muted">${laneName(lane)}</span>
        <span class="lane-room">${drawn.bars.filter((bar) => bar.lane === lane).map((bar) => html`
          <span class=${`bar ${bar.kind}`} title=${bar.text} style=${{ left: place(bar.from), width: width(bar) }}
            onClick=${onBlock && (() => onBlock(bar.block))}>${bar.name && html`<span class="bar-name">${bar.name}</span>`}</span>`)}
        </span>
      </div>`)}
      <div class="marks"><span class="lane-name"></span><span class="lane-room">${drawn.marks.map((mark) => html`
        <span class=${`mark ${mark.kind}`} title=${app.label(mark.text)} style=${{ left: place(mark.at) }}></span>`)}</span></div>
    </div>`;
  }

  function summary(name, drawn) {
    const tools = drawn.bars.filter((bar) => bar.kind !== "model");
    const overlaps = tools.filter((one) => tools.some((other) => other !== one && other.from < one.to && one.from < other.to)).length;
    const marks = drawn.marks.map((mark) => app.label(mark.text, 60)).join(", ");
    return `${name}: ${app.plural(drawn.bars.length - tools.length, "model request")}, ${app.plural(tools.length, "tool body", "tool bodies")}, ${overlaps} overlapping${marks ? "; " + marks : ""}`;
  }

  /** Both runs over the same time, above the timeline. A bar leads to its block. */
  function RunMap({ base, candidate, onBlock }) {
    let drawn = [["base", base], ["candidate", candidate]].filter(([, side]) => side).map(([name, side]) => [name, drawing(side)]);
    if (!drawn.some(([, one]) => one.bars.length > 0)) return null;
    let scale = span(drawn.map(([, one]) => one));
    const still = scale.to <= scale.from;
    if (still) {
      drawn = drawn.map(([name, one]) => [name, one.bars.length ? inOrder(one) : one]);
      scale = span(drawn.map(([, one]) => one));
    }
    drawn = drawn.map(([name, one]) => [name, packed(one, scale)]);
    return html`<figure class="run-map">
      ${drawn.map(([name, one]) => html`<div class="map-side"><span class=${`side-name ${name}`}>${app.sideName(name)}</span>
        <${Track} drawn=${one} scale=${scale} side=${name} label=${summary(name, one)} onBlock=${(block) => onBlock(name, block)} /></div>`)}
      <figcaption class="muted">${still ? "No time passed on the clock of these runs: drawn in order." : html`<span>0</span><span>${app.ms(scale.to - scale.from)}</span>`}</figcaption>
      <${Legend} drawn=${drawn} />
    </figure>`;
  }

  function Legend({ drawn }) {
    const kinds = new Set(drawn.flatMap(([, one]) => one.marks.map((mark) => mark.kind)));
    const shown = Object.keys(MARKS).filter((kind) => kinds.has(kind));
    return html`<ul class="legend muted" aria-hidden="true">
      <li><span class="swatch model"></span>model</li><li><span class="swatch tool ok"></span>tool body</li>
      <li><span class="swatch tool error"></span>failed</li><li><span class="swatch tool cancelled"></span>cancelled</li>
      ${shown.map((kind) => html`<li><span class=${`swatch-mark ${kind}`}></span>${MARKS[kind]}</li>`)}
    </ul>`;
  }

  /** The tool bodies of one step, where several ran or a mark fell into it. */
  function StepLanes({ block, side }) {
    let drawn = drawing(null, block);
    const tools = drawn.bars.filter((bar) => bar.kind !== "model");
    if (tools.length < 2 && !(tools.length > 0 && drawn.marks.length > 0)) return null;
    let scale = span([drawn]);
    if (scale.to <= scale.from) {
      drawn = inOrder(drawn);
      scale = span([drawn]);
    }
    return html`<div class="step-lanes"><${Track} drawn=${packed(drawn, scale)} scale=${scale} side=${side} label=${summary("this step", drawn)} /></div>`;
  }

  Object.assign(app, { RunMap, StepLanes, MARKS });
})(window.harnessApp);
