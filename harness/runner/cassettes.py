"""Joins recordings with what judges their answers, and with the scenarios that use them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from harness.runner.seats import seats
from harness.runner.specs import ModelSource, RunOptions, RunSpec
from harness.runner.version import VERSION

if TYPE_CHECKING:
    from harness.cassettes.importing import Imported
    from harness.errors import ModelError
    from harness.types.doors import Answer
    from harness.types.scenario import Scenario


def import_recordings(paths: Sequence[Path], out: Path, secrets: tuple[str, ...] = ()) -> tuple[Imported, ...]:
    """Import other people's recordings into ``out``: all of their cassettes are written, or none.

    Raises UsageError kin before anything is read, RecordingFailed when the disk refuses.
    """
    from harness.cassettes.importing import find_recordings, import_file, write_all

    found = find_recordings(paths, out)
    done = [import_file(one, under_rules, version=VERSION, secrets=secrets) for one in found]
    write_all([(one.target, data) for one, data in done if one.target is not None])
    return tuple(one for one, _ in done)


def under_rules(host: str, answer: Answer, is_whole: bool) -> tuple[Answer, ModelError | None]:
    """An answer of that host as the adapter would give it, and what makes it unusable for the built-in loop."""
    from harness.models.profiles import profile_of_host
    from harness.models.rules import normalised
    from harness.models.strict import damage_of

    whole = normalised(answer, profile_of_host(host), {}, is_whole=is_whole)
    return whole, damage_of(whole)


# ---------------------------------------------------------------- who uses what


@dataclass(frozen=True, slots=True)
class Users:
    """The scenarios that there are, and by path the cassettes (of the first trial) that they would replay."""

    ids: frozenset[str]
    by_path: dict[Path, str]


def cassette_users(scenarios: Iterable[Scenario], root: Path) -> Users:
    """Which scenario replays what below ``root``; skipped ones count, and so do roles that have a script."""
    from harness.cassettes import cassette_path

    ids: set[str] = set()
    by_path: dict[Path, str] = {}
    for scenario in scenarios:
        ids.add(scenario.id)
        options = RunOptions(source=ModelSource.CASSETTE, cassettes=root)
        for seat in seats(RunSpec(scenario, options)):
            by_path[cassette_path(root, scenario.id, seat.recorded_as)] = scenario.id
    return Users(frozenset(ids), by_path)
