"""What is written comes in again, but for what is listed."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from harness.errors import ForeignFormatError, UnknownNameError
from harness.folds import sent_ids
from harness.formats import FORMATS, WRITERS, parse_document, read_foreign, sniff, write_foreign
from harness.formats.builder import TrajectoryBuilder
from harness.formats.chat_write import chat_document
from harness.runner import judge
from harness.types.codes import HeaderWhy, Outcome
from harness.types.events import Event, Trajectory
from harness.types.exchange import AssistantMessage, ContextReplaced, RequestHeader, ToolResult, UserMessage
from harness.types.facts import Fact
from harness.types.lifecycle import RunEnd
from harness.types.messages import CallId, ChatSystem, ChatUser, ImagePart, JsonText
from tests.formats.lab import again, conversations, told


def as_chat_says(facts: list[Fact]) -> list[Fact]:
    """The facts without what the list of losses names for chat: this is all that may go."""
    names = {call.id: sent for fact in facts if isinstance(fact, AssistantMessage) for call, sent in zip(fact.tool_calls, sent_ids(fact.tool_calls), strict=True)}
    return [made for fact in facts if not isinstance(fact, RunEnd) for made in _shrunk(fact, names)]


def _shrunk(fact: Fact, names: dict[CallId, str]) -> Iterator[Fact]:
    if isinstance(fact, AssistantMessage):
        calls = tuple(replace(call, wire_id=None if names[call.id] == call.id else names[call.id]) for call in fact.tool_calls)
        yield AssistantMessage(content=_plain(fact.content), reasoning=fact.reasoning, refusal=fact.refusal, tool_calls=calls)
    elif isinstance(fact, ToolResult):
        yield ToolResult(fact.call_id, fact.name, _plain(fact.content))
    elif isinstance(fact, UserMessage):
        yield UserMessage(replace(fact.message, content=_plain(fact.message.content)))


def _plain(content: Any) -> Any:
    return tuple(replace(part, media_type=None) if isinstance(part, ImagePart) else part for part in content) if isinstance(content, tuple) else content


@given(conversations())
def test_a_conversation_written_as_chat_loses_only_what_is_listed(trajectory: Trajectory) -> None:
    document = chat_document(trajectory)
    read = again("chat", document)
    assert told(read) == as_chat_says(told(trajectory))
    assert chat_document(read) == document, "and the same document is written again"


@given(conversations())
def test_what_chat_does_not_carry_is_named_if_and_only_if_it_is_there(trajectory: Trajectory) -> None:
    kept = [line for line in write_or_nothing(trajectory) if not line.startswith(("the id of the run", "the number of the trial", "run/end"))]
    shrunk = as_chat_says(told(trajectory)) != [fact for fact in told(trajectory) if not isinstance(fact, RunEnd)]
    beside = any(isinstance(fact, AssistantMessage) and fact.extra is not None for fact in told(trajectory))
    if chat_document(trajectory)["messages"]:
        assert bool(kept) == shrunk or beside


def write_or_nothing(trajectory: Trajectory) -> tuple[str, ...]:
    return write_foreign(trajectory, "chat").losses if chat_document(trajectory)["messages"] else ()


# ---------------------------------------------------------------- what is lost, by name


def made(*facts: Fact, agent: str = "") -> Trajectory:
    out = TrajectoryBuilder(subject="made", source="made.json")
    for fact in facts:
        out.add(fact)
    trajectory = out.finish("made/1")
    return replace(trajectory, events=tuple(replace(event, agent=agent) for event in trajectory.events)) if agent else trajectory


USER = UserMessage(ChatUser(content="go"))
HEADER = RequestHeader((ChatSystem(content="brief"),), JsonText('[{"name":"f"}]'), JsonText('{"seed":1,"weight":2}'), HeaderWhy.INITIAL)


@pytest.mark.parametrize(
    ("facts", "form", "line"),
    [
        pytest.param([USER, AssistantMessage(content="x", interrupted=True)], "chat", "that it was interrupted of an answer: 1", id="interrupted"),
        pytest.param([USER, ToolResult(CallId("c"), "f", "x", True)], "chat", "that it is an error of a result: 1", id="error"),
        pytest.param([HEADER, USER], "chat", "the parameter 'weight': 1", id="parameter"),
        pytest.param([HEADER, USER, replace(HEADER, why=HeaderWhy.CHANGE)], "atif", "a later request/header: 1", id="second-header"),
        pytest.param([USER, ContextReplaced(0, 0, ChatUser(content="short"))], "atif", "context/replaced, what was replaced is written: 1", id="replaced"),
        pytest.param([UserMessage(ChatUser(content=(ImagePart(digest="0" * 64, media_type="image/png"),)))], "chat", "the media type of an image: 1", id="image"),
        pytest.param([UserMessage(ChatUser(content=(ImagePart(digest="0" * 64),)))], "chat", "the bytes or the place of an image, of which the digest is written: 1", id="image-in-chat"),
        pytest.param([UserMessage(ChatUser(content=(ImagePart(digest="0" * 64),)))], "atif", "the bytes or the place of an image, of which the digest is written: 1", id="image-in-atif"),
    ],
)
def test_a_loss_is_told_with_its_number(facts: list[Fact], form: str, line: str) -> None:
    assert line in write_foreign(made(*facts), form).losses


def test_the_events_of_child_agents_are_a_loss_and_alone_nothing_to_write() -> None:
    both = made(USER)
    child = replace(both, events=(*both.events, Event(1, USER, both.events[0].origin, agent="c1")))
    assert "events of the child agent 'c1': 1" in write_foreign(child, "atif").losses
    for form in WRITERS:
        with pytest.raises(ForeignFormatError, match=f"made.json: nothing to write as {form}"):
            write_foreign(made(USER, agent="c1"), form)


def test_a_format_that_is_not_written_is_refused_with_those_that_are() -> None:
    with pytest.raises(UnknownNameError, match="Written are: atif, chat"):
        write_foreign(made(USER), "dsh")


def test_the_header_of_a_request_stands_beside_the_messages() -> None:
    value = json.loads(write_foreign(made(HEADER, USER), "chat").text)
    assert value == {"seed": 1, "tools": [{"type": "function", "function": {"name": "f"}}], "messages": [{"role": "system", "content": "brief"}, {"role": "user", "content": "go"}]}
    header = next(event.fact for event in again("chat", value) if isinstance(event.fact, RequestHeader))
    assert (header.system, header.tools, header.parameters) == (HEADER.system, HEADER.tools, '{"seed":1}')


def test_fields_that_no_fact_holds_come_back_in_their_place() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}, "index": 0}
    messages = [
        {"role": "user", "content": "go", "name": "Eve"},
        {"role": "assistant", "content": None, "tool_calls": [call, {**call, "id": "c2"}], "audio": {"id": 1}},
        {"role": "tool", "tool_call_id": "c1", "content": "x", "cache": True},
        {"role": "developer", "content": "b", "pinned": True},
    ]
    value = {"task_id": 3, "reward": 1.0, "messages": messages}
    assert chat_document(again("chat", value)) == value


# ---------------------------------------------------------------- real files


def same_messages(one: list[Any], other: list[Any]) -> bool:
    """Equal but for the name of a tool beside its result, which its call says."""
    stripped = [[{key: item for key, item in message.items() if not (key == "name" and message["role"] == "tool")} for message in side] for side in (one, other)]
    return stripped[0] == stripped[1]


def test_the_airline_runs_are_written_again_as_they_were(shared: Path) -> None:
    path = shared / "data" / "tau-bench" / "gpt-4o-airline.json"
    runs = json.loads(path.read_text("utf-8"))
    for raw, trajectory in zip(runs, read_foreign(path), strict=True):
        value = chat_document(trajectory)
        assert same_messages(value.pop("messages"), raw.pop("traj"))
        assert value == raw


FOLDERS = ["tau-bench", "swe-agent", "mini-swe-agent", "agentdojo", "atif", "nemo-gym", "deepseek-harness"]


@pytest.mark.parametrize("form", sorted(WRITERS))
@pytest.mark.parametrize("folder", FOLDERS)
def test_real_runs_of_every_format_come_back_from_what_is_written(shared: Path, folder: str, form: str) -> None:
    n_compared = 0
    for path in sorted((shared / "data" / folder).rglob("*")):
        if path.is_file() and path.suffix != ".md" and sniff(path):
            for trajectory in read_foreign(path):
                if not told(trajectory):
                    continue
                written = write_foreign(trajectory, form)
                (read,) = FORMATS[form].read(parse_document(written.text.encode(), "again.json"))
                expected = told(trajectory) if form == "atif" else as_chat_says(told(trajectory))
                assert told(read) == expected, (trajectory.source, trajectory.header.run_id)
                n_compared += 1
    assert n_compared > 0


@pytest.mark.parametrize("form", sorted(WRITERS))
@pytest.mark.parametrize("folder", FOLDERS)
def test_what_is_written_breaks_no_rule_that_the_run_itself_kept(shared: Path, folder: str, form: str) -> None:
    worse = []
    for path in sorted((shared / "data" / folder).rglob("*")):
        if path.is_file() and path.suffix != ".md" and sniff(path):
            for trajectory in filter(told, read_foreign(path)):
                broken = {verdict.check for verdict in judge(trajectory) if verdict.outcome is Outcome.FAIL}
                (read,) = FORMATS[form].read(parse_document(write_foreign(trajectory, form).text.encode(), "again.json"))
                again = [verdict for verdict in judge(read) if verdict.outcome is Outcome.FAIL]
                worse += [(trajectory.source, verdict) for verdict in again if verdict.check not in broken]
    assert worse == []
