"""Rollouts of NeMo Gym: JSON lines, each one conversation in Responses items with its reward.

The end is that of the response where it has a status, else what the environment says of it in fields of its own; a
conversation that stops on a call, an output or a message of the user has none, even where the status is "completed".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any, Final

from harness.errors import ModelError
from harness.formats.builder import TrajectoryBuilder
from harness.formats.items import Items, content_of_items, leading_system
from harness.formats.talk import Talk
from harness.formats.values import Document, text_or_none, whole_or_none
from harness.types.codes import CancelBy, Code, HeaderWhy, LimitKind, Status
from harness.types.events import TornTail, Trajectory
from harness.types.exchange import RequestHeader
from harness.types.jsontext import canonical_json
from harness.types.messages import ChatSystem
from harness.types.reasons import Cancelled, ContentFiltered, Failed, FinalAnswer, LimitHit, OutOfTokens, Reason
from harness.wire.chat import parse_tools
from harness.wire.shape import bad_shape, kind_of

BESIDE_NOTE: Final = "nemo/beside"
"""Name of the note with the reward, the fields of the environment, and the response without its output."""
_OWN: Final = ("input", "tools", "instructions")
_TIMED_OUT: Final = ("agent_timed_out", "agent_timeout_error")
_Raw = Mapping[str, Any]


def is_nemo(document: Document) -> bool:
    """True for lines that are rollouts, all of them."""
    return bool(document.values) and all(
        isinstance(value, dict) and isinstance(value.get("responses_create_params"), dict) and "response" in value
        for _, value in document.values
    )


def read_nemo(document: Document) -> Iterator[Trajectory]:
    """A trajectory for each rollout. Raises ForeignFormatError."""
    if not is_nemo(document):
        document.refuse("no rollouts of NeMo Gym: expected lines with responses_create_params and response")
    last = len(document.values)
    for number, (line, value) in enumerate(document.values, start=1):
        try:
            yield _read(document, value, number, document.torn if number == last else None)
        except ModelError as error:
            document.refuse(f"rollout {number}: {error}", line)


def _read(document: Document, rollout: _Raw, number: int, torn: TornTail | None) -> Trajectory:
    out = TrajectoryBuilder(subject="nemo-gym", source=document.source)
    params, response = rollout["responses_create_params"], rollout["response"]
    if not isinstance(response, dict) or not isinstance(response.get("output"), list):
        bad_shape("response", "has no list of output items")
    beside = {key: value for key, value in rollout.items() if key not in ("responses_create_params", "response")}
    out.note(BESIDE_NOTE, beside | {"response": {key: value for key, value in response.items() if key != "output"}})
    given = _input(params)
    n_leading = _header(out, params, given)
    reader = Items(Talk(out))
    reader.take_all(given[n_leading:], "responses_create_params.input")
    reader.take_all(response["output"], "response.output")
    reader.close()
    out.end(_end(rollout, response))
    model = text_or_none(response.get("model")) or text_or_none(params.get("model"))
    return out.finish(_run_id(document, rollout, number), model=model, trial=_trial(rollout), torn=torn)


def _input(params: _Raw) -> list[Any]:
    given = params.get("input")
    if isinstance(given, str):
        return [{"role": "user", "content": given}]
    if given is not None and not isinstance(given, list):
        bad_shape("responses_create_params.input", f"is {kind_of(given)}, not text or a list of items")
    return given or []


def _header(out: TrajectoryBuilder, params: _Raw, given: list[Any]) -> int:
    """Write the request header; gives how many items of the input it took."""
    tools = params.get("tools") or []
    if not isinstance(tools, list):
        bad_shape("responses_create_params.tools", f"is {kind_of(tools)}, not a list")
    instructions = content_of_items(params.get("instructions"), "responses_create_params.instructions")
    leading = leading_system(given, "responses_create_params.input")
    system = [ChatSystem(content=instructions), *leading] if instructions else leading
    parameters = {key: value for key, value in params.items() if key not in _OWN and value is not None}
    offered = parse_tools([_wrapped(tool) for tool in tools])
    out.add(RequestHeader(tuple(system), offered, canonical_json(parameters), HeaderWhy.INITIAL))
    return len(leading)


def _wrapped(tool: Any) -> Any:
    if not isinstance(tool, Mapping) or tool.get("type") != "function":
        return tool
    return {"type": "function", "function": {key: value for key, value in tool.items() if key != "type"}}


def _end(rollout: _Raw, response: _Raw) -> tuple[Status, Reason] | None:
    if any(rollout.get(name) is True for name in _TIMED_OUT):
        return Status.LIMIT_REACHED, LimitHit(LimitKind.WALL_TIME, 0, message="the environment says that it timed out")
    if rollout.get("context_length_exceeded_error") is True:
        return Status.FAILED, Failed(Code.CONTEXT_OVERFLOW, "context_length_exceeded_error")
    match response.get("status"):
        case "incomplete":
            details = response.get("incomplete_details")
            filtered = isinstance(details, Mapping) and details.get("reason") == "content_filter"
            return Status.INCOMPLETE, ContentFiltered() if filtered else OutOfTokens()
        case "failed":
            error = response.get("error")
            message = text_or_none(error.get("message")) if isinstance(error, Mapping) else None
            return Status.FAILED, Failed(Code.SERVER, message or "the response failed, and does not say why")
        case "cancelled":
            return Status.CANCELLED, Cancelled(CancelBy.USER)
        case _:
            said = response.get("status") == "completed" or rollout.get("finished_naturally") is True
            return (Status.COMPLETED, FinalAnswer()) if said and _answered(response["output"]) else None


def _answered(output: list[Any]) -> bool:
    """True where the last item is a message of the model that says something."""
    last = output[-1] if output else None
    if not isinstance(last, Mapping) or last.get("type") != "message" or last.get("role") != "assistant":
        return False
    parts = last.get("content")
    texts = [part.get("text") for part in parts if isinstance(part, Mapping)] if isinstance(parts, list) else [parts]
    return any(isinstance(text, str) and text.strip() for text in texts)


def _run_id(document: Document, rollout: _Raw, number: int) -> str:
    """``<file>/<task or number>``; the trial tells rollouts of one task apart."""
    task = whole_or_none(rollout.get("_ng_task_index"))
    name = f"rollout-{number}" if task is None else f"task-{task}"
    return f"{PurePath(document.source).stem}/{name}@default#{_trial(rollout)}"


def _trial(rollout: _Raw) -> int:
    """From 1; rollouts are counted from 0."""
    trial = whole_or_none(rollout.get("_ng_rollout_index"))
    return 1 if trial is None or trial < 0 else trial + 1
