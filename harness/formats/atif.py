"""ATIF, the interchange format of Harbor, v1.0 to v1.8: one trajectory for a document, and one for each embedded one.

A result answers the call of its own step that it names; results without a name answer the calls of their step in
order. An observation of a step without an open call is what the model is shown next, so it comes in as user input,
behind a note. The format has no end of a run, no error flag and no cancel; ours are kept under ``extra.harness``.
What a document says and no fact holds is kept in one note, as the difference to what the writer would write.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePath
from typing import Any, Final

from harness.errors import ForeignFormatError, InvalidValueError, ModelError
from harness.formats.atif_shape import MAX_NESTED, check_root
from harness.formats.atif_steps import answer_of, call_of, content_of, ours, plain_json, result_of, user_content
from harness.formats.atif_write import BESIDE_NOTE, OBSERVATION_NOTE, atif_document
from harness.formats.builder import TrajectoryBuilder
from harness.formats.ends import end_from_plain
from harness.formats.patching import difference
from harness.formats.talk import Talk
from harness.formats.values import Document, refuse_lines, text_or_none, whole_or_none
from harness.types.codes import HeaderWhy
from harness.types.events import Trajectory
from harness.types.exchange import RequestHeader
from harness.types.jsontext import canonical_json
from harness.types.lifecycle import MESSAGE_NOTE
from harness.types.messages import ChatDeveloper, ChatSystem, JsonText
from harness.types.reasons import EmittedCall
from harness.wire.chat import message_from_wire, parse_tools

_MARK: Final = "ATIF-v"


def is_atif(document: Document) -> bool:
    """True for a document that says it is one, of whatever version."""
    first = document.first
    return isinstance(first, dict) and str(first.get("schema_version")).startswith(_MARK)


def read_atif(document: Document) -> Iterator[Trajectory]:
    """The trajectories of a document, embedded ones behind their parent's. Raises ForeignFormatError."""
    if not is_atif(document) or len(document.values) != 1:
        refuse_lines(document, "an ATIF document", "schema_version")
        document.refuse("no ATIF document: expected one object with a schema_version")
    yield from _read_all(document, document.first, "trajectory", 0)


def _read_all(document: Document, root: Any, where: str, depth: int) -> Iterator[Trajectory]:
    if depth > MAX_NESTED:
        document.refuse(f"{where}: trajectories are embedded deeper than {MAX_NESTED} levels")
    check_root(document, root, where)
    try:
        bare = _Reader(document, root, where).read()
        kept = difference(atif_document(bare), root)
        kept.get("fields", {}).pop("schema_version", None)  # the writer says its own
        has_more = bool(kept.get("fields") or kept.get("gone"))
        yield _Reader(document, root, where).read(kept) if has_more else bare
    except (InvalidValueError, ModelError) as error:
        raise ForeignFormatError(f"{document.source}: {where}: {error}") from None
    for at, child in enumerate(root.get("subagent_trajectories") or ()):
        yield from _read_all(document, child, f"{where}.subagent_trajectories[{at}]", depth + 1)


