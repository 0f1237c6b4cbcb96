// Tool calls of a step: arguments and results, with what differs from the call that stands beside it.
(function (app) {
  "use strict";
  const { html } = app;

  const OUTCOMES = app.table({ ok: "good", error: "bad", cancelled: "warn" });

  // The same call, the same tool, and what is left in its order: one was made in place of the other.
  const KEYS = [(call) => `${app.plain(call.name)}\n${app.plain(call.arguments)}`, (call) => app.plain(call.name), () => ""];

  /** For each call of `mine` the call of `theirs` beside it, and whether it stands in another order; the same from both sides. */
  function partners(mine, theirs, side) {
    if (!theirs) return mine.map(() => ({ other: null, moved: false }));
    const [base, candidate] = side === "base" ? [mine, theirs] : [theirs, mine];
    const partner = app.diffing.pairUp(base, candidate, KEYS);
    const sameTool = (at, to) => to >= 0 && KEYS[1](base[at]) === KEYS[1](candidate[to]);
    const moved = app.diffing.movedOf(partner.map((to, at) => (sameTool(at, to) ? to : -1)));
    return mine.map((_, at) => {
      const from = side === "base" ? at : partner.indexOf(at);
      const other = side === "base" ? theirs[partner[at]] : theirs[from];
      return { other: other || null, moved: moved.has(from) };
    });
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

  // A call that no answer of the model has; what was made for another than the first time has.
  function Unasked({ call }) {
    if (call.id !== undefined && call.id !== null) return null;
    if (call.again) return html`<span class="badge warn">one more result for a call that has one</span>`;
    const caller = (call.bodies || []).find((body) => app.known(body.within));
    if (caller) return html`<span class="badge calm">called by the body that began at event ${app.plain(caller.within)}</span>`;
    return html`<span class="badge warn">no call asked for it</span>`;
  }

  function Call({ call, other, moved, alone, side }) {
    const args = app.plain(call.arguments);
    const result = app.contentText(call.result);
    const theirs = other ? app.plain(other.arguments) : null;
    const theirResult = other ? app.contentText(other.result) : null;
    return html`<li class=${`call ${alone ? `only ${side}` : ""}`}>
      <div class="call-head">
        <span class="call-name"><${app.Marked} text=${app.plain(call.name)} other=${other ? app.plain(other.name) : null} side=${side} /></span>
        <${Unasked} call=${call} />
        <${CallState} call=${call} />
        ${alone && html` <span class="tag">only in ${side}</span>`}${moved && html` <span class="tag differs">in another order</span>`}
        <span class="muted call-id" title="call id"><${app.Text} value=${call.id} />${call.wireId !== undefined && call.wireId !== null && html` (on the wire ${call.wireId ? html`<${app.Text} value=${call.wireId} />` : "empty"})`}</span>
      </div>
      <div class="labelled"><span class="field">arguments</span>
        <${app.Clamp} text=${args}><code><${app.Marked} text=${args} other=${theirs} side=${side} json /></code><//>
      </div>
      ${call.message && call.message !== result && html`<div class="labelled"><span class="field">message</span><div class="text"><${app.Text} value=${call.message} /></div></div>`}
      ${(result || call.outcome) && html`<div class="labelled"><span class="field" title=${app.known(call.resultSeq) ? `event ${call.resultSeq}` : null}>${call.isError ? "error result" : "result"}</span>
        <${app.Clamp} text=${result}><${app.Marked} text=${result} other=${theirResult} side=${side} /><//>
      </div>`}
      <${Bodies} bodies=${call.bodies} />
      <${app.CutNote} n=${call.cut} before=${call.cutBefore} />
    </li>`;
  }

  /** `theirs` null: there is nothing to compare with (an equal step, or a side that has none). */
  function Calls({ calls, theirs, side }) {
    if (!calls || calls.length === 0) return null;
    const beside = partners(calls, theirs, side);
    return html`<ol class="calls">${calls.map((call, index) =>
      html`<${Call} key=${index} call=${call} other=${beside[index].other} moved=${beside[index].moved} alone=${theirs !== null && beside[index].other === null} side=${side} />`)}</ol>`;
  }

  app.Calls = Calls;
})(window.harnessApp);
