"""`result_truth`: is what the model is shown as a call's result what the body of that call came to?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from harness.checks.base import BuiltCheck, Found, found
from harness.checks.reading import at, by_agent, plain_text, two_doors
from harness.matching import ran_with
from harness.types.codes import Code, Origin, ToolOutcome
from harness.types.events import Event, Trajectory
from harness.types.exchange import AssistantMessage, ToolEnd, ToolResult, ToolStart
from harness.types.jsontext import Refusal, canonical_json, parse_json, text_digest
from harness.types.lifecycle import CHANGED_RESULT_NOTE, Note
from harness.types.messages import CallId
from harness.types.profile_run import ResultAfterCancel
from harness.types.reasons import EmittedCall

_RULE: Final = "conformance:2"
_GOOD: Final = (None, Code.EMPTY, Code.TRUNCATED, Code.SUMMARISED)
_DECLARED: Final = frozenset({Code.TOOL_TIMEOUT, Code.TOOL_NOT_STARTED, Code.TOOL_OUTCOME_UNKNOWN})
_TELLING: Final = 5
_IN_PYTHON: Final = {"None": "null", "True": "true", "False": "false"}


# ---------------------------------------------------------------- a loop that tells all


@dataclass(slots=True)
class _Told:
    """The newest body of each call of one agent, with its end; calls whose result a hook changed.

    A result with a ``declared`` code says by it that it shows another text.
    """

    declared: frozenset[Code]
    starts: dict[CallId, Event] = field(default_factory=dict)
    ends: dict[int, tuple[Event, ToolEnd]] = field(default_factory=dict)
    changed: set[str] = field(default_factory=set)

    def noted(self, note: Note) -> None:
        value = parse_json(note.data or "{}")
        if note.name == CHANGED_RESULT_NOTE and isinstance(value, dict):
            self.changed.add(str(value.get("call")))


def _as_told(events: list[Event], declared: frozenset[Code]) -> Iterator[Found]:
    told = _Told(declared)
    for event in events:
        match event.fact:
            case ToolStart(call_id=str(call_id), within=None):
                told.starts[call_id] = event
            case ToolEnd() as end:
                told.ends[end.start] = (event, end)
            case Note() as note:
                told.noted(note)
            case ToolResult() as result:
                yield from _against_its_body(told, event, result)
            case _:
                pass


def _against_its_body(told: _Told, event: Event, result: ToolResult) -> Iterator[Found]:
    start = told.starts.get(result.call_id)
    name = f"the result of call {result.call_id!r}{at(event)}"
    if start is None:
        if not result.is_error and result.code in _GOOD:
            yield found(f"{name} is invented: no body ran for it", event, rule=_RULE)
        return
    ended, end = told.ends.get(start.seq, (None, None))
    if end is None or end.digest is None or not isinstance(result.content, str):
        return
    if result.truncated or result.code in told.declared or result.call_id in told.changed:
        return
    if text_digest(result.content) != end.digest:
        code = "" if result.code is None else f" ({result.code})"
        yield found(f"{name}{code} does not show what its body gave", start, ended, event, rule=_RULE)


# ---------------------------------------------------------------- a loop that is seen at its two doors


@dataclass(frozen=True, slots=True)
class _Body:
    """A body that has ended."""

    start: ToolStart
    end: ToolEnd
    ended: Event

    def of(self, call: EmittedCall) -> bool:
        """Whether it may have run for that call: of two calls that say the same, nobody knows which body is whose."""
        same = self.start.name == call.name and ran_with(call.arguments, self.start.arguments)
        return same or self.start.call_id == call.id


@dataclass(slots=True)
class _Shown:
    """A result as a request shows it: the bodies of its call, and those of other calls that gave just this text."""

    event: Event
    result: ToolResult
    own: list[_Body]
    right: bool
    others: list[_Body]


def _as_seen(trajectory: Trajectory) -> Iterator[Found]:
    shown = {one.result.call_id: one for one in _results_seen(trajectory)}
    for one in shown.values():
        for other in one.others:
            theirs = shown.get(other.start.call_id or CallId(""))
            if theirs is None or theirs is one:
                continue
            turned = not theirs.right and theirs.others
            copied = theirs.right and _shows_texts_as_they_are(one, shown.values())
            if turned or copied:
                text = (
                    f"the result of call {one.result.call_id!r}{at(one.event)} shows what the body of call"
                    f" {other.start.call_id!r} gave, not what its own did"
                )
                own = one.own[-1].ended
                yield found(text, own, other.ended, one.event, rule=_RULE)
                break


def _shows_texts_as_they_are(one: _Shown, shown: Iterable[_Shown]) -> bool:
    """Whether this is a text of some length, and another result of the tool stands there just as its body gave it."""
    if len(plain_text(one.result.content).strip()) < _TELLING:
        return False
    return any(other.right and other.result.name == one.result.name for other in shown)


@dataclass(slots=True)
class _Bodies:
    """The bodies that have ended so far; looked up by what they gave, so that judging stays linear."""

    ended: list[_Body] = field(default_factory=list)
    by_call: dict[CallId, list[_Body]] = field(default_factory=dict)
    by_digest: dict[str, list[_Body]] = field(default_factory=dict)

    def add(self, body: _Body) -> None:
        self.ended.append(body)
        if body.start.call_id is not None:
            self.by_call.setdefault(body.start.call_id, []).append(body)
        if body.end.digest is not None:
            self.by_digest.setdefault(body.end.digest, []).append(body)

    def shown_by(self, event: Event, result: ToolResult, call: EmittedCall) -> _Shown:
        digests = _digests(result)
        own = self.by_call.get(call.id, [])
        if any(body.end.digest in digests for body in own):
            return _Shown(event, result, own, True, [])
        same = [body for digest in digests for body in self.by_digest.get(digest, ())]
        if not same or any(body.of(call) for body in same):
            return _Shown(event, result, own, bool(same), [])
        own = [body for body in self.ended if body.of(call)]
        judged = own and all(_is_good(body) for body in own)
        return _Shown(event, result, own, False, [body for body in same if judged and _is_good(body)])


def _is_good(body: _Body) -> bool:
    return body.end.outcome is ToolOutcome.OK and body.end.digest is not None


def _results_seen(trajectory: Trajectory) -> Iterator[_Shown]:
    calls: dict[CallId, EmittedCall] = {}
    starts: dict[int, ToolStart] = {}
    bodies = _Bodies()
    for event in trajectory.events:
        match event.fact:
            case AssistantMessage(tool_calls=made):
                calls.update((call.id, call) for call in made)
            case ToolStart() as start:
                starts[event.seq] = start
            case ToolEnd(start=seq) as end if seq in starts:
                bodies.add(_Body(starts[seq], end, event))
            case ToolResult() as result if result.call_id in calls:
                yield bodies.shown_by(event, result, calls[result.call_id])
            case _:
                pass


def _digests(result: ToolResult) -> frozenset[str]:
    """Of the text without outer blanks, and where it is JSON (or a constant of Python) of its canonical form."""
    text = plain_text(result.content).strip()
    if not text:
        return frozenset()
    value = parse_json(_IN_PYTHON.get(text, text))
    return frozenset(map(text_digest, {text} if isinstance(value, Refusal) else {text, canonical_json(value)}))


# ---------------------------------------------------------------- the check


def _result_truth(trajectory: Trajectory) -> Iterator[Found]:
    if two_doors(trajectory):
        yield from _as_seen(trajectory)
        return
    replaced = trajectory.header.profile.result_after_cancel is ResultAfterCancel.ABORTED
    declared = _DECLARED | {Code.ABORTED} if replaced else _DECLARED
    for events in by_agent(trajectory).values():
        yield from _as_told(events, declared)


def _no_digest(trajectory: Trajectory) -> str:
    told = (isinstance(event.fact, ToolEnd) and event.fact.digest is not None for event in trajectory.events)
    return "" if any(told) else "no tool/end tells what its body gave"


RESULT_TRUTH = BuiltCheck(
    name="result_truth",
    about="a result shows what the body of its call gave, not another's text nor one that nobody gave",
    needs=(("tool/start", Origin.PROBE), ("tool/end", Origin.PROBE), ("tool/result", None)),
    rules=(_RULE, "conformance:73"),
    findings=_result_truth,
    evidence=_no_digest,
)
"""A loop that tells all (the built-in one) commits what its door gave, text for text. What is not that has to say so:
``truncated``, TOOL_TIMEOUT, the codes of a repair, a note ``result-changed`` of a hook, ABORTED where the profile
declares it (CONFORMANCE 73). Nothing else is exempt: a call whose body ended well is not told as skipped or denied.

Any other loop makes texts of values in its own way: ``str()``, JSON with blanks, a prefix, an end cut off, one word
for a failure, "pending" for what is not there yet. None of that is accused. Two things are: results that show each
other's texts (also in a circle), and a text of five characters or more that is another call's, where the same tool's
other results stand in the requests just as their bodies gave them. Calls of the same tool with the same arguments
count as one. So it does not see, of such a loop: a text that no body gave, a result that was lost and replaced by
a placeholder, what a loop shows of a call without a body, texts exchanged behind a prefix or as Python's ``repr`` of
lists and objects, results of bodies that failed, and whatever no later request shows.
"""
