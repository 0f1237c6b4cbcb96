"""Evaluations, snapshots and requests for the tests of this room."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from harness.evaluate.arms import request_of
from harness.scenarios.evaluation_loading import evaluation
from harness.types.doors import ModelCall
from harness.types.evaluation import Arm, Case, EvalTool, Evaluation, ToolSnapshot
from harness.types.jsontext import canonical_json


def tool(name: str, description: str = "", **properties: Any) -> EvalTool:
    schema = {"type": "object", "properties": properties, "required": sorted(properties)[:1]}
    return EvalTool(name, description or f"Does {name}.", canonical_json(schema))


def snapshot(*tools: EvalTool) -> ToolSnapshot:
    ordered = tuple(sorted(tools, key=lambda one: one.name))
    return ToolSnapshot(ordered, hashlib.sha256(repr(ordered).encode()).hexdigest())


ADDRESS = {"type": "object", "properties": {"city": {"type": "string", "description": "Old."}}}
SHOP = snapshot(
    tool("ask_user", question={"type": "string"}),
    tool("get_order", id={"type": "integer", "description": "A number."}),
    tool("refund_order", id={"type": "integer"}, why={"enum": ["late", "broken"]}),
    tool("send_parcel", to=ADDRESS, items={"type": "array", "items": ADDRESS}),
)
MANY = snapshot(*(tool(f"other_{n}") for n in range(5)), tool("get_order"), tool("zip_code"))

HISTORY: list[dict[str, Any]] = [
    {"user": "I am Ann."},
    {"assistant": "Hello Ann.", "calls": [{"get_order": {"id": 3}}, {"refund_order": {"id": 4}}]},
    {"tool": "on its way"},
    {"tool": "done"},
    {"assistant": "All done."},
]
CASES: list[dict[str, Any]] = [
    {"id": "plain", "ask": "Where is order 7?", "expect": {"get_order": {"id": 7}}},
    {"id": "talk", "ask": "And order 8?", "expect": {"get_order": {"id": 8}}, "history": HISTORY},
    {"id": "narrow", "ask": "And order 9?", "expect": "get_order", "tools": ["get_order", "send_parcel"]},
    {"id": "result", "expect": "refund_order", "history": HISTORY[:4]},
]
PADDING = [{"user": f"Question {n}"} if kind == 0 else {"assistant": f"Answer {n}"} for n in (1, 2, 3) for kind in (0, 1)]


def shop(**fields: Any) -> Evaluation:
    """An evaluation of the shop: four cases, a base arm and what is given."""
    given = {
        "tools": {"schemas": "shop.yaml"},
        "system": "You help.",
        "model": {"name": "some-model", "temperature": 0.7},
        "cases": CASES,
        "padding": PADDING,
        "distractor_tools": {"schemas": "many.yaml"},
    }
    return evaluation(**{**given, **fields})


def arm_of(value: Evaluation, name: str) -> Arm:
    return next(arm for arm in value.arms if arm.name == name)


def asked(value: Evaluation, arm: str, case: str) -> ModelCall:
    return request_of(value, arm_of(value, arm), case_of(value, case), SHOP, MANY)


def case_of(value: Evaluation, name: str) -> Case:
    return next(case for case in value.cases if case.id == name)


def parts(call: ModelCall) -> dict[str, Any]:
    """A request in its parts, as plain values."""
    return {
        "system": call.system,
        "messages": list(call.messages),
        "tools": json.loads(call.tools),
        "parameters": json.loads(call.parameters),
    }


def changed(base: ModelCall, other: ModelCall) -> set[str]:
    """The parts that differ."""
    one, two = parts(base), parts(other)
    return {name for name in one if one[name] != two[name]}
