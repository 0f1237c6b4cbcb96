"""What is compared: the committed view of a run and, in it, what ran behind its calls.

The committed view has no ``tool/start`` and ``tool/end``, since the order of bodies in time is chance. That a body ran
for a call, how often and with which arguments is none, and neither is whether the model was told what it gave. So
where the harness saw bodies at a door of its own, each call has an event ``tool/ran`` here, before its result (without
one: where its step closes), which holds all bodies that ran for it whenever that was.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from harness.compare.ran import Asked, Ran, in_one_order
from harness.folds import Viewed, committed_view
from harness.types.codes import Origin
from harness.types.events import Header, Trajectory
from harness.types.jsontext import Refusal, canonical_json, parse_json, text_digest

RAN: Final = "tool/ran"
"""The kind of these events; no file holds it."""
_SEEN: Final = frozenset({("tool/start", Origin.PROBE), ("tool/end", Origin.PROBE)})
_CLOSES: Final = frozenset({"model/request", "step/end", "turn/end", "run/end", "run/quiescent"})
_IN_PYTHON: Final = {"None": "null", "True": "true", "False": "false"}
Views = tuple[Viewed, ...]
_Calls = dict[str, tuple[Asked, Viewed]]
"""The calls of one agent without a result so far, by label, each with its answer."""


def sees_bodies(header: Header) -> bool:
    """True where the harness itself saw bodies begin and end; an import and a baseline tell nothing of them."""
    return set(header.observed) >= _SEEN


def views_of(base: Trajectory, candidate: Trajectory) -> tuple[Views, Views]:
    """What is compared of two runs; bodies only where they were seen on both sides."""
    if sees_bodies(base.header) and sees_bodies(candidate.header):
        return view_of(base), view_of(candidate)
    return committed_view(base), committed_view(candidate)


def view_of(trajectory: Trajectory) -> Views:
    """What is compared of a run beside another in which bodies were seen, too."""
    view = committed_view(trajectory)
    return tuple(_with_bodies(view, Ran(trajectory))) if sees_bodies(trajectory.header) else view


def _with_bodies(view: Views, ran: Ran) -> Iterator[Viewed]:
    waiting: dict[str, _Calls] = {}
    for viewed in view:
        mine = waiting.setdefault(viewed.agent, {})
        if viewed.kind == "tool/result":
            label = viewed.fields["call_id"]
            if label in mine:
                yield _told(label, *mine.pop(label), ran, viewed)
            yield _beside_its_body(viewed, ran)
            continue
        if viewed.kind in _CLOSES:
            for calls in waiting.values() if viewed.kind == "run/quiescent" else (mine,):
                yield from (_told(label, asked, answer, ran, None) for label, (asked, answer) in calls.items())
                calls.clear()
            yield from _unasked(viewed, ran)
        elif viewed.kind == "assistant/message" and viewed.seq in ran.by_answer:
            for call, asked in zip(viewed.fields["tool_calls"], ran.by_answer[viewed.seq], strict=True):
                mine[call["id"]] = asked, viewed
        yield viewed


def _told(label: str, asked: Asked, answer: Viewed, ran: Ran, result: Viewed | None) -> Viewed:
    """All that ran for a call; its number is that of the first body, else of the result, else of the answer."""
    bodies = ran.bodies_of(asked)
    plain = None if bodies is None else [body.plain for body in bodies]
    fields = {"call_id": label, "name": asked.call.name, "bodies": plain}
    seq = bodies[0].seq if bodies else (result or answer).seq
    return Viewed(RAN, answer.agent, answer.turn, answer.step, fields, seq)


def _unasked(closing: Viewed, ran: Ran) -> Iterator[Viewed]:
    """Bodies that no call asked for, where what they began in closes: in one order, whichever was first."""
    bodies = ran.unasked.get(ran.agents.get(closing.seq, ""), [])
    n_begun = sum(body.seq < closing.seq for body in bodies)
    if n_begun:
        fields = {"call_id": None, "name": None, "bodies": in_one_order(bodies[:n_begun])}
        yield Viewed(RAN, closing.agent, closing.turn, closing.step, fields, bodies[0].seq)
        del bodies[:n_begun]


def _beside_its_body(viewed: Viewed, ran: Ran) -> Viewed:
    """The result, with what its bodies gave, and whether it says something else than the newest of them."""
    asked = ran.by_result.get(viewed.seq)
    bodies = ran.bodies_of(asked) if asked is not None else None
    if bodies is None:
        return viewed
    digest = bodies[-1].gave[-1] if bodies else None
    content = viewed.fields["content"]
    changed = digest is not None and isinstance(content, str) and digest not in _digests(content)
    fields = {**viewed.fields, "as_given": False} if changed else viewed.fields
    return replace(viewed, fields=fields, gave=tuple(body.gave for body in bodies))


def _digests(text: str) -> set[str]:
    """Of the text as it is, without outer blanks, and where it is JSON (or a constant of Python) in canonical form."""
    bare = text.strip()
    value = parse_json(_IN_PYTHON.get(bare, bare))
    return set(map(text_digest, (text, bare) if isinstance(value, Refusal) else (text, bare, canonical_json(value))))
