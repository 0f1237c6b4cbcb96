"""A comparison is told on one screen: the verdict, the rule, both sides, the worst changes, what to run."""

import math
import statistics
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.compare import About, compare_runs
from harness.gates import without_gate
from harness.report import Verbosity, comparison_text
from harness.report.comparison import took_text
from harness.types.codes import Cause, Change, Outcome, SegmentKind
from harness.types.events import Trajectory
from harness.types.records import (
    Amount,
    Comparison,
    Divergence,
    Explanation,
    Measure,
    RunSummary,
    ScenarioComparison,
    Segment,
    Side,
)
from harness.types.review import Review
from tests.compare.made import ANSWERS, refund_run, summary
from tests.report.nasty import NASTY

LOOK, REFUND, SAY = ANSWERS
RUN = refund_run()
OTHER = refund_run(answers=(LOOK, ([("cancel_order", '{"id":7}')], None), SAY))
PASS, FAIL = Outcome.PASS, Outcome.FAIL
COMMAND = "harness compare runs/main runs/branch"


def compared(base: list[RunSummary], candidate: list[RunSummary]) -> Comparison:
    """Candidates of family ``other`` call another tool."""

    def load(side: str, run: RunSummary) -> Trajectory:
        return OTHER if side == "candidate" and run.scenario.startswith("other/") else RUN

    return compare_runs(base, candidate, load, base_name="runs/main", candidate_name="runs/branch")


def reviewed(comparison: Comparison, *, command: str = "") -> Review:
    return Review(comparison, without_gate(comparison), command)


def many(n: int) -> Comparison:
    return compared([summary(f"other/{i}") for i in range(n)], [summary(f"other/{i}") for i in range(n)])


def test_nothing_changed_is_one_line() -> None:
    runs = [summary("a"), summary("b")]
    assert comparison_text(reviewed(compared(runs, runs), command=COMMAND)) == "PASS  2 scenarios, no difference  (runs/main, runs/branch)"


def test_the_first_screen_names_scenario_step_and_both_choices() -> None:
    base = [summary("other/refund"), summary("same"), summary("gone")]
    candidate = [summary("other/refund", FAIL), summary("same"), summary("fresh")]
    assert comparison_text(reviewed(compared(base, candidate), command=COMMAND)).split("\n") == [
        "FAIL  without a gate every difference fails: 1 same, 1 worse, 1 missing, 0 changed, 0 better, 1 new",
        "base       runs/main  3 planned = 3 passed + 0 failed + 0 errored + 0 inconclusive + 0 skipped; 0 out of date  model scripted  subject built-in",
        "candidate  runs/branch  3 planned = 2 passed + 1 failed + 0 errored + 0 inconclusive + 0 skipped; 0 out of date  model scripted  subject built-in",
        'worse    other/refund  step 2: refund(order=7, why="late") → cancel_order(7)  cause: the model chose differently on the same input  (PASS → FAIL)',
        "missing  gone  (in the base only: a regression)",
        "new      fresh  (in the candidate only: PASS)",
        "tokens 132 → 132 (+0.0 %, noise unknown: one trial each)   latency 24 → 24 ms (+0.0 %, noise unknown: one trial each)",
        f"again: {COMMAND}",
    ]


def test_the_noise_is_unknown_for_the_reason_that_is_said() -> None:
    def priced(*costs: tuple[str, int, int | None]) -> list[RunSummary]:
        return [summary(name, trial=n, run_id=f"{name}@default#{n}", cost_micro_usd=cost) for name, n, cost in costs]

    def told(*costs: tuple[str, int, int | None]) -> str:
        return took_text(compared(priced(*costs), priced(*costs))).split("   ")[0]

    both = (("a", 1, 10), ("a", 2, 10))
    assert told(*both) == "cost 10 → 10 µ$ (+0.0 %, noise ± 0.0 %)"
    assert told(*both, ("b", 1, 5)) == "cost 15 → 15 µ$ (+0.0 %, noise unknown: not every scenario has repeated trials)"
    assert told(*both, ("b", 1, 5), ("b", 2, None)) == "cost 10 → 10 µ$ (+0.0 %, noise ± 0.0 %, known of 1 of 2 scenarios)"
    assert told(("a", 1, 10), ("b", 1, 5)) == "cost 15 → 15 µ$ (+0.0 %, noise unknown: one trial each)"


