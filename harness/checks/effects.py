"""`effects`: tools took effect as often as expected, over the run and all that it goes on from.

A ledger counts where a tool has written into it: what was done. Without one, bodies that started count: what may
have been done. A file that goes on from another holds its events, so both reach back over resumes and forks; a ledger
also holds what a parent did behind the place where a fork leaves it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from harness.checks.base import BuiltCheck, Found, found
from harness.checks.expectations import asks, expected_of
from harness.errors import InvalidValueError
from harness.folds import from_plain
from harness.matching import match_value
from harness.types.codes import Origin, ToolOutcome
from harness.types.effects import EFFECTS_NOTE, Effects, EffectsPer, ExpectedEffects
from harness.types.events import Event, Trajectory
from harness.types.exchange import ToolEnd, ToolStart
from harness.types.jsontext import Refusal, canonical_json, parse_json
from harness.types.lifecycle import Note

_RULE = "conformance:140"


@dataclass(frozen=True, slots=True)
class _Done:
    """One thing that took effect, or may have: its arguments as JSON text, and the event that says so."""

    arguments: str
    event: Event


def _effects(trajectory: Trajectory) -> Iterator[Found]:
    noted = _ledger(trajectory)
    held_against: set[str] = set()
    for wanted in expected_of(trajectory).effects:
        starts = [
            _Done(event.fact.arguments, event)
            for event in trajectory.events
            if isinstance(event.fact, ToolStart) and event.fact.name == wanted.tool
        ]
        done, told = starts, "bodies started"
        if noted is not None:
            note, effects = noted
            kept = [_Done(one.arguments, note) for one in effects.entries if one.tool == wanted.tool]
            if kept:
                done, told = kept, "are in the ledger"
                if wanted.tool not in held_against:  # a tool may have several rules, and one ledger
                    held_against.add(wanted.tool)
                    yield from _unwritten(trajectory, wanted, starts, kept)
        yield from _counted(wanted, done, told)


def _counted(wanted: ExpectedEffects, done: list[_Done], told: str) -> Iterator[Found]:
    groups: dict[str, list[_Done]] = {}
    for one in done:
        if _fits(wanted, one.arguments):
            key = _canonical(one.arguments) if wanted.per is EffectsPer.ARGUMENTS else ""
            groups.setdefault(key, []).append(one)
    if wanted.per is EffectsPer.RUN:
        groups.setdefault("", [])
    elif not groups and wanted.exactly:
        yield found(f"expect {_words(wanted)}: none {told}", rule=_RULE)
    for arguments, group in groups.items():
        if _is_wrong(wanted, len(group)):
            text = f"expect {_words(wanted)}: {len(group)} {told}{f' for {arguments}' if arguments else ''}"
            yield found(text, *(one.event for one in group), rule=_RULE)


def _is_wrong(wanted: ExpectedEffects, n_done: int) -> bool:
    if wanted.exactly is not None:
        return n_done != wanted.exactly
    return wanted.at_most is not None and n_done > wanted.at_most


def _words(wanted: ExpectedEffects) -> str:
    how = f"exactly {wanted.exactly}" if wanted.exactly is not None else f"at most {wanted.at_most}"
    which = f" with {wanted.when}" if wanted.when is not None else ""
    each = " for each set of arguments" if wanted.per is EffectsPer.ARGUMENTS else ""
    return f"effects of {wanted.tool!r}{which} {how}{each}"


def _unwritten(
    trajectory: Trajectory, wanted: ExpectedEffects, starts: list[_Done], kept: list[_Done]
) -> Iterator[Found]:
    """A body that ended well has written its line, or the ledger proves nothing."""
    of_tool = {one.event.seq: one.event for one in starts}
    ended = [
        of_tool[event.fact.start]
        for event in trajectory.events
        if isinstance(event.fact, ToolEnd) and event.fact.outcome is ToolOutcome.OK and event.fact.start in of_tool
    ]
    if len(ended) > len(kept):
        text = f"{len(ended)} bodies of {wanted.tool!r} ended well, and the ledger holds {len(kept)} of its effects"
        yield found(text, *ended, kept[0].event, rule=_RULE)


def _fits(wanted: ExpectedEffects, arguments: str) -> bool:
    if wanted.when is None:
        return True
    value = parse_json(arguments)
    return not isinstance(value, Refusal) and not match_value({"$subset": parse_json(wanted.when)}, value)


def _canonical(arguments: str) -> str:
    value = parse_json(arguments)
    return arguments if isinstance(value, Refusal) else canonical_json(value)


def _ledger(trajectory: Trajectory) -> tuple[Event, Effects] | None:
    """What the run's ledger holds, of the newest note about it; None where there is no ledger."""
    for event in reversed(trajectory.events):
        if isinstance(event.fact, Note) and event.fact.name == EFFECTS_NOTE and event.origin is Origin.PROBE:
            value = parse_json(event.fact.data or "{}")
            try:
                return event, from_plain(Effects, value)
            except InvalidValueError:
                return event, Effects(unreadable=1)
    return None


def _unreadable(trajectory: Trajectory) -> str:
    noted = _ledger(trajectory)
    n_lines = noted[1].unreadable if noted is not None else 0
    return f"{n_lines} lines of the ledger of effects cannot be read" if n_lines else ""


EFFECTS = BuiltCheck(
    name="effects",
    about="tools took effect as often as expected: by the ledger that they write into, else by bodies that started",
    needs=(("tool/start", Origin.PROBE), ("tool/end", Origin.PROBE)),
    rules=(_RULE,),
    findings=_effects,
    applies=asks("effects"),
    doubt=_unreadable,
    expectation=True,
)
