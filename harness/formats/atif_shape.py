"""The shape of ATIF documents (v1.0 to v1.8), checked as its reference does: an unknown field is refused.

Fields newer than the version that a document names are taken: producers are ahead of their own version number.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from harness.formats.values import Document
from harness.wire.shape import kind_of

VERSIONS: Final = tuple(f"ATIF-v1.{minor}" for minor in range(9))
WRITTEN: Final = VERSIONS[-1]
SOURCES: Final = ("system", "user", "agent")
MAX_NESTED: Final = 20
"""How deep trajectories may be embedded in one another."""
_NUMBER: Final = (int, float)


@dataclass(frozen=True, slots=True)
class Shape:
    """An object: what it is, the kinds of its fields, and which of them must be there."""

    name: str
    fields: Mapping[str, tuple[type, ...]]
    required: tuple[str, ...] = ()


ROOT: Final = Shape(
    "trajectory",
    {
        "schema_version": (str,), "session_id": (str,), "trajectory_id": (str,), "agent": (dict,), "steps": (list,),
        "notes": (str,), "final_metrics": (dict,), "continued_trajectory_ref": (str,),
        "subagent_trajectories": (list,), "extra": (dict,),
    },
    ("schema_version", "agent", "steps"),
)  # fmt: skip
AGENT: Final = Shape(
    "agent",
    {"name": (str,), "version": (str,), "model_name": (str,), "tool_definitions": (list,), "extra": (dict,)},
    ("name", "version"),
)
STEP: Final = Shape(
    "step",
    {
        "step_id": (int,), "timestamp": (str,), "source": (str,), "message": (str, list), "model_name": (str,),
        "reasoning_effort": (str, *_NUMBER), "reasoning_content": (str,), "tool_calls": (list,),
        "observation": (dict,), "metrics": (dict,), "is_copied_context": (bool,), "llm_call_count": (int,),
        "extra": (dict,),
    },
    ("step_id", "source", "message"),
)  # fmt: skip
CALL: Final = Shape(
    "tool call",
    {"tool_call_id": (str,), "function_name": (str,), "arguments": (dict,), "extra": (dict,)},
    ("tool_call_id", "function_name", "arguments"),
)
OBSERVATION: Final = Shape("observation", {"results": (list,)}, ("results",))
RESULT: Final = Shape(
    "observation result",
    {"source_call_id": (str,), "content": (str, list), "subagent_trajectory_ref": (list,), "extra": (dict,)},
)
METRICS: Final = Shape(
    "metrics",
    {
        "prompt_tokens": (int,), "completion_tokens": (int,), "cached_tokens": (int,), "cost_usd": _NUMBER,
        "prompt_token_ids": (list,), "completion_token_ids": (list,), "logprobs": (list,), "extra": (dict,),
    },
)  # fmt: skip
_AGENT_ONLY: Final = ("model_name", "reasoning_effort", "reasoning_content", "tool_calls", "metrics")


def check_root(document: Document, root: Any, where: str) -> None:
    """Raise ForeignFormatError for a trajectory that is not of this shape, down to each result."""
    _check(document, root, ROOT, where)
    if root["schema_version"] not in VERSIONS:
        document.refuse(f"{where}: version {root['schema_version']!r}; read are {VERSIONS[0]} to {VERSIONS[-1]}")
    _check(document, root["agent"], AGENT, f"{where}.agent")
    if not root["steps"]:
        document.refuse(f"{where}: a trajectory has at least one step")
    for at, step in enumerate(root["steps"]):
        _check_step(document, step, at + 1, f"{where}.steps[{at}]")


def _check_step(document: Document, step: Any, expected: int, where: str) -> None:
    _check(document, step, STEP, where)
    if step["step_id"] != expected:
        document.refuse(f"{where}: step_id is {step['step_id']}, it must be {expected}: they count from 1 without gaps")
    if step["source"] not in SOURCES:
        document.refuse(f"{where}: source is {step['source']!r}; it must be one of {', '.join(SOURCES)}")
    misplaced = [name for name in _AGENT_ONLY if step.get(name) is not None and step["source"] != "agent"]
    if misplaced:
        document.refuse(f"{where}: {misplaced[0]!r} stands only in steps of the agent, not of {step['source']!r}")
    _check_parts(document, step["message"], f"{where}.message")
    for at, call in enumerate(step.get("tool_calls") or ()):
        _check(document, call, CALL, f"{where}.tool_calls[{at}]")
    if step.get("metrics") is not None:
        _check(document, step["metrics"], METRICS, f"{where}.metrics")
    if step.get("observation") is not None:
        _check(document, step["observation"], OBSERVATION, f"{where}.observation")
        for at, result in enumerate(step["observation"]["results"]):
            _check(document, result, RESULT, f"{where}.observation.results[{at}]")
            _check_parts(document, result.get("content"), f"{where}.observation.results[{at}].content")


def _check_parts(document: Document, content: Any, where: str) -> None:
    for at, part in enumerate(content if isinstance(content, list) else ()):
        if not isinstance(part, dict) or not isinstance(part.get("type"), str):
            document.refuse(f"{where}[{at}]: a part of a content is an object with a type")


def _check(document: Document, value: Any, shape: Shape, where: str) -> None:
    if not isinstance(value, dict):
        document.refuse(f"{where}: a {shape.name} is an object, not {kind_of(value)}")
    unknown = sorted(set(value) - set(shape.fields))
    if unknown:
        document.refuse(f"{where}: a {shape.name} has no field {unknown[0]!r}; free data goes into 'extra'")
    for name in shape.required:
        if value.get(name) is None:
            document.refuse(f"{where}: a {shape.name} needs {name!r}")
    for name, item in value.items():
        kinds = shape.fields[name]
        if item is not None and (not isinstance(item, kinds) or (isinstance(item, bool) and bool not in kinds)):
            document.refuse(f"{where}.{name}: is {kind_of(item)}")