@pytest.mark.parametrize(
    ("cost", "text"),
    [
        pytest.param(Measure(1_000_000, 999_990, 10), "cost 1000000 → 999990 µ$ (under 0.1 %, noise unknown: one trial each)", id="less-than-is-shown"),
        pytest.param(Measure(1_000, 1_000, 10), "cost 1000 → 1000 µ$ (+0.0 %, noise unknown: one trial each)", id="nothing"),
        pytest.param(Measure(1_000, 999, 10), "cost 1000 → 999 µ$ (-0.1 %, noise unknown: one trial each)", id="less"),
        pytest.param(Measure(1_000, 1_005, 10, 300), "cost 1000 → 1005 µ$ (+0.5 %, noise ± 30.0 %)", id="with-noise"),
        pytest.param(Measure(0, 500, 1), "cost 0 → 500 µ$ (from nothing, noise unknown: one trial each, known of 1 of 10 scenarios)", id="from-nothing-of-one"),
        pytest.param(Measure(0, 500, 10, 40), "cost 0 → 500 µ$ (from nothing, noise ± 40 µ$)", id="from-nothing-with-noise"),
        pytest.param(Measure(7, 7 * 10**400, 10), f"cost 7 → {7 * 10**400} µ$ (+{10**402 - 100}.0 %, noise unknown: one trial each)", id="beyond-any-float"),
        pytest.param(Measure(10**400, 10**400 + 10**399, 10), f"cost {10**400} → {11 * 10**399} µ$ (+10.0 %, noise unknown: one trial each)", id="both-beyond-any-float"),
    ],
)  # fmt: skip
def test_what_both_sides_took_is_told_whatever_its_size(cost: Measure, text: str) -> None:
    rows = tuple(ScenarioComparison(f"r{n}", Change.SAME) for n in range(10))
    assert took_text(Comparison("b", "c", rows, PASS, cost=cost)) == text


def test_means_and_noise_of_numbers_beyond_any_float_are_exact() -> None:
    huge = 10**400
    runs = [summary("a", trial=n, run_id=f"a@default#{n}", cost_micro_usd=huge + n) for n in (1, 2)]
    cost = compared(runs, runs).cost
    assert cost == Measure(huge + 2, huge + 2, 1, 1)  # 1.5 to the even number, and of 1.41 the nearest


@given(st.lists(st.integers(0, 10**6), min_size=2, max_size=6), st.lists(st.integers(0, 10**6), min_size=2, max_size=6))
def test_the_noise_is_two_standard_errors_of_the_difference(one: list[int], other: list[int]) -> None:
    sides = [[summary("a", trial=n, run_id=f"a@default#{n}", cost_micro_usd=cost) for n, cost in enumerate(side)] for side in (one, other)]
    cost = compared(*sides).cost
    assert cost is not None
    error = math.sqrt(sum(statistics.variance(side) / len(side) for side in (one, other)))
    assert cost.noise == pytest.approx(2 * error, abs=0.51)
    assert (cost.base, cost.candidate) == (round(statistics.mean(map(Fraction, one))), round(statistics.mean(map(Fraction, other))))


def test_the_first_screen_stays_a_screen_and_verbose_lists_all() -> None:
    short = comparison_text(reviewed(many(40), command=COMMAND)).split("\n")
    whole = comparison_text(reviewed(many(40), command=COMMAND), verbosity=Verbosity.VERBOSE)
    assert len(short) <= 12
    assert "and 35 scenarios more that changed (-v lists all)" in short
    assert sum(line.startswith("changed") for line in whole.split("\n")) == 40
    assert "           base: trajectories/other/3@default#1.jsonl (event 20)" in whole


def test_a_run_judged_otherwise_on_the_same_trajectory_says_so() -> None:
    text = comparison_text(reviewed(compared([summary("a")], [summary("a", FAIL)])))
    assert "worse    a  (same trajectory, PASS → FAIL (pairing))" in text


