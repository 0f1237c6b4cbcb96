// The cases of an evaluation that fail most: what was asked, what was right, what each trial chose.
(function (app) {
  "use strict";
  const P = app.plots;
  const { el } = P;
  const AT_ONCE = 50;

  const text = (value) => el("bdi", {}, app.label(value, 2000));
  const kindsOf = (found) => [...new Set(found.arms.flatMap((arm) => arm.trials.flatMap((trial) => trial.misfits.map(([kind]) => kind))))];

  function haystack(found) {
    const arms = found.arms.flatMap((arm) => arm.trials.flatMap((trial) => [trial.chosen, ...trial.misfits.flat()]));
    return [found.case, found.ask, found.expected, ...found.tags, ...arms].map(app.plain).join("\n").toLowerCase();
  }

  function trialRow(arm, trial) {
    const misfits = trial.misfits.map(([kind, path, message]) => el("div", {}, el("strong", {}, kind), path ? ` ${app.label(path, 200)}: ` : " ", app.label(message, 600)));
    return [text(arm.arm), app.count(trial.trial), el("span", { class: `plot-outcome plot-${trial.score === "passed" ? "clean" : trial.score === "failed" ? "red" : "flaky"}` }, trial.score), el("code", {}, app.label(trial.chosen, 2000)), el("div", {}, misfits)];
  }

  function body(found) {
    const rows = found.arms.flatMap((arm) => arm.trials.map((trial) => trialRow(arm, trial)));
    const left = found.arms.reduce((n, arm) => n + arm.leftOut, 0);
    return [
      el("dl", { class: "plot-case" },
        el("dt", {}, "asked"), el("dd", {}, found.before ? el("small", {}, `behind ${app.plural(found.before, "earlier message")}: `) : null, text(found.ask)),
        el("dt", {}, "right is"), el("dd", {}, el("code", {}, app.label(found.expected, 2000))),
        found.tags.length ? [el("dt", {}, "tags"), el("dd", {}, text(found.tags.join(", ")))] : null),
      P.tableOf({ head: ["arm", "trial", "", "chosen", "mismatch"], rows }, `Trials of ${app.label(found.case, 80)}`),
      left ? el("p", { class: "plot-note" }, `${app.plural(left, "trial")} more, in trials.parquet.`) : null,
    ].filter(Boolean);
  }

  function one(state, found) {
    const counts = found.arms.map((arm) => `${app.label(arm.arm, 40)} ${app.count(arm.passed)} of ${app.count(arm.planned)}`).join(", ");
    return P.fold(state, { kind: "plot-one-case" }, [el("strong", {}, app.label(found.case, 120)), ` ${counts} `, el("small", {}, kindsOf(found).join(", "))], () => body(found));
  }

  function draw(state, found) {
    const all = found.cases.map((entry) => ({ entry, text: haystack(entry), kinds: kindsOf(entry) }));
    const kinds = [...new Set(all.flatMap((one_) => one_.kinds))].sort();
    const field = el("input", { type: "search", "aria-label": "filter cases", placeholder: "filter: case, question, tool, argument" });
    const select = el("select", { "aria-label": "class of mismatch" }, el("option", { value: "" }, "all classes"), kinds.map((kind) => el("option", { value: kind }, kind)));
    const status = el("span", { role: "status" });
    const list = el("div", {});
    let most = AT_ONCE;
    const more = el("button", { type: "button", class: "plot-switch", on: { click: () => { most += AT_ONCE; show(); } } }, "more");
    function show() {
      const wanted = field.value.trim().toLowerCase();
      const kept = all.filter((each) => (!wanted || each.text.includes(wanted)) && (!select.value || each.kinds.includes(select.value)));
      status.textContent = ` ${app.count(kept.length)} of ${app.plural(all.length, "case")}`;
      // What was listed before is gone: it is not opened for paper.
      state.folds = state.folds.filter(({ made }) => !list.contains(made));
      list.replaceChildren(...kept.slice(0, most).map((each) => one(state, each.entry)));
      more.hidden = kept.length <= most;
    }
    field.addEventListener("input", () => { most = AT_ONCE; show(); });
    select.addEventListener("change", () => { most = AT_ONCE; show(); });
    show();
    let listed = most;
    state.papers.push((is) => {
      if (is) listed = most;
      most = is ? all.length : listed;
      show();
    });
    const left = found.leftOut ? ` ${app.plural(found.leftOut, "case")} that fail less often are left out, and stand in cases.parquet.` : "";
    return [el("p", { class: "plot-lead" }, `Those with the most trials that did not pass come first.${left}`), el("p", { class: "plot-choice" }, field, " ", select, status), list, more];
  }

  P.section("cases", "Cases that fail", (state) => (state.plots.cases && state.plots.cases.cases.length ? state.plots.cases : null), draw);
})(window.harnessApp);
