// Tool calls of a step: arguments and results, with what differs from the call that stands beside it.
(function (app) {
  "use strict";
  const { html } = app;

  const OUTCOMES = app.table({ ok: "good", error: "bad", cancelled: "warn" });

  /** For each call of `mine` the call of `theirs` that it is to be compared with: same names find each other in order. */
  function partners(mine, theirs) {
    const found = new Array(mine.length).fill(null);
    if (!theirs) return found;
    let a = 0;
    let b = 0;
    for (const pair of app.diffing.alignKeys(mine.map((call) => app.plain(call.name)), theirs.map((call) => app.plain(call.name)))) {
      if (pair.base !== null && pair.candidate !== null) found[a] = theirs[b];
      if (pair.base !== null) a += 1;
      if (pair.candidate !== null) b += 1;
    }
    return found;
  }

  function CallState({ call }) {
    if (call.outcome === null || call.outcome === undefined) {
      return html`<span class="badge warn">${app.label(call.unended || "no result was seen", 40)}</span>`;
    }
    const took = app.known(call.startMs) && app.known(call.endMs) ? app.ms(call.endMs - call.startMs) : "";
    return html`<span class=${`badge ${OUTCOMES[call.outcome] || "calm"}`}>${app.label(call.outcome, 20)}</span>
      ${call.code && html` <code class="code"><${app.Text} value=${call.code} /></code>`}
      ${call.truncated && html` <span class="tag">the tool's result was cut for the model</span>`}
      ${took && html` <span class="muted">${took}</span>`}`;
  }

  // More than one body for a call, or one that ran something else than was asked for.
  function Bodies({ bodies }) {
    if (!bodies || bodies.length === 0) return null;
    return html`<div class="labelled"><span class="field">bodies</span><ol class="plain text bodies">${bodies.map((body) => html`<li>
      <span class="call-name"><${app.Text} value=${body.name} /></span> <${CallState} call=${body} />
      ${body.attempt > 1 && html` <span class="muted">attempt ${body.attempt}</span>`}
      ${body.insteadOf && html` <span class="tag">instead of <${app.Text} value=${body.insteadOf} /></span>`}
      ${body.arguments && html`<div><code><${app.Text} value=${app.diffing.layOut(app.plain(body.arguments)) || body.arguments} /></code></div>`}
    </li>`)}</ol></div>`;
  }

  function Call({ call, other, alone, side }) {
    const args = app.plain(call.arguments);
    const result = app.contentText(call.result);
    const theirs = other ? app.plain(other.arguments) : null;
    const theirResult = other ? app.contentText(other.result) : null;
    return html`<li class=${`call ${alone ? `only ${side}` : ""}`}>
      <div class="call-head">
        <span class="call-name"><${app.Text} value=${call.name} /></span>
        ${call.id === null && html`<span class="badge warn">no call asked for it</span>`}
        <${CallState} call=${call} />
        ${alone && html` <span class="tag">only in ${side}</span>`}
        <span class="muted call-id" title="call id"><${app.Text} value=${call.id} />${call.wireId !== undefined && call.wireId !== null && html` (on the wire ${call.wireId ? html`<${app.Text} value=${call.wireId} />` : "empty"})`}</span>
      </div>
      <div class="labelled"><span class="field">arguments</span>
        <${app.Clamp} text=${args}><code><${app.Marked} text=${args} other=${theirs} side=${side} json /></code><//>
      </div>
      ${call.message && call.message !== result && html`<div class="labelled"><span class="field">message</span><div class="text"><${app.Text} value=${call.message} /></div></div>`}
      ${(result || call.outcome) && html`<div class="labelled"><span class="field">${call.isError ? "error result" : "result"}</span>
        <${app.Clamp} text=${result}><${app.Marked} text=${result} other=${theirResult} side=${side} /><//>
        <${app.CutNote} n=${call.cut} before=${call.cutBefore} />
      </div>`}
      <${Bodies} bodies=${call.bodies} />
    </li>`;
  }

  /** `theirs` null: there is nothing to compare with (an equal step, or a side that has none). */
  function Calls({ calls, theirs, side }) {
    if (!calls || calls.length === 0) return null;
    const beside = partners(calls, theirs);
    return html`<ol class="calls">${calls.map((call, index) =>
      html`<${Call} key=${index} call=${call} other=${beside[index]} alone=${theirs !== null && beside[index] === null} side=${side} />`)}</ol>`;
  }

  app.Calls = Calls;
})(window.harnessApp);