class _Reader:
    """Goes through one trajectory, step by step."""

    def __init__(self, document: Document, root: dict[str, Any], where: str) -> None:
        self._document = document
        self._root = root
        self._where = where
        self._out = TrajectoryBuilder(subject=root["agent"]["name"] or "atif", source=document.source)
        self._talk = Talk(self._out)

    def read(self, kept: dict[str, Any] | None = None) -> Trajectory:
        """The whole trajectory; ``kept`` is the difference to what the writer would write, for the note."""
        if kept:
            self._out.note(BESIDE_NOTE, kept)
        steps = self._root["steps"]
        for step in steps[self._header(steps) :]:
            self._step(step)
        self._out.end(end_from_plain(ours(self._root).get("end")))
        return self._out.finish(
            self._run_id(), model=self._model(), trial=self._trial(), started_at=text_or_none(steps[0].get("timestamp"))
        )

    # ------------------------------------------------------------ what stands before the steps

    def _header(self, steps: list[dict[str, Any]]) -> int:
        """Write the request header where the offered tools are known; gives how many steps it took."""
        agent = self._root["agent"]
        tools = agent.get("tool_definitions")
        if tools is None:
            return 0
        leading: list[ChatSystem | ChatDeveloper] = []
        for step in steps:
            message = self._system(step)
            if message is None:
                break
            leading.append(message)
        parameters = ours(agent).get("parameters")
        text = canonical_json(parameters) if isinstance(parameters, dict) else JsonText("{}")
        self._out.add(RequestHeader(tuple(leading), parse_tools(tools), text, HeaderWhy.INITIAL))
        return len(leading)

    def _system(self, step: dict[str, Any]) -> ChatSystem | ChatDeveloper | None:
        if step["source"] != "system" or _results_in(step):
            return None
        raw = ours(step).get("message")
        if isinstance(raw, dict):
            message = message_from_wire(raw, "extra.harness.message")
            return message if isinstance(message, ChatSystem | ChatDeveloper) else None
        return ChatSystem(content=content_of(step["message"]))

    def _model(self) -> str | None:
        return text_or_none(self._root["agent"].get("model_name"))

    def _trial(self) -> int:
        trial = whole_or_none(ours(self._root).get("trial"))
        return trial if trial is not None and trial > 0 else 1

    def _run_id(self) -> str:
        own = ours(self._root).get("runId")
        if isinstance(own, str) and own:
            return own
        name = self._root.get("trajectory_id") or self._root.get("session_id") or "trajectory"
        return f"{PurePath(self._document.source).stem}/{name}"

    # ------------------------------------------------------------ steps

    def _step(self, step: dict[str, Any]) -> None:
        calls: list[tuple[str, EmittedCall]] = []
        if step["source"] == "agent":
            raws = step.get("tool_calls") or []
            emitted = self._talk.answer(answer_of(step), map(call_of, raws))
            calls = [(raw["tool_call_id"], call) for raw, call in zip(raws, emitted, strict=True)]
        elif step["source"] == "user":
            extra = ours(step).get("extra")
            self._talk.user(user_content(step), canonical_json(extra) if isinstance(extra, dict) else None)
        else:
            message = self._system(step)
            raw = ours(step).get("message")
            plain = {"role": "system", "content": plain_json(canonical_json(step["message"]))}
            if message is not None:
                self._out.system(message)
            else:
                self._out.note(MESSAGE_NOTE, raw if isinstance(raw, dict) else plain)
        for result in _results_in(step):
            self._result(step, result, calls)

    def _result(self, step: dict[str, Any], raw: dict[str, Any], open_calls: list[tuple[str, EmittedCall]]) -> None:
        named, kept_id = raw.get("source_call_id"), ours(raw).get("callId")
        call = next((call for name, call in open_calls if named is None or name == named), None)
        if isinstance(kept_id, str):
            self._out.add(self._out.ids.strayed(kept_id, result_of(raw, None)))
        elif call is None and named is not None:
            self._talk.result(replace(result_of(raw, None), wire_id=named))
        elif call is not None:
            open_calls[:] = [pair for pair in open_calls if pair[1] is not call]
            self._out.add(self._out.ids.settle(call, result_of(raw, call.name)))
        else:
            self._out.note(OBSERVATION_NOTE, {"step": step["step_id"]})
            self._talk.user(content_of(raw["content"]))


def _results_in(step: dict[str, Any]) -> list[dict[str, Any]]:
    """Results that say something; those that only point to another trajectory are kept in the note."""
    observation = step.get("observation") or {"results": []}
    return [result for result in observation["results"] if result.get("content") is not None or _answers(result)]


def _answers(result: dict[str, Any]) -> bool:
    return result.get("source_call_id") is not None or "callId" in ours(result)
