"""What differs between an evaluation that was begun and the one that its file says now, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, Final

from harness.errors import ConfigurationError
from harness.runner.evaluation.folder import trials_files
from harness.runner.evaluation.preparing import DOCUMENT, Prepared, thawed
from harness.scenarios.evaluation_document import case_document, evaluation_document
from harness.types.evaluation import Evaluation
from harness.types.jsontext import canonical_json

_MOST_TOLD: Final = 5
_LONGEST: Final = 60
_NOT_ASKED_ABOUT: Final = ("format", "title", "cases", "running", "trials")
"""What may change from run to run, and what is told case by case."""
_ANSWERS_DEPEND_ON: Final = ("gate", "model", "execute", "stubs", "limits")
"""What no request shows and stored answers depend on all the same, or what had to be declared before them."""
_UNITS: Final = ("group", "split")


def differences(before: Evaluation, now: Evaluation) -> list[str]:
    """The first fields and cases that differ, such as ``gate.margin was 0.1 and is 0.9``; what follows is counted."""
    found = [*_fields(before, now), *islice(_cases(before, now), _MOST_TOLD + 1)]
    more = ["and more"] if len(found) > _MOST_TOLD else []
    return [*found[:_MOST_TOLD], *more]


def undeclared(before: Evaluation, now: Evaluation) -> list[str]:
    """What of :func:`differences` may not change once there are answers, although no request shows it: the gate and
    what it counts, the model, stubs and limits.
    """
    found = [one for one in _fields(before, now) if one.split(" ")[0].split(".")[0] in _ANSWERS_DEPEND_ON]
    if now.gate is not None:
        for old, new in zip(before.cases, now.cases, strict=False):
            found += [f"{name} of case {new.id!r}" for name in _UNITS if getattr(old, name) != getattr(new, name)][:1]
            if len(found) >= _MOST_TOLD:
                break
    return found[:_MOST_TOLD]


def refuse_another(now: Prepared, folder: Path) -> None:
    """Raise ConfigurationError where a folder holds trials of another evaluation, with what differs."""
    if not (folder / DOCUMENT).is_file() or not trials_files(folder):
        return
    before = thawed(folder).evaluation
    if before.digest == now.evaluation.digest and before.id == now.evaluation.id:
        return
    what = "; ".join(differences(before, now.evaluation)) or "the order of its cases"
    raise ConfigurationError(
        f"{folder} holds the trials of another evaluation ({what}). They cannot be mixed with new ones: keep them and "
        "name another folder (--out), or remove that folder; where only expectations have changed, judge what was "
        "answered by the new ones (--regrade)"
    )


def _fields(before: Evaluation, now: Evaluation) -> Iterator[str]:
    one, other = (evaluation_document(each, cases_from="-") for each in (before, now))
    for name in dict.fromkeys((*one, *other)):
        if name not in _NOT_ASKED_ABOUT:
            yield from _differing(name, one.get(name), other.get(name))


def _differing(name: str, one: Any, other: Any) -> Iterator[str]:
    if one == other:
        return
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        for key in dict.fromkeys((*one, *other)):
            yield from _differing(f"{name}.{key}", one.get(key), other.get(key))
        return
    yield f"{name} was {_short(one)} and is {_short(other)}"


def _short(value: Any) -> str:
    if value is None:
        return "not there"
    text = canonical_json(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def _cases(before: Evaluation, now: Evaluation) -> Iterator[str]:
    places = {case.id: place for place, case in enumerate(before.cases)}
    if len(before.cases) != len(now.cases):
        yield f"there were {len(before.cases)} cases and are {len(now.cases)}"
    for case in now.cases:
        place = places.pop(case.id, None)
        if place is None:
            yield f"case {case.id!r} is new"
            continue
        one, other = case_document(before.cases[place]), case_document(case)
        changed = [name for name in dict.fromkeys((*one, *other)) if one.get(name) != other.get(name)]
        if changed:
            yield f"{', '.join(changed)} of case {case.id!r}"
    yield from (f"case {name!r} is gone" for name in places)
