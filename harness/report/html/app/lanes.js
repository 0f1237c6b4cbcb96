// Time drawn as lanes: model requests and waits, tool bodies (those that overlap lie on lanes of their own), children, marks.
(function (app) {
  "use strict";
  const { html } = app;

  const isTool = (bar) => bar.track === "tool";
  const isAsked = (bar) => bar.track === "model" && bar.kind !== "wait";

  function laneName({ agent, track, number }) {
    if (number > 0) return "";
    if (agent) return track === "model" ? `↳ ${app.label(agent, 40)}` : "";
    return track === "model" ? "model" : "tools";
  }

  function Track({ drawn, scale, side, label, onBlock }) {
    const share = (value) => `${((value / (scale.to - scale.from)) * 100).toFixed(3)}%`;
    return html`<div class=${`track ${side}`} role="img" aria-label=${label}>
      ${drawn.lanes.map((lane, at) => html`<div class="lane" key=${at}>
        <span class="lane-name muted">${laneName(lane)}</span>
        <span class="lane-room">${lane.bars.map((bar) => html`
          <span class=${`bar ${bar.kind}`} title=${bar.text} style=${{ left: share(bar.at - scale.from), width: share(bar.wide) }}
            onClick=${onBlock && (() => onBlock(bar.block))}>${bar.name && html`<span class="bar-name">${bar.name}</span>`}</span>`)}
        </span>
      </div>`)}
      <div class="marks"><span class="lane-name"></span><span class="lane-room">${drawn.marks.map((mark) => html`
        <span class=${`mark ${mark.kind}`} title=${app.label(mark.text)} style=${{ left: share(mark.at - scale.from) }}></span>`)}</span></div>
    </div>`;
  }

  function summary(name, drawn) {
    const tools = drawn.bars.filter(isTool);
    const asked = drawn.bars.filter(isAsked).length;
    const waits = drawn.bars.length - tools.length - asked;
    const marks = drawn.marks.map((mark) => app.label(mark.text, 60)).join(", ");
    return `${name}: ${app.plural(asked, "model request")}, ${waits ? `${app.plural(waits, "wait")}, ` : ""}${app.plural(tools.length, "tool body", "tool bodies")}, ${app.spans.overlapping(tools)} overlapping${marks ? "; " + marks : ""}`;
  }

  /** Both runs over the same time, above the timeline. A bar leads to its block. */
  function RunMap({ base, candidate, onBlock }) {
    const { drawing, span, inOrder, packed } = app.spans;
    let drawn = [["base", base], ["candidate", candidate]].filter(([, side]) => side).map(([name, side]) => [name, drawing(side)]);
    if (!drawn.some(([, one]) => one.bars.length > 0)) return null;
    let scale = span(drawn.map(([, one]) => one));
    const timed = drawn.every(([, one]) => one.timed || one.bars.length === 0);
    const still = !timed || scale.to <= scale.from;
    if (still) {
      drawn = drawn.map(([name, one]) => [name, one.bars.length ? inOrder(one) : one]);
      scale = span(drawn.map(([, one]) => one));
    }
    drawn = drawn.map(([name, one]) => [name, packed(one, scale)]);
    return html`<figure class="run-map">
      ${drawn.map(([name, one]) => html`<div class="map-side"><span class=${`side-name ${name}`}>${app.sideName(name)}</span>
        <${Track} drawn=${one} scale=${scale} side=${name} label=${summary(name, one)} onBlock=${(block) => onBlock(name, block)} /></div>`)}
      <figcaption class="muted">${still ? `${timed ? "No time passed on the clock of these runs" : "Times are not known"}: drawn in order.` : html`<span>0</span><span>${app.ms(scale.to - scale.from)}</span>`}</figcaption>
      <${Legend} drawn=${drawn} />
    </figure>`;
  }

  function Legend({ drawn }) {
    const kinds = new Set(drawn.flatMap(([, one]) => one.marks.map((mark) => mark.kind)));
    const shown = Object.keys(app.MARKS).filter((kind) => kinds.has(kind));
    const has = (word) => drawn.some(([, one]) => one.bars.some((bar) => bar.kind.split(" ").includes(word)));
    return html`<ul class="legend muted" aria-hidden="true">
      <li><span class="swatch model"></span>model</li>${has("wait") && html`<li><span class="swatch wait"></span>waiting</li>`}
      <li><span class="swatch tool ok"></span>tool body</li><li><span class="swatch tool error"></span>failed</li>
      <li><span class="swatch tool cancelled"></span>cancelled</li>${has("unsettled") && html`<li><span class="swatch unsettled"></span>did not end</li>`}
      ${shown.map((kind) => html`<li><span class=${`swatch-mark ${kind}`}></span>${app.MARKS[kind]}</li>`)}
    </ul>`;
  }

  /** The time of one step, where several bodies ran, something was waited for, or a mark fell into it. */
  function StepLanes({ block, side }) {
    const { drawing, span, inOrder, packed } = app.spans;
    let drawn = drawing(null, block);
    const nTools = drawn.bars.filter(isTool).length;
    const waits = drawn.bars.some((bar) => bar.kind === "wait");
    if (nTools < 2 && !waits && !(nTools > 0 && drawn.marks.length > 0)) return null;
    let scale = span([drawn]);
    if (scale.to <= scale.from) {
      drawn = inOrder(drawn);
      scale = span([drawn]);
    }
    return html`<div class="step-lanes"><${Track} drawn=${packed(drawn, scale)} scale=${scale} side=${side} label=${summary("this step", drawn)} /></div>`;
  }

  Object.assign(app, { RunMap, StepLanes });
})(window.harnessApp);
