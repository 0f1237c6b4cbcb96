"""What the real Responses API answers with 400; the counterpart of :mod:`harness.server.validation`.

Order is freer than in Chat Completions: a call and its output need not be neighbours, but each output
must name a call that stands before it, and no call may go without an output when new input follows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from harness.server.parameters import Wrong, wrong_format, wrong_parameters
from harness.server.validation import HistoryRefusal
from harness.wire.shape import kind_of

_NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_ROLES: Final = ("assistant", "system", "developer", "user")
_CALLS: Final = {"function_call": "arguments", "custom_tool_call": "input"}
_OUTPUTS: Final = ("function_call_output", "custom_tool_call_output")
_ITEMS: Final = ("message", "reasoning", *_CALLS, *_OUTPUTS)
_PARTS: Final = {
    "user": ("input_text", "input_image", "input_file", "input_audio"),
    "system": ("input_text",),
    "developer": ("input_text",),
    "assistant": ("output_text", "refusal"),
}
_MOST_TOOLS: Final = 128
_Raw = Mapping[str, Any]


def responses_refusal(body: _Raw, items: Sequence[Any]) -> HistoryRefusal | None:
    """The first thing that the real API would refuse; ``items`` is the whole conversation."""
    return next(_refusals(body, items), None)


def _refusals(body: _Raw, items: Sequence[Any]) -> Iterator[HistoryRefusal]:
    if not isinstance(body.get("model"), str) or not body["model"]:
        yield HistoryRefusal("missing required parameter", "model")
    yield from (HistoryRefusal(*one) for one in _parameters(body))
    given = body.get("input")
    if given is None and not body.get("previous_response_id"):
        yield HistoryRefusal("one of 'input' or 'previous_response_id' must be provided", "input")
    elif given is not None and not isinstance(given, str | list):
        yield HistoryRefusal(f"expected a string or an array of items, got {kind_of(given)}", "input")
    elif not items:
        yield HistoryRefusal("expected at least one item", "input")
    instructions = body.get("instructions")
    if instructions is not None and not isinstance(instructions, str):
        yield HistoryRefusal(f"expected a string, got {kind_of(instructions)}", "instructions")
    n_own = len(given) if isinstance(given, list) else len(items)
    n_before = len(items) - n_own
    for index, item in enumerate(items[n_before:]):
        yield from _item(item, f"input[{index}]")
    yield from _answered(items, n_before)
    yield from _tools(body)


def _parameters(body: _Raw) -> Iterator[Wrong]:
    yield from wrong_parameters(body)
    text = body.get("text")
    form = text.get("format") if isinstance(text, Mapping) else None
    if isinstance(form, Mapping) and form.get("type") == "json_schema":
        yield from wrong_format(form, "text.format", ("name", "schema"))


# ---------------------------------------------------------------- items


def _item(item: Any, where: str) -> Iterator[HistoryRefusal]:
    if not isinstance(item, Mapping):
        yield HistoryRefusal(f"expected an object, got {kind_of(item)}", where)
        return
    kind = item.get("type", "message")
    if kind not in _ITEMS:
        yield HistoryRefusal(f"invalid value {kind!r}; supported here are {', '.join(_ITEMS)}", f"{where}.type")
    elif kind == "message":
        yield from _message(item, where)
    elif kind in _CALLS:
        yield from _call(item, _CALLS[kind], where)
    elif kind in _OUTPUTS:
        yield from _output(item, where)
    elif not isinstance(item.get("summary"), list):
        yield HistoryRefusal("missing required parameter", f"{where}.summary")


def _message(item: _Raw, where: str) -> Iterator[HistoryRefusal]:
    role, content = item.get("role"), item.get("content")
    if role not in _ROLES:
        yield HistoryRefusal(f"invalid value {role!r}; supported are {', '.join(_ROLES)}", f"{where}.role")
    elif isinstance(content, list):
        for index, part in enumerate(content):
            kind = part.get("type") if isinstance(part, Mapping) else None
            if kind not in _PARTS[role]:
                allowed = ", ".join(_PARTS[role])
                yield HistoryRefusal(
                    f"invalid value {kind!r}; supported are {allowed}", f"{where}.content[{index}].type"
                )
            elif kind in ("input_text", "output_text") and not isinstance(part.get("text"), str):
                what = kind_of(part.get("text"))
                yield HistoryRefusal(f"expected a string, got {what}", f"{where}.content[{index}].text")
    elif not isinstance(content, str):
        yield HistoryRefusal(f"expected a string or an array of parts, got {kind_of(content)}", f"{where}.content")


def _call(item: _Raw, text: str, where: str) -> Iterator[HistoryRefusal]:
    name = item.get("name")
    if not _is_text(item.get("call_id")):
        yield HistoryRefusal(f"expected a non-empty string, got {item.get('call_id')!r}", f"{where}.call_id")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        yield HistoryRefusal(f"invalid name {name!r}; expected the pattern ^[a-zA-Z0-9_-]{{1,64}}$", f"{where}.name")
    if not isinstance(item.get(text), str):
        yield HistoryRefusal(f"expected a string, got {kind_of(item.get(text))}", f"{where}.{text}")


def _output(item: _Raw, where: str) -> Iterator[HistoryRefusal]:
    if not _is_text(item.get("call_id")):
        yield HistoryRefusal(f"expected a non-empty string, got {item.get('call_id')!r}", f"{where}.call_id")
    output = item.get("output")
    if not isinstance(output, str | list):
        yield HistoryRefusal(f"expected a string or an array of parts, got {kind_of(output)}", f"{where}.output")


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value)


def _answered(items: Sequence[Any], n_before: int) -> Iterator[HistoryRefusal]:
    """Assumes well-formed items: everything else was yielded before."""
    known: list[str] = []
    owed: list[str] = []
    for index, item in enumerate(items):
        kind, identity = item.get("type", "message"), item.get("call_id")
        if kind in _CALLS:
            if identity in owed:
                yield HistoryRefusal(f"duplicate call_id {identity!r}", f"input[{index - n_before}].call_id")
            known.append(identity)
            owed.append(identity)
        elif kind in _OUTPUTS:
            if identity not in known:
                yield HistoryRefusal(f"no tool call found for function call output with call_id {identity}", "input")
            elif identity not in owed:
                yield HistoryRefusal(f"duplicate output for call_id {identity}", "input")
            else:
                owed.remove(identity)
    if owed:
        yield HistoryRefusal(f"no tool output found for function call {owed[0]}", "input")


# ---------------------------------------------------------------- tools


def _tools(body: _Raw) -> Iterator[HistoryRefusal]:
    tools = body.get("tools")
    if tools is not None and (not isinstance(tools, list) or len(tools) > _MOST_TOOLS):
        yield HistoryRefusal(f"expected an array of at most {_MOST_TOOLS} tools", "tools")
        return
    offered: set[str] = set()
    for index, tool in enumerate(tools or ()):
        where = f"tools[{index}]"
        if not isinstance(tool, Mapping) or not _is_text(tool.get("type")):
            yield HistoryRefusal("missing required parameter", f"{where}.type")
        elif tool["type"] in ("function", "custom"):
            yield from _function(tool, offered, where)
    choice = body.get("tool_choice")
    if choice == "required" and not tools:
        yield HistoryRefusal("tool_choice 'required' is only allowed when tools are given", "tool_choice")
    name = choice.get("name") if isinstance(choice, Mapping) and choice.get("type") == "function" else None
    if name is not None and name not in offered:
        yield HistoryRefusal(f"tool choice {name!r} not found in 'tools'", "tool_choice")


def _function(tool: _Raw, offered: set[str], where: str) -> Iterator[HistoryRefusal]:
    name = tool.get("name")
    if name is None:
        yield HistoryRefusal("missing required parameter", f"{where}.name")
    elif not isinstance(name, str) or not _NAME.fullmatch(name):
        yield HistoryRefusal(f"invalid name {name!r}; expected the pattern ^[a-zA-Z0-9_-]{{1,64}}$", f"{where}.name")
    elif name in offered:
        yield HistoryRefusal(f"tool {name!r} is offered twice", f"{where}.name")
    else:
        offered.add(name)
    parameters = tool.get("parameters")
    if parameters is not None and not isinstance(parameters, Mapping):
        yield HistoryRefusal(f"expected a JSON Schema object, got {kind_of(parameters)}", f"{where}.parameters")
