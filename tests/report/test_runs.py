"""What is told of each run, and the counts that add up to what was planned."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.folds import EXIT_CODES
from harness.report import Verbosity, run_line, run_text, totals, totals_line, verdict_lines
from harness.report.runs import sum_text
from harness.types.codes import Outcome
from harness.types.records import Finding, Verdict
from tests.compare.made import summary
from tests.report.nasty import NASTY

PASS, FAIL, ERROR, INVALID = Outcome.PASS, Outcome.FAIL, Outcome.ERROR, Outcome.INVALID
BAD = (
    Verdict("pairing", FAIL, (Finding("pairing", "a call without a result", (7, 9), "conformance:28"),)),
    Verdict("answer", PASS),
    Verdict("quiescence", Outcome.INCONCLUSIVE, why="run/quiescent was not observed"),
)


@pytest.mark.article("12")
def test_a_good_run_is_one_line_with_steps_messages_and_milliseconds() -> None:
    line = "PASS  shop/refund  3 steps, 7 messages, 12 ms  completed (final-answer)"
    assert run_line(summary()) == run_text(summary()) == line


def test_arm_and_trial_are_named_where_they_are_not_the_only_ones() -> None:
    assert run_line(summary(arm="long", trial=2, duration_ms=None)).startswith("PASS  shop/refund@long#2  3 steps, 7 messages  ")


def test_a_bad_run_names_findings_with_event_numbers_its_file_and_what_to_do() -> None:
    assert run_text(summary(outcome=FAIL, verdicts=BAD), folder="out/run 1/") == (
        "FAIL  shop/refund  3 steps, 7 messages, 12 ms  completed (final-answer)\n"
        "  FAIL pairing\n"
        "    a call without a result (events 7, 9) [conformance:28]\n"
        "  INCONCLUSIVE quiescence: run/quiescent was not observed\n"
        "  look: harness show 'out/run 1/trajectories/shop/refund@default#1.jsonl'"
    )


def test_verbose_lists_what_passed_too() -> None:
    assert "  PASS answer" in verdict_lines(BAD, verbosity=Verbosity.VERBOSE)
    assert "  PASS answer" not in verdict_lines(BAD)


def test_many_findings_are_cut_and_counted_unless_all_are_asked_for() -> None:
    many = [Verdict("pairing", FAIL, tuple(Finding("pairing", f"finding {n}", tuple(range(n))) for n in range(12)))]
    assert verdict_lines(many)[-2:] == ["    finding 4 (events 0, 1, 2, 3)", "    and 7 findings more (-v shows all)"]
    assert verdict_lines(many, verbosity=Verbosity.VERBOSE)[-1] == "    finding 11 (events 0, 1, 2, 3, 4, 5, 6, 7, …)"


outcomes = st.lists(st.sampled_from(list(Outcome)), max_size=8)


@given(outcomes, st.integers(0, 3), st.integers(0, 3))
def test_planned_is_the_sum_of_all_that_became_of_runs(ended: list[Outcome], skipped: int, not_run: int) -> None:
    n = totals(ended, planned=len(ended) + skipped + not_run, skipped=skipped)
    parts = (n.passed, n.failed, n.errored, n.inconclusive, n.invalid, n.skipped, n.not_run)
    assert sum(parts) == n.planned
    told = [int(word) for word in sum_text(n).split() if word.isdigit()]
    assert told[0] == sum(told[1:])


@pytest.mark.parametrize(
    ("ended", "skipped", "planned", "outcome"),
    [
        pytest.param([PASS, PASS], 1, None, PASS, id="some-skipped"),
        pytest.param([], 2, None, INVALID, id="all-skipped"),
        pytest.param([], 0, None, INVALID, id="nothing"),
        pytest.param([PASS], 0, 2, INVALID, id="not-all-ran"),
        pytest.param([PASS, ERROR, FAIL], 0, None, FAIL, id="fail-before-error"),
        pytest.param([PASS, ERROR, INVALID], 0, None, ERROR, id="error-before-invalid"),
    ],
)
def test_the_outcome_of_all_runs_is_green_only_when_something_ran_and_all_of_it_was(
    ended: list[Outcome], skipped: int, planned: int | None, outcome: Outcome
) -> None:
    counts = totals(ended, skipped=skipped, planned=planned)
    assert counts.outcome is outcome
    assert (EXIT_CODES[counts.outcome] == 0) is (outcome is PASS)


def test_more_runs_than_were_planned_is_an_error_of_the_caller() -> None:
    with pytest.raises(ValueError, match="3 runs ended or were skipped, but only 2 were planned"):
        totals([PASS, PASS], planned=2, skipped=1)


def test_the_last_line_divides_by_what_was_planned() -> None:
    counts = totals([PASS] * 10 + [FAIL, Outcome.INCONCLUSIVE], skipped=2)
    assert totals_line(counts, wall_ms=340, folder="out") == (
        "FAIL  10 of 14 passed: 14 planned = 10 passed + 1 failed + 0 errored + 1 inconclusive + 2 skipped, 340 ms, in out"
    )


@pytest.mark.parametrize("nasty", NASTY, ids=ascii)
def test_no_text_of_a_run_adds_a_line(nasty: str) -> None:
    verdicts = (Verdict(nasty, FAIL, (Finding(nasty, nasty, (1,), nasty),), nasty),)
    text = run_text(summary(nasty or "x", FAIL, arm=nasty, reason=nasty, verdicts=verdicts), folder=nasty)
    assert len(text.splitlines()) == 4


def test_verdicts_undecided_for_one_reason_stand_on_one_line_unless_all_is_asked_for() -> None:
    why = "not decided (recording out of date: task)"
    verdicts = [Verdict(name, Outcome.INCONCLUSIVE, why=why) for name in ("steps", "answer")]
    verdicts += [Verdict("calls", Outcome.INCONCLUSIVE, why="another reason")]
    assert verdict_lines(verdicts) == [f"  INCONCLUSIVE steps, answer: {why}", "  INCONCLUSIVE calls: another reason"]
    assert len(verdict_lines(verdicts, verbosity=Verbosity.VERBOSE)) == 3
