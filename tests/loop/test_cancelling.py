"""Cancel: four promises, at every event, whatever the tools do."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from harness.checks import judge
from harness.folds import requests_of
from harness.runner import RunOptions, RunResult, execute, plan
from harness.testing import scenario
from harness.types.codes import CancelBy, CancelScope, Code, Outcome, QueueDisposition, Status
from harness.types.reasons import Cancelled
from harness.types.scenario import (
    Boundary,
    BoundaryWhen,
    CancelAction,
    Expectations,
    Injection,
    Scenario,
)
from tests.loop.lab import calculate, codes, kinds, play, results, roles, starts

CANCEL_CHECKS = (
    "cancel_no_tool_start",
    "cancel_no_model_request",
    "cancel_no_input_consumed",
    "cancel_settled",
    "inbox",
    "quiescence",
    "pairing",
    "provider_history",
    "event_grammar",
    "termination",
)

SLOW = {"use": ["probe_slow", "calculator"], "options": {"probe_slow": {"ms": 50}}}
SUBJECTS: dict[str, dict[str, Any]] = {
    "text-only": {"task": "go", "script": [{"say": "hello"}]},
    "two-steps": {"task": "go", "tools": {"use": ["calculator"]}, "script": [calculate("1+1"), {"say": "2"}]},
    "parallel-siblings": {
        "task": "go",
        "tools": SLOW,
        "script": [
            {"calls": [{"probe_slow": {}}, {"calculator": {"expression": "1"}}, {"probe_slow": {}}, {"nobody": {}}]},
            {"say": "done"},
        ],
    },
    "stubborn": {
        "task": "go",
        "tools": {"use": ["probe_stubborn", "calculator"], "options": {"probe_stubborn": {"ms": 20_000}}},
        "script": [{"calls": [{"probe_stubborn": {}}, {"calculator": {"expression": "1"}}]}, {"say": "done"}],
    },
    "slow-clean-up": {
        "task": "go",
        "tools": {"use": ["probe_slow_cleanup"], "options": {"probe_slow_cleanup": {"ms": 5_000}}},
        "script": [{"call": {"probe_slow_cleanup": {}}}, {"say": "done"}],
    },
    "two-turns": {
        "tasks": ["one", "two"],
        "tools": {"use": ["calculator"]},
        "script": [calculate("1+1"), {"say": "2"}, calculate("2+2"), {"say": "4"}],
    },
    "failing": {
        "task": "go",
        "tools": {"use": ["probe_throwing"]},
        "script": [{"call": {"probe_throwing": {}}}, {"fail": {"code": "SERVER", "message": "boom"}}],
    },
}

QUEUED = {
    "task": "one",
    "tools": {"use": ["calculator", "probe_slow"], "options": {"probe_slow": {"ms": 50}}},
    "script": [
        {"calls": [{"probe_slow": {}}, {"calculator": {"expression": "1"}}]},
        *({"say": f"answer {n}"} for n in range(1, 6)),
    ],
    "inject": [
        {"at": "model/request", "do": {"send": {"text": "two"}}},
        {"at": "tool/start", "do": {"send": {"text": "use docx", "queue": "steer"}}},
        {"at": "tool/end", "do": {"send": {"text": "account 7", "queue": "inject"}}},
        {"at": {"kind": "turn/end", "nth": 2, "when": {"after_ms": 10}}, "do": {"send": {"text": "three"}}},
    ],
}
"""A turn with two calls, and input of all three queues; the last comes when nothing is open."""


def cancelled_at(
    one: Scenario,
    boundary: Boundary,
    queue: QueueDisposition = QueueDisposition.DROP,
    scope: CancelScope = CancelScope.RUN,
) -> RunResult:
    inject = (*one.inject, Injection(boundary, CancelAction(queue=queue, scope=scope)))
    changed = replace(one, inject=inject, expect=Expectations(), allow_leftovers=True)
    return execute(plan([changed], RunOptions())[0])


def boundaries(one: Scenario, when: BoundaryWhen) -> list[Boundary]:
    """A boundary for every event of an undisturbed run."""
    reference = execute(plan([one], RunOptions())[0])
    seen: dict[str, int] = {}
    found = []
    for event in reference.trajectory:
        kind = event.fact.TYPE  # type: ignore[union-attr]
        seen[kind] = seen.get(kind, 0) + 1
        found.append(Boundary(kind, nth=seen[kind], when=when))
    return [one for one in found if one.kind not in ("note", "run/quiescent")]


@pytest.mark.conformance("63", "64", "65", "66", "67", "71", "72", "76", "28")
@pytest.mark.parametrize("when", list(BoundaryWhen), ids=str)
@pytest.mark.parametrize("name", SUBJECTS)
def test_a_cancel_at_any_event_keeps_all_promises(name: str, when: BoundaryWhen) -> None:
    one = scenario(**SUBJECTS[name]).scenario
    for boundary in boundaries(one, when):
        run = cancelled_at(one, boundary)
        verdicts = {v.check: v for v in judge(run.trajectory, names=CANCEL_CHECKS)}
        failed = {
            check: v.findings
            for check, v in verdicts.items()
            if check in CANCEL_CHECKS and v.outcome not in (Outcome.PASS, Outcome.NOT_APPLICABLE)
        }
        assert failed == {}, f"cancel at {boundary}: {failed}"
        if boundary.kind not in ("run/end", "turn/end") and when is BoundaryWhen.INSIDE:
            assert run.status is Status.CANCELLED, boundary


@pytest.mark.conformance("63", "64", "65", "66", "67", "109", "110", "111", "103a", "118")
@pytest.mark.parametrize("scope", list(CancelScope), ids=str)
@pytest.mark.parametrize("queue", list(QueueDisposition), ids=str)
@pytest.mark.parametrize("when", list(BoundaryWhen), ids=str)
def test_a_cancel_at_any_event_with_input_queued_keeps_all_promises(
    when: BoundaryWhen, queue: QueueDisposition, scope: CancelScope
) -> None:
    one = scenario(**QUEUED, allow_leftovers=True).scenario
    for boundary in boundaries(one, when):
        run = cancelled_at(one, boundary, queue, scope)
        bad = [v for v in judge(run.trajectory, names=CANCEL_CHECKS) if v.outcome is Outcome.FAIL]
        assert bad == [], f"cancel at {boundary}"


@pytest.mark.conformance("68")
def test_a_cancel_before_the_first_request_asks_the_model_nothing() -> None:
    run = play([{"say": "never"}], inject=[{"at": {"kind": "run/start"}, "do": "cancel"}])
    assert (run.status, run.reason) == (Status.CANCELLED, Cancelled(CancelBy.USER))
    assert not {"model/request", "user/message", "turn/start"} & set(kinds(run))


@pytest.mark.conformance("71")
def test_a_cancel_at_the_answer_starts_no_tool_and_answers_every_call() -> None:
    calls = [{"calculator": {"expression": "1"}}, {"calculator": {"expression": "2"}}]
    run = play([{"calls": calls}], inject=[{"at": {"kind": "assistant/message"}, "do": "cancel"}])
    assert (starts(run), codes(run)) == ([], [Code.ABORTED_BEFORE_DISPATCH] * 2)


@pytest.mark.conformance("72", "49")
def test_a_cancel_while_the_first_of_three_serial_calls_runs_settles_it_and_starts_no_other() -> None:
    calls = [{"probe_slow": {}}, {"calculator": {"expression": "1"}}, {"calculator": {"expression": "2"}}]
    run = play(
        [{"calls": calls}],
        tools={"use": ["probe_slow", "calculator"], "options": {"probe_slow": {"ms": 60_000}}},
        limits={"parallel_tools": 1},
        inject=[{"at": {"kind": "tool/start"}, "do": "cancel"}],
    )
    assert codes(run) == [Code.ABORTED, Code.ABORTED_BEFORE_DISPATCH, Code.ABORTED_BEFORE_DISPATCH]


@pytest.mark.conformance("73", "77")
def test_a_body_that_ends_within_the_grace_keeps_its_own_result() -> None:
    run = play(
        [{"call": {"probe_slow": {}}}],
        tools={"use": ["probe_slow"], "options": {"probe_slow": {"ms": 500}}},
        limits={"grace_ms": 1_000},
        inject=[{"at": {"kind": "tool/start", "when": {"after_ms": 10}}, "do": "cancel"}],
    )
    assert run.status is Status.CANCELLED
    assert codes(run) == [None]


@pytest.mark.conformance("76", "77")
def test_a_body_that_ignores_the_hard_stop_is_abandoned_and_its_late_end_is_seen() -> None:
    run = play(
        [{"call": {"probe_stubborn": {}}}],
        tools={"use": ["probe_stubborn"], "options": {"probe_stubborn": {"ms": 30_000}}},
        limits={"grace_ms": 100},
        inject=[{"at": {"kind": "tool/start", "when": {"after_ms": 10}}, "do": "cancel"}],
    )
    assert (run.status, codes(run)) == (Status.CANCELLED, [Code.ABORTED])
    order = kinds(run)
    assert order.index("run/end") < order.index("tool/end") < order.index("run/quiescent")
    assert run.passed, run.findings


@pytest.mark.conformance("86")
@pytest.mark.public_case("PB-004")
def test_the_turn_after_a_cancelled_one_sends_a_history_that_a_provider_takes() -> None:
    calls = [{"probe_slow": {}}, {"calculator": {"expression": "1"}}]
    run = play(
        [{"say": "working", "calls": calls}, {"say": "hello again"}],
        tasks=["go", "hi"],
        tools={"use": ["probe_slow", "calculator"], "options": {"probe_slow": {"ms": 60_000}}},
        limits={"parallel_tools": 1},
        inject=[{"at": {"kind": "tool/start"}, "do": {"cancel": {"scope": "turn"}}}],
    )
    assert run.status is Status.COMPLETED
    ends = [e.fact.status for e in run.trajectory if e.fact.TYPE == "turn/end"]  # type: ignore[union-attr]
    assert ends == [Status.CANCELLED, Status.COMPLETED]
    assert roles(run, 2) == ["user", "assistant", "tool", "tool", "user"]
    assert starts(run) == ["probe_slow"]
    assert run.passed, run.findings


@pytest.mark.conformance("21", "81")
def test_nothing_of_a_cancelled_turn_leaks_into_the_next() -> None:
    inject = [{"at": {"kind": "turn/start"}, "do": {"cancel": {"scope": "turn"}}}]
    run = play([{"say": "the second works"}], tasks=["one", "two"], inject=inject)
    assert (run.status, run.answer) == (Status.COMPLETED, "the second works")
    assert len(list(requests_of(run.trajectory))) == 1


@pytest.mark.conformance("82")
def test_a_second_cancel_changes_nothing() -> None:
    once = [{"at": {"kind": "step/start"}, "do": "cancel"}]
    first = play([{"say": "x"}], inject=once)
    twice = play([{"say": "x"}], inject=[*once, *once])
    assert kinds(first) == kinds(twice)


@pytest.mark.conformance("65")
@pytest.mark.parametrize("queue", list(QueueDisposition), ids=str)
def test_a_cancel_of_the_run_keeps_later_tasks_from_being_consumed(queue: QueueDisposition) -> None:
    inject = [{"at": {"kind": "turn/end"}, "do": {"cancel": {"queue": queue.value}}}]
    run = play([{"say": "one"}, {"say": "never"}], tasks=["one", "two"], inject=inject)
    assert (run.status, kinds(run).count("turn/start")) == (Status.CANCELLED, 1)


@pytest.mark.conformance("87")
@pytest.mark.parametrize("parallel_tools", [1, 8])
@pytest.mark.parametrize("tool", ["probe_slow", "probe_sync_in_thread"])
def test_sync_and_async_serial_and_parallel_tools_obey_the_same_rules(tool: str, parallel_tools: int) -> None:
    run = play(
        [{"calls": [{tool: {}}, {"calculator": {"expression": "1"}}]}, {"say": "never"}],
        tools={"use": [tool, "calculator"]},
        limits={"parallel_tools": parallel_tools},
        inject=[{"at": {"kind": "tool/result"}, "do": "cancel"}],
    )
    assert run.status is Status.CANCELLED
    assert next(code for _, code, _ in results(run)) is None
    assert run.passed, run.findings


@pytest.mark.conformance("11", "9")
def test_a_listener_that_throws_changes_nothing() -> None:
    fields = {"script": [calculate("1+1"), {"say": "2"}]}
    thrown = play(**fields, inject=[{"at": {"kind": "tool/end"}, "do": {"throw": "boom"}}])
    assert kinds(thrown) == kinds(play(**fields))
    assert thrown.passed, thrown.findings
