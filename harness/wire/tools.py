"""Offered tools: canonical JSON text of the house from and to the Chat Completions form."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from harness.types.messages import JsonText
from harness.wire.shape import bad_shape, cleaned, json_text, kind_of


def parse_tools(tools: Sequence[Any] | None, where: str = "tools") -> JsonText:
    """Canonical JSON of ``[{"name", "description", "parameters", ...}]`` in the order offered.

    Function tools lose their wrapping; every other kind of tool, and a wrapping with more in it,
    stays as it came. Raises ModelError INVALID_REQUEST for what is no array of objects.
    """
    if tools is None:
        return JsonText("[]")
    if not isinstance(tools, list | tuple):
        bad_shape(where, f"is {kind_of(tools)}, not an array")
    return json_text([_unwrapped(tool, f"{where}[{i}]") for i, tool in enumerate(tools)], where)


def _unwrapped(tool: Any, where: str) -> Any:
    if not isinstance(tool, Mapping):
        bad_shape(where, f"is {kind_of(tool)}, not an object")
    function = tool.get("function")
    wrapped = tool.get("type") == "function" and len(tool) == 2
    if wrapped and isinstance(function, Mapping) and _is_flat(function):
        return cleaned(function, where)
    return cleaned(tool, where)


def render_tools(tools: JsonText) -> list[dict[str, Any]]:
    """The inverse of :func:`parse_tools`; what another product offered and is no object stays as it came."""
    return [{"type": "function", "function": tool} if _is_flat(tool) else tool for tool in json.loads(tools)]


def _is_flat(tool: Any) -> bool:
    return isinstance(tool, Mapping) and "name" in tool and "type" not in tool
