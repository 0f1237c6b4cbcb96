"""Generated values of everything that can be on disk, and the nasty texts that all writers share."""

from __future__ import annotations

import dataclasses
from enum import StrEnum
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from hypothesis import strategies as st

from harness.types.codes import Origin
from harness.types.events import Event, Header, Trajectory
from harness.types.exchange import ModelRequest
from harness.types.facts import FACT_TYPES, Fact
from harness.types.jsontext import canonical_json
from harness.types.lifecycle import UnknownFact
from harness.types.messages import ChatMessage, ChatUser, JsonText, MessageBuffer, Messages, RunId

NASTY = (
    "",
    " ",
    "\n",
    "a\r\nb\tc",
    "\u2028 \u2029 \x85 \x0b \x0c \x1c \x1d \x1e",
    "\x00\x01\x1f\x7f",
    "\ufeffBOM",
    '"quoted" \\ back\\"slash\\\\',
    '","seq":99,"type":"run/end","x":"',
    '{"type":"tool/call"}\n{"seq":0}',
    "模型 🚀 äß é 👩‍👩‍👧",
    "\u202eright to left",
    "NaN Infinity -0 1e999",
    "</script><!-- --> | `a` $(b) %s {0}",
    "::error file=x::y",
    "=1+1",
    "x" * 3000,
)

texts = st.one_of(st.sampled_from(NASTY), st.text(max_size=20), st.from_regex(r"[a-z_]{1,8}", fullmatch=True))
numbers = st.integers(min_value=0, max_value=2**70)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
json_texts = json_values.map(canonical_json)

_BUILT: dict[type[Any], st.SearchStrategy[Any]] = {}


def values_of(hint: Any) -> st.SearchStrategy[Any]:
    """Values of a type hint of the ground's dataclasses."""
    if hint is JsonText:
        return json_texts
    hint = getattr(hint, "__supertype__", hint)
    origin, args = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return st.one_of([values_of(arg) for arg in args])
    if origin is tuple:
        if args[1:] == (...,):
            return st.lists(values_of(args[0]), max_size=3).map(tuple)
        return st.tuples(*map(values_of, args))
    if origin is Literal:
        return st.sampled_from(args)
    return _plain(hint)


def _plain(hint: Any) -> st.SearchStrategy[Any]:
    if hint is str:
        return texts
    if hint is bool:
        return st.booleans()
    if hint is int:
        return numbers
    if hint is NoneType:
        return st.none()
    if hint is Messages:
        return st.lists(messages, max_size=4).map(Messages.of)
    if issubclass(hint, StrEnum):
        return st.sampled_from(list(hint))
    if hint not in _BUILT:
        hints = get_type_hints(hint)
        fields = {field.name: values_of(hints[field.name]) for field in dataclasses.fields(hint)}
        _BUILT[hint] = st.builds(hint, **fields)
    return _BUILT[hint]


messages: st.SearchStrategy[ChatMessage] = values_of(ChatMessage)
"""Any chat message."""

known_facts: st.SearchStrategy[Fact] = st.one_of([values_of(cls) for cls in FACT_TYPES.values()])
"""Any fact of a kind that this version knows."""

agents = st.sampled_from(["", "", "call_1", "call_1/1.2.0"])


def _pairs(value: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[tuple[str, Any], ...]]:
    return st.dictionaries(texts, value, max_size=3).map(lambda table: tuple(table.items()))


def headers() -> st.SearchStrategy[Header]:
    """Any header that can be written (no role or kind twice)."""
    hints = get_type_hints(Header)
    fields = {field.name: values_of(hints[field.name]) for field in dataclasses.fields(Header)}
    return st.builds(Header, **{**fields, "models": _pairs(texts), "observed": _pairs(st.sampled_from(Origin))})


@st.composite
def _requests(draw: st.DrawFn, previous: dict[str, Messages], buffers: dict[str, MessageBuffer], agent: str) -> ModelRequest:
    """The next request of an agent: grown in its buffer, a copy, a window of it, or all new."""
    fresh = draw(st.lists(messages, max_size=2))
    before = previous.get(agent, Messages.of([]))
    match draw(st.sampled_from(["grow", "grow", "copy", "window", "new"])):
        case "grow":
            buffer = buffers.setdefault(agent, MessageBuffer())
            for message in fresh:
                buffer.append(message)
            view = buffer.view()
        case "copy":
            view = Messages.of([*(dataclasses.replace(message) for message in before), *fresh])
        case "window":
            dropped = draw(st.sets(st.integers(0, max(len(before) - 1, 0)), max_size=2))
            view = Messages.of([*(m for i, m in enumerate(before) if i not in dropped), *fresh])
        case _:
            view = Messages.of(fresh)
    previous[agent] = view
    return ModelRequest(view, draw(st.integers(1, 3)))


@st.composite
def events(draw: st.DrawFn, max_size: int = 12) -> tuple[Event, ...]:
    """The events of a trajectory: any facts in any order, requests that build on one another."""
    previous: dict[str, Messages] = {}
    buffers: dict[str, MessageBuffer] = {}
    found: list[Event] = []
    for seq in range(draw(st.integers(0, max_size))):
        agent = draw(agents)
        if draw(st.integers(0, 3)) == 0:
            fact: Fact = draw(_requests(previous, buffers, agent))
        else:
            fact = draw(known_facts)
            if isinstance(fact, ModelRequest):
                previous[agent] = fact.messages
        optional = st.none() | st.integers(0, 2**40)
        found.append(Event(seq, fact, draw(st.sampled_from(Origin)), draw(optional), agent, draw(optional), draw(optional)))
    return tuple(found)


@st.composite
def trajectories(draw: st.DrawFn, max_size: int = 12) -> Trajectory:
    """A header and events; not one that a sane loop would leave, but one that can be written."""
    return Trajectory(draw(headers()), draw(events(max_size)))


def small_trajectory(n_events: int, *, run_id: str = "family/name@default#1", texts: tuple[str, ...] = NASTY[:-1]) -> Trajectory:
    """A regular trajectory of exactly so many events: requests that grow, calls, results."""
    buffer = MessageBuffer()
    cycle = [FACT_TYPES[kind] for kind in ("step/start", "step/end")]
    found: list[Event] = []
    for seq in range(n_events):
        if seq % 4 == 1:
            buffer.append(ChatUser(content=f"{seq} {texts[seq % len(texts)]}"))
            fact: Fact = ModelRequest(buffer.view())
        elif seq % 4 == 2:
            fact = FACT_TYPES["tool/result"](call_id=f"c{seq}", name="search", content=texts[seq % len(texts)])
        else:
            fact = cycle[seq % 2]()
        found.append(Event(seq, fact, Origin.SUBJECT, seq, "", 1, seq // 4 + 1))
    return Trajectory(Header(version="1", run_id=RunId(run_id), subject="loop"), tuple(found))


def unknown_event(seq: int, extra: str = "") -> Event:
    """A line of a later version that says it may be ignored."""
    line = f'{{"type":"later/kind","seq":{seq},"origin":"probe","ignorable":true{extra}}}'
    return Event(seq, UnknownFact("later/kind", JsonText(line)), Origin.PROBE)
