"""Where broken loops are run: five small tools, and the scenarios that reveal a fault.

The tools are named by the scenarios as ``harness.mutants.lab:tools``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Final

from harness.tools import FunctionTool
from harness.types.codes import Mode


async def slow(x: int) -> str:
    """Take 20 ms."""
    await asyncio.sleep(0.02)
    return f"slow {x}"


async def quick(x: int) -> str:
    """Answer at once."""
    return f"quick {x}"


async def fragile(x: int) -> str:
    """Fail."""
    raise RuntimeError(f"{x} broke it")


_at_work: list[int] = []


async def counted(x: int) -> str:
    """Take 20 ms, and tell how many were at work."""
    _at_work.append(x)
    n_at_work = len(_at_work)
    try:
        await asyncio.sleep(0.02)
        return f"{n_at_work} at work"
    finally:
        _at_work.remove(x)


async def endless(x: int) -> str:
    """Take an hour."""
    await asyncio.sleep(3_600)
    return f"endless {x}"


tools: Final = [
    FunctionTool(slow),
    FunctionTool(quick),
    FunctionTool(fragile),
    FunctionTool(counted),
    FunctionTool(counted, name="counted_alone", mode=Mode.EXCLUSIVE),
    FunctionTool(endless),
]
_TWO: Final = {"calls": [{"slow": {"x": 1}}, {"quick": {"x": 2}}]}
_DONE: Final = {"say": "done"}
_ONE_AT_WORK: Final = {"branch": [{"when": {"matches": "^1 at work"}, "script": [_DONE]}]}
_CANCEL: Final = {"at": {"kind": "tool/start"}, "do": {"cancel": {}}}
_GOOD: Final = {"status": "completed", "answer": "done"}

SCENARIOS: Final[Mapping[str, dict[str, Any]]] = {
    "two calls, then one": {
        "script": [_TWO, {"call": {"quick": {"x": 3}}}, _DONE],
        "expect": {**_GOOD, "steps": 3, "messages": 7},
    },
    "one call": {"script": [{"call": {"quick": {"x": 1}}}, _DONE], "expect": _GOOD},
    "one call, whatever comes of it": {"script": [{"call": {"quick": {"x": 1}}}, _DONE]},
    "two slow calls": {
        "script": [{"calls": [{"slow": {"x": 1}}, {"slow": {"x": 2}}]}, _DONE],
        "expect": _GOOD,
    },
    "one at a time": {
        "script": [{"calls": [{"counted": {"x": 1}}, {"counted": {"x": 2}}]}, _ONE_AT_WORK],
        "limits": {"parallel_tools": 1},
        "expect": _GOOD,
    },
    "a barrier": {
        "script": [{"calls": [{"counted_alone": {"x": 1}}, {"counted": {"x": 2}}]}, _ONE_AT_WORK],
        "expect": _GOOD,
    },
    "a failure is told": {
        "script": [{"calls": [{"fragile": {"x": 1}}, {"quick": {"x": 2}}]}, _DONE],
        "expect": {**_GOOD, "results": ["TOOL_FAILED", "OK"]},
    },
    "a tool fails": {
        "script": [{"calls": [{"fragile": {"x": 1}}, {"quick": {"x": 2}}]}, _DONE],
        "expect": _GOOD,
    },
    "malformed arguments": {"script": [{"call": {"quick": '{"x": 1'}}, _DONE], "expect": _GOOD},
    "a task that decides": {
        "script": [
            {
                "branch": [
                    {"when": {"matches": "^go$"}, "script": [{"call": {"quick": {"x": 1}}}, _DONE]},
                    {"when": {"matches": "."}, "script": [{"call": {"slow": {"x": 1}}}, _DONE]},
                ]
            }
        ],
        "expect": {**_GOOD, "calls": ["quick"]},
    },
    "a forbidden write": {
        "tools": {"use": ["read_memory", "write_memory"], "memory": {"sky": "grey"}, "allowed": ["read_memory"]},
        "script": [{"call": {"write_memory": {"key": "sky", "value": "blue"}}}, _DONE],
        "expect": {**_GOOD, "end_state": {"memory": {"sky": "grey"}}},
    },
    "cancelled while it asks": {
        "script": [{"say": "done", "delay_ms": 5}, _DONE],
        "inject": [{"at": "model/request", "do": {"cancel": {}}}],
        "expect": {"status": "cancelled"},
    },
    "an unknown tool": {"script": [{"call": {"fly": {"x": 1}}}, _DONE], "expect": _GOOD},
    "a forbidden tool": {
        "tools": {"from": "harness.mutants.lab:tools", "allowed": ["slow"]},
        "script": [{"call": {"quick": {"x": 1}}}, _DONE],
        "expect": {**_GOOD, "results": ["TOOL_NOT_ALLOWED"]},
    },
    "a cut answer": {
        "script": [{"call": {"quick": {"x": 1}}, "finish": "length"}],
        "expect": {"status": "incomplete"},
    },
    "a filtered answer": {
        "script": [{"call": {"quick": {"x": 1}}, "finish": "content_filter"}],
        "expect": {"status": "incomplete"},
    },
    "an empty answer": {"script": [{"empty": True}], "expect": {"status": "failed"}},
    "the model fails": {
        "script": [{"call": {"quick": {"x": 1}}}, {"fail": "AUTH"}],
        "expect": {"status": "failed"},
    },
    "a rate limit": {
        "retry": {"attempts": 2},
        "script": [{"fail": "RATE_LIMIT"}, _DONE],
        "expect": _GOOD,
    },
    "never ends": {
        "script": [{"call": {"quick": {"x": x}}} for x in range(5)],
        "limits": {"steps": 3},
        "expect": {"status": "limit_reached", "steps": 3},
    },
    "an endless tool": {
        "script": [{"call": {"endless": {"x": 1}}}],
        "limits": {"wall_ms": 2_000, "grace_ms": 100},
        "expect": {"status": "limit_reached"},
    },
    "cancelled at work": {"script": [_TWO, _DONE], "inject": [_CANCEL], "expect": {"status": "cancelled"}},
    "cancelled with input waiting": {
        "script": [_TWO, _DONE],
        "inject": [{"at": "model/request", "do": {"send": {"text": "And then?"}}}, _CANCEL],
        "expect": {"status": "cancelled"},
    },
    "two tasks": {
        "tasks": ["one", "two"],
        "script": [{"call": {"quick": {"x": 1}}}, {"say": "first"}, {"call": {"quick": {"x": 2}}}, _DONE],
        "expect": {**_GOOD, "turns": 2, "steps": 4},
    },
    "the first of two tasks cancelled": {
        "tasks": ["one", "two"],
        "script": [_TWO, _DONE],
        "inject": [{"at": "tool/start", "do": {"cancel": {"scope": "turn"}}}],
        "expect": {"turns": 2},
    },
    "three follow-ups": {
        "script": [{"say": "1"}, {"say": "2"}, {"say": "3"}, _DONE],
        "inject": [{"at": "model/request", "do": {"send": {"text": text}}} for text in ("two", "three", "four")],
        "expect": {**_GOOD, "turns": 4},
    },
    "steered": {
        "script": [_TWO, _DONE],
        "inject": [{"at": "tool/start", "do": {"send": {"queue": "steer", "text": "be brief"}}}],
        "expect": {**_GOOD, "turns": 1, "steps": 2},
    },
}
"""Small scenarios by name, as fields of the YAML form: what they share is added by :func:`fields_of`."""


def fields_of(name: str) -> dict[str, Any]:
    """The fields of one scenario, whole."""
    own = SCENARIOS[name]
    task = {} if "tasks" in own else {"task": "go"}
    return {**task, "tools": {"from": "harness.mutants.lab:tools"}, "allow_leftovers": True, **own}
