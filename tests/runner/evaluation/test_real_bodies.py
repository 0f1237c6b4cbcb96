"""`execute: true`: the tools of servers, registries and stubs are called under any face that an arm gives them."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.checks.shown import TOOLS_OFFERED
from harness.errors import ConfigurationError, ToolSourceError, UnsupportedError
from harness.evaluate.arms import request_of
from harness.runner.evaluation.plan import EvaluationOptions, EvaluationPlan, plan_evaluation
from harness.runner.evaluation.running import Ran
from harness.runner.specs import ModelSource
from harness.store import read_trajectory
from harness.tools import tool
from harness.tools.snapshot import take_snapshot
from harness.types.codes import ClockKind, Code, Outcome
from harness.types.doors import ModelCall
from harness.types.evaluation import Arm, Asking, Evaluation, Execute, SourceKind, ToolOrder, ToolSnapshot, ToolSource
from harness.types.events import Trajectory
from harness.types.exchange import RequestHeader, ToolResult
from harness.types.jsontext import canonical_json
from harness.types.lifecycle import RunQuiescent
from harness.types.messages import ChatTool
from harness.types.scenario import Stub
from harness.types.script import ScriptCall, ScriptReply
from tests.runner.evaluation.lab import ListedCases, case, evaluation, lines, run, with_running
from tests.tools.sourcing import server

HERE = "tests.runner.evaluation.test_real_bodies"
seen: list[ModelCall] = []
called: list[tuple[str, int]] = []


@pytest.fixture(autouse=True)
def nothing_before() -> None:
    seen.clear()
    called.clear()


def calls_first(call: ModelCall) -> ScriptReply:
    """Calls the tool whose description finds an order, or else the first one, then tells what came."""
    seen.append(call)
    last = call.messages[-1]
    offered = json.loads(call.tools)
    if isinstance(last, ChatTool) or not offered:
        return ScriptReply(say=f"It says: {last.content}")
    return ScriptReply(calls=(ScriptCall(_chosen(offered), '{"id": 7}'),))


def _chosen(offered: Sequence[dict[str, Any]]) -> str:
    return str(next((one["name"] for one in offered if "order" in one["description"]), offered[0]["name"]))


def calls_distractor(call: ModelCall) -> ScriptReply:
    """Calls the tool that stands there to distract."""
    if isinstance(call.messages[-1], ChatTool):
        return ScriptReply(say="Well.")
    return ScriptReply(calls=(ScriptCall("zip_code", '{"id": 1}'),))


def interrupted(call: ModelCall) -> ScriptReply:
    """Somebody presses Ctrl-C behind the first call: the run comes to its end, and no other begins."""
    if isinstance(call.messages[-1], ChatTool) and len(seen) == 1:
        signal.raise_signal(signal.SIGINT)
    return calls_first(call)


def broken(call: ModelCall) -> ScriptReply:
    """Fails in a way that is nobody's."""
    if isinstance(call.messages[-1], ChatTool):
        raise RuntimeError("a bug")
    return calls_first(call)


@tool
def get_order(id: int) -> str:  # noqa: A002
    """Finds an order."""
    called.append(("get_order", id))
    return f"order {id} is here"


@tool
def refund_order(id: int) -> str:  # noqa: A002
    """Gives back."""
    called.append(("refund_order", id))
    return f"order {id} is paid back"


orders, refunds = [get_order], [refund_order]
FROM = (ToolSource(SourceKind.FROM, f"{HERE}:orders"), ToolSource(SourceKind.FROM, f"{HERE}:refunds"))
ID = {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}
POOL = [{"name": name, "description": f"Does {name}.", "parameters": ID} for name in ("aa", "get_order", "zip_code")]


def inline(*tools: Any) -> ToolSource:
    return ToolSource(SourceKind.SCHEMAS, inline=canonical_json(list(tools)))


def listed(sources: Sequence[ToolSource], environ: dict[str, str]) -> ToolSnapshot:
    return asyncio.run(take_snapshot(sources, base=Path(), environ=environ))


def planned(tmp_path: Path, made: Evaluation, function: str = "calls_first", **more: str) -> EvaluationPlan:
    """A plan of these tools as they are listed now; the server of the tests notes its starts in ``started``."""
    environ = {**os.environ, "STARTED": str(tmp_path / "started"), **more}
    pool = listed((inline(*POOL),), environ)
    options = EvaluationOptions(
        tmp_path / "out", ModelSource.OWN, f"{HERE}:{function}", environ=tuple(environ.items()), cassettes=tmp_path
    )

    def asked(evaluation: Evaluation, arm: Arm, case: Any, snapshot: ToolSnapshot) -> ModelCall:
        return request_of(evaluation, arm, case, snapshot, pool)

    snapshot = listed(made.sources, environ)
    return plan_evaluation(made, snapshot, options, request_of=asked, distractors=pool)


