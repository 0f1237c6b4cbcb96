"""Which field of ``expect`` would notice a mutant: found by trying, so that what is advised does notice it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import Any, Final

from harness import checks
from harness.checks import END_STATE_NOTE
from harness.folds import (
    answer_of,
    calls_of,
    end_of,
    expectations_to_json,
    n_messages,
    n_steps,
    n_turns,
    summarise,
)
from harness.matching import exactly
from harness.mutants.behaviours import Behaviour
from harness.scenarios import scenario as scenario_of
from harness.types.codes import PASSING
from harness.types.events import Trajectory
from harness.types.jsontext import canonical_json, parse_json
from harness.types.lifecycle import Note
from harness.types.messages import JsonText
from harness.types.mutating import MutationKind
from harness.types.reasons import EmittedCall, Failed

Fields = dict[str, Any]
_NUMBER: Final = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")
_LONGEST_ANSWER: Final = 200


@dataclass(frozen=True, slots=True)
class Hints:
    """Finds fields of ``expect`` that a run meets and its mutants do not."""

    run: Trajectory

    def for_mutant(self, behaviour: Behaviour, expect: Mapping[str, Any]) -> Fields:
        """The first few fields that notice it, put in place of those in ``expect``; {} where none does."""
        for fields in _candidates(self.run, behaviour, expect):
            wanted = {**expect, **fields}
            if not self.notices(wanted, self.run) and self.notices(wanted, behaviour.trajectory):
                return fields
        return {}

    def notices(self, expect: Mapping[str, Any], trajectory: Trajectory) -> bool:
        """Whether a trajectory does not meet these expectations."""
        header = replace(trajectory.header, expectations=_as_text(canonical_json(dict(expect))))
        verdicts = checks.judge(replace(trajectory, header=header), names=())
        return any(verdict.outcome not in PASSING for verdict in verdicts)


@lru_cache(maxsize=256)
def _as_text(expect: JsonText) -> JsonText:
    """An ``expect`` block as a header holds it."""
    return expectations_to_json(scenario_of(task="x", script=[{"say": "x"}], expect=json.loads(expect)).expect)


def _candidates(run: Trajectory, behaviour: Behaviour, expect: Mapping[str, Any]) -> Iterator[Fields]:
    """Blocks worth trying, the plainest first; those that belong to the kind before those that notice anything."""
    match behaviour.kind:
        case MutationKind.CALLS | MutationKind.ARGUMENTS | MutationKind.ORDER:
            yield from _rules(run, behaviour, expect)
            yield from _calls(run, behaviour.trajectory, expect)
        case MutationKind.RESULTS:
            yield from _results(run, behaviour.trajectory, expect)
        case MutationKind.ANSWER:
            yield from _answers(run, expect)
        case MutationKind.END:
            yield from _ends(run)
        case MutationKind.STATE:
            yield from _state(run, behaviour.trajectory, expect)
        case MutationKind.TURNS:
            yield {"turns": n_turns(run)}
        case MutationKind.STEPS:
            yield {"steps": n_steps(run)}
        case MutationKind.LOOP:
            yield {"messages": n_messages(run)}
    yield {"steps": n_steps(run)}
    yield {"messages": n_messages(run)}
    yield from _calls(run, behaviour.trajectory, expect)


# ---------------------------------------------------------------- calls


def _rules(run: Trajectory, behaviour: Behaviour, expect: Mapping[str, Any]) -> Iterator[Fields]:
    """Tools that are not called, or once, or before another, where nothing is said of all calls."""
    if "calls" in expect:
        return
    was = [trace.call.name for trace in calls_of(run)]
    now = [trace.call.name for trace in calls_of(behaviour.trajectory)]
    for name in dict.fromkeys(now):
        if name not in was:
            yield {"never": [*expect.get("never", ()), name]}
        elif len(now) > len(was) and now.count(name) > was.count(name) == 1:
            yield {"at_most_once": [*expect.get("at_most_once", ()), name]}
    if behaviour.kind is MutationKind.ORDER:
        for first, second in dict.fromkeys(pairwise(was)):
            yield {"before": [*expect.get("before", ()), [first, second]]}


def _calls(run: Trajectory, other: Trajectory, expect: Mapping[str, Any]) -> Iterator[Fields]:
    """All calls: by name, with arguments where the mutant's differ, with all arguments."""
    was, now = ([trace.call for trace in calls_of(one)] for one in (run, other))
    differing = {
        place
        for place, call in enumerate(was)
        if place >= len(now) or (call.name, call.arguments) != (now[place].name, now[place].arguments)
    }
    given = expect.get("calls")
    for told in (set[int](), differing, set(range(len(was)))):
        wanted = _wanted(was, given if isinstance(given, list) else [], told)
        if isinstance(given, Mapping):
            yield {"calls": {**given, "in-order": wanted}}
            yield {"calls": {**given, "exact": wanted}}
        else:
            yield {"calls": wanted}


