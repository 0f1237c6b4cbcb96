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
    const tape = (side.tapes || [])[messages.tape] || [];
    return messages.ranges.flatMap(([from, to]) => tape.slice(from, to));
  }

  /** What each attempt of a block showed the model, in order. */
  const requestsOf = (block) => (block ? block.requests || (block.request ? [block.request] : []) : []);

  /** The messages of the request before by the same agent: what is not among them is new. null: that is not in this file. */
  function before(side, block, nth) {
    if (nth > 0) return new Set(messagesOf(side, requestsOf(block)[nth - 1]));
    for (let at = side.blocks.indexOf(block); at > 0 && !side.blocks[at].afterGap; at -= 1) {
      const one = side.blocks[at - 1];
      if (one.request && app.plain(one.agent) === app.plain(block.agent)) return new Set(messagesOf(side, one.request));
    }
    return null;
  }

  const cutOf = (items, key) => items.reduce((sum, one) => sum + (one[key] || 0), 0);

  /** How many lines stand before the texts joined; null where lines are missing further on, so that no number of one is known. */
  const linesBefore = (items) => (items.slice(1).some((one) => one.linesBefore || one.cut) || (items.length > 1 && items[0].cut) ? null : (items[0] || {}).linesBefore || 0);

  /** What one attempt saw. `same` names what was shown as it was, whole: equal texts here may be two that were cut. */
  function seenBy(detail, side, block, nth = requestsOf(block).length - 1) {
    const request = requestsOf(block)[nth];
    if (!request) return null;
    const system = detail.systems[request.system] || [];
    const tools = detail.tools[request.tools] || [];
    const messages = messagesOf(detail[side], request);
    return {
      block,
      system: system.map((one) => app.contentText(one.content)).join("\n\n"),
      systemFacts: system.map((one) => messageFacts(one, "system")),
      systemLines: linesBefore(system),
      systemCut: [cutOf(system, "cut"), cutOf(system, "cutBefore")],
      tools,
      parameters: app.plain(detail.parameters[request.parameters]),
      parametersCut: [detail.parametersCut, detail.parametersCutBefore].map((list) => (list || [])[request.parameters]),
      messages,
      same: { system: app.plain(request.system), tools: tools.map((tool) => tool.same).join(), parameters: app.plain(request.parameters), messages: messages.join() },
      earlier: before(detail[side], block, nth),
      contextTokens: request.contextTokens,
      attempt: request.attempts,
    };
  }

  /** What of the requests of two blocks differs: system prompt, tools, parameters, messages; attempt by attempt. */
  function requestDifferences(detail, base, candidate) {
    const n = [requestsOf(base).length, requestsOf(candidate).length];
    if (!n[0] || !n[1]) return [];
    const names = { system: "system prompt", tools: "tools", parameters: "parameters", messages: "messages" };
    const found = new Set();
    for (let nth = 0; nth < Math.min(...n); nth += 1) {
      const [left, right] = [seenBy(detail, "base", base, nth), seenBy(detail, "candidate", candidate, nth)];
      Object.keys(names).filter((key) => left.same[key] !== right.same[key]).forEach((key) => found.add(names[key]));
    }
    if (n[0] !== n[1]) found.add("attempts");
    return [...found];
  }

  /** All that a message says beside its texts and calls; its role only where it is not the usual one. */
  function messageFacts(message, usual) {
    const role = message.role === usual ? "" : `role ${app.plain(message.role)}`;
    const extra = ["name", "callId", "extra"].filter((key) => usual && app.plain(message[key])).map((key) => `${key} ${app.plain(message[key])}`);
    return [role, ...extra].filter(Boolean).join(", ");
  }

  function Section({ title, same, children, id, hideSame }) {
    if (same && hideSame) return null;
    return html`<section class="seen-section" id=${id}><h3>${title} ${same === null ? null : html`<span class=${same ? "tag" : "tag differs"}>${same ? "equal on both sides" : "differs"}</span>`}</h3>${children}</section>`;
  }

  /** One text of both sides: once where they are equal or only one side has it, else line by line. */
  function Both({ base, candidate, json = false, name, same = null, before = [0, 0] }) {
    if (same === false && base === candidate && base !== null) {
      return html`<p class="note differs">They differ, but only in what this file does not hold.</p><pre class="seen-text"><${app.Text} value=${base} /></pre>`;
    }
    if (base === null || candidate === null || base === candidate) {
      const text = base === null ? candidate : base;
      if (!text) return html`<p class="muted">none</p>`;
      return html`<pre class="seen-text"><${app.Text} value=${(json && app.diffing.layOut(text)) || text} /></pre>`;
    }
    return html`<${app.LineDiff} base=${base} candidate=${candidate} json=${json} fold=${false} name=${name} before=${before} />`;
  }

  /** How much of the text of each side is missing here; once where it is as much. */
  function CutNotes(base, candidate) {
    const [left, right] = [base || [0], candidate || [0]];
    if (left.join() === right.join() || !left[0] || !right[0]) return html`<${app.CutNote} n=${left[0] || right[0]} before=${left[1] || right[1]} />`;
    return html`<${app.CutNote} n=${left[0]} before=${left[1]} what="character of the base" many="characters of the base" /><${app.CutNote} n=${right[0]} before=${right[1]} what="character of the candidate" many="characters of the candidate" />`;
  }

  // Mode and effect are the harness's own: no model sees them, so they stand beside the text.
  function OwnFacts({ left, right }) {
    const of = (tool) => ["mode", "effect"].filter((key) => tool && tool[key]).map((key) => `${key} ${app.plain(tool[key])}`).join(", ");
    const [one, other] = [of(left), of(right)];
    if (!one && !other) return null;
    return html` <span class="tag">${app.label(left && right && one !== other ? `${one} → ${other}` : one || other, 120)}</span>`;
  }

  /** All that the model saw of a tool: what is no named tool is its JSON, fields beside the usual ones stand at the end. */
  const toolText = (tool) => {
    if (!tool) return null;
    const laidOut = (text) => app.diffing.layOut(app.plain(text)) || app.plain(text);
    if (tool.json !== undefined) return laidOut(tool.json);
    const told = (field, write) => (tool[field] === undefined ? `(no ${field})` : write(tool[field]));
    return `${told("description", app.plain)}\n${told("parameters", laidOut)}${tool.more ? `\n${laidOut(tool.more)}` : ""}`;
  };

  // Of a description that is cut behind its beginning, the lines before are known; lines of what follows it are not then.
  const toolLines = (tool) => (tool && tool.linesBefore) || 0;

  const toolName = (tool) => (tool.json === undefined ? app.plain(tool.name) : "(no name)");

  function Tools({ base, candidate, hideSame }) {
    const pairs = useMemo(() => pairTools(base, candidate), [base, candidate]);
    if (pairs.length === 0) return html`<p class="muted">no tools</p>`;
    return html`<ol class="tools">${pairs.map(({ name, left, right, moved }) => {
      const same = Boolean(left && right) && left.same === right.same;
      const alone = base && candidate && (!left || !right);
      if (hideSame && same && !moved) return null;
      return html`<li class=${`tool-seen ${alone ? `only ${left ? "base" : "candidate"}` : ""}`} key=${name}>
        <h4><${app.Text} value=${name} /><${OwnFacts} left=${left} right=${right} /> ${alone && html`<span class="tag">only in ${left ? "base" : "candidate"}</span>`}${!alone && !same && base && candidate && html`<span class="tag differs">differs</span>`}${moved && html` <span class="tag differs">place ${moved[0]} → ${moved[1]}</span>`}</h4>
        <${Both} base=${toolText(left)} candidate=${toolText(right)} name=${`tool ${app.label(name, 60)}`} before=${[left, right].map(toolLines)} same=${same} />
        ${CutNotes(...[left, right].map((tool) => tool && [tool.cut, tool.cutBefore]))}
      </li>`;
    })}</ol>`;
  }

  const TOOL_KEYS = [(tool) => `${tool.same} ${toolName(tool)}`, toolName];

  /** [{name, left, right, moved}] in the order of the base; what only the candidate has stands where it has it. `moved`: both places. */
  function pairTools(base, candidate) {
    const left = base || [];
    const right = candidate || [];
    const partner = app.diffing.pairUp(left, right, TOOL_KEYS);
    const moved = app.diffing.movedOf(partner);
    const out = [];
    let next = 0;
    function alone(before) {
      for (; next < before; next += 1) if (!partner.includes(next)) out.push({ name: toolName(right[next]), left: null, right: right[next], moved: null });
    }
    left.forEach((tool, at) => {
      if (partner[at] >= 0 && !moved.has(at)) alone(partner[at]);
      out.push({ name: toolName(tool), left: tool, right: right[partner[at]] || null, moved: moved.has(at) ? [at + 1, partner[at] + 1] : null });
    });
    alone(right.length);
    return out;
  }

  /** A message in full. `other`: the message beside it where both sides have one that differs. */
  function Message({ message, other, side, number, fresh, elsewhere }) {
    if (!message) return html`<div class="message none"><span class="muted">nothing here in the ${side}</span></div>`;
    const text = app.contentText(message.content);
    const theirs = other ? app.contentText(other.content) : null;
    const calls = message.toolCalls || [];
    return html`<div class=${`message ${app.label(message.role, 20).replace(/\W/g, "")}`}>
      <div class="message-head"><span class="number muted">${number}</span> <span class="role">${app.label(message.role, 20)}</span>
        ${message.name && html` <span><${app.Text} value=${message.name} /></span>`}
        ${message.extra && html` <code class="extra"><${app.Marked} text=${app.plain(message.extra)} other=${other ? app.plain(other.extra) : null} side=${side} json /></code>`}
        ${message.callId && html` <span class="muted">answers <${app.Text} value=${message.callId} /></span>`}
        ${fresh && html` <span class="tag">${fresh}</span>`}${elsewhere && html` <span class="tag differs">at another place in the ${side === "base" ? "candidate" : "base"}</span>`}
      </div>
      ${message.reasoning && html`<div class="labelled aside"><span class="field">reasoning</span><div class="text"><${app.Marked} text=${app.plain(message.reasoning)} other=${other ? app.plain(other.reasoning) : null} side=${side} /></div></div>`}
      ${text && html`<div class="text"><${app.Marked} text=${text} other=${theirs} side=${side} /></div>`}
      ${message.refusal && html`<div class="labelled"><span class="field">refusal</span><div class="text"><${app.Marked} text=${app.plain(message.refusal)} other=${other ? app.plain(other.refusal) : null} side=${side} /></div></div>`}
      ${calls.map((call, k) => {
        const beside = other && (other.toolCalls || [])[k];
        return html`<div class="labelled"><span class="field">call</span><div class="text"><span class="call-name"><${app.Marked} text=${app.plain(call.name)} other=${beside ? app.plain(beside.name) : null} side=${side} /></span>
          <span class="muted"> <${app.Text} value=${call.id} /></span>${call.type && html` <span class="tag"><${app.Text} value=${call.type} /></span>`}
          ${call.extra && html` <code class="extra"><${app.Marked} text=${app.plain(call.extra)} other=${beside ? app.plain(beside.extra) : null} side=${side} json /></code>`}
          <div><code><${app.Marked} text=${app.plain(call.arguments)} other=${beside ? app.plain(beside.arguments) : null} side=${side} json /></code></div></div></div>`;
      })}
      <${app.CutNote} n=${message.cut} before=${message.cutBefore} />
    </div>`;
  }

  function Messages({ detail, base, candidate, hideSame, freshWord }) {
    const rows = useMemo(() => app.diffing.alignKeys(base ? base.messages : [], candidate ? candidate.messages : []), [base, candidate]);
    const both = base && candidate;
    const [inBase, inCandidate] = [base, candidate].map((seen) => new Set(both ? seen.messages : []));
    let a = 0;
    let b = 0;
    return html`<ol class=${rows.length > LONG ? "messages long" : "messages"}>${rows.map((row) => {
      if (row.base !== null) a += 1;
      if (row.candidate !== null) b += 1;
      const same = row.base === row.candidate;
      if (hideSame && same) return null;
      const fresh = (seen, key) => seen && seen.earlier && !seen.earlier.has(key) && freshWord;
      if (same || !both) {
        const key = row.base === null ? row.candidate : row.base;
        const number = same && a !== b ? `${a} / ${b}` : base ? a : b;
        return html`<li key=${`${a}-${b}`}><${Message} message=${detail.messages[key]} side=${base ? "base" : "candidate"} number=${number} fresh=${fresh(base || candidate, key)} /></li>`;
      }
      const left = row.base === null ? null : detail.messages[row.base];
      const right = row.candidate === null ? null : detail.messages[row.candidate];
      return html`<li class="two" key=${`${a}-${b}`}>
        <${Message} message=${left} other=${right} side="base" number=${a} fresh=${fresh(base, row.base)} elsewhere=${inCandidate.has(row.base)} />
        <${Message} message=${right} other=${left} side="candidate" number=${b} fresh=${fresh(candidate, row.candidate)} elsewhere=${inBase.has(row.candidate)} />
      </li>`;
    })}</ol>`;
  }


  function Facts({ side, seen, nth }) {
    return html`<div class=${`seen-facts ${side}`}><span class="side-name">${app.sideName(side)}</span>
      ${seen ? html`<span>${app.blockName(seen.block)} · ${app.plural(seen.messages.length, "message")} · ${app.plural(seen.tools.length, "tool")}${app.told(seen.contextTokens) ? ` · ${app.count(seen.contextTokens)} tokens` : ""}${seen.attempt > 1 ? ` · attempt ${seen.attempt}` : ""}</span>` : html`<span class="muted">${nth > 0 ? "no such attempt" : "no such step"}</span>`}
    </div>`;
  }

  const SEEN = ["system", "parameters", "messages", "tools"];

  /** One attempt of both sides, in full. Attempts stand beside each other by their order. */
  function Attempt({ detail, blocks, nth, of, only }) {
    const [base, candidate] = useMemo(() => ["base", "candidate"].map((side) => seenBy(detail, side, blocks[side], nth)), [detail, blocks.base, blocks.candidate, nth]);
    const same = Object.fromEntries(SEEN.map((key) => [key, base && candidate ? base.same[key] === candidate.same[key] : null]));
    const one = (key) => [base && base[key], candidate && candidate[key]];
    const [[leftSystem, rightSystem], [leftParameters, rightParameters]] = [one("system"), one("parameters")];
    const nothing = only && Object.values(same).every((value) => value === true);
    const fresh = nth > 0 ? "new at this attempt" : "new at this step";
    return html`<section class="attempt">
      ${of > 1 && html`<h3 class="attempt-name">Attempt ${nth + 1} of ${of}</h3>`}
      <div class="seen-sides">${detail.base && html`<${Facts} side="base" seen=${base} nth=${nth} />`}${detail.candidate && html`<${Facts} side="candidate" seen=${candidate} nth=${nth} />`}</div>
      ${nothing && html`<p class="empty">Both sides saw the very same.</p>`}
      <${Section} title="System prompt" same=${same.system} hideSame=${only}>
        <${SystemFacts} base=${base} candidate=${candidate} />
        <${Both} base=${leftSystem} candidate=${rightSystem} name="system prompt" before=${one("systemLines")} same=${same.system || factsDiffer(base, candidate) ? null : same.system} />${CutNotes(...one("systemCut"))}<//>
      <${Section} title="Parameters" same=${same.parameters} hideSame=${only}><${Both} base=${leftParameters} candidate=${rightParameters} json name="parameters" same=${same.parameters} />${CutNotes(...one("parametersCut"))}<//>
      <${Section} title="Messages" same=${same.messages} hideSame=${only}><${Messages} detail=${detail} base=${base} candidate=${candidate} hideSame=${only} freshWord=${fresh} /><//>
      <${Section} title="Tools" same=${same.tools} hideSame=${only}><${Tools} base=${base && base.tools} candidate=${candidate && candidate.tools} hideSame=${only} /><//>
    </section>`;
  }

  const factsOf = (seen) => (seen ? seen.systemFacts.map((facts, k) => (facts ? `message ${k + 1}: ${facts}` : "")).filter(Boolean).join("\n") : "");
  const factsDiffer = (base, candidate) => Boolean(base && candidate) && JSON.stringify(base.systemFacts) !== JSON.stringify(candidate.systemFacts);

  /** Roles and fields of system messages that are more than a text of the role system; and how many they are, where that differs. */
  function SystemFacts({ base, candidate }) {
    const [left, right] = [factsOf(base), factsOf(candidate)];
    if (!left && !right && !factsDiffer(base, candidate)) return null;
    const words = (seen, facts) => `${app.plural(seen.systemFacts.length, "message")}${facts ? `\n${facts}` : ""}`;
    return html`<${Both} base=${base && words(base, left)} candidate=${candidate && words(candidate, right)} name="system messages" />`;
  }

  /** The page `view=seen` of a run. `step(by)` leads to the next or last step that has a request. */
  function Seen({ detail, row, at, step }) {
    const [only, setOnly] = useState(false);
    const title = useRef(null);
    const pair = detail.pairs[at];
    const blocks = app.pairBlocks(detail, pair);
    const n = Math.max(requestsOf(blocks.base).length, requestsOf(blocks.candidate).length);
    const back = () => app.go({ page: "run", row: row.index, params: { at } });
    app.useKeys({ Escape: back, m: back, j: () => step(1), ArrowRight: () => step(1), k: () => step(-1), ArrowLeft: () => step(-1), d: () => setOnly(!only) }, 2);
    useLayoutEffect(() => {
      window.scrollTo(0, 0);
      title.current.focus({ preventScroll: true });
    }, [at]);
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
      ${Array.from({ length: n }, (_, nth) => html`<${Attempt} key=${nth} detail=${detail} blocks=${blocks} nth=${nth} of=${n} only=${only} />`)}
    </main>`;
  }

  Object.assign(app, { Seen, seenBy, requestDifferences, toolText, toolLines, toolName, pairTools, CutNotes });
})(window.harnessApp);