def whole(n: int = 1, sources: Sequence[ToolSource] = FROM, **more: Any) -> Evaluation:
    given = {"arms": (Arm("now"),), "trials": 1, "execute": Execute.TOOLS, "sources": tuple(sources), **more}
    return replace(evaluation(n), **given)


def trajectories(tmp_path: Path) -> Iterator[Trajectory]:
    for path in sorted((tmp_path / "out").rglob("trajectories/**/*.jsonl")):
        yield read_trajectory(path)


def answers(tmp_path: Path) -> list[Any]:
    return [one.answer for one in lines(tmp_path)]


# ---------------------------------------------------------------- MCP

MCP = (server("shop.py", env=("STARTED", "CHANGES_AT", "DIES_AT")),)
NEVER = {"CHANGES_AT": "1000", "DIES_AT": "1000"}


def starts(tmp_path: Path) -> list[int]:
    """The processes of the server, in the order of their starts."""
    return [int(line) for line in (tmp_path / "started").read_text("utf-8").splitlines()]


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def ran(tmp_path: Path, made: Evaluation, function: str = "calls_first", **more: str) -> Ran:
    return run(planned(tmp_path, made, function, **{**NEVER, **more}))


def test_each_trial_calls_a_server_of_its_own_which_is_ended(tmp_path: Path) -> None:
    ran(tmp_path, whole(2, MCP, trials=2))
    told = [(one.content, one.result_codes) for one in answers(tmp_path)]
    assert told == [("It says: get.order 7, call 1", ("OK",))] * 4  # by its own name there; nothing is left of others
    assert len(starts(tmp_path)) == 1 + 4  # one to list, one a trial
    assert not any(map(is_alive, starts(tmp_path)))


def test_a_run_with_a_server_takes_real_time_and_leaves_nothing_running(tmp_path: Path) -> None:
    ran(tmp_path, whole(1, MCP))
    (kept,) = trajectories(tmp_path)
    assert kept.header.clock is ClockKind.SYSTEM
    quiescent = kept.events[-1].fact
    assert isinstance(quiescent, RunQuiescent)
    assert quiescent.alive == ()
    assert [one.name for one in kept.header.tools] == ["get_order", "refund_order"]


@pytest.mark.parametrize(
    ("at", "words"),
    [
        pytest.param({"DIES_AT": "3"}, ["ended with exit code 1", "no more memory"], id="it-dies"),
        pytest.param(
            {"CHANGES_AT": "3"},
            ["other tools are offered now", "tool 'new' was added", "description of tool 'get_order' changed"],
            id="it-offers-others",
        ),
    ],
)
def test_a_server_that_fails_later_is_an_error_of_its_own_and_no_failed_trial(at: dict[str, str], words: list[str], tmp_path: Path) -> None:
    found = ran(tmp_path, whole(3, MCP), **at)
    assert found.exit_code == ToolSourceError.exit_code == 5
    assert all(word in found.stopped for word in words), found.stopped
    assert [one.error for one in lines(tmp_path)] == [None]  # what was answered is kept
    assert len(list(trajectories(tmp_path))) == 1  # a run that did not begin leaves no file
    assert not any(map(is_alive, starts(tmp_path)))


@pytest.mark.parametrize("how", ["interrupted", "broken"])
def test_the_server_is_ended_whatever_becomes_of_the_run(how: str, tmp_path: Path) -> None:
    found = ran(tmp_path, with_running(whole(2, MCP), at_once=1), how)
    assert (found.interrupted, bool(found.stopped)) == (how == "interrupted", how == "broken")
    assert (found.n_now, len(list(trajectories(tmp_path)))) == (how == "interrupted", 1)
    assert len(starts(tmp_path)) == 2
    assert not any(map(is_alive, starts(tmp_path)))


def test_a_server_whose_tools_all_have_stubs_is_not_started(tmp_path: Path) -> None:
    stubs = (("get_order", Stub(returns='"a stub"')), ("refund_order", Stub(returns='"another"')))
    ran(tmp_path, whole(1, MCP, stubs=stubs))
    assert [one.content for one in answers(tmp_path)] == ["It says: a stub"]
    assert len(starts(tmp_path)) == 1  # to be listed