def test_new_runs_beside_unchanged_ones_pass_and_are_listed() -> None:
    lines = comparison_text(reviewed(compared([summary("a")], [summary("a"), summary("b")]))).split("\n")
    assert lines[0].startswith("PASS  no difference: 1 same")
    assert "new      b  (in the candidate only: PASS)" in lines


def test_without_a_gate_runs_that_were_not_run_are_told_beside_the_differences() -> None:
    """A report of what fails would else say nothing of them."""
    found = compare_runs([summary("a"), summary("b")], [summary("a")], lambda *_: RUN, about=(About(), About(n_not_run=3)))
    told = "without a gate every difference fails; 3 planned runs of the candidate were not run"
    assert comparison_text(reviewed(found)).startswith(f"FAIL  {told}: ")


def test_nothing_to_compare_is_invalid_and_says_why() -> None:
    assert comparison_text(reviewed(compared([], [summary("a")]))).startswith("INVALID  nothing to compare: no scenario is on both sides")


def test_a_later_turn_and_a_plain_field_are_named() -> None:
    found = Divergence("input", "system prompt line 4", None, "Now.", turn=2, step=1)
    comparison = Comparison("b", "c", (ScenarioComparison("a", "changed", found, summary("a"), summary("a")),), FAIL)
    assert "changed  a  turn 2 step 1 system prompt line 4: (nothing) → Now.  cause: the input differed" in comparison_text(reviewed(comparison))


@pytest.mark.parametrize("nasty", NASTY, ids=ascii)
def test_no_text_adds_a_line_to_the_comparison(nasty: str) -> None:
    found = Divergence("tool", nasty, nasty, nasty, step=1)
    run = summary(nasty or "x", FAIL, model=nasty, subject=nasty)
    comparison = Comparison(nasty, nasty, (ScenarioComparison(nasty, "changed", found, run, run),), FAIL)
    assert len(comparison_text(reviewed(comparison, command=nasty or "x")).splitlines()) == 5


def explained(text: str) -> Comparison:
    """One scenario with every text of its explanation chosen by somebody else."""
    shown = Divergence("model", f"p{text}", f"b{text}", f"c{text}", step=3)
    given = Divergence("input", f"i{text}", f"x{text}", f"y{text}", step=1)
    explanation = Explanation(Cause.TOOL_DESCRIPTION, f"t{text}", given, shown, (given, given), 2)
    segment = Segment(SegmentKind.CHANGED, Amount(1, 2, 30, 4, 5, 6), None, step=3)
    run = summary(f"s{text}", FAIL, model=text, subject=text)
    row = ScenarioComparison(f"s{text}", "changed", given, run, run, explanation, n_base=2, n_candidate=2, n_differ=1, segments=(segment,))
    side = Side(planned=1, failed=1, models=(f"m{text}",), subjects=(f"s{text}",))
    return Comparison(f"b{text}", f"c{text}", (row,), FAIL, side, side, cost=Measure(1_000, 1_100, 1, 20))


@pytest.mark.public_case("PB-046")
@pytest.mark.parametrize("nasty", NASTY, ids=ascii)
@pytest.mark.parametrize("verbosity", [Verbosity.NORMAL, Verbosity.VERBOSE])
def test_no_text_of_an_explanation_adds_a_line(nasty: str, verbosity: Verbosity) -> None:
    lines = comparison_text(reviewed(explained(nasty), command="x"), verbosity=verbosity).splitlines()
    assert len(lines) == (6 if verbosity is Verbosity.NORMAL else 9)


def test_the_line_shows_the_effect_its_cause_and_the_trials_and_the_noise_stands_below() -> None:
    lines = comparison_text(reviewed(explained("")), verbosity=Verbosity.VERBOSE).split("\n")
    assert lines[3] == "changed  s  step 3 p: b → c  cause: tool description changed (t) and 1 more input  (0 of 2 → 0 of 2 passed, 1 differ)"
    assert lines[6] == "           changed from step 3 of the base: base 1 step, 2 calls, 30 tokens in, 4 tokens out, 5 µ$, 6 ms"
    assert lines[7] == "cost 1000 → 1100 µ$ (+10.0 %, noise ± 2.0 %)"
