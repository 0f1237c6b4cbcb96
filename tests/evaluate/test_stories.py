"""Failing cases told one by one: the worst first, each trial with what it chose, bounded."""

from __future__ import annotations

import pytest

from harness.evaluate.stories import MOST_TRIALS, stories
from harness.evaluate.summary import summarise
from harness.types.evaluation import Arm, Case
from harness.types.evaluation_stories import CaseStories, CaseStory
from harness.types.grades import MisfitKind, Score
from harness.types.messages import ChatUser
from tests.evaluate.made_evaluation import case, evaluation, expects, snapshot, trials

TABLE = {
    "now": {"good": "+++", "half": "+t+", "bad": "ttv", "silent": "nnn", "gone": "p.."},
    "new": {"good": "+++", "half": "+++", "bad": "t+v", "silent": "+nn", "gone": "..."},
}


def told(most: int = 200, **table: dict[str, str]) -> CaseStories:
    made = evaluation([case(name) for name in TABLE["now"]])
    return stories(made, snapshot(), lambda: trials(table or TABLE), most=most)


def by_name(found: CaseStories) -> dict[str, CaseStory]:
    return {one.case: one for one in found.cases}


def test_cases_with_most_trials_that_did_not_pass_come_first_and_good_ones_not_at_all() -> None:
    assert [one.case for one in told().cases] == ["bad", "silent", "half", "gone"]


def test_what_has_no_room_is_counted() -> None:
    found = told(most=2)
    assert ([one.case for one in found.cases], found.left_out) == (["bad", "silent"], 2)


def test_a_trial_says_what_it_chose_and_in_what_that_differs() -> None:
    bad = by_name(told())["bad"]
    now = bad.arms[0]
    assert (bad.ask, bad.expected) == ("ask bad", 'get_order({"id":1})')
    assert (now.arm, now.passed, now.planned) == ("now", 0, 3)
    assert [(one.trial, one.score, one.chosen) for one in now.trials] == [
        (1, Score.FAILED, 'lookup({"id": 1})'),
        (2, Score.FAILED, 'lookup({"id": 1})'),
        (3, Score.FAILED, 'get_order({"id": 2})'),
    ]
    assert [misfit.kind for misfit in now.trials[0].misfits] == [MisfitKind.WRONG_TOOL]
    assert now.trials[2].misfits[0].path == "calls[1].arguments.id"


def test_trials_that_did_not_pass_stand_first() -> None:
    new = by_name(told())["silent"].arms[1]
    assert [(one.score, one.trial) for one in new.trials] == [(Score.FAILED, 2), (Score.FAILED, 3), (Score.PASSED, 1)]


@pytest.mark.parametrize(
    ("name", "chosen"),
    [
        pytest.param("silent", "I do not know.", id="text"),
        pytest.param("gone", "provider SERVER: the provider failed", id="no-answer"),
    ],
)
def test_without_a_call_the_text_or_the_error_is_told(name: str, chosen: str) -> None:
    assert by_name(told())[name].arms[0].trials[0].chosen == chosen


def test_many_trials_of_a_case_are_bounded_and_the_others_counted() -> None:
    made = evaluation([case("a")], [Arm("now")], trials=40)
    arm = stories(made, snapshot(), lambda: trials({"now": {"a": "+" * 20 + "t" * 20}})).cases[0].arms[0]
    assert len(arm.trials) == MOST_TRIALS
    assert {one.score for one in arm.trials} == {Score.FAILED}
    assert arm.left_out == 40 - MOST_TRIALS


def test_the_counts_are_those_of_the_summary() -> None:
    made = evaluation([case(name) for name in TABLE["now"]])
    worst = {line.case: line for line in summarise(made, snapshot(), trials(TABLE)).worst}
    for one in told().cases:
        if one.case in worst:
            assert [(arm.arm, arm.passed) for arm in one.arms] == [(arm.arm, arm.passed) for arm in worst[one.case].arms]


def test_where_the_history_holds_the_question_its_last_message_is_told() -> None:
    asked = Case("c", "", (expects("get_order", id=1),), history=(ChatUser("first"), ChatUser("Where is it?")))
    found = stories(evaluation([asked], [Arm("now")]), snapshot(), lambda: trials({"now": {"c": "ttt"}})).cases[0]
    assert (found.ask, found.before) == ("Where is it?", 2)


def test_long_texts_are_cut() -> None:
    found = stories(
        evaluation([case("c", ask="x" * 100_000)], [Arm("now")]), snapshot(), lambda: trials({"now": {"c": "ttt"}})
    ).cases[0]
    assert len(found.ask) == 2_000
    assert found.ask.endswith("…")
