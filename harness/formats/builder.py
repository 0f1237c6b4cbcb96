"""How every importer makes a trajectory: ids that are unique, results paired, origins `import`.

A call keeps its provider's id where that is not empty and not taken yet; else it gets
``turn.step.index`` and keeps the provider's as its wire id (design page, Ids). A result answers the
oldest call still open under its wire id. A result that answers nothing stays visible: it stands
under the id of the call it answers again, or under one that no call has.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from harness.folds.imported import IMPORT_VERSION
from harness.formats.values import has_substance
from harness.types.codes import ClockKind, Code, HeaderWhy, Origin, Status
from harness.types.events import Event, Header, TornTail, Trajectory, Volatile
from harness.types.exchange import UNKNOWN_TOOLS, AssistantMessage, RequestHeader, ToolResult
from harness.types.facts import Fact
from harness.types.jsontext import canonical_json, clean_text
from harness.types.lifecycle import MESSAGE_NOTE, UNRECORDED_NOTE, Note, RunEnd
from harness.types.messages import CallId, ChatDeveloper, ChatSystem, Content, JsonText, RunId
from harness.types.profile import Profile
from harness.types.reasons import EmittedCall, FinalAnswer, Reason
from harness.wire.chat import message_to_wire

UNDECLARED: Final = Profile()


@dataclass(frozen=True, slots=True)
class ForeignCall:
    """A call as a foreign file has it; ``wire_id`` None: it carries none."""

    name: str
    arguments: str
    wire_id: str | None
    type: str | None = None


@dataclass(frozen=True, slots=True)
class ForeignResult:
    """A result as a foreign file has it; ``wire_id`` None: it carries none."""

    wire_id: str | None
    content: Content
    name: str | None = None
    is_error: bool = False
    code: Code | None = None
    message: str | None = None
    truncated: bool = False


class Ids:
    """The ids of one run: which are taken, and which calls are open under a provider's id."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._open: dict[str | None, list[EmittedCall]] = {}
        self._answered: dict[str | None, EmittedCall] = {}
        self._undispatched: dict[str | None, list[EmittedCall]] = {}
        self._keys: dict[CallId, str | None] = {}

    def emit(self, calls: Iterable[ForeignCall], turn: int, step: int) -> tuple[EmittedCall, ...]:
        """The calls of one answer under unique ids, open from now on."""
        return tuple(self._emit(call, f"{turn}.{step}.{index}") for index, call in enumerate(calls))

    def _emit(self, call: ForeignCall, ours: str) -> EmittedCall:
        wire = call.wire_id
        if wire and wire not in self._taken:
            emitted = EmittedCall(CallId(wire), call.name, call.arguments, type=call.type)
        else:
            emitted = EmittedCall(self._free(ours), call.name, call.arguments, wire, call.type)
        self._taken.add(emitted.id)
        self._keys[emitted.id] = wire or None
        self._open.setdefault(wire or None, []).append(emitted)
        self._undispatched.setdefault(wire or None, []).append(emitted)
        return emitted

    def dispatched(self, wire: str | None, name: str) -> CallId:
        """The call that a dispatch line speaks of: the oldest under its id without one."""
        waiting = self._undispatched.get(wire or None)
        if waiting:
            return waiting.pop(0).id
        return self._stranger(wire, name)

    def call_under(self, wire: str | None) -> EmittedCall | None:
        """The oldest open call under a provider's id, or the last one that was answered under it."""
        waiting = self._open.get(wire or None)
        return waiting[0] if waiting else self._answered.get(wire or None)

    def answer(self, result: ForeignResult) -> ToolResult:
        """The result under the id of the call that it answers, or visibly under another."""
        call = self._take(result)
        if call is None:
            call_id, name = self._stranger(result.wire_id, result.name or ""), result.name or ""
        else:
            call_id, name = call.id, result.name or call.name
        told = (result.is_error, result.code, result.message, result.truncated)
        return ToolResult(call_id, name, result.content, *told)

    def settle(self, call: EmittedCall, result: ForeignResult) -> ToolResult:
        """The result of this very call, for formats that say which it answers by more than an id."""
        key = self._keys[call.id]
        self._open[key] = [one for one in self._open[key] if one is not call]
        if key is not None:
            self._answered[key] = call
        told = (result.is_error, result.code, result.message, result.truncated)
        return ToolResult(call.id, result.name or call.name, result.content, *told)

    def strayed(self, call_id: str, result: ForeignResult) -> ToolResult:
        """A result that answers no open call, under the very id that it had before."""
        self._taken.add(call_id)
        told = (result.is_error, result.code, result.message, result.truncated)
        return ToolResult(CallId(call_id), result.name or "", result.content, *told)

    def _take(self, result: ForeignResult) -> EmittedCall | None:
        if not result.wire_id:
            return self._take_by_order(result.name)
        waiting = self._open.get(result.wire_id)
        if not waiting:
            return self._answered.get(result.wire_id)
        call = waiting.pop(0)
        self._answered[result.wire_id] = call
        return call

    def _take_by_order(self, name: str | None) -> EmittedCall | None:
        """Without an id, order pairs: the oldest open call of that name, else the oldest of all."""
        still_open = [(wire, call) for wire, calls in self._open.items() for call in calls]
        named = [pair for pair in still_open if name and pair[1].name == name]
        if not still_open:
            return None
        wire, call = (named or still_open)[0]
        self._open[wire].remove(call)
        return call

    def _stranger(self, wire: str | None, name: str) -> CallId:
        if wire and wire not in self._taken:
            self._taken.add(wire)
            return CallId(wire)
        call_id = self._free(f"orphan:{wire or name}")
        self._taken.add(call_id)
        return call_id

    def _free(self, wanted: str) -> CallId:
        found, n = wanted, 1
        while found in self._taken:
            n += 1
            found = f"{wanted}~{n}"
        return CallId(found)


