// One block of one side: an input, a step with its answer and calls, the beginning or the end of a run.
(function (app) {
  "use strict";
  const { html } = app;

  const KINDS = app.table({ begin: "begin", input: "input", end: "end" });

  function blockName(block) {
    if (block.kind === "step") return block.step === null || block.step === undefined ? "step" : `step ${block.step}`;
    return KINDS[block.kind] || app.label(block.kind, 20);
  }

  function took(block) {
    if (!app.known(block.startMs) || !app.known(block.endMs)) return "";
    return block.endMs === block.startMs ? app.ms(block.startMs) : `${app.ms(block.startMs)} → ${app.ms(block.endMs)}`;
  }

  const USUAL = /^(stop|tool.calls?|end.turn|tool.use|completed|final.answer)$/i;

  /** What the provider says of its tokens, and how the answer came, behind the two numbers. */
  function usageTitle({ cachedTokens, reasoningTokens }, nChunks) {
    const parts = [[cachedTokens, "cached"], [reasoningTokens, "for reasoning"]].filter(([n]) => app.told(n)).map(([n, what]) => `${app.count(n)} ${what}`);
    return ["input → output tokens", ...parts, nChunks > 0 && `in ${app.plural(nChunks, "chunk")}`].filter(Boolean).join(", ");
  }

  function Usage({ answer, nChunks }) {
    if (!answer) return null;
    const tokens = app.told(answer.inputTokens) || app.told(answer.outputTokens);
    return html`<span class="usage muted">
      ${tokens && html`<span title=${usageTitle(answer, nChunks)}>${app.count(answer.inputTokens)} → ${app.count(answer.outputTokens)} tok</span>`}
      ${app.told(answer.costMicroUsd) && html` <span>${app.money(answer.costMicroUsd)}</span>`}
    </span>`;
  }

  function Spoken({ name, mine, theirs, side, quiet = false }) {
    const text = app.contentText(mine);
    if (!text) return null;
    const other = theirs === undefined ? null : app.contentText(theirs);
    return html`<div class=${`labelled ${quiet ? "aside" : ""}`}><span class="field">${name}</span>
      <${app.Clamp} text=${text}><${app.Marked} text=${text} other=${other} side=${side} /><//>
    </div>`;
  }

  // `other` undefined: nothing to compare with; what the other side does not have is marked as a whole.
  function Answer({ answer, other, side }) {
    if (!answer) return null;
    const of = (name) => (other === undefined ? undefined : (other && other[name]) || "");
    const unusual = answer.finishReason && !USUAL.test(app.plain(answer.finishReason));
    return html`<div class="answer">
      <${Spoken} name="reasoning" mine=${answer.reasoning} theirs=${of("reasoning")} side=${side} quiet />
      <${Spoken} name="answer" mine=${answer.content} theirs=${of("content")} side=${side} />
      <${Spoken} name="refusal" mine=${answer.refusal} theirs=${of("refusal")} side=${side} />
      ${(unusual || answer.interrupted) && html`<p class="note">${answer.interrupted ? "The answer was interrupted. " : ""}${unusual ? html`It ended with <code><${app.Text} value=${answer.finishReason} /></code>.` : ""}</p>`}
      <${AnswerFacts} answer=${answer} />
      <${app.CutNote} n=${answer.cut} before=${answer.cutBefore} />
    </div>`;
  }

  /** What the provider called its model and the end of the answer, where that is not told by other words. */
  function AnswerFacts({ answer }) {
    const raw = answer.rawFinishReason && answer.rawFinishReason !== answer.finishReason;
    if (!raw && !answer.fingerprint) return null;
    return html`<p class="muted answer-facts">${raw && html`ended as <code><${app.Text} value=${answer.rawFinishReason} /></code> `}${answer.fingerprint && html`fingerprint <code><${app.Text} value=${answer.fingerprint} /></code>`}</p>`;
  }

  // Errors stand beside those of the other side by their order.
  function Errors({ errors, others, side }) {
    if (!errors || errors.length === 0) return null;
    const other = (at) => (others === undefined ? null : app.plain((others[at] || {}).message));
    return html`<ul class="plain errors">${errors.map((error, at) => html`<li>
      <span class="badge bad">${error.kind === "retry" ? "retry" : "error"}</span>
      ${error.code && html` <code><${app.Text} value=${error.code} /></code>`} <${app.Marked} text=${app.plain(error.message)} other=${other(at)} side=${side} />
      ${error.attempt && html` <span class="muted">attempt ${app.plain(error.attempt)}</span>`}${app.known(error.delayMs) && html` <span class="muted">again after ${app.ms(error.delayMs)}</span>`}
      ${app.known(error.timeMs) && html` <span class="muted">at ${app.ms(error.timeMs)}</span>`}
      <${app.CutNote} n=${error.cut} before=${error.cutBefore} />
    </li>`)}</ul>`;
  }

  // Notes come as texts or as small objects: both are shown in full.
  function words(value) {
    if (value === null || typeof value !== "object") return app.plain(value);
    if (value.name !== undefined && value.text !== undefined) return `${app.plain(value.name)}: ${app.plain(value.text)}`;
    return Object.entries(value).filter(([, one]) => one !== null && one !== "" && one !== undefined)
      .map(([key, one]) => `${key}: ${typeof one === "object" ? JSON.stringify(one) : one}`).join("  ");
  }

  function approvalWords(one) {
    if (one === null || typeof one !== "object" || one.callId === undefined) return words(one);
    const answer = one.outcome ? `${one.outcome}${one.by ? ` by ${one.by}` : ""}` : "not answered";
    const waited = app.known(one.askedMs) && app.known(one.answeredMs) ? ` after ${app.ms(one.answeredMs - one.askedMs)}` : "";
    return `${app.plain(one.callId)}: ${answer}${waited}`;
  }

  /** User messages that entered in this block. */
  function Inputs({ block, other, side, detail }) {
    const texts = (one) => ((one && one.inputs) || []).map((index) => app.contentText((detail.messages[index] || {}).content));
    const mine = texts(block);
    if (mine.length === 0) return null;
    const theirs = other === undefined ? null : texts(other);
    return mine.map((text, k) => html`<div class="labelled"><span class="field">user</span>
      <${app.Clamp} text=${text}><${app.Marked} text=${text} other=${theirs === null ? null : theirs[k] || ""} side=${side} /><//></div>`);
  }

  function Lines({ name, items, write = words }) {
    if (!items || items.length === 0) return null;
    return html`<div class="labelled"><span class="field">${name}</span><ul class="plain text">
      ${items.map((item) => html`<li><${app.Text} value=${write(item)} /></li>`)}</ul></div>`;
  }

  function Marks({ marks }) {
    const shown = (marks || []).filter((mark) => mark.kind !== "turn-end" || mark.text);
    if (shown.length === 0) return null;
    return html`<ul class="plain mark-list">${shown.map((mark) => html`<li class=${`mark-line ${mark.kind}`}>
      <span class=${`swatch-mark ${mark.kind}`} aria-hidden="true"></span>
      <span><${app.Text} value=${mark.text || app.MARKS[mark.kind] || mark.kind} /></span>
      ${app.known(mark.timeMs) && html` <span class="muted">${app.ms(mark.timeMs)}</span>`}
    </li>`)}</ul>`;
  }

  /** `other`: the block beside it where they differ; undefined where they are equal or there is none. */
  function Block({ block, other, side, detail }) {
    const step = block.kind === "step";
    const answer = other === undefined ? undefined : other.answer;
    return html`<div class=${`block ${block.kind} ${side}`}>
      <header class="block-head">
        ${app.hasBase && html`<span class="side-name narrow-only">${side}</span>`}
        <span class="block-name">${blockName(block)}</span>
        ${block.agent && html`<span class="badge info" title="agent">${app.label(block.agent, 40)}</span>`}
        ${!step && html`<span class="block-title"><${app.Marked} text=${app.plain(block.title)} other=${other && app.plain(other.title)} side=${side} /></span>`}
        <${Usage} answer=${block.answer} nChunks=${block.nChunks} />
        <span class="muted when" title="since the run began">${took(block)}</span>
      </header>
      <${Inputs} block=${block} other=${other} side=${side} detail=${detail} />
      <${Errors} errors=${block.errors} others=${other === undefined ? undefined : other.errors || []} side=${side} />
      <${Answer} answer=${block.answer} other=${answer} side=${side} />
      <${app.StepLanes} block=${block} side=${side} />
      <${app.Calls} calls=${block.calls} theirs=${other === undefined ? null : other.calls || []} side=${side} />
      <${Lines} name="approvals" items=${block.approvals} write=${approvalWords} />
      <${Lines} name="notes" items=${block.notes} />
      <${app.CutNote} n=${block.nNotesLeftOut} what="note" />
      <${Marks} marks=${block.marks} />
    </div>`;
  }

  Object.assign(app, { Block, blockName });
})(window.harnessApp);
