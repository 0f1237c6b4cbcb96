"""The folder of an evaluation: its files of trials, and what is in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from harness.errors import ConfigurationError, NothingToRunError, TrajectoryFormatError
from harness.runner.evaluation.asking import is_provider_error
from harness.runner.evaluation.order import Shard
from harness.store import TrialKeys, open_trials_reader, read_trials_header
from harness.store.trials import of_one_evaluation, restate
from harness.types.trials import Trial, TrialKey, TrialsHeader

DEFAULT_FOLDER: Final = Path("reports/evaluations")
_TRIALS: Final = "trials"
_SUFFIX: Final = ".jsonl"


def trials_path(folder: Path, shard: Shard, worker: int = 1) -> Path:
    """``trials.jsonl``; of a shard ``trials-i-of-n.jsonl``; other worker processes than the first add their number."""
    share = "" if shard.of == 1 else f"-{shard.number}-of-{shard.of}"
    return folder / f"{_TRIALS}{share}{'' if worker == 1 else f'.w{worker}'}{_SUFFIX}"


def trials_files(folder: Path) -> tuple[Path, ...]:
    """The files of trials in a folder, by name; those that no trial was written to yet are left out."""
    found = sorted(folder.glob(f"{_TRIALS}*{_SUFFIX}"))
    return tuple(path for path in found if _has_header(path))


def _has_header(path: Path) -> bool:
    """False for a file whose first line was never acknowledged."""
    with path.open("rb") as stream:
        return stream.readline().endswith(b"\n")


def widen(path: Path, header: TrialsHeader) -> None:
    """Have the file that is there say that more arms or trials are planned, where ``header`` has more.

    Raises RecordingFailed where a live run writes it.
    """
    if not path.exists() or not _has_header(path):
        return
    old = read_trials_header(path)
    wide = replace(old, arms=tuple(dict.fromkeys((*old.arms, *header.arms))), trials=max(old.trials, header.trials))
    if wide != old and of_one_evaluation(old, header):
        restate(path, wide)


def headers_of(paths: Iterable[Path]) -> tuple[TrialsHeader, ...]:
    """The headers of files that belong to one evaluation.

    Raises ConfigurationError where they do not, TrajectoryFormatError where one cannot be read.
    """
    found: list[tuple[Path, TrialsHeader]] = []
    for path in paths:
        header = read_trials_header(path)
        if found:
            _together(*found[0], path, header)
        found.append((path, header))
    return tuple(header for _, header in found)


def _together(first: Path, one: TrialsHeader, second: Path, other: TrialsHeader) -> None:
    for name in ("evaluation", "digest", "tools_digest", "model"):
        if getattr(one, name) != getattr(other, name):
            raise ConfigurationError(
                f"{first} and {second} are of different evaluations: {name} is {getattr(one, name)!r} and "
                f"{getattr(other, name)!r}; only shards of one evaluation can be merged"
            )


@dataclass(slots=True)
class Found:
    """What files of trials held: bytes torn off at an end, and trials that are there more than once."""

    n_torn_bytes: int = 0
    n_asked_again: int = 0


def trials_in(paths: Iterable[Path], found: Found | None = None) -> Iterator[Trial]:
    """All trials of these files, each once: where the provider had failed one, what came of it later.

    Streaming, in the order of the files. Raises TrajectoryFormatError for damage before a tail, and where a trial
    was answered twice.
    """
    seen, failed = TrialKeys(), dict[TrialKey, Trial]()
    for path in paths:
        with open_trials_reader(path) as reader:
            for trial in reader:
                if is_provider_error(trial):
                    failed[trial.key] = trial
                elif seen.add(trial.key):
                    yield trial
                else:
                    raise TrajectoryFormatError(
                        f"the trial of case {trial.case!r}, arm {trial.arm!r}, number {trial.trial} was answered "
                        "twice: the same shard was run in two folders. Remove one of their files",
                        file=str(path),
                    )
            if reader.torn is not None and found is not None:
                found.n_torn_bytes += reader.torn.n_bytes
    for key, trial in failed.items():
        if key not in seen:
            yield trial
        elif found is not None:
            found.n_asked_again += 1


def files_of(folders: Iterable[Path]) -> tuple[Path, ...]:
    """The files of trials of these folders, all of one evaluation. Raises NothingToRunError where there are none."""
    named = tuple(folders)
    paths = tuple(path for folder in named for path in trials_files(folder))
    if not paths:
        raise NothingToRunError(f"no trials in {', '.join(map(str, named))}: run the evaluation first")
    headers_of(paths)
    return paths
