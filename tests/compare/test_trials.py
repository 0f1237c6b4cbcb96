"""A scenario over its trials: which pair with which, what tells most, and how often the base chose as the candidate."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from harness.compare import Choices, compare_runs, digest_of, explain
from harness.types.codes import Cause, Change, Outcome
from harness.types.events import Trajectory
from harness.types.records import Comparison, Finding, Measure, RunSummary, ScenarioComparison, Share, Verdict
from tests.compare.made import ANSWERS, RESULTS, refund_run, summary

LOOK, REFUND, SAY = ANSWERS
RUNS = {
    "refund": refund_run(),
    "cancel": refund_run(answers=(LOOK, ([("cancel_order", '{"order":7}')], None), SAY)),
    "cancel-and-say": refund_run(answers=(LOOK, ([("cancel_order", '{"order": 7}')], "Now."), SAY)),
    "ask": refund_run(answers=(LOOK, ([], "Which order?"))),
    "refund-more-tokens": refund_run(more_tokens=1),
    "ask-more-tokens": refund_run(answers=(LOOK, ([], "Which order?")), more_tokens=1),
    "other-result": refund_run(results=(RESULTS[1], *RESULTS[1:])),
}
PASS, FAIL = Outcome.PASS, Outcome.FAIL


def runs(*names: str, failing: Sequence[int] = (), **changes: int | None) -> list[RunSummary]:
    return [
        summary("a", FAIL if trial in failing else PASS, trial=trial, run_id=f"a@default#{trial}", file=name, **changes)
        for trial, name in enumerate(names, 1)
    ]


def compared(base: list[RunSummary], candidate: list[RunSummary], *, digests: bool = True) -> Comparison:
    def load(_: str, run: RunSummary) -> Trajectory:
        return RUNS[run.file]

    return compare_runs(base, candidate, load, digest=(lambda _, run: digest_of(RUNS[run.file])) if digests else None)


def row(base: list[RunSummary], candidate: list[RunSummary]) -> ScenarioComparison:
    (found,) = compared(base, candidate).scenarios
    return found


@pytest.mark.parametrize(
    ("base", "candidate", "share"),
    [
        pytest.param(("refund", "refund", "cancel", "cancel", "refund"), "cancel", Share(2, 5), id="two-of-five"),
        pytest.param(("refund", "refund", "cancel-and-say"), "cancel", Share(1, 3), id="the-calls-count-where-they-differ"),
        pytest.param(("refund", "refund"), "cancel", Share(0, 2), id="never"),
        pytest.param(("refund", "other-result", "cancel"), "cancel", Share(1, 2), id="another-result-is-another-input"),
        pytest.param(("refund", "ask", "ask"), "ask", Share(2, 3), id="no-call-is-a-choice"),
    ],
)
def test_how_often_the_base_chose_so_counts_its_trials_with_the_same_input(
    base: tuple[str, ...], candidate: str, share: Share
) -> None:
    one, other = RUNS[base[0]], RUNS[candidate]
    found = explain(one, other)
    assert found is not None
    assert found.effect is not None
    assert Choices(RUNS[name] for name in base).share(one, other, found.effect) == share


def test_a_row_says_how_often_the_base_chose_so() -> None:
    found = row(runs("refund", "refund", "cancel", "ask", "refund"), runs("cancel", "cancel", "refund", "refund", "refund"))
    assert (found.cause, found.base_chose, found.step, found.n_differ) == (Cause.MODEL, Share(1, 5), 2, 1)
    assert found.line.endswith("cause: the model chose differently on the same input; the base chose this in 1 of 5")


@pytest.mark.parametrize("digests", [pytest.param(True, id="digests"), pytest.param(False, id="without-digests")])
def test_trials_in_another_order_behave_the_same_where_only_their_token_counts_differ(digests: bool) -> None:
    (found,) = compared(runs("refund", "ask"), runs("ask-more-tokens", "refund-more-tokens"), digests=digests).scenarios
    assert (found.n_behave, found.n_details, found.cause) == (0, 2, Cause.DETAIL)
    (found,) = compared(runs("refund", "ask"), runs("ask-more-tokens", "cancel-and-say"), digests=digests).scenarios
    assert (found.n_behave, found.n_details) == (1, 1)


def test_of_trials_that_behave_alike_those_that_came_out_alike_pair_first() -> None:
    base = runs("refund", "refund", "ask", failing=(1,))
    for names in (("refund", "refund", "ask"), ("refund-more-tokens", "refund-more-tokens", "ask")):
        assert row(base, runs(*names, failing=(2,))).n_behave == 0
        assert row(base, runs("ask", *names[:2], failing=(3,))).n_behave == 0
    assert row(base, runs("ask", "refund", "refund", failing=(3,))).change == Change.SAME


def test_trials_that_came_out_in_another_order_are_the_same() -> None:
    found = row(runs("refund", "cancel", "ask"), runs("ask", "refund", "cancel"))
    assert (found.change, found.n_differ, found.explanation) == (Change.SAME, 0, None)


@pytest.mark.parametrize(
    ("failing_base", "failing_candidate", "change"),
    [
        pytest.param((), (2,), Change.WORSE, id="one-fails-now"),
        pytest.param((1, 2), (2,), Change.BETTER, id="one-fails-no-more"),
        pytest.param((1,), (2,), Change.CHANGED, id="another-one-fails"),
        pytest.param((1,), (1,), Change.SAME, id="the-same-one-fails"),
    ],
)
def test_better_and_worse_go_by_the_share_of_trials_that_passed(
    failing_base: tuple[int, ...], failing_candidate: tuple[int, ...], change: Change
) -> None:
    names = ("refund", "cancel", "ask")
    assert row(runs(*names, failing=failing_base), runs(*names, failing=failing_candidate)).change == change


@pytest.mark.parametrize("digests", [True, False], ids=["digests", "no-digests"])
def test_each_trial_of_a_surplus_is_looked_at(digests: bool) -> None:
    (found,) = compared(runs("refund"), runs("refund", "refund", "cancel", "refund-more-tokens"), digests=digests).scenarios
    assert (found.change, found.n_differ, found.n_behave, found.n_details) == (Change.CHANGED, 2, 1, 1)
    assert found.explanation is not None
    assert found.explanation.shown.candidate == "cancel_order(7)"
    (equal,) = compared(runs("refund", "ask"), runs("ask", "refund", "ask", "refund"), digests=digests).scenarios
    assert equal.change == Change.SAME


def test_sums_of_both_sides_are_exact_whole_numbers() -> None:
    odd = 2**53 + 1
    found = compared(runs("refund", cost_micro_usd=odd), runs("refund", "refund", cost_micro_usd=odd)).cost
    assert found is not None
    assert (found.base, found.candidate) == (odd, odd)


def test_trials_that_are_missing_are_a_change_and_more_of_them_are_none() -> None:
    assert row(runs("refund", "refund"), runs("refund")).change == Change.CHANGED
    assert row(runs("refund"), runs("refund", "refund")).change == Change.SAME


def test_the_pair_that_got_worse_is_shown_before_one_that_only_differs() -> None:
    found = row(runs("refund", "refund"), runs("cancel", "ask", failing=(2,)))
    assert found.candidate is not None
    assert found.candidate.trial == 2
    assert found.n_differ == 2


def test_one_trial_on_each_side_pairs_whatever_its_number() -> None:
    base = [summary("a", trial=1, file="refund")]
    candidate = [summary("a", trial=2, file="refund")]
    assert [one.change for one in compared(base, candidate).scenarios] == [Change.SAME]


def test_nothing_is_loaded_where_digests_are_equal_and_segments_are_kept_for_what_changed() -> None:
    loaded: list[str] = []

    def load(side: str, run: RunSummary) -> Trajectory:
        loaded.append(f"{side} {run.run_id}")
        return RUNS[run.file]

    base, candidate = runs("refund", "ask"), runs("refund", "cancel")
    compare_runs(base, base, load, digest=lambda _, run: digest_of(RUNS[run.file]))
    assert loaded == []
    comparison = compare_runs(base[1:], candidate[1:], load, digest=lambda _, run: digest_of(RUNS[run.file]))
    assert set(loaded) == {"base a@default#2", "candidate a@default#2"}
    (found,) = comparison.scenarios
    assert [segment.kind for segment in found.segments] == ["equal", "only-candidate", "changed", "equal"]


@pytest.mark.parametrize(
    ("base_ms", "candidate_ms", "expected"),
    [
        pytest.param((10, 30), (20, 40), Measure(20, 30, 1, 28), id="noise-from-trials"),
        pytest.param((10,), (20,), Measure(10, 20, 1, None), id="one-trial-says-nothing-of-noise"),
        pytest.param((None,), (20,), None, id="not-known-on-one-side"),
        pytest.param((10, 30), (20, None), None, id="not-known-of-one-trial"),
    ],
)
def test_cost_and_latency_come_with_the_noise_that_trials_show(
    base_ms: tuple[int | None, ...], candidate_ms: tuple[int | None, ...], expected: Measure | None
) -> None:
    def timed(times: tuple[int | None, ...]) -> list[RunSummary]:
        return [summary("a", trial=n, file="refund", duration_ms=ms) for n, ms in enumerate(times, 1)]

    assert compared(timed(base_ms), timed(candidate_ms)).latency == expected


@pytest.mark.parametrize("side", ["base", "candidate"])
@pytest.mark.parametrize(
    "world",
    [
        pytest.param((Verdict("endpoint", Outcome.ERROR),), id="errored"),
        pytest.param((), id="errored-without-a-verdict"),
        pytest.param((Verdict("c", Outcome.FAIL, (Finding("c", "x", rule="recording-out-of-date"),)),), id="out-of-date"),
    ],
)
def test_what_runs_took_that_say_nothing_of_the_change_is_left_out_as_a_gate_leaves_it_out(
    side: str, world: tuple[Verdict, ...]
) -> None:
    good = [summary(name, file="refund", duration_ms=1_000) for name in "abcd"]
    early = [summary(name, Outcome.ERROR, file="refund", duration_ms=10, verdicts=world) for name in "ab"]
    sides = {"base": good, "candidate": good, side: early + good[2:]}
    assert compared(sides["base"], sides["candidate"]).latency == Measure(2_000, 2_000, 2, None)
