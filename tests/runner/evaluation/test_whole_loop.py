"""Where it was asked for in so many words, a trial is a whole run: with stubs, or with the real bodies."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.errors import UnsupportedError
from harness.runner.specs import ModelSource
from harness.store import read_trajectory
from harness.tools import tool
from harness.types.codes import Code, Status
from harness.types.doors import ModelCall
from harness.types.evaluation import Arm, Evaluation, Execute, SourceKind, ToolSource
from harness.types.jsontext import canonical_json
from harness.types.messages import ChatTool, ChatUser
from harness.types.scenario import Stub
from harness.types.script import ScriptCall, ScriptReply
from harness.types.trials import AnswerOrigin, Owner
from tests.runner.evaluation.lab import SNAPSHOT, ListedCases, case, evaluation, lines, plan, run, with_running

HERE = "tests.runner.evaluation.test_whole_loop"
SCHEMAS = ToolSource(SourceKind.SCHEMAS, inline=canonical_json([{"name": one.name, "parameters": json.loads(one.parameters)} for one in SNAPSHOT.tools]))
STUBS = (("get_order", Stub(returns='"on its way"')), ("refund_order", Stub(raises="not here")))
called: list[int] = []


def steps(call: ModelCall) -> ScriptReply:
    """Asks for the order, then tells what came."""
    last = call.messages[-1]
    if isinstance(last, ChatTool):
        return ScriptReply(say=f"It says: {last.content}")
    assert isinstance(last, ChatUser)
    name = next(one["name"] for one in json.loads(call.tools) if "order" in one["name"])
    return ScriptReply(calls=(ScriptCall(name, json.dumps({"id": int(str(last.content).split()[-1].rstrip("?"))})),))


def looping(call: ModelCall) -> ScriptReply:
    """Never comes to an end."""
    return ScriptReply(calls=(ScriptCall("get_order", '{"id": 1}'),))


def broken(call: ModelCall) -> Any:
    """The provider is down."""
    from harness.errors import ModelError

    raise ModelError("busy", code=Code.SERVER)


@tool
def get_order(id: int) -> str:  # noqa: A002
    """Finds an order."""
    called.append(id)
    return f"order {id} is here"


@tool
def refund_order(id: int) -> str:  # noqa: A002
    """Gives back."""
    called.append(-id)
    return f"order {id} is paid back"


registry = [get_order, refund_order]


def whole(**more: Any) -> Evaluation:
    return evaluation(2, trials=1, execute=Execute.STUBS, stubs=STUBS, **more)


def ran(tmp_path: Path, made: Evaluation, function: str = "steps") -> Any:
    return run(plan(tmp_path, made, source=ModelSource.OWN, model=f"{HERE}:{function}"))


def test_a_trial_is_a_run_with_stubs_and_its_trajectory_is_kept(tmp_path: Path) -> None:
    ran(tmp_path, whole())
    trial = next(one for one in lines(tmp_path) if one.key == ("case-1", "now", 1))
    answer = trial.answer
    assert answer is not None
    assert [(one.name, one.arguments) for one in answer.calls] == [("get_order", '{"id": 1}')]
    assert (answer.content, answer.n_steps, answer.status, answer.result_codes) == ("It says: on its way", 2, Status.COMPLETED, ("OK",))
    assert trial.by is not None
    assert trial.by.origin is AnswerOrigin.SCRIPTED
    assert answer.trajectory is not None
    kept = read_trajectory(tmp_path / "out" / answer.trajectory)
    assert (kept.header.arm, kept.header.trial) == ("now", 1)


def test_run_again_nothing_runs(tmp_path: Path) -> None:
    ran(tmp_path, whole())
    assert ran(tmp_path, whole()).n_now == 0


def test_a_tool_that_an_arm_renames_keeps_its_stub(tmp_path: Path) -> None:
    made = whole()
    made = replace(made, arms=(Arm("new", rename=(("get_order", "find_order"),)),))

    def renamed(evaluation: Evaluation, arm: Arm, case: Any, snapshot: Any) -> ModelCall:
        from harness.evaluate.arms import request_of

        return request_of(evaluation, arm, case, snapshot)

    run(plan(tmp_path, made, source=ModelSource.OWN, model=f"{HERE}:steps", request_of=renamed))
    answers = [one.answer for one in lines(tmp_path)]
    assert {one.calls[0].name for one in answers if one} == {"find_order"}
    assert {one.result_codes for one in answers if one} == {("OK",)}


def test_a_run_that_reaches_its_limit_is_an_answer_that_says_so(tmp_path: Path) -> None:
    ran(tmp_path, replace(whole(), limits=replace(whole().limits, steps=3)), "looping")
    answer = lines(tmp_path)[0].answer
    assert answer is not None
    assert (answer.status, answer.n_steps, len(answer.calls)) == (Status.LIMIT_REACHED, 3, 3)


def test_what_the_provider_failed_in_a_run_is_its_own(tmp_path: Path) -> None:
    ran(tmp_path, with_running(whole(), retries=0), "broken")
    errors = [one.error for one in lines(tmp_path)]
    assert {(one.owner, one.code) for one in errors if one} == {(Owner.PROVIDER, Code.SERVER)}


def test_real_bodies_run_only_where_the_file_says_so(tmp_path: Path) -> None:
    called.clear()
    made = replace(evaluation(2, trials=1), execute=Execute.TOOLS, sources=(ToolSource(SourceKind.FROM, location=f"{HERE}:registry"),))
    ran(tmp_path, made)
    assert sorted(called) == [0, 0, 1, 1]
    answer = lines(tmp_path)[0].answer
    assert answer is not None
    assert "is here" in str(answer.content)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        pytest.param({"stubs": STUBS[:1]}, "'refund_order' has no stub", id="no-stub"),
        pytest.param({"execute": Execute.TOOLS, "stubs": STUBS[1:], "sources": (SCHEMAS,)}, "'get_order' has no stub, and what 'openapi' and 'schemas' describe", id="real-bodies-of-schemas"),
        pytest.param({"cases": ListedCases([replace(case(1), history=(ChatUser("Hello"),))])}, "case 'case-1' begins with a conversation", id="history"),
        pytest.param({"arms": (Arm("now"), Arm("late", history_turns=1)), "padding": (ChatUser("Hello"),)}, "arm 'late' has 'history_turns'", id="history-turns"),
    ],
)  # fmt: skip
def test_what_a_run_cannot_begin_with_is_refused_before_anything_is_asked(change: dict[str, Any], words: str, tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError) as refused:
        plan(tmp_path, replace(whole(), **change), source=ModelSource.OWN, model=f"{HERE}:steps")
    assert words in str(refused.value)


def test_an_arm_that_is_not_asked_may_begin_with_more(tmp_path: Path) -> None:
    made = replace(whole(), arms=(Arm("now"), Arm("late", history_turns=1)))
    assert plan(tmp_path, made, source=ModelSource.OWN, model=f"{HERE}:steps", arms=("now",)).arms == (0,)


def test_a_function_of_the_request_is_a_model_of_scenarios_too(tmp_path: Path) -> None:
    from harness.runner.own import OwnModel
    from harness.types.scenario import Scenario

    model = OwnModel(f"{HERE}:steps").open(Scenario("a/b", ("x",)), clock=None)  # type: ignore[arg-type]
    assert model.name == f"{HERE}:steps"
