"""A tool with another face is offered as its face says, and is its body in all else."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from harness.errors import ConfigurationError, ToolSourceError
from harness.protocols import Tool, ToolContext
from harness.tools import FunctionTool, offered_tool
from harness.tools.faced import FacedTool, ServerTool
from harness.tools.modes import isolation_now, mode_now
from harness.tools.real_bodies import opened_servers
from harness.types.codes import Effect, Isolation, Mode
from harness.types.evaluation import EvalTool
from harness.types.messages import JsonText
from harness.types.tool_policy import ToolRules
from tests.tools.lab import Lab, in_lab

FACE = EvalTool("lookup", "Looks up.", JsonText('{"properties":{"id":{"description":"A number.","type":"integer"}},"type":"object"}'))


def get_order(id: int) -> str:  # noqa: A002
    """Finds an order."""
    return f"order {id}"


def answered(tools: Sequence[Tool], name: str) -> str:
    """What the model is told for a call with id 7."""

    async def main(lab: Lab) -> str:
        return str((await lab.call(name, '{"id": 7}')).content)

    return str(in_lab(tools, main))


def offered(tools: Sequence[Tool]) -> list[str]:
    async def main(lab: Lab) -> list[str]:
        return [one["name"] for one in json.loads(lab.door.offered)]

    found: list[str] = in_lab(tools, main)
    return found


def test_what_is_offered_is_the_face_and_the_rest_is_the_bodys() -> None:
    body = FunctionTool(get_order, effect=Effect.READ, idempotent=True, isolation=Isolation.THREAD, mode=Mode.EXCLUSIVE, rules=ToolRules(timeout_ms=7))
    faced = FacedTool(body, FACE)
    plain = offered_tool(body)
    assert offered_tool(faced) == replace(plain, name="lookup", description="Looks up.", parameters=FACE.parameters)
    assert faced.rules == ToolRules(timeout_ms=7)
    assert faced.check({"id": "seven"}) == body.check({"id": "seven"}) is not None


@pytest.mark.conformance("47")
def test_the_mode_is_the_bodys_of_now_also_where_arguments_tell_it() -> None:
    body = FunctionTool(get_order)
    faced = FacedTool(body, FACE)
    body.mode = Mode.EXCLUSIVE
    assert faced.mode is Mode.EXCLUSIVE
    telling = FacedTool(FunctionTool(get_order, mode=lambda values: Mode.EXCLUSIVE if values["id"] == 7 else Mode.PARALLEL), FACE)
    assert [mode_now(telling, {"id": number}, {}) for number in (7, 8)] == [Mode.EXCLUSIVE, Mode.PARALLEL]


def test_the_model_calls_the_face_and_is_told_of_the_face() -> None:
    faced = FacedTool(FunctionTool(get_order), FACE)
    assert answered([faced], "lookup") == "order 7"
    assert "lookup" in answered([faced], "get_order")


async def refund(id: int, context: ToolContext) -> str:  # noqa: A002
    """Looks before it pays."""
    assert context.use is not None
    return f"{await context.use('get_order', {'id': id})} is paid back"


def test_a_body_that_uses_another_finds_it_by_the_name_that_it_knows() -> None:
    names = {"get_order": "lookup"}
    composed = FacedTool(FunctionTool(refund, uses=["get_order"]), EvalTool("refund", "", FACE.parameters), names=names)
    used = FacedTool(FunctionTool(get_order), FACE, names=names)
    assert composed.uses == ("lookup",)
    assert isolation_now(composed, {"lookup": used, "refund": composed}) is Isolation.INLINE
    assert answered([composed, used], "refund") == "order 7 is paid back"
    with pytest.raises(ConfigurationError, match="uses 'lookup', which is not there"):
        answered([composed], "refund")


def test_tools_stand_in_their_places_and_without_any_by_name() -> None:
    bodies = [FunctionTool(get_order, name=name) for name in "cab"]
    assert offered(bodies) == ["a", "b", "c"]
    placed = [FacedTool(body, replace(FACE, name=body.name), place=at) for at, body in enumerate(bodies)]
    assert offered(placed[::-1]) == ["c", "a", "b"]


def test_a_tool_of_a_server_cannot_be_called_before_it_is_open() -> None:
    waiting = ServerTool(EvalTool("ping", "", JsonText('{"type":"object"}'), read_only=True))
    assert (waiting.effect, waiting.isolation, waiting.mode) == (Effect.READ, Isolation.INLINE, Mode.PARALLEL)
    with pytest.raises(ToolSourceError, match="'ping'"):
        asyncio.run(waiting.call({}, None))  # type: ignore[arg-type]


def test_a_tool_of_a_server_has_its_body_only_while_the_server_is_open() -> None:
    from tests.tools.sourcing import server, snapshot

    source = server("broken.py", "answers")
    (tool,) = snapshot(source).tools
    waiting = ServerTool(tool)

    async def called() -> Any:
        async with opened_servers([source], {"ping": waiting}, [tool], environ={}):
            return await waiting.call({"a": 1}, None)  # type: ignore[arg-type]

    assert asyncio.run(called()) == 'ping {"a": 1}'
    with pytest.raises(ToolSourceError, match="not open"):
        asyncio.run(waiting.call({}, None))  # type: ignore[arg-type]
