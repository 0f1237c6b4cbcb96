"""A folder of runs, which stands alone: trajectories by run, ``run.json``, ``summary.jsonl``.

``trajectories/<family>/<name>@<arm>#<trial>.jsonl``, names portable (case PB-049). Summaries are
derived from the trajectories, so they can be made again at any time.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from os import fspath
from pathlib import Path
from typing import Any, Final

from harness.errors import TrajectoryFormatError
from harness.store.encode import encoder_of
from harness.store.files import replace_file
from harness.store.parsing import BadLine, parse_object
from harness.store.reading import File, open_reader
from harness.store.shapes import record_of
from harness.store.writing import encoded
from harness.types.jsontext import canonical_json
from harness.types.names import portable_path
from harness.types.records import RunSummary

TRAJECTORIES: Final = "trajectories"
SUMMARIES: Final = "summary.jsonl"
INFO: Final = "run.json"
_LONGEST_NAME_BYTES: Final = 240


def trajectory_path(folder: File, scenario: str, arm: str, trial: int) -> Path:
    """Where the trajectory of one run lies: another path for every (scenario, arm, trial)."""
    return Path(fspath(folder), trajectory_file(scenario, arm, trial))


@lru_cache(maxsize=256)
def trajectory_file(scenario: str, arm: str, trial: int) -> str:
    """That path inside its folder of runs, with slashes."""
    *families, name = _marked(portable_path(scenario)).split("/")
    arm = _marked(portable_path(arm)).replace("/", "%2F")
    return "/".join((TRAJECTORIES, *families, _fitting(f"{name}@{arm}#{trial}") + ".jsonl"))


def scenario_path(folder: File, scenario: str) -> Path:
    """Where a scenario file that was made by us lies: another path for every id, with portable names."""
    *families, name = portable_path(scenario).split("/")
    return Path(fspath(folder), *families, _fitting(name) + ".yaml")


def _fitting(name: str) -> str:
    if len(name.encode("utf-8")) <= _LONGEST_NAME_BYTES:
        return name
    digest = hashlib.sha256(name.encode("utf-8")).hexdigest()[:16]
    return name.encode("utf-8")[: _LONGEST_NAME_BYTES - 20].decode("utf-8", "ignore") + "%~" + digest


def _marked(path: str) -> str:
    """The two marks of the file name, escaped where an id holds them (``%`` is escaped already)."""
    return path.replace("@", "%40").replace("#", "%23")


def find_runs(folder: File) -> list[Path]:
    """The trajectory files of a folder of runs, by name; each read as far as its header.

    Raises TrajectoryFormatError when two files hold the same scenario, arm and trial, or when one
    is no trajectory.
    """
    root = Path(fspath(folder), TRAJECTORIES)
    found = sorted(root.rglob("*.jsonl"), key=lambda path: path.relative_to(root).parts)
    seen: dict[tuple[str, str, str, int], Path] = {}
    for path in found:
        with open_reader(path) as reader:
            header = reader.header
        scenario = header.scenario.id if header.scenario else header.run_id
        first = seen.setdefault((scenario, header.subject, header.arm, header.trial), path)
        if first is not path:
            raise TrajectoryFormatError(
                f"the run of {scenario!r} (arm {header.arm!r}, trial {header.trial}) is also in {str(first)!r}."
                " A folder holds each run once; remove one of them.",
                file=str(path),
                line=1,
            )
    return found


def write_summaries(folder: File, summaries: Iterable[RunSummary], info: Mapping[str, Any]) -> None:
    """Write ``summary.jsonl`` and ``run.json``, each whole or not at all.

    ``info`` is a plain JSON object (what was run, with which versions and options). Raises
    RecordingFailed, and InvalidValueError where ``info`` is not lossless JSON.
    """
    known = canonical_json(dict(info)) + "\n"
    encode = encoder_of(record_of(RunSummary))
    replace_file(Path(fspath(folder), SUMMARIES), [encoded(encode(item) + "\n") for item in summaries])
    replace_file(Path(fspath(folder), INFO), [known.encode("utf-8")])


def read_summaries(folder: File) -> tuple[RunSummary, ...]:
    """The summaries of a folder, in their order. Raises TrajectoryFormatError, naming the line."""
    return tuple(_summaries(Path(fspath(folder), SUMMARIES)))


def read_info(folder: File) -> dict[str, Any]:
    """What ``run.json`` says. Raises TrajectoryFormatError."""
    path = Path(fspath(folder), INFO)
    try:
        return parse_object(_bytes_of(path))
    except BadLine as bad:
        raise TrajectoryFormatError(str(bad), file=str(path)) from None


def _summaries(path: Path) -> Iterator[RunSummary]:
    from pydantic_core import ValidationError

    from harness.store.validate import validator_of, what_is_wrong

    lines = _bytes_of(path).split(b"\n")
    if lines.pop():
        raise TrajectoryFormatError(
            "the last line is not finished; summarise again", file=str(path), line=len(lines) + 1
        )
    for number, line in enumerate(lines, start=1):
        try:
            summary: RunSummary = validator_of(RunSummary).validate_python(parse_object(line))
        except BadLine as bad:
            raise TrajectoryFormatError(str(bad), file=str(path), line=number) from None
        except ValidationError as error:
            raise TrajectoryFormatError(what_is_wrong(error), file=str(path), line=number) from None
        yield summary


def _bytes_of(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise TrajectoryFormatError(f"cannot be read: {error.strerror}", file=str(path)) from error
