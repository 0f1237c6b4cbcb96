// The head of the overview: the verdict and the rule that gave it, both sides, what moved beside, and the command.
(function (app) {
  "use strict";
  const { html } = app;

  const COUNTS = [
    ["planned", "planned"], ["passed", "pass"], ["failed", "fail"], ["errored", "error"], ["inconclusive", "inconclusive"],
    ["invalid", "invalid"], ["skipped", "skipped"], ["notRun", "not run"], ["outOfDate", "out of date"],
  ];

  const SOURCES = app.table({ "merge-base": "the merge base", file: "the file as it lies here" });

  function Verdict() {
    const verdict = app.review.verdict || {};
    const outcome = verdict.outcome || app.comparison.outcome || "";
    // A gate that gave no results did not judge: then every difference fails, and the note says why it did not.
    const judged = (verdict.results || []).length > 0 && SOURCES[verdict.source];
    return html`<div class=${`verdict ${app.tone(outcome)}`} role="status">
      <div class="verdict-word">${app.label(outcome, 20) || "Report"}</div>
      <div class="verdict-why">
        <p class="rule"><${app.Text} value=${verdict.text || ""} /></p>
        ${judged && html`<p class="muted">Judged by the gate of ${judged}${verdict.file && html` (<code><${app.Text} value=${verdict.file} /></code>)`}.
          ${verdict.edited && html` <strong>This change edits the gate; the old one judged.</strong>`}</p>`}
        ${verdict.note && html`<p class="muted"><strong><${app.Text} value=${verdict.note} /></strong></p>`}
      </div>
    </div>`;
  }

  function Place({ path, revision, side, data }) {
    // A run may name its model once for each role: here each counts once.
    const models = [...new Set(((data && data.models) || []).flatMap((one) => app.plain(one).split(", ")))];
    const subjects = (data && data.subjects) || [];
    return html`<th scope="row" class=${side}>
      <span class="side-name">${app.sideName(side)}</span>
      <span class="place">
        ${revision && revision.commit && html`<code title=${app.label(revision.commit, 60)}>${app.commit(revision.commit)}</code> `}
        ${revision && revision.ref && html`<span><${app.Text} value=${revision.ref} /></span> `}
        ${revision && revision.dirty && html`<span class="badge warn">uncommitted changes</span> `}
        <span class="path"><${app.Text} value=${path} /></span>
        <span class="muted models">${app.label(models.join(", "), 120)}${subjects.length > 0 && ` · ${app.label(subjects.join(", "), 120)}`}</span>
      </span>
    </th>`;
  }

  function Sides() {
    const { comparison, review } = app;
    const sides = [["base", comparison.base, review.baseRevision, comparison.baseSide], ["candidate", comparison.candidate, review.candidateRevision, comparison.candidateSide]];
    const shown = sides.filter(([name, , , data]) => name === "candidate" || (app.hasBase && data));
    // A count that is nought on all sides says nothing, but for the first three.
    const counts = COUNTS.filter(([key], index) => index < 3 || shown.some(([, , , data]) => data && data[key]));
    if (!shown.some(([, , , data]) => data)) return null;
    return html`<div class="scroll-x"><table class="sides">
      <thead><tr><th scope="col">runs</th>${counts.map(([, name]) => html`<th scope="col" class="number">${name}</th>`)}</tr></thead>
      <tbody>${shown.map(([side, path, revision, data]) => html`<tr>
        <${Place} side=${side} path=${path} revision=${revision} data=${data} />
        ${counts.map(([key, name]) => {
          const value = (data && data[key]) || 0;
          const kind = value === 0 ? "nought" : key === "failed" || key === "errored" || key === "invalid" ? "bad-text" : key === "passed" ? "good-text" : "";
          return html`<td class=${`number ${kind}`} data-name=${name}>${app.count(value)}</td>`;
        })}
      </tr>`)}</tbody>
    </table></div>`;
  }

  function MeasureCard({ name, measure, write }) {
    if (!measure) return null;
    const { overview } = app;
    // The sums that are not rounded: per cent of rounded ones would be another number.
    const [base, candidate] = (overview.sums || {})[name] || [measure.base, measure.candidate];
    const change = app.number(app.difference(base, candidate));
    const known = app.known(measure.noise);
    const within = known && Math.abs(change) <= measure.noise;
    const percent = app.percent(base, candidate) || (change > 0 ? "from nothing" : "");
    const tone = within || !known || percent === "±0 %" ? "" : change > 0 ? "bad-text" : "good-text";
    return html`<div class="measure">
      <span class="muted">${name}</span>
      <span class="value">${write(base)} → ${write(candidate)}</span>
      <span class=${tone}>${percent || app.NONE}</span>
      <span class="muted noise">${known ? `noise ± ${write(measure.noise)}${within && change !== 0 ? ": within it" : ""}` : "noise unknown: not every scenario has repeated trials"} · ${overScenarios(measure)}</span>
    </div>`;
  }

  /** `197 scenarios`, or `known of 24 of 197 scenarios`: a sum may leave out those of which some trial does not tell it. */
  function overScenarios({ nScenarios }) {
    const n = app.overview.nPaired ?? nScenarios;
    return n > nScenarios ? `known of ${app.count(nScenarios)} of ${app.plural(n, "scenario")}` : app.plural(nScenarios, "scenario");
  }

  function Measures() {
    const { cost, latency, tokens } = app.comparison;
    if (!cost && !latency && !tokens) return null;
    return html`<div class="measures">
      <${MeasureCard} name="cost" measure=${cost} write=${app.money} />
      <${MeasureCard} name="latency" measure=${latency} write=${app.ms} />
      <${MeasureCard} name="tokens" measure=${tokens} write=${app.amount} />
    </div>`;
  }

  function GoalPosts() {
    const { goalPosts: posts = [], mergeBase } = app.review;
    if (posts.length === 0) return null;
    const summary = Object.entries(app.overview.moved || {}).map(([kind, n]) => app.plural(n, app.label(kind, 30))).join(", ");
    return html`<${app.Fold} title="Goal posts moved" extra=${summary} open=${posts.length <= 3}>
      ${mergeBase && html`<p class="muted">since the merge base <code title=${app.label(mergeBase, 60)}>${app.commit(mergeBase)}</code></p>`}
      <ul class="plain">${posts.map((post) => html`<li>
        <span class="badge warn">${app.label(post.kind, 30)}</span> <code><${app.Text} value=${post.file} /></code> <span><${app.Text} value=${post.detail || ""} /></span>
      </li>`)}</ul>
      <${More} n=${app.review.nGoalPosts} shown=${posts.length} what="goal post" />
    <//>`;
  }

  /** What a list of the file leaves out: `n` is how many there were, where it was cut. */
  function More({ n, shown, what, many = what + "s" }) {
    return n > shown ? html`<p class="muted more">and ${app.plural(n - shown, what, many)} more</p>` : null;
  }

  function Remarks() {
    const remarks = app.review.remarks || [];
    if (remarks.length === 0) return null;
    return html`<ul class="plain remarks">${remarks.map((one) => html`<li><span class="badge warn">note</span> <${app.Text} value=${one} /></li>`)}</ul>
      <${More} n=${app.review.nRemarks} shown=${remarks.length} what="note" />`;
  }

  function Quarantine() {
    const { quarantine: entries = [], nQuarantine } = app.review.verdict || {};
    if (entries.length === 0) return null;
    const { n, held, idle, expired } = app.overview.quarantine;
    const counts = [[held, "held something back"], [idle, "without effect"], [expired, "expired"]].filter(([some]) => some > 0);
    const summary = [app.plural(n, "entry", "entries"), ...counts.map(([some, what]) => `${app.count(some)} ${what}`)].join(", ");
    return html`<${app.Fold} title="Quarantine" extra=${summary} open=${entries.length <= 3 || idle > 0}>
      <ul class="plain">${entries.map((one) => html`<li>
        <strong><${app.Text} value=${one.scenario} /></strong>${one.until && ` until ${app.label(one.until, 20)}`}${one.expired && html` <span class="badge bad">expired</span>`}
        ${one.remark && html` <span class="badge warn">not held back</span> <span><${app.Text} value=${one.remark} /></span>`}
        <span class="muted"> <${app.Text} value=${one.why} />${one.held && one.held.length > 0 && ` · kept from failing: ${app.label(one.held.join(", "), 120)}`}</span>
      </li>`)}</ul>
      <${More} n=${nQuarantine} shown=${entries.length} what="entry" many="entries" />
    <//>`;
  }

  function Rules() {
    const results = (app.review.verdict && app.review.verdict.results) || [];
    if (results.length === 0) return null;
    const broken = results.filter((one) => one.outcome !== "PASS" && one.outcome !== "NOT_APPLICABLE").length;
    return html`<${app.Fold} title="Rules of the gate" extra=${`${app.plural(results.length, "rule")}, ${broken} not kept`}>
      <table class="rules"><tbody>${results.map((one) => html`<tr>
        <th scope="row">${app.label(one.rule, 40)}</th>
        <td><${app.OutcomeBadge} word=${one.outcome} /></td>
        <td class="muted">${app.label(one.severity, 20)}</td>
        <td><${app.Text} value=${one.why || ""} />${one.nScenarios > 0 && html` <span class="muted">(${app.plural(one.nScenarios, "scenario")}: ${app.label((one.scenarios || []).slice(0, 5).join(", "), 160)})</span>`}</td>
      </tr>`)}</tbody></table>
    <//>`;
  }

  function Banner() {
    return html`<section class="banner" aria-label="verdict">
      <${Verdict} />
      <${Sides} />
      <${Measures} />
      <div class="folds"><${Remarks} /><${Rules} /><${GoalPosts} /><${Quarantine} /></div>
      ${app.review.command && html`<div class="again"><span class="muted">Make it again</span><${app.Command} text=${app.review.command} /></div>`}
    </section>`;
  }

  Object.assign(app, { Banner });
})(window.harnessApp);
