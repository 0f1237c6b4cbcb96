"""Small evaluations in Python, an endpoint that counts what it is asked, and a model that answers by a rule."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import httpx2

from harness.runner.evaluation.plan import EvaluationOptions, EvaluationPlan, plan_evaluation
from harness.runner.evaluation.running import Ran, Tell, World, run_share
from harness.runner.specs import ModelSource
from harness.store import read_trials
from harness.types.codes import ClockKind
from harness.types.doors import Answer, AnsweredCall, ModelCall
from harness.types.evaluation import (
    Acceptable,
    Arm,
    Case,
    EvalTool,
    Evaluation,
    Running,
    SourceKind,
    ToolSnapshot,
    ToolSource,
    Wanted,
)
from harness.types.expectations import ExpectedCall
from harness.types.jsontext import canonical_json
from harness.types.messages import ChatSystem, ChatUser, JsonText, Messages
from harness.types.model_spec import ModelSpec
from harness.types.reasons import Usage
from harness.types.trials import Trial

NOW = "2026-01-02T03:04:05Z"
SCHEMA = canonical_json({"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]})
SNAPSHOT = ToolSnapshot((EvalTool("get_order", "Finds an order.", SCHEMA), EvalTool("refund_order", "Gives back.", SCHEMA)), digest="t" * 64)


class ListedCases(tuple[Case, ...]):
    """Cases in memory."""

    @property
    def digest(self) -> str:
        return "c" * 64


def case(number: int) -> Case:
    """A case whose question names its number."""
    return Case(f"case-{number}", f"Where is order {number}?", (Acceptable(Wanted.CALLS, (ExpectedCall("get_order", canonical_json({"id": number})),)),))


def evaluation(n: int = 4, *, arms: Sequence[str] = ("now", "new"), trials: int = 2, **more: Any) -> Evaluation:
    """``n`` cases under these arms."""
    fields: dict[str, Any] = {"model": ModelSpec("m"), "digest": "e" * 64}
    return Evaluation(
        "shop", (ToolSource(SourceKind.SCHEMAS),), tuple(Arm(name, system=f"Arm {name}.") for name in arms),
        ListedCases(case(number) for number in range(n)), trials=trials, **{**fields, **more},
    )  # fmt: skip


def request_of(evaluation: Evaluation, arm: Arm, case: Case, snapshot: ToolSnapshot) -> ModelCall:
    """What is asked, in short."""
    tools = [{"name": one.name, "description": one.description, "parameters": json.loads(one.parameters)} for one in snapshot.tools]
    return ModelCall((ChatSystem(arm.system or ""),), Messages.of([ChatUser(case.ask)]), canonical_json(tools), JsonText("{}"))


def plan(
    tmp_path: Path, made: Evaluation | None = None, *, source: ModelSource = ModelSource.LIVE, request_of: Any = request_of, **options: Any
) -> EvaluationPlan:
    """A plan into ``tmp_path/out``, with recordings in ``tmp_path/cassettes``."""
    options = {"folder": tmp_path / "out", "cassettes": tmp_path / "cassettes", "environ": (("OPENAI_API_KEY", "k"),), **options}
    return plan_evaluation(made or evaluation(), SNAPSHOT, EvaluationOptions(source=source, **options), request_of=request_of)


def lines(tmp_path: Path, name: str = "trials.jsonl") -> list[Trial]:
    """The trials of the folder, in the order of the file."""
    return list(read_trials(tmp_path / "out" / name))


# ---------------------------------------------------------------- an endpoint


Behaviour = Callable[[dict[str, Any], int], "httpx2.Response | dict[str, Any]"]


def order_of(body: dict[str, Any]) -> int:
    """The number in the question of a request."""
    return int(body["messages"][-1]["content"].split()[-1].rstrip("?"))


def answers(body: dict[str, Any], number: int) -> dict[str, Any]:
    """The call that the question asks for."""
    call = {"id": f"c{number}", "type": "function", "function": {"name": "get_order", "arguments": json.dumps({"id": order_of(body)})}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    return {"id": f"r{number}", "object": "chat.completion", "created": 0, "model": "m-7", "system_fingerprint": "b1",
            "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}], "usage": usage}  # fmt: skip


@dataclass
class Endpoint(httpx2.AsyncBaseTransport):
    """Stands for the network: answers by ``behaviour``, and keeps what it was asked."""

    behaviour: Behaviour = answers
    asked: list[dict[str, Any]] = field(default_factory=list)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        body = json.loads(await request.aread())
        self.asked.append(body)
        found = self.behaviour(body, len(self.asked))
        if isinstance(found, httpx2.Response):
            return found
        return httpx2.Response(200, headers={"server": "llama.cpp", "content-type": "application/json"}, stream=_Bytes(json.dumps(found).encode()))


class _Bytes(httpx2.AsyncByteStream):
    def __init__(self, data: bytes) -> None:
        self._data = data

    async def __aiter__(self) -> Any:
        yield self._data


def status(code: int, message: str = "no", **headers: str) -> httpx2.Response:
    """An error of the endpoint."""
    data = json.dumps({"error": {"message": message}}).encode()
    return httpx2.Response(code, headers={"content-type": "application/json", **headers}, stream=_Bytes(data))


def run(plan: EvaluationPlan, endpoint: Endpoint | None = None, *, tell: Tell | None = None, **more: Any) -> Ran:
    """Run a plan under the virtual clock."""
    world = World(ClockKind.VIRTUAL, now=lambda: NOW, upstream=endpoint or Endpoint())
    return run_share(plan, tell=tell, world=world, **more)


# ---------------------------------------------------------------- functions that answer


def right(call: ModelCall) -> Answer:
    """Always the right call."""
    message = call.messages[-1]
    assert isinstance(message, ChatUser)
    number = int(str(message.content).split()[-1].rstrip("?"))
    return Answer(calls=(AnsweredCall("get_order", json.dumps({"id": number}), "c1"),), finish_reason=_CALLS, raw_finish_reason="tool_calls")


def with_running(made: Evaluation, **running: Any) -> Evaluation:
    """The same, run in another way."""
    return replace(made, running=Running(**running))


def keys(trials: Iterable[Trial]) -> list[tuple[str, str, int]]:
    """Which trials, in their order."""
    return [tuple(one.key) for one in trials]


from harness.types.codes import FinishReason  # noqa: E402

_CALLS = FinishReason.TOOL_CALLS
USAGE = Usage(input_tokens=10, output_tokens=5)
