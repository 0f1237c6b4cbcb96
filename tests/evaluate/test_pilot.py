"""What an earlier evaluation teaches a plan."""

import pytest

from harness.errors import NothingToRunError, UsageError
from harness.evaluate.pilot import Pilot, PilotTrial, pilot_of
from harness.statistics.planning import Price
from harness.types.evaluation import Case, Split
from harness.types.grades import Score
from harness.types.reasons import Usage
from harness.types.trials import TrialKey


class Listed(tuple[Case, ...]):
    """Cases in memory."""

    digest = ""


CASES = Listed(
    (
        Case("a", "?", ()),
        Case("b1", "?", (), group="b", split=Split.HELD_OUT),
        Case("b2", "?", (), group="b", split=Split.HELD_OUT),
    )
)


def trial(case: str, arm: str, score: str, number: int = 1, usage: Usage | None = None) -> PilotTrial:
    return PilotTrial(TrialKey(case, arm, number), Score(score), usage)


def counted(*trials: PilotTrial, split: Split | None = None) -> Pilot:
    return pilot_of(trials, CASES, "now", "new", split=split)


def test_trials_are_counted_by_unit_and_arm() -> None:
    pilot = counted(
        trial("a", "now", "passed"), trial("a", "now", "failed", 2), trial("a", "new", "failed"),
        trial("b1", "now", "passed"), trial("b2", "now", "passed"), trial("b2", "new", "passed"), trial("a", "third", "passed"),
    )  # fmt: skip
    assert pilot.base == ((1, 2), (2, 2))
    assert pilot.candidate == ((0, 1), (1, 1))
    assert pilot.n_trials == 6


def test_trials_without_an_outcome_are_not_counted_but_what_they_took_is() -> None:
    used = [Usage(input_tokens=100, output_tokens=20, cost_micro_usd=50), Usage(input_tokens=180), None]
    scores = ("errored", "passed", "skipped")
    pilot = counted(*(trial("a", "now", score, n, usage) for n, (score, usage) in enumerate(zip(scores, used, strict=True), 1)))
    assert pilot.base == ((1, 1), (0, 0))
    assert pilot.price == Price(150.0, 50.0)


def test_what_nobody_told_has_no_price() -> None:
    assert counted(trial("a", "now", "passed")).price == Price(None, None)


@pytest.mark.parametrize("arm", ["now", "new"])
def test_one_arm_alone_stands_for_the_base(arm: str) -> None:
    pilot = counted(*(trial(case, arm, "passed" if case == "a" else "failed", n) for case in ("a", "b1") for n in (1, 2)))
    assert pilot.candidate is None
    assert pilot.base == ((2, 2), (0, 2))
    assert pilot.spread(0.5).between == 2 * pilot.spread(0.25).between > 0


def test_both_arms_tell_the_spread_whatever_is_assumed() -> None:
    pilot = counted(*(trial(case, arm, "passed" if case == "a" else "failed") for case in ("a", "b1") for arm in ("now", "new")))
    assert pilot.spread(0.1) == pilot.spread(0.9)


def test_only_the_split_of_the_gate_is_counted() -> None:
    pilot = counted(trial("a", "now", "passed"), trial("b1", "now", "failed"), trial("b1", "new", "failed"), split=Split.HELD_OUT)
    assert (pilot.base, pilot.candidate) == (((0, 1),), ((0, 1),))


def test_a_case_that_is_not_among_the_cases_is_refused() -> None:
    with pytest.raises(UsageError, match="'z', which is no case of this evaluation"):
        counted(trial("z", "now", "passed"))


@pytest.mark.parametrize("trials", [(), (trial("a", "now", "errored"),), (trial("a", "third", "passed"),)], ids=["none", "errors", "other-arm"])
def test_a_pilot_without_a_judged_trial_is_refused(trials: tuple[PilotTrial, ...]) -> None:
    with pytest.raises(NothingToRunError, match="no judged trial"):
        counted(*trials)