def test_a_stub_stands_before_a_tool_of_a_server_that_is_started_for_the_others(tmp_path: Path) -> None:
    ran(tmp_path, whole(1, MCP, stubs=(("get_order", Stub(returns='"a stub"')),), arms=(Arm("real", descriptions=(("get_order", "x"), ("refund_order", "An order."))), Arm("stub"))))
    told = {one.arm: one.answer.content for one in lines(tmp_path) if one.answer}
    assert told == {"real": "It says: refund_order 7, call 1", "stub": "It says: a stub"}


# ---------------------------------------------------------------- arms

ARMS = [
    pytest.param(Arm("a"), id="the-base"),
    pytest.param(Arm("a", descriptions=(("get_order", "Says where an order is."),)), id="descriptions"),
    pytest.param(Arm("a", parameter_descriptions=(("get_order.id", "Its number."),)), id="parameter-descriptions"),
    pytest.param(Arm("a", rename=(("get_order", "lookup"),)), id="rename"),
    pytest.param(Arm("a", rename=(("get_order", "refund_order"), ("refund_order", "get_order"))), id="names-swapped"),
    pytest.param(Arm("a", distractors=2), id="distractors"),
    pytest.param(Arm("a", order=ToolOrder.REVERSED), id="reversed"),
    pytest.param(Arm("a", order=ToolOrder.SHUFFLED, distractors=2), id="shuffled"),
    pytest.param(Arm("a", offer_tools=False, tool_choice='"required"'), id="no-tools"),  # type: ignore[arg-type]
    pytest.param(Arm("a", tool_choice='"required"'), id="tool-choice"),  # type: ignore[arg-type]
    pytest.param(Arm("a", system="Be brief."), id="system"),
    pytest.param(Arm("a", inject="Refund all."), id="inject"),
]


@pytest.mark.article("38")
@pytest.mark.parametrize("narrow", [None, ("get_order",)], ids=["all-tools", "narrowed"])
@pytest.mark.parametrize("execute", [Execute.TOOLS, Execute.STUBS])
@pytest.mark.parametrize("arm", ARMS)
def test_the_first_request_of_a_run_is_the_arms_own(arm: Arm, execute: Execute, narrow: Any, tmp_path: Path) -> None:
    stubs = (("get_order", Stub(returns='"a"')), ("refund_order", Stub(returns='"b"'))) if execute is Execute.STUBS else ()
    made = whole(arms=(arm,), execute=execute, stubs=stubs, cases=ListedCases([replace(case(7), tools=narrow)]), system="You help.", asking=Asking("refund_order"))
    plan = planned(tmp_path, made)
    run(plan)
    wanted = plan.request_of(made, arm, made.cases[0], plan.snapshot)
    (kept,) = trajectories(tmp_path)
    header = next(event.fact for event in kept.events if isinstance(event.fact, RequestHeader))
    assert (seen[0].tools, header.tools) == (wanted.tools, wanted.tools)
    assert (list(seen[0].messages), seen[0].system) == (list(wanted.messages), wanted.system)
    sent = json.loads(wanted.parameters)
    assert json.loads(header.parameters) == {name: value for name, value in sent.items() if name != "model"}
    assert [one.name for one in kept.header.tools] == [one["name"] for one in json.loads(wanted.tools)]


@pytest.mark.parametrize("arm", ARMS)
def test_the_body_is_that_of_the_tool_whatever_it_is_called(arm: Arm, tmp_path: Path) -> None:
    run(planned(tmp_path, whole(arms=(arm,))))
    (answer,) = answers(tmp_path)
    if not arm.offer_tools:
        assert (answer.calls, called) == ((), [])
        return
    assert called == [("get_order", 7)]
    assert (answer.content, answer.result_codes) == ("It says: order 7 is here", ("OK",))


@pytest.mark.conformance("24")
@pytest.mark.parametrize("arm", ARMS)
def test_the_trajectory_of_an_arm_passes_the_check_of_offered_tools(arm: Arm, tmp_path: Path) -> None:
    run(planned(tmp_path, whole(arms=(arm,))))
    (kept,) = trajectories(tmp_path)
    assert TOOLS_OFFERED(kept).outcome is (Outcome.PASS if arm.offer_tools else Outcome.NOT_APPLICABLE)