class TrajectoryBuilder:
    """Collects the facts of one imported run, in order."""

    def __init__(self, *, subject: str, source: str, profile: Profile = UNDECLARED) -> None:
        self.ids = Ids()
        self._subject = subject
        self._profile = profile
        self._source = source
        self._events: list[Event] = []
        self._kinds: dict[str, Origin] = {}
        self._leading: list[ChatSystem | ChatDeveloper] = []
        self._begun = False

    @property
    def n_events(self) -> int:
        """How many facts were added; the seq that the next one gets."""
        return len(self._events)

    def add(self, fact: Fact, *, turn: int | None = None, step: int | None = None) -> int:
        """Add one fact; gives its seq."""
        if not isinstance(fact, Note):
            self._begin()
        seq = len(self._events)
        self._events.append(Event(seq, fact, Origin.IMPORT, turn=turn, step=step))
        self._kinds.setdefault(fact.TYPE, Origin.IMPORT)
        return seq

    def system(self, message: ChatSystem | ChatDeveloper) -> None:
        """A system or developer message: a part of the request header until something else is said, then a note.

        Which tools were offered nobody knows here; a reader that knows writes the header itself.
        """
        if self._begun:
            self.note(MESSAGE_NOTE, message_to_wire(message))
        else:
            self._leading.append(message)

    def _begin(self) -> None:
        leading, self._leading, self._begun = tuple(self._leading), [], True
        if leading:
            self.add(RequestHeader(leading, UNKNOWN_TOOLS, JsonText("{}"), HeaderWhy.INITIAL))

    def note(self, name: str, value: Any, *, turn: int | None = None, step: int | None = None) -> None:
        """Keep something that no other kind has a place for."""
        self.add(Note(name, canonical_json(value)), turn=turn, step=step)

    def result(self, result: ForeignResult, *, turn: int | None = None, step: int | None = None) -> None:
        """Add a result under the call that it answers."""
        self.add(self.ids.answer(result), turn=turn, step=step)

    def end(self, end: tuple[Status, Reason] | None) -> None:
        """Add the end of the run where the format tells of one."""
        if end is not None:
            self.add(RunEnd(*end))

    def inferred_end(self, end: tuple[Status, Reason] | None) -> None:
        """Add an end that the reader makes of the last answer: none of one that is shown and says nothing."""
        facts = [event.fact for event in reversed(self._events)]
        last = next((fact for fact in facts if isinstance(fact, AssistantMessage)), None)
        notes = (fact for fact in facts if isinstance(fact, Note) and fact.name == UNRECORDED_NOTE)
        shown = not any('"answer"' in (note.data or "") for note in notes)
        silent = last is None or not has_substance(last.content)
        if end is None or not isinstance(end[1], FinalAnswer) or not (shown and silent):
            self.end(end)

    def observe(self, *kinds: str) -> None:
        """Say that the format would show events of these kinds, also where it holds none."""
        for kind in kinds:
            self._kinds.setdefault(kind, Origin.IMPORT)

    def finish(
        self,
        run_id: str,
        *,
        model: str | None = None,
        trial: int = 1,
        started_at: str | None = None,
        torn: TornTail | None = None,
    ) -> Trajectory:
        """The trajectory of all that was added."""
        self._begin()
        header = Header(
            version=IMPORT_VERSION,
            run_id=RunId(clean_text(run_id)),
            subject=self._subject,
            profile=self._profile,
            models=(("main", model),) if model else (),
            trial=trial,
            clock=ClockKind.UNKNOWN,
            observed=tuple(sorted(self._kinds.items())),
            volatile=Volatile(started_at=started_at),
        )
        return Trajectory(header, tuple(self._events), torn, self._source)
