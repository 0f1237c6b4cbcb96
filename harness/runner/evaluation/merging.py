"""Shards of one evaluation become one folder that stands alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from harness.errors import ConfigurationError
from harness.runner.evaluation.folder import files_of, headers_of, trials_files, trials_in, trials_path
from harness.runner.evaluation.order import WHOLE
from harness.runner.evaluation.preparing import Prepared, freeze, thawed
from harness.store import replace_file, trial_line
from harness.store.trials import trials_header_line
from harness.types.trials import TrialsHeader


def merge(folders: Sequence[Path], out: Path) -> Prepared:
    """Put the trials of these folders, each once, into ``out``, with the evaluation that they are of.

    Raises ConfigurationError where they are of different evaluations or ``out`` holds trials already,
    NothingToRunError where there are none, TrajectoryFormatError for damage and for a trial answered twice.
    """
    if trials_files(out):
        raise ConfigurationError(f"{out} holds trials already: name another folder with --out, or remove it")
    prepared = thawed(folders[0])
    paths = files_of(folders)
    header = whole_header(headers_of(paths))
    freeze(prepared, out)
    replace_file(trials_path(out, WHOLE), _lines(header, paths))
    return prepared


def whole_header(headers: Sequence[TrialsHeader]) -> TrialsHeader:
    """The header of all shards together: every arm that one of them has, the most trials."""
    arms = {arm: None for header in headers for arm in header.arms}
    trials = max(header.trials for header in headers)
    return replace(headers[0], shard=str(WHOLE), arms=tuple(arms), trials=trials)


def _lines(header: TrialsHeader, paths: Sequence[Path]) -> Iterator[bytes]:
    yield trials_header_line(header)
    yield from map(trial_line, trials_in(paths))
