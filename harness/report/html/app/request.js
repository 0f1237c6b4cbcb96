// Exactly what the model saw at one step: system prompt, tools, parameters and all messages, of both sides.
(function (app) {
  "use strict";
  const { html, hooks } = app;
  const { useState, useMemo, useLayoutEffect, useRef } = hooks;

  const LONG = 100; // from here on the browser may leave out of its work what is not in sight

  /** Numbers of the messages (in the pool of the run) that a request held. */
  function messagesOf(side, request) {
    if (!request) return [];
    const { messages } = request;
    if (Array.isArray(messages)) return messages;
    const tape = (side.tapes || [])[messages.tape] || [];
    return messages.ranges.flatMap(([from, to]) => tape.slice(from, to));
  }

  /** The messages of the step before by the same agent: what is not among them is new at this step. */
  function before(side, block) {
    const index = side.blocks.indexOf(block);
    for (let at = index - 1; at >= 0; at -= 1) {
      const one = side.blocks[at];
      if (one.request && app.plain(one.agent) === app.plain(block.agent)) return new Set(messagesOf(side, one.request));
    }
    return null;
  }

  function seenBy(detail, side, block) {
    const request = block && block.request;
    if (!request) return null;
    return {
      block,
      system: (detail.systems[request.system] || []).map((one) => app.contentText(one.content)).join("\n\n"),
      tools: detail.tools[request.tools] || [],
      parameters: app.plain(detail.parameters[request.parameters]),
      messages: messagesOf(detail[side], request),
      earlier: before(detail[side], block),
      contextTokens: request.contextTokens,
      attempts: request.attempts,
      cut: request.cut,
    };
  }

  /** What of the requests of two blocks differs: system prompt, tools, parameters, messages. */
  function requestDifferences(detail, base, candidate) {
    const [left, right] = [seenBy(detail, "base", base), seenBy(detail, "candidate", candidate)];
    if (!left || !right) return [];
    const names = { system: "system prompt", tools: "tools", parameters: "parameters", messages: "messages" };
    return Object.keys(names).filter((key) => JSON.stringify(left[key]) !== JSON.stringify(right[key])).map((key) => names[key]);
  }

  function Section({ title, same, children, id, hideSame }) {
    if (same && hideSame) return null;
    return html`<section class="seen-section" id=${id}><h3>${title} ${same === null ? null : html`<span class=${same ? "tag" : "tag differs"}>${same ? "equal on both sides" : "differs"}</span>`}</h3>${children}</section>`;
  }

  /** One text of both sides: once where they are equal or only one side has it, else line by line. */
  function Both({ base, candidate, json = false, name }) {
    if (base === null || candidate === null || base === candidate) {
      const text = base === null ? candidate : base;
      if (!text) return html`<p class="muted">none</p>`;
      return html`<pre class="seen-text"><${app.Text} value=${(json && app.diffing.layOut(text)) || text} /></pre>`;
    }
    return html`<${app.LineDiff} base=${base} candidate=${candidate} json=${json} fold=${false} name=${name} />`;
  }

  // Mode and effect are the harness's own: no model sees them, so they stand beside the text.
  function OwnFacts({ left, right }) {
    const of = (tool) => ["mode", "effect"].filter((key) => tool && tool[key]).map((key) => `${key} ${app.plain(tool[key])}`).join(", ");
    const [one, other] = [of(left), of(right)];
    if (!one && !other) return null;
    return html` <span class="tag">${app.label(left && right && one !== other ? `${one} → ${other}` : one || other, 120)}</span>`;
  }

  const toolText = (tool) => {
    if (!tool) return null;
    const schema = app.plain(tool.parameters);
    return `${app.plain(tool.description)}\n${app.diffing.layOut(schema) || schema}`;
  };

  function Tools({ base, candidate, hideSame }) {
    const pairs = useMemo(() => pairTools(base, candidate), [base, candidate]);
    if (pairs.length === 0) return html`<p class="muted">no tools</p>`;
    return html`<ol class="tools">${pairs.map(({ name, left, right }) => {
      const same = JSON.stringify(left) === JSON.stringify(right);
      const alone = base && candidate && (!left || !right);
      if (hideSame && same) return null;
      return html`<li class=${`tool-seen ${alone ? `only ${left ? "base" : "candidate"}` : ""}`} key=${name}>
        <h4><${app.Text} value=${name} /><${OwnFacts} left=${left} right=${right} /> ${alone && html`<span class="tag">only in ${left ? "base" : "candidate"}</span>`}${!alone && !same && base && candidate && html`<span class="tag differs">differs</span>`}</h4>
        <${Both} base=${toolText(left)} candidate=${toolText(right)} name=${`tool ${app.label(name, 60)}`} />
      </li>`;
    })}</ol>`;
  }

  function pairTools(base, candidate) {
    const left = base || [];
    const right = candidate || [];
    const names = (tools) => tools.map((tool) => app.plain(tool.name));
    let a = 0;
    let b = 0;
    return app.diffing.alignKeys(names(left), names(right)).flatMap((pair) => {
      const one = pair.base === null ? null : left[a++];
      const other = pair.candidate === null ? null : right[b++];
      if (one && other && one.name !== other.name) return [{ name: one.name, left: one, right: null }, { name: other.name, left: null, right: other }];
      return [{ name: (one || other).name, left: one, right: other }];
    });
  }

  /** A message in full. `other`: the message beside it where both sides have one that differs. */
  function Message({ message, other, side, number, fresh }) {
    if (!message) return html`<div class="message none"><span class="muted">nothing here in the ${side}</span></div>`;
    const text = app.contentText(message.content);
    const theirs = other ? app.contentText(other.content) : null;
    const calls = message.toolCalls || [];
    return html`<div class=${`message ${app.label(message.role, 20).replace(/\W/g, "")}`}>
      <div class="message-head"><span class="number muted">${number}</span> <span class="role">${app.label(message.role, 20)}</span>
        ${message.name && html` <span><${app.Text} value=${message.name} /></span>`}
        ${message.callId && html` <span class="muted">answers <${app.Text} value=${message.callId} /></span>`}
        ${message.isError && html` <span class="badge bad">error</span>`} ${message.code && html`<code><${app.Text} value=${message.code} /></code>`}
        ${fresh && html` <span class="tag">new at this step</span>`}
      </div>
      ${message.reasoning && html`<div class="labelled aside"><span class="field">reasoning</span><div class="text"><${app.Marked} text=${app.plain(message.reasoning)} other=${other ? app.plain(other.reasoning) : null} side=${side} /></div></div>`}
      ${text && html`<div class="text"><${app.Marked} text=${text} other=${theirs} side=${side} /></div>`}
      ${message.refusal && html`<div class="labelled"><span class="field">refusal</span><div class="text"><${app.Text} value=${message.refusal} /></div></div>`}
      ${calls.map((call, k) => {
        const beside = other && (other.toolCalls || [])[k];
        return html`<div class="labelled"><span class="field">call</span><div class="text"><span class="call-name"><${app.Marked} text=${app.plain(call.name)} other=${beside ? app.plain(beside.name) : null} side=${side} /></span>
          <span class="muted"> <${app.Text} value=${call.id} /></span>
          <div><code><${app.Marked} text=${app.plain(call.arguments)} other=${beside ? app.plain(beside.arguments) : null} side=${side} json /></code></div></div></div>`;
      })}
      <${app.CutNote} n=${message.cut} />
    </div>`;
  }

  function Messages({ detail, base, candidate, hideSame }) {
    const rows = useMemo(() => app.diffing.alignKeys(base ? base.messages : [], candidate ? candidate.messages : []), [base, candidate]);
    const both = base && candidate;
    let a = 0;
    let b = 0;
    return html`<ol class=${rows.length > LONG ? "messages long" : "messages"}>${rows.map((row) => {
      if (row.base !== null) a += 1;
      if (row.candidate !== null) b += 1;
      const same = row.base === row.candidate;
      if (hideSame && same) return null;
      const fresh = (seen, key) => seen && seen.earlier && !seen.earlier.has(key);
      if (same || !both) {
        const key = row.base === null ? row.candidate : row.base;
        const number = same && a !== b ? `${a} / ${b}` : base ? a : b;
        return html`<li key=${`${a}-${b}`}><${Message} message=${detail.messages[key]} side=${base ? "base" : "candidate"} number=${number} fresh=${fresh(base || candidate, key)} /></li>`;
      }
      const left = row.base === null ? null : detail.messages[row.base];
      const right = row.candidate === null ? null : detail.messages[row.candidate];
      return html`<li class="two" key=${`${a}-${b}`}>
        <${Message} message=${left} other=${right} side="base" number=${a} fresh=${fresh(base, row.base)} />
        <${Message} message=${right} other=${left} side="candidate" number=${b} fresh=${fresh(candidate, row.candidate)} />
      </li>`;
    })}</ol>`;
  }

  const isSame = (base, candidate, get) => (base && candidate ? JSON.stringify(get(base)) === JSON.stringify(get(candidate)) : null);

  function Facts({ side, seen }) {
    return html`<div class=${`seen-facts ${side}`}><span class="side-name">${app.sideName(side)}</span>
      ${seen ? html`<span>${app.blockName(seen.block)} · ${app.plural(seen.messages.length, "message")} · ${app.plural(seen.tools.length, "tool")}${app.known(seen.contextTokens) ? ` · ${app.count(seen.contextTokens)} tokens` : ""}${seen.attempts > 1 ? ` · ${seen.attempts} attempts` : ""}</span>` : html`<span class="muted">no such step</span>`}
    </div>`;
  }

  /** The page `view=seen` of a run. `step(by)` leads to the next or last step that has a request. */
  function Seen({ detail, row, at, step }) {
    const [only, setOnly] = useState(false);
    const title = useRef(null);
    const pair = detail.pairs[at];
    const blocks = app.pairBlocks(detail, pair);
    const [base, candidate] = useMemo(() => ["base", "candidate"].map((side) => seenBy(detail, side, blocks[side])), [detail, at]);
    const back = () => app.go({ page: "run", row: row.index, params: { at } });
    app.useKeys({ Escape: back, m: back, j: () => step(1), ArrowRight: () => step(1), k: () => step(-1), ArrowLeft: () => step(-1), d: () => setOnly(!only) }, 2);
    useLayoutEffect(() => {
      window.scrollTo(0, 0);
      title.current.focus({ preventScroll: true });
    }, [at]);
    const one = (get) => [base && get(base), candidate && get(candidate)];
    const [leftSystem, rightSystem] = one((seen) => seen.system);
    const [leftParameters, rightParameters] = one((seen) => seen.parameters);
    const same = { system: isSame(base, candidate, (seen) => seen.system), tools: isSame(base, candidate, (seen) => seen.tools), parameters: isSame(base, candidate, (seen) => seen.parameters), messages: isSame(base, candidate, (seen) => seen.messages) };
    const nothing = only && Object.values(same).every((value) => value === true);
    return html`<main class="seen">
      <div class="seen-head">
        <a href=${app.runHref(row.index, { at })}>← ${app.label(row.name || row.id, 80)}</a>
        <h2 tabindex="-1" ref=${title}>What the model saw at ${app.pairName(detail, pair)}</h2>
        <div class="buttons">
          <button type="button" onClick=${() => step(-1)}>previous <${app.Key}>k<//></button>
          <button type="button" onClick=${() => step(1)}>next <${app.Key}>j<//></button>
          <button type="button" aria-pressed=${only ? "true" : "false"} onClick=${() => setOnly(!only)}>only differences <${app.Key}>d<//></button>
        </div>
      </div>
      <div class="seen-sides">${detail.base && html`<${Facts} side="base" seen=${base} />`}${detail.candidate && html`<${Facts} side="candidate" seen=${candidate} />`}</div>
      ${nothing && html`<p class="empty">Both sides saw the very same.</p>`}
      <${Section} title="System prompt" same=${same.system} hideSame=${only}><${Both} base=${leftSystem} candidate=${rightSystem} name="system prompt" /><//>
      <${Section} title="Parameters" same=${same.parameters} hideSame=${only}><${Both} base=${leftParameters} candidate=${rightParameters} json name="parameters" /><//>
      <${Section} title="Messages" same=${same.messages} hideSame=${only}><${Messages} detail=${detail} base=${base} candidate=${candidate} hideSame=${only} /><//>
      <${Section} title="Tools" same=${same.tools} hideSame=${only}><${Tools} base=${base && base.tools} candidate=${candidate && candidate.tools} hideSame=${only} /><//>
    </main>`;
  }

  Object.assign(app, { Seen, seenBy, requestDifferences, toolText, pairTools });
})(window.harnessApp);
