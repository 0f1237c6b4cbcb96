"""How often tools took effect: over resumes, answers, forks and retries, by the ledger or by bodies that started."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness import ToolContext, tool
from harness.checks import judge
from harness.errors import ScenarioError
from harness.store import write_trajectory
from harness.testing import BoundScenario, EffectLedger, RunResult, scenario
from harness.types.codes import Origin, Outcome
from harness.types.records import Verdict
from tests.checks.build import observed_as

LEDGER = "HARNESS_TEST_LEDGER"
_FAILS: list[str] = []


@tool(idempotent=True)
def refund(context: ToolContext, order: int) -> str:
    """Refund an order; each name in _FAILS fails once, before or behind the effect."""
    when = _FAILS.pop() if _FAILS else ""
    if when == "before":
        raise ConnectionError("no line")
    if when != "silent":
        EffectLedger(os.environ[LEDGER]).add("refund", {"order": order}, context=context)
    if when == "behind":
        raise ConnectionError("the line broke")
    return "refunded"


REGISTRY = (refund,)


@pytest.fixture(autouse=True)
def ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[EffectLedger]:
    monkeypatch.setenv(LEDGER, str(tmp_path / "effects.jsonl"))
    _FAILS.clear()
    yield EffectLedger(tmp_path)
    _FAILS.clear()


def asked(*orders: int, effects: Any, **fields: Any) -> BoundScenario:
    calls: list[dict[str, Any]] = [{"call": {"refund": {"order": order}}} for order in orders]
    return scenario(
        **{
            "id": "effects",
            "tasks": ["Refund them.", "Thanks."],
            "tools": {"from": "tests.checks.test_effects:REGISTRY"},
            "script": [*calls, {"say": "Done."}, {"say": "Bye."}],
            "expect": {"effects": {"refund": effects}},
            **fields,
        }
    )


def stubbed(*orders: int, effects: Any) -> BoundScenario:
    tools = {"stub": {"refund": {"returns": "ok"}}, "schemas": {"refund": {"type": "object"}}}
    return asked(*orders, effects=effects, tools=tools)


def of(run: RunResult) -> Verdict:
    return next(one for one in run.verdicts if one.check == "effects")


def said(run: RunResult) -> list[str]:
    return [finding.message for finding in of(run).findings]


@pytest.mark.conformance("140")
@pytest.mark.parametrize(
    ("orders", "effects", "words"),
    [
        pytest.param((7,), {"at_most": 1}, [], id="once"),
        pytest.param((), {"at_most": 1}, [], id="never-is-at-most-once"),
        pytest.param((7, 7), {"at_most": 1}, ["effects of 'refund' at most 1: 2 {}"], id="twice"),
        pytest.param((7, 8), {"at_most": 1, "per": "arguments"}, [], id="twice-with-other-arguments"),
        pytest.param(
            (7, 8, 7), {"at_most": 1, "per": "arguments"},
            ['effects of \'refund\' at most 1 for each set of arguments: 2 {} for {{"order":7}}'], id="twice-with-the-same",
        ),
        pytest.param((7, 8), {"exactly": 2}, [], id="exactly"),
        pytest.param((7,), {"exactly": 2}, ["effects of 'refund' exactly 2: 1 {}"], id="too-few"),
        pytest.param((), {"exactly": 1, "per": "arguments"}, ["effects of 'refund' exactly 1 for each set of arguments: none {}"], id="none"),
        pytest.param((7, 8, 8), {"when": {"order": 7}, "exactly": 1}, [], id="of-those-arguments"),
        pytest.param((7, 8, 8), [{"when": {"order": 8}, "at_most": 1}, {"exactly": 3}], ['effects of \'refund\' with {{"order":8}} at most 1: 2 {}'], id="several"),
        pytest.param((7,), {"exactly": 0}, ["effects of 'refund' exactly 0: 1 {}"], id="none-expected"),
    ],
)  # fmt: skip
def test_effects_are_counted_by_bodies_and_by_the_ledger_alike(
    orders: tuple[int, ...], effects: Any, words: list[str], tmp_path: Path
) -> None:
    by_bodies = stubbed(*orders, effects=effects).run()
    by_ledger = asked(*orders, effects=effects).run(workspace=tmp_path)
    assert said(by_bodies) == ["expect " + text.format("bodies started") for text in words]
    told = "are in the ledger" if orders else "bodies started"
    assert said(by_ledger) == ["expect " + text.format(told) for text in words]
    assert of(by_ledger).outcome is (Outcome.FAIL if words else Outcome.PASS)


RETRIED = {"tool_policy": {"failure": {"retries": 1}}}


@pytest.mark.conformance("140")
@pytest.mark.parametrize(
    ("fails", "by_ledger", "by_bodies"),
    [
        pytest.param("before", [], ["expect effects of 'refund' at most 1: 2 bodies started"], id="failed-before-it"),
        pytest.param(
            "behind",
            ["expect effects of 'refund' at most 1: 2 are in the ledger"],
            ["expect effects of 'refund' at most 1: 2 bodies started"],
            id="failed-behind-it",
        ),
    ],
)
def test_a_ledger_tells_what_was_done_from_what_was_tried(
    fails: str, by_ledger: list[str], by_bodies: list[str], tmp_path: Path
) -> None:
    bound = asked(7, effects={"at_most": 1}, **RETRIED)
    _FAILS.append(fails)
    assert said(bound.run(workspace=tmp_path)) == by_ledger
    _FAILS.append(fails)
    assert said(bound.run()) == by_bodies


@pytest.mark.parametrize(
    "effects", [{"at_most": 2}, [{"at_most": 2}, {"at_most": 1, "per": "arguments"}, {"at_most": 1, "when": {"order": 8}}]]
)
def test_a_body_that_ended_well_and_wrote_no_line_is_told_once_however_many_rules_there_are(
    tmp_path: Path, effects: Any
) -> None:
    _FAILS.extend(["silent", ""])
    run = asked(7, 8, effects=effects).run(workspace=tmp_path)
    assert said(run) == ["2 bodies of 'refund' ended well, and the ledger holds 1 of its effects"]


def test_what_earlier_runs_did_in_the_workspace_is_not_counted(tmp_path: Path, ledger: EffectLedger) -> None:
    bound = asked(7, effects={"exactly": 1})
    for n_runs in (1, 2, 3):
        assert of(bound.run(workspace=tmp_path)).outcome is Outcome.PASS
        assert ledger.count("refund") == n_runs


@pytest.mark.conformance("140")
@pytest.mark.parametrize("kept", [True, False], ids=["with-its-workspace", "by-bodies"])
def test_a_parked_call_takes_effect_once_when_it_is_answered(tmp_path: Path, ledger: EffectLedger, kept: bool) -> None:
    policy = {"tools": {"refund": "ask"}, "approvals": [{"answer": "park"}]}
    bound = asked(7, effects={"exactly": 1}, policy=policy)
    place = {"workspace": tmp_path} if kept else {}
    waiting = bound.run(folder=tmp_path / "runs", **place)
    assert said(waiting) == ["expect effects of 'refund' exactly 1: 0 bodies started"]
    assert waiting.path is not None
    run = bound.resume(waiting.path, answers={"call_1_0": "allow"}, folder=tmp_path / "on", **place)
    assert (of(run).outcome, ledger.count("refund")) == (Outcome.PASS, 1)


@pytest.mark.conformance("132", "140")
def test_a_body_that_died_with_its_run_counts_once_and_the_same_work_again_counts_twice(
    tmp_path: Path, ledger: EffectLedger
) -> None:
    bound = asked(7, effects={"at_most": 1})
    whole = bound.run(workspace=tmp_path).trajectory
    start = next(event.seq for event in whole.events if event.fact.TYPE == "tool/start")
    path = tmp_path / "run.jsonl"
    write_trajectory(path, replace(whole, events=whole.events[: start + 1]))
    assert of(bound.resume(path, workspace=tmp_path, folder=tmp_path / "on")).outcome is Outcome.PASS
    write_trajectory(tmp_path / "again.jsonl", replace(whole, events=whole.events[: start + 1]))
    ledger.add("refund", {"order": 7})
    run = bound.resume(tmp_path / "again.jsonl", workspace=tmp_path, folder=tmp_path / "on2")
    assert said(run) == ["expect effects of 'refund' at most 1: 2 are in the ledger"]


def test_what_a_parent_did_behind_the_place_of_a_fork_is_in_the_ledger_alone(tmp_path: Path) -> None:
    bound = asked(7, effects={"at_most": 1}, script=[{"say": "Wait."}, {"call": {"refund": {"order": 7}}}, {"say": "Bye."}])
    parent = bound.run(folder=tmp_path / "runs", workspace=tmp_path)
    assert of(parent).outcome is Outcome.PASS
    assert parent.path is not None
    at = next(event.seq for event in parent.trajectory.events if event.fact.TYPE == "turn/end")
    assert said(bound.fork(parent.path, at=at, workspace=tmp_path)) == [
        "expect effects of 'refund' at most 1: 2 are in the ledger"
    ]
    assert said(bound.fork(parent.path, at=at)) == []


def test_a_ledger_with_a_line_that_cannot_be_read_proves_nothing(tmp_path: Path, ledger: EffectLedger) -> None:
    bound = asked(7, effects={"at_most": 1})
    path = bound.run(folder=tmp_path / "runs", workspace=tmp_path).path
    assert path is not None
    whole = ledger.path.read_bytes()
    ledger.path.write_bytes(whole + whole[:9])
    at = 0
    run = bound.fork(path, at=at, workspace=tmp_path)
    assert of(run).outcome is Outcome.INCONCLUSIVE
    assert of(run).why == "1 lines of the ledger of effects cannot be read"


def test_a_file_is_judged_again_without_its_ledger(tmp_path: Path, ledger: EffectLedger) -> None:
    run = asked(7, 7, effects={"at_most": 1}).run(workspace=tmp_path)
    ledger.path.unlink()
    again = judge(run.trajectory, names=("effects",))
    assert [one.findings for one in again if one.check == "effects"] == [of(run).findings]


@pytest.mark.parametrize("kind", ["tool_start", "tool_end"])
@pytest.mark.parametrize("who", [None, Origin.SUBJECT])
def test_bodies_that_were_not_seen_at_the_door_prove_nothing(kind: str, who: Origin | None) -> None:
    judged = observed_as(stubbed(7, effects={"at_most": 1}).run().trajectory, **{kind: who})
    (verdict,) = [one for one in judge(judged) if one.check == "effects"]
    assert verdict.outcome is Outcome.INCONCLUSIVE


@pytest.mark.parametrize(
    ("effects", "words"),
    [
        ({"refund": {}}, "must have one of at_most, exactly, has neither"),
        ({"refund": {"at_most": 1, "exactly": 1}}, "must have one of at_most, exactly, has at_most and exactly"),
        ({"refund": {"at_most": -1}}, "must be at least 0"),
        ({"refund": {"exactly": 0, "per": "arguments"}}, "cannot fail"),
        ({"refund": {"at_most": 1, "per": "call"}}, "unknown value 'call'"),
        ({"refund": []}, "must not be empty"),
        ({"refund": 1}, "must be {at_most: 1}"),
    ],
)
def test_effects_that_say_nothing_are_refused(effects: Any, words: str) -> None:
    with pytest.raises(ScenarioError, match=words.replace("{", r"\{")):
        scenario(task="x", script=[{"say": "x"}], expect={"effects": effects})
