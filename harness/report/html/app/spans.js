// What a run did over time, as spans: model requests, waits, tool bodies. What overlaps is told by the numbers of events,
// which are exact where many things happen in one millisecond; times only say where a span is drawn.
(function (app) {
  "use strict";

  const MARKS = app.table({
    cancel: "cancel requested", delivered: "cancel delivered", quiescent: "quiescent", limit: "limit reached", "turn-end": "turn ends",
    requested: "stop requested", context: "context changed", discarded: "input discarded",
  });
  const NEVER = Infinity; // in place of the number of an end that was not seen

  /**
   * What a side did, or one block of it: bars {agent, track: model|tool, from, to: ms, seqs: [first, last], kind, text, name, block}
   * and marks {at, seq, kind, text}; `timed`: its times are known. A span without an end lasts as long as the run is known.
   */
  function drawing(side, only) {
    const blocks = only ? [only] : (side && side.blocks) || [];
    const last = blocks.reduce((ms, block) => (app.known(block.endMs) ? Math.max(ms, block.endMs) : ms), 0);
    const bars = [];
    const marks = [];
    blocks.forEach((block, index) => {
      const add = (track, one, more) => bars.push(bar(block, index, last, track, one, more));
      addModelTime(block, add);
      (block.calls || []).forEach((call) => bodies(call).forEach((body) => {
        if (!app.known(body.startMs) && !app.known(body.startSeq)) return;
        const name = app.label(body.name || call.name, 30);
        add("tool", body, { kind: `tool ${body.outcome || "unsettled"}`, said: name, name });
      }));
      (block.marks || []).forEach((mark) => marks.push({ at: mark.timeMs, seq: mark.seq ?? block.seq, kind: mark.kind, text: mark.text || MARKS[mark.kind] || mark.kind }));
    });
    if (!only && side) addRunMarks(side, marks);
    const timed = blocks.some((block) => app.known(block.startMs));
    return { timed, bars, marks: marks.filter((mark) => app.known(mark.at) && mark.kind in MARKS && (!only || mark.kind !== "turn-end")) };
  }

  // A call that ran more than once (a retry, another call in its place) has a list of its bodies.
  const bodies = (call) => (call.bodies && call.bodies.length > 0 ? call.bodies : [call]);

  function bar(block, index, last, track, one, { kind, said, name }) {
    const from = app.known(one.startMs) ? one.startMs : block.startMs || 0;
    const to = Math.max(from, app.known(one.endMs) ? one.endMs : last);
    const seqs = [one.startSeq ?? block.seq, app.known(one.endSeq) ? one.endSeq : NEVER];
    const took = app.known(one.startMs) && app.known(one.endMs) ? `: ${app.ms(to - from)}` : "";
    const text = seqs[1] === NEVER ? `${said}: did not end` : said + took;
    return { agent: app.plain(block.agent), track, from, to, seqs, kind, text, name, block: index };
  }

  const ASKED = app.table({ answered: "answered", failed: "error", interrupted: "cancelled" });

  function addModelTime(block, add) {
    const step = app.blockName(block);
    (block.asked || []).forEach((one) => {
      const told = app.known(one.attempt) ? `model request${one.attempt > 1 ? `, attempt ${one.attempt}` : ""}` : "until its answer (no request is recorded)";
      const how = one.outcome === "failed" || one.outcome === "interrupted" ? ` (${one.outcome})` : "";
      add("model", one, { kind: `model ${ASKED[one.outcome] || "unsettled"}`, said: `${step}: ${told}${how}` });
    });
    (block.delays || []).forEach((one) => add("model", one, { kind: "wait", said: `${step}: waits before attempt ${one.attempt}` }));
    (block.approvals || []).filter((one) => app.known(one.askedSeq)).forEach((one) => {
      const wait = { startSeq: one.askedSeq, startMs: one.askedMs, endSeq: one.answeredSeq, endMs: one.answeredMs };
      add("model", wait, { kind: "wait", said: `${step}: waits for approval of ${app.label(one.callId, 40)}` });
    });
  }

  function addRunMarks(side, marks) {
    if (!marks.some((mark) => mark.kind === "cancel")) {
      (side.cancels || []).forEach((one) => marks.push({ at: one.timeMs, seq: one.seq, kind: "cancel", text: `cancel by ${app.plain(one.by)}` }));
    }
    if (app.known(side.quiescentMs) && !marks.some((mark) => mark.kind === "quiescent")) {
      marks.push({ at: side.quiescentMs, kind: "quiescent", text: "quiescent" });
    }
  }

  /** From the first to the last time of these drawings. */
  function span(drawings) {
    const times = drawings.flatMap(({ bars, marks }) => [...bars.flatMap((one) => [one.from, one.to]), ...marks.map((mark) => mark.at)]);
    const ends = times.reduce(([low, high], at) => [Math.min(low, at), Math.max(high, at)], [Infinity, -Infinity]);
    return times.length ? { from: ends[0], to: ends[1] } : { from: 0, to: 0 };
  }

  /** A virtual clock may not have moved at all: then what happened is drawn by the numbers of its events. */
  function inOrder(drawn) {
    const last = drawn.bars.flatMap((one) => one.seqs).filter((seq) => seq !== NEVER).reduce((a, b) => Math.max(a, b), 0);
    const bars = drawn.bars.map((one) => ({ ...one, from: one.seqs[0], to: Math.min(one.seqs[1], last + 1) }));
    return { ...drawn, bars, marks: drawn.marks.map((mark) => ({ ...mark, at: mark.kind === "quiescent" ? last + 1 : (mark.seq ?? last + 1) })) };
  }

  const overlap = (one, other) => one.seqs[0] < other.seqs[1] && other.seqs[0] < one.seqs[1];

  /** How many of these bars overlap another. */
  function overlapping(bars) {
    const sorted = [...bars].sort((one, other) => one.seqs[0] - other.seqs[0]);
    const found = new Set();
    // One overlaps any before it if the one among them that ends last, and any after it if the next one.
    let widest = null;
    sorted.forEach((one) => {
      if (widest && overlap(widest, one)) found.add(one);
      if (!widest || one.seqs[1] > widest.seqs[1]) widest = one;
    });
    sorted.forEach((one, at) => sorted[at + 1] && overlap(one, sorted[at + 1]) && found.add(one));
    return found.size;
  }

  // As wide as a bar is drawn at least, and all that is added so to one lane at most: shares of the whole.
  const NARROWEST = 0.006;
  const MOST_ADDED = 0.1;

  /**
   * Bars on lanes {agent, track, bars: [{…bar, at, wide}]}: a lane is free once its last body has ended. Bodies that follow
   * each other within one millisecond stand beside each other, each as wide as can be seen.
   */
  function packed(drawn, scale) {
    const lanes = new Map();
    for (const one of [...drawn.bars].sort((a, b) => a.seqs[0] - b.seqs[0])) {
      const key = `${one.agent}\u0000${one.track}`;
      if (!lanes.has(key)) lanes.set(key, []);
      const mine = lanes.get(key);
      let lane = mine.find((other) => other.until <= one.seqs[0]);
      if (!lane) mine.push((lane = { agent: one.agent, track: one.track, number: mine.length, bars: [] }));
      lane.until = one.seqs[1];
      lane.bars.push(one);
    }
    const all = [...lanes.values()].flat().map((lane) => ({ ...lane, bars: beside(lane.bars, scale) }));
    const rank = (lane) => (lane.track === "model" ? lane.number - 1e6 : lane.number);
    return { ...drawn, lanes: all.sort((a, b) => (a.agent === b.agent ? rank(a) - rank(b) : a.agent < b.agent ? -1 : 1)) };
  }

  function beside(bars, scale) {
    const least = (scale.to - scale.from) * Math.min(NARROWEST, MOST_ADDED / bars.length);
    const placed = bars.map((one) => ({ ...one, at: one.from, until: one.to }));
    let free = scale.from;
    for (const one of placed) {
      one.at = Math.max(one.at, free);
      one.until = free = Math.max(one.until, one.at + least);
    }
    let end = scale.to;
    for (const one of placed.reverse()) {
      one.until = Math.min(one.until, end);
      one.at = end = Math.min(one.at, one.until - least);
    }
    return placed.reverse().map(({ until, ...one }) => ({ ...one, wide: until - one.at }));
  }

  Object.assign(app, { MARKS, spans: { drawing, span, inOrder, overlapping, packed } });
})(window.harnessApp);
