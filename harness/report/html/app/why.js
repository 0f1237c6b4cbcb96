// Why two runs part: the cause, what was different before it, what each stretch took, and what the checks found.
(function (app) {
  "use strict";
  const { html, hooks } = app;
  const { useMemo } = hooks;

  function Parting({ row, detail }) {
    if (row.change === "same" && !row.base && !row.candidate) return html`<p class="muted">No difference between the sides.</p>`;
    if (!row.base && !row.candidate) return row.line ? html`<p class="line-text"><${app.Text} value=${row.line} /></p>` : null;
    const explanation = (detail && detail.explanation) || {};
    const effect = explanation.effect || explanation.first || {};
    const where = app.plain(row.where) || (app.known(row.step) ? `step ${row.step}` : app.plain(effect.path));
    return html`<div class="parting">
      <span class="where">${app.label(where, 200)}</span>
      <div class="from"><span class="side-name base">base</span><${Chosen} row=${row} detail=${detail} side="base" other="candidate" /></div>
      <div class="to"><span class="side-name candidate">candidate</span><${Chosen} row=${row} detail=${detail} side="candidate" other="base" /></div>
    </div>`;
  }

  function Cause({ row, detail }) {
    const text = row.causeText || row.cause;
    if (!text) return null;
    // Without a first thing done differently nobody chose anything.
    const inputs = detail && detail.inputs && detail.inputs.length > 0 && (detail.explanation || {}).effect;
    return html`<p class="cause-text"><span class="muted">cause</span> <strong><${app.Text} value=${text} /></strong>
      ${inputs && html` <span class="muted">What was different before does not prove that it made the choice: trials tell how often the base chooses so by itself.</span>`}</p>`;
  }

  /** What one side has where they part; a refusal, which is no text of an answer, is said to be one. */
  function Chosen({ row, detail, side, other }) {
    if (row[side] !== null && row[side] !== undefined) return html`<code><${app.Marked} text=${app.plain(row[side])} other=${app.plain(row[other])} side=${side} /></code>`;
    const pair = detail && app.known(detail.shown) ? app.pairBlocks(detail, detail.pairs[detail.shown]) : {};
    const { refusal } = (pair[side] && pair[side].answer) || {};
    return refusal ? html`<span class="muted"> refused: </span><code><${app.Text} value=${refusal} /></code>` : html`<span class="muted"> (nothing)</span>`;
  }

  /** Prompts, tools and parameters of the step where they part, where they differ between the sides. */
  function setUp(detail) {
    const places = [detail.shown, detail.first, 0].filter(app.known);
    for (const place of places) {
      for (let at = place; at >= 0 && at < detail.pairs.length; at += place === 0 ? 1 : -1) {
        const { base, candidate } = app.pairBlocks(detail, detail.pairs[at]);
        const left = app.seenBy(detail, "base", base);
        const right = app.seenBy(detail, "candidate", candidate);
        if (left && right) return { left, right };
      }
    }
    return null;
  }

  /** The system prompt, behind what its messages are where that is more than the role system. */
  const withFacts = (seen) => [...seen.systemFacts.filter(Boolean), seen.system].join("\n");

  // Facts that stand before the text are no lines of it: with them no number is known of a text that is cut.
  const linesBefore = (seen) => (seen.systemFacts.some(Boolean) && seen.systemLines !== 0 ? null : seen.systemLines);

  function changedInputs(detail) {
    const found = detail.base && detail.candidate ? setUp(detail) : null;
    if (!found) return [];
    const { left, right } = found;
    const out = [];
    if (left.same.system !== right.same.system) out.push({ name: "system prompt", base: withFacts(left), candidate: withFacts(right), before: [left, right].map(linesBefore), cut: [left.systemCut, right.systemCut] });
    const tools = app.pairTools(left.tools, right.tools);
    for (const { name, left: one, right: other } of tools) {
      const base = app.toolText(one);
      const candidate = app.toolText(other);
      if (!one || !other || one.same !== other.same) out.push({ name: `tool ${app.label(name, 80)}`, base: base || "", candidate: candidate || "", before: [one, other].map(app.toolLines), cut: [one, other].map((tool) => tool && [tool.cut, tool.cutBefore]) });
    }
    if (tools.some((tool) => tool.moved)) {
      const names = (seen) => seen.tools.map((tool) => app.label(app.toolName(tool), 80)).join("\n");
      out.push({ name: "order of the tools", base: names(left), candidate: names(right) });
    }
    if (left.same.parameters !== right.same.parameters) out.push({ name: "parameters", base: left.parameters, candidate: right.parameters, json: true, cut: [left.parametersCut, right.parametersCut] });
    return out;
  }

  // What is shown line by line need not be told again in short.
  function otherInputs(inputs, changed) {
    if (changed.length === 0) return inputs;
    return inputs.filter((input) => !/(^|[./ ])(system|tools?|parameters)\b/i.test(app.plain(input.path)));
  }

  function Inputs({ detail }) {
    const changed = useMemo(() => changedInputs(detail), [detail]);
    const others = otherInputs(detail.inputs || [], changed);
    if (changed.length + others.length === 0) return null;
    const more = Math.max(0, ((detail.explanation || {}).nInputs || 0) - (detail.inputs || []).length);
    return html`<${app.Fold} title="What was different before" extra=${app.plural(changed.length + others.length + more, "input")} open>
      ${changed.map((one) => html`<div class="input-changed" key=${one.name}><h4>${one.name}</h4>
        ${one.base === one.candidate ? html`<p class="note">They differ, but only in what this file does not hold.</p>` : html`<${app.LineDiff} base=${one.base} candidate=${one.candidate} json=${one.json} name=${one.name} before=${one.before} />`}
        ${app.CutNotes(...(one.cut || [null, null]))}</div>`)}
      ${others.length > 0 && html`<table class="inputs"><tbody>${others.map((one) => html`<tr>
        <th scope="row"><code><${app.Text} value=${one.path} /></code><${app.CutNote} n=${one.cut} before=${one.cutBefore} /></th>
        <td><${app.Marked} text=${app.plain(one.base)} other=${app.plain(one.candidate)} side="base" /></td>
        <td><${app.Marked} text=${app.plain(one.candidate)} other=${app.plain(one.base)} side="candidate" /></td></tr>`)}</tbody></table>`}
      <${app.CutNote} n=${more} what="input" />
    <//>`;
  }

  const AMOUNTS = [["nSteps", "steps", "count"], ["nCalls", "calls", "count"], ["inputTokens", "tokens in", "count"], ["outputTokens", "tokens out", "count"], ["costMicroUsd", "cost", "money"], ["timeMs", "time", "ms"]];

  // Counts are left out of the file where they are nought, other amounts where they are not known.
  function amount(side, key) {
    if (!side) return undefined;
    return side[key] ?? (key === "nSteps" || key === "nCalls" ? 0 : null);
  }

  function Amounts({ segment, field, write }) {
    const left = amount(segment.base, field);
    const right = amount(segment.candidate, field);
    const text = (value) => (value === undefined ? "" : app[write](value));
    if (!app.hasBase) return html`<td class="number">${text(right)}</td>`;
    if (left === right) return html`<td class="number muted">${text(left)}</td>`;
    return html`<td class="number">${text(left)} → ${text(right)}</td>`;
  }

  function Segments({ segments, leftOut = 0 }) {
    if (!segments || segments.length === 0) return null;
    return html`<${app.Fold} title="What each stretch took" extra=${app.plural(segments.length + leftOut, "stretch", "stretches")}>
      <div class="scroll-x"><table class="segments"><thead><tr><th scope="col">stretch</th><th scope="col">from</th>${AMOUNTS.map(([, name]) => html`<th scope="col" class="number">${name}</th>`)}</tr></thead>
      <tbody>${segments.map((one) => html`<tr class=${app.label(one.kind, 20)}>
        <th scope="row">${app.label(one.kind, 20)}</th>
        <td class="muted">${[one.turn > 1 && `turn ${one.turn}`, app.known(one.step) && `step ${one.step}`].filter(Boolean).join(" ") || "start"}</td>
        ${AMOUNTS.map(([field, , write]) => html`<${Amounts} segment=${one} field=${field} write=${write} />`)}
      </tr>`)}</tbody></table></div>
      <${app.CutNote} n=${leftOut} what="stretch" many="stretches" />
    <//>`;
  }

  function Events({ events, side, onEvent }) {
    return (events || []).map((seq) => (onEvent.holds(side, seq)
      ? html` <button type="button" class="event" title=${`to event ${seq}`} onClick=${() => onEvent(side, seq)}>${app.plain(seq)}</button>`
      : html` <span class="event muted" title="the block of this event is not in this file">${app.plain(seq)}</span>`));
  }

  /** What is said where no check has anything against a side. */
  function nothingAgainst(judged) {
    if (!judged || judged.n === 0) return "no check judged it";
    return judged.passed === 0 ? "no check applied to it" : "all checks passed";
  }

  function VerdictList({ side, verdicts, judged, leftOut, onEvent }) {
    return html`<div class="verdicts ${side}">
      <h4><span class=${`side-name ${side}`}>${app.sideName(side)}</span></h4>
      ${verdicts.length === 0 ? html`<p class="muted">${nothingAgainst(judged)}</p>` : html`<ul class="plain">${verdicts.map((one) => html`<li>
        <${app.OutcomeBadge} word=${one.outcome} /> <strong><${app.Text} value=${one.check} /></strong> <span class="muted"><${app.Text} value=${one.why || ""} /></span>
        ${(one.findings || []).length > 0 && html`<ul>${one.findings.map((finding) => html`<li><${app.Text} value=${finding.message} />
          <${Events} events=${finding.events} side=${side} onEvent=${onEvent} /></li>`)}</ul>`}
        <${app.CutNote} n=${(one.nFindings || 0) - (one.findings || []).length} what="finding" />
      </li>`)}</ul>`}
      <${app.CutNote} n=${leftOut} what="verdict" />
    </div>`;
  }

  function Verdicts({ detail, onEvent }) {
    const verdicts = detail.verdicts || {};
    const sides = ["base", "candidate"].filter((side) => detail[side]);
    const n = sides.reduce((sum, side) => sum + (verdicts[side] || []).length, 0);
    if (n === 0) return null;
    return html`<${app.Fold} title="Checks that did not pass" extra=${app.plural(n, "verdict")} open>
      <div class=${sides.length > 1 ? "two" : ""}>${sides.map((side) => html`<${VerdictList} key=${side} side=${side} verdicts=${verdicts[side] || []} judged=${(detail.judged || {})[side]} leftOut=${(detail.verdictsLeftOut || {})[side]} onEvent=${onEvent} />`)}</div>
    <//>`;
  }

  /** `onEvent(side, seq)` leads to the block that holds an event. */
  function Why({ row, detail, onEvent }) {
    return html`<section class="why" aria-label="why">
      <${Parting} row=${row} detail=${detail} />
      <${Cause} row=${row} detail=${detail} />
      ${detail && html`<div class="folds"><${Verdicts} detail=${detail} onEvent=${onEvent} /><${Inputs} detail=${detail} /><${Segments} segments=${detail.segments} leftOut=${detail.segmentsLeftOut} /></div>`}
    </section>`;
  }

  app.Why = Why;
})(window.harnessApp);
