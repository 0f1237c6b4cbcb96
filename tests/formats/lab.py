"""Conversations that no product wrote: built with the importers' own builder, for round trips."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

from harness.formats import FORMATS, parse_document
from harness.formats.builder import ForeignCall, ForeignResult, TrajectoryBuilder
from harness.formats.talk import Talk
from harness.types.codes import Code, FinishReason, Status
from harness.types.events import Trajectory
from harness.types.exchange import AssistantMessage, ToolResult
from harness.types.facts import Fact
from harness.types.messages import ImagePart, JsonText, OtherPart, TextPart
from harness.types.reasons import Failed, FinalAnswer, OutOfTokens, Usage

KINDS = ("user/message", "assistant/message", "tool/result", "run/end")

texts = st.sampled_from(["", " ", "go", "Größe ✓", '{"a":1}', "line\nline"]) | st.text(max_size=8).map(
    lambda text: text.encode("utf-8", "replace").decode()
)
parts = st.one_of(
    st.builds(TextPart, text=texts),
    st.builds(ImagePart, digest=st.just("ab" * 32), media_type=st.sampled_from([None, "image/png"])),
    st.sampled_from(['{"type":"file","x":1}', '{"a":1}', "[1]", '{"source":{"path":"p"},"type":"image"}']).map(
        lambda text: OtherPart(json=JsonText(text))
    ),
)
contents = texts | st.lists(parts, max_size=3).map(tuple)
arguments = st.sampled_from(["{}", '{"a": 1}', '{"a":1}', "", "null", "[1]", '{"a":', '{"b":1.50}'])
calls = st.builds(
    ForeignCall,
    st.sampled_from(["search", "book", ""]),
    arguments,
    st.sampled_from(["c1", "c2", "", "1.1.0"]),
    st.sampled_from([None, None, None, "custom"]),
)
errors = st.sampled_from([(False, None, None), (True, Code.TOOL_FAILED, "it failed"), (False, Code.EMPTY, None)])
usages = st.none() | st.builds(
    Usage, *(st.none() | st.integers(0, 9),) * 4, cost_micro_usd=st.none() | st.integers(0, 10**7)
)
answers = st.builds(
    AssistantMessage,
    content=st.none() | contents,
    reasoning=st.none() | texts,
    refusal=st.none() | texts,
    finish_reason=st.none() | st.sampled_from(FinishReason),
    raw_finish_reason=st.none() | texts,
    model=st.none() | st.just("m"),
    usage=usages,
    interrupted=st.booleans(),
    extra=st.none() | st.just(JsonText('{"audio":{"id":1}}')),
)
ends = st.none() | st.sampled_from(
    [
        (Status.COMPLETED, FinalAnswer()),
        (Status.INCOMPLETE, OutOfTokens()),
        (Status.FAILED, Failed(Code.SERVER, "down")),
        (Status.INCOMPLETE, FinalAnswer(outcome=Status.INCOMPLETE, why="half")),
    ]
)


@st.composite
def conversations(draw: st.DrawFn) -> Trajectory:
    """A conversation in which results stand behind their answer, before the next message."""
    out = TrajectoryBuilder(subject="made", source="made.json")
    talk = Talk(out)
    for kind in draw(st.lists(st.sampled_from(["system", "user", "answer", "stray"]), max_size=6)):
        if kind == "system":
            talk.system(draw(texts))
        elif kind == "user":
            talk.user(draw(contents), draw(st.none() | st.just(JsonText('{"name":"Eve"}'))))
        elif kind == "answer":
            _answer(draw, talk)
        elif out.n_events:
            talk.result(_result(draw, "lost"))
    out.end(draw(ends))
    return out.finish("made/1", model=draw(st.none() | st.just("m")), trial=draw(st.integers(1, 3)))


def _answer(draw: st.DrawFn, talk: Talk) -> None:
    made = draw(st.lists(calls, max_size=3))
    talk.answer(draw(answers), made)
    for call in made:
        if draw(st.integers(0, 3)):
            talk.result(_result(draw, call.wire_id))


def _result(draw: st.DrawFn, wire: str | None) -> ForeignResult:
    is_error, code, message = draw(errors)
    return ForeignResult(wire, draw(contents), None, is_error, code, message, draw(st.booleans()))


def told(trajectory: Trajectory) -> list[Fact]:
    """The facts of the conversation itself."""
    return [event.fact for event in trajectory if event.fact.TYPE in KINDS]


def in_steps(facts: list[Fact]) -> list[Fact]:
    """The same with each first result behind the answer that asked for it, where it came later."""
    asked: dict[str, list[Fact]] = {}
    groups: list[list[Fact]] = []
    for fact in facts:
        if isinstance(fact, ToolResult) and groups:
            asked.pop(fact.call_id, groups[-1]).append(fact)
            continue
        groups.append([fact])
        if isinstance(fact, AssistantMessage):
            asked |= {call.id: groups[-1] for call in fact.tool_calls}
    return [fact for group in groups for fact in group]


def again(name: str, value: Any, source: str = "again.json") -> Trajectory:
    """What the reader of that name makes of a JSON value."""
    (trajectory,) = FORMATS[name].read(parse_document(json.dumps(value).encode(), source))
    return trajectory