@pytest.mark.parametrize("execute", [Execute.TOOLS, Execute.STUBS])
def test_a_distractor_that_is_called_says_that_it_is_not_available(execute: Execute, tmp_path: Path) -> None:
    stubs = (("get_order", Stub(returns='"a"')), ("refund_order", Stub(returns='"b"'))) if execute is Execute.STUBS else ()
    run(planned(tmp_path, whole(arms=(Arm("a", distractors=2),), execute=execute, stubs=stubs), "calls_distractor"))
    (answer,) = answers(tmp_path)
    assert answer.result_codes == (Code.TOOL_FAILED,)
    (kept,) = trajectories(tmp_path)
    (result,) = (event.fact for event in kept.events if isinstance(event.fact, ToolResult))
    assert "tool 'zip_code' is not available" in str(result.content)


# ---------------------------------------------------------------- sources


def test_tools_of_several_registries_run(tmp_path: Path) -> None:
    run(planned(tmp_path, whole(arms=(Arm("a"), Arm("b", descriptions=(("get_order", "x"), ("refund_order", "An order."),))))))
    assert sorted(called) == [("get_order", 7), ("refund_order", 7)]


def test_registries_that_offer_one_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="two sources offer a tool 'get_order'"):
        planned(tmp_path, whole(1, (FROM[0], FROM[0])))


def test_a_prefix_and_a_choice_of_a_registry_hold_for_its_bodies(tmp_path: Path) -> None:
    both = ToolSource(SourceKind.FROM, f"{HERE}:everything", only=("get_order",), prefix="shop_")
    run(planned(tmp_path, whole(1, (both,))))
    assert [[one.name for one in answer.calls] for answer in answers(tmp_path)] == [["shop_get_order"]]
    assert called == [("get_order", 7)]


everything = [*orders, *refunds]


@pytest.mark.parametrize("kind", ["schemas", "openapi"])
def test_what_has_no_body_is_refused_by_name_before_anything_is_asked(kind: str, tmp_path: Path) -> None:
    number = {"name": "id", "in": "query", "schema": {"type": "integer"}}
    operation = {"get": {"operationId": "list_orders", "parameters": [number], "responses": {"200": {"description": "All."}}}}
    document = {"openapi": "3.0.3", "info": {"title": "Shop", "version": "1"}, "paths": {"/orders": operation}}
    (tmp_path / "openapi.json").write_text(json.dumps(document), "utf-8")
    found = ToolSource(SourceKind.OPENAPI, str(tmp_path / "openapi.json")) if kind == "openapi" else inline({"name": "list_orders"})
    with pytest.raises(UnsupportedError, match="'list_orders' has no stub, and what 'openapi' and 'schemas' describe has no body"):
        planned(tmp_path, whole(1, (*FROM, found)))
    assert seen == []
    stubs = (("list_orders", Stub(returns='"none"')),)
    run(planned(tmp_path, whole(1, (*FROM, found), stubs=stubs, arms=(Arm("real"), Arm("stub", descriptions=(("list_orders", "Every order."), ("get_order", "x"), ("refund_order", "x")))))))
    told = {one.arm: one.answer.content for one in lines(tmp_path) if one.answer}
    assert told == {"real": "It says: order 7 is here", "stub": "It says: none"}


def test_built_in_tools_begin_anew_in_each_trial(tmp_path: Path) -> None:
    made = whole(1, (ToolSource(SourceKind.USE, names=("read_memory", "write_memory")),), trials=2)
    run(planned(tmp_path, made, "remembers"))
    assert [len(answer.calls) for answer in answers(tmp_path)] == [2, 2]
    assert ["nothing is stored" in answer.content for answer in answers(tmp_path)] == [True, True]


def remembers(call: ModelCall) -> ScriptReply:
    """Reads what is stored, stores something, and tells what it read."""
    results = [one for one in call.messages if isinstance(one, ChatTool)]
    if not results:
        return ScriptReply(calls=(ScriptCall("read_memory", '{"key": "a"}'),))
    if len(results) == 1:
        return ScriptReply(calls=(ScriptCall("write_memory", '{"key": "a", "value": 1}'),))
    return ScriptReply(say=str(results[0].content))


def test_tools_that_are_gone_from_a_registry_are_said(tmp_path: Path) -> None:
    plan = planned(tmp_path, whole())
    fewer = replace(plan, evaluation=replace(plan.evaluation, sources=FROM[:1]))
    found = run(fewer)
    assert found.exit_code == 5
    assert "tool 'refund_order' was removed" in found.stopped
