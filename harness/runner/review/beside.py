"""What lies beside two folders of runs and belongs into their report: results of sweeps, an evaluation's summary."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from harness.errors import InvalidValueError
from harness.report.html.beside import evaluation_lines, sweep_lines
from harness.runner.review.comparing import RunSet
from harness.types.evaluation_summary import SUMMARY_FORMAT
from harness.types.jsontext import parse_json

SWEEPS_FORMAT: Final = "harness-sweeps/1"
SWEEPS_FILE: Final = "sweep.json"
_MOST_BYTES: Final = 20_000_000


def lines_beside(base: RunSet, candidate: RunSet) -> dict[str, Any]:
    """Lines for plots: of ``sweep.json`` and ``summary.json`` in a folder of runs.

    A file that is none of these, by its ``format``, is nobody's business here, and neither is one that is too large.
    Raises InvalidValueError for one that names its format and does not have it.
    """
    roots = {"base": base.root, "candidate": candidate.root}
    folders = {side: root for side, root in roots.items() if (root / "trajectories").is_dir()}
    sweeps = _found(folders, SWEEPS_FILE, SWEEPS_FORMAT)
    summaries = _found(folders, "summary.json", SUMMARY_FORMAT)
    try:
        return {**sweep_lines(sweeps), **evaluation_lines(summaries)}
    except (KeyError, TypeError, AttributeError) as error:  # what JSON of another shape gives
        places = ", ".join(map(str, folders.values()))
        raise InvalidValueError(
            f"{SWEEPS_FILE} or summary.json in {places} lacks what its format has ({error!r}). "
            "Make it anew, or move it."
        ) from None


def _found(folders: dict[str, Path], name: str, form: str) -> dict[str, dict[str, Any]]:
    found = {}
    for side, folder in folders.items():
        path = folder / name
        if path.is_file() and path.stat().st_size <= _MOST_BYTES:
            data = parse_json(path.read_bytes().decode("utf-8", "replace"))
            if isinstance(data, dict) and data.get("format") == form:
                found[side] = data
    return found