def _wanted(calls: list[EmittedCall], given: list[Any], told: set[int]) -> list[Any]:
    """Calls as they are written; arguments of those in ``told``, and what was already written of others."""
    wanted: list[Any] = []
    for place, call in enumerate(calls):
        before = given[place] if place < len(given) else call.name
        arguments = parse_json(call.arguments)
        if place in told and isinstance(before, str) and isinstance(arguments, dict):
            wanted.append({call.name: exactly(arguments)})
        else:
            wanted.append(before)
    return wanted


# ---------------------------------------------------------------- results, answer, end, state


def _results(run: Trajectory, other: Trajectory, expect: Mapping[str, Any]) -> Iterator[Fields]:
    codes, instead = ([str(call.code or "OK") for call in summarise(one, (), "").calls] for one in (run, other))
    given = list(expect.get("results", ()))
    differing = [place for place, code in enumerate(codes) if place >= len(instead) or instead[place] != code]
    for places in (differing, list(range(len(codes)))):
        length = max([len(given), *(place + 1 for place in places)])
        filled = [given[i] if i < len(given) else None for i in range(length)]
        for place in places:
            filled[place] = filled[place] or codes[place]
        if any(filled):
            yield {"results": filled}


def _answers(run: Trajectory, expect: Mapping[str, Any]) -> Iterator[Fields]:
    """What it contains, the whole of it, the numbers in it in their order."""
    answer = answer_of(run)
    if not answer:
        return
    numbers = list(dict.fromkeys(_NUMBER.findall(answer)))
    if "answer" not in expect:
        for text in reversed(numbers):
            yield {"answer": {"contains": text}}
    if len(answer) <= _LONGEST_ANSWER:
        yield {"answer": answer}
    if numbers:
        yield {"answer": {"regex": "(?s)" + ".*".join(map(re.escape, _NUMBER.findall(answer)))}}
    yield {"answer": answer}


def _ends(run: Trajectory) -> Iterator[Fields]:
    end = end_of(run)
    if end is not None:
        yield {"status": end.status.value}
        if isinstance(end.reason, Failed):
            yield {"status": end.status.value, "error": str(end.reason.code)}
        yield {"reason": end.reason.kind}


def _state(run: Trajectory, other: Trajectory, expect: Mapping[str, Any]) -> Iterator[Fields]:
    was, now = _memory(run), _memory(other)
    given = expect.get("end_state") or {}
    for key, value in was.items():
        if now.get(key) != value or key not in now:
            if key.startswith("$"):
                yield {"end_state": {**given, "memory": {"$equal": was}}}
                continue
            exact = {"$equal": value} if isinstance(value, dict) else exactly(value)
            yield {"end_state": {**given, "memory": {**given.get("memory", {}), key: exact}}}


def _memory(trajectory: Trajectory) -> dict[str, Any]:
    facts = (event.fact for event in reversed(trajectory.events))
    noted = next((fact for fact in facts if isinstance(fact, Note) and fact.name == END_STATE_NOTE), None)
    state = parse_json(noted.data or "{}") if noted else None
    memory = state.get("memory") if isinstance(state, dict) else None
    return memory if isinstance(memory, dict) else {}
