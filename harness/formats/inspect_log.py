"""Logs of Inspect, as JSON and as ``.eval`` archives: a trajectory for each sample and epoch.

The messages of a sample are read; of its events only what model calls used, why they stopped, and which tools they were
offered. The end is the sample's limit or error, else its last answer. Long texts that a log keeps apart are put back.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any, Final

from harness.errors import ModelError
from harness.formats.builder import ForeignCall, ForeignResult, TrajectoryBuilder
from harness.formats.inspect_words import (
    ModelCall,
    call_told,
    end_of_sample,
    error_code,
    is_output_of,
    model_calls,
    tools_of,
)
from harness.formats.talk import Talk
from harness.formats.values import Document, arguments_text, content_of_parts, objects, text_or_none, whole_or_none
from harness.types.codes import Code, HeaderWhy
from harness.types.events import Trajectory
from harness.types.exchange import AssistantMessage, RequestHeader
from harness.types.jsontext import canonical_json
from harness.types.messages import ChatSystem, Content
from harness.wire.chat import parse_tools
from harness.wire.shape import bad_shape, kind_of

LOG_NOTE: Final = "inspect/log"
"""Name of the note with what the log says of its evaluation: status, task, model, error."""
SAMPLE_NOTE: Final = "inspect/sample"
"""Name of the note with the sample but its messages and events, and how many events of each kind there were."""
EXTRA_NOTE: Final = "inspect/extra"
"""Name of the note before a message: fields of it that no fact has a place for."""
CALL_EXTRA_NOTE: Final = "inspect/call-extra"
"""Name of the note before an answer: fields of its calls that no fact has a place for, by their index."""
REASONING_NOTE: Final = "inspect/reasoning"
"""Name of the note before an answer: its reasoning as the log has it, where that is more than a text."""
_OF_CALLS: Final = ("id", "function", "arguments", "type")
_ATTACHED: Final = re.compile(r"attachment://([0-9a-f]{1,64})")
_READ: Final = ("id", "role", "content", "tool_calls", "tool_call_id", "function", "error", "model")
_HELD: Final = ("messages", "events", "transcript", "attachments", "store", "events_data")


def is_inspect(document: Document) -> bool:
    """True for a log of Inspect."""
    return _log_of(document) is not None


def task_of(document: Document) -> str | None:
    """The name of the task that a log is of; None where it has none."""
    log = _log_of(document)
    return text_or_none(log["eval"].get("task")) or None if log is not None else None


def _log_of(document: Document) -> Mapping[str, Any] | None:
    if document.members:
        parts = dict(zip(document.members, (value for _, value in document.values), strict=True))
        log = parts.get("header.json", parts.get("_journal/start.json"))
    else:
        log = document.first if len(document.values) == 1 else None
    known = isinstance(log, dict) and isinstance(log.get("eval"), dict) and {"task", "model"} & set(log["eval"])
    return log if known else None


def _samples_of(document: Document, log: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    if document.members:
        for name, (_, value) in zip(document.members, document.values, strict=True):
            if name.startswith("samples/"):
                yield name, value
        return
    given = log.get("samples")
    if given is not None and not isinstance(given, list):
        document.refuse(f"samples: is {kind_of(given)}, not a list")
    for at, sample in enumerate(given or ()):
        yield f"samples[{at}]", sample


def read_inspect(document: Document) -> Iterator[Trajectory]:
    """A trajectory for each sample. Raises ForeignFormatError, also for a log without samples."""
    log = _log_of(document)
    if log is None:
        document.refuse("no log of Inspect: expected an object with eval, or an archive with header.json")
    n_found = 0
    for n_found, (where, sample) in enumerate(_samples_of(document, log), start=1):
        try:
            yield _Reader(document, log).read(sample, n_found)
        except ModelError as error:
            document.refuse(f"{where}: {error}")
    if not n_found:
        document.refuse("the log holds no samples: only its header was written")


class _Reader:
    """Goes through one sample."""

    def __init__(self, document: Document, log: Mapping[str, Any]) -> None:
        self._document = document
        self._log = log
        self._out = TrajectoryBuilder(subject="inspect", source=document.source)
        self._talk = Talk(self._out)
        self._calls: dict[str, ModelCall] = {}
        self._last: tuple[Any, ModelCall] = (None, ModelCall())
        self._attached: Mapping[str, Any] = {}

    def read(self, sample: Any, number: int) -> Trajectory:
        """The whole trajectory."""
        if not isinstance(sample, dict) or not isinstance(sample.get("messages"), list):
            bad_shape("messages", "is no list: a sample is an object with messages")
        older = sample["transcript"] if isinstance(sample.get("transcript"), dict) else {}
        events = list(objects(sample.get("events") or older.get("events")))
        attached = sample.get("attachments") or older.get("content")
        self._attached = attached if isinstance(attached, dict) else {}
        self._calls = model_calls(events)
        self._notes(sample, events)
        messages = [self._whole(message) for message in sample["messages"]]
        self._last_told(messages, sample.get("output"))
        for at, message in enumerate(messages[self._header(messages, events) :]):
            self._message(message, f"messages[{at}]")
        last = messages[-1] if messages and isinstance(messages[-1], dict) else {}
        self._out.inferred_end(end_of_sample(sample, self._log, last, self._called(last)))
        made = self._log["eval"]
        epoch = whole_or_none(sample.get("epoch"))
        trial = epoch if epoch is not None and epoch > 0 else 1
        name = f"{PurePath(self._document.source).stem}/{sample.get('id', number)}@default#{trial}"
        started = text_or_none(sample.get("started_at")) or text_or_none(made.get("created"))
        return self._out.finish(name, model=text_or_none(made.get("model")), trial=trial, started_at=started)

    def _last_told(self, messages: list[Any], output: Any) -> None:
        """The output of a sample is that of its last answer."""
        answers = [one for one in messages if isinstance(one, dict) and one.get("role") == "assistant"]
        if answers and is_output_of(output, answers[-1]):
            self._last = answers[-1], call_told(output)

    def _called(self, message: Mapping[str, Any]) -> ModelCall:
        """What is told of the call that gave a message: by its event, else by the output of the sample."""
        last, told = self._last
        return self._calls.get(str(message.get("id"))) or (told if message is last else ModelCall())

    def _notes(self, sample: Mapping[str, Any], events: list[dict[str, Any]]) -> None:
        made = self._log["eval"]
        told = {key: made[key] for key in ("task", "task_id", "run_id", "model", "created") if key in made}
        self._out.note(LOG_NOTE, {"eval": told, "status": self._log.get("status"), "error": self._log.get("error")})
        kinds = Counter(str(event.get("event")) for event in events)
        kept = {key: value for key, value in sample.items() if key not in _HELD}
        self._out.note(SAMPLE_NOTE, kept | {"nEvents": dict(sorted(kinds.items()))})

    def _whole(self, value: Any) -> Any:
        """The value with every text that stands apart put back in its place."""
        if isinstance(value, dict):
            return {key: self._whole(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self._whole(item) for item in value]
        match = _ATTACHED.fullmatch(value) if isinstance(value, str) else None
        return value if match is None else self._attached.get(match[1], value)

    def _header(self, messages: list[Any], events: list[dict[str, Any]]) -> int:
        """Write the request header where a model call tells of its tools; gives how many messages it took."""
        offered = tools_of(events)
        if offered is None:
            return 0
        leading: list[ChatSystem] = []
        for message in messages:
            if not isinstance(message, dict) or message.get("role") != "system" or _rest(message):
                break
            content = _content(message, f"messages[{len(leading)}]")[0]
            leading.append(ChatSystem(content="" if content is None else content))
        tools, config = offered
        self._out.add(RequestHeader(tuple(leading), parse_tools(tools), canonical_json(config), HeaderWhy.INITIAL))
        return len(leading)

    def _message(self, message: Any, where: str) -> None:
        if not isinstance(message, dict):
            bad_shape(where, f"is {kind_of(message)}, not a message")
        if rest := _rest(message):
            self._out.note(EXTRA_NOTE, rest)
        content, reasoning = _content(message, where)
        match message.get("role"):
            case "system":
                self._talk.system(content)
            case "user":
                self._talk.user("" if content is None else content)
            case "assistant":
                self._answer(message, content, reasoning)
            case "tool":
                self._result(message, content)
            case role:
                bad_shape(f"{where}.role", f"is {role!r}; it must be system, user, assistant or tool")

    def _answer(self, message: dict[str, Any], content: Content | None, reasoning: str | None) -> None:
        called = self._called(message)
        calls = [_call(call) for call in objects(message.get("tool_calls"))]
        self._left_over(message)
        answer = AssistantMessage(
            content=None if not content and calls else content,
            reasoning=reasoning,
            finish_reason=called.finish,
            raw_finish_reason=called.raw_finish,
            model=text_or_none(message.get("model")) or called.model,
            usage=called.usage,
        )
        self._talk.answer(answer, calls)

    def _left_over(self, message: dict[str, Any]) -> None:
        """What calls and reasoning say beside what is read of them, by their index."""
        calls = {
            str(at): rest
            for at, call in enumerate(objects(message.get("tool_calls")))
            if (rest := {key: value for key, value in call.items() if key not in _OF_CALLS and value is not None})
        }
        thoughts = [
            {key: value for key, value in part.items() if value is not None}
            for part in objects(message.get("content"))
            if part.get("type") == "reasoning" and set(part) - {"type", "reasoning"}
        ]
        if calls:
            self._out.note(CALL_EXTRA_NOTE, calls)
        if thoughts:
            self._out.note(REASONING_NOTE, thoughts)

    def _result(self, message: dict[str, Any], content: Content | None) -> None:
        error = message.get("error")
        code = error_code(error)
        told = text_or_none(error.get("message")) if isinstance(error, dict) else None
        self._talk.result(
            ForeignResult(
                text_or_none(message.get("tool_call_id")),
                "" if content is None else content,
                text_or_none(message.get("function")),
                is_error=code is not None and code is not Code.TRUNCATED,
                code=code,
                message=told,
                truncated=code is Code.TRUNCATED,
            )
        )


def _rest(message: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in message.items() if key not in _READ and value is not None}


def _content(message: Mapping[str, Any], where: str) -> tuple[Content | None, str | None]:
    """What is visible, and the reasoning."""
    content = message.get("content")
    if content is not None and not isinstance(content, str | list):
        bad_shape(f"{where}.content", f"is {kind_of(content)}, not text or a list of parts")
    if not isinstance(content, list):
        return content, None
    thoughts = [part for part in objects(content) if part.get("type") == "reasoning"]
    visible = [_plain_text(part) for part in content if part not in thoughts]
    texts = [text for part in thoughts if (text := _thought(part))]
    return content_of_parts(visible) if visible else None, "\n\n".join(texts) or None


def _thought(part: Mapping[str, Any]) -> str | None:
    """The text of reasoning; of what is redacted (a cypher of the provider's) only its summary."""
    return text_or_none(part.get("summary" if part.get("redacted") is True else "reasoning"))


def _plain_text(part: Any) -> Any:
    """A part of text without the fields that are null."""
    if isinstance(part, dict) and part.get("type") == "text":
        return {key: value for key, value in part.items() if value is not None}
    return part


def _call(call: Mapping[str, Any]) -> ForeignCall:
    kind = text_or_none(call.get("type"))
    name = text_or_none(call.get("function")) or ""
    wire = text_or_none(call.get("id"))
    return ForeignCall(name, arguments_text(call.get("arguments")), wire, None if kind == "function" else kind)
