"""What a project's own checks came to, as the code that ran them judged.

A folder of runs is judged again by the checks that come with the harness. A check of the project's own is code of one
side: judged by the other side's, a change that edits its check would judge the base by it, too, and one that renames it
could not be compared at all. So its verdict is the one in that folder's ``summary.jsonl``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from harness.checks import CHECKS
from harness.protocols import Check
from harness.runner.closing import noted_checks, noted_verdicts
from harness.runner.judging import ASKED
from harness.store import read_summaries
from harness.types.codes import Origin
from harness.types.events import Trajectory
from harness.types.records import Verdict

_FILE: Final = "summary.jsonl"


@dataclass(frozen=True, slots=True)
class _Told:
    """A check that came to its verdict where the run was made."""

    name: str
    verdict: Verdict
    needs: tuple[tuple[str, Origin | None], ...] = ()
    rules: tuple[str, ...] = ()

    def __call__(self, trajectory: Trajectory) -> Verdict:
        return self.verdict


@dataclass(slots=True)
class OwnVerdicts:
    """The verdicts of own checks in one folder of runs; read when the first is asked for.

    ``names`` are those that were asked for. A folder without ``summary.jsonl`` has no verdicts.
    """

    folder: Path
    names: set[str] = field(default_factory=set)
    _found: dict[str, tuple[Verdict, ...]] | None = None

    def told(self, trajectory: Trajectory, file: str, names: Collection[str] | None) -> Mapping[str, Check]:
        """The own checks that a run was asked for, each giving its verdict of then; none where they are not there.

        Raises TrajectoryFormatError for summaries that are damaged.
        """
        first = sorted({*(names or ())} - CHECKS.keys())
        order = [*first, *sorted({*noted_checks(trajectory)} - CHECKS.keys() - {*first})]
        self.names.update(order)
        if not order:
            return {}
        found = self._of(f"{trajectory.header.run_id} {file}")
        known = {verdict.asked: verdict for verdict in found if verdict.asked}
        if not known:  # an older version did not say by which names they were asked for
            noted = {ASKED, *(verdict.check for verdict in noted_verdicts(trajectory))}
            kept = [verdict for verdict in found if verdict.check not in noted]
            known = dict(zip(order, kept, strict=True)) if len(kept) == len(order) else {}
        return {name: _Told(name, known[name]) for name in order} if known.keys() >= {*order} else {}

    def _of(self, run: str) -> tuple[Verdict, ...]:
        if self._found is None:
            self._found = {}
            if (self.folder / _FILE).is_file():
                for summary in read_summaries(self.folder):
                    own = tuple(one for one in summary.verdicts if one.asked or one.check not in CHECKS)
                    self._found[f"{summary.run_id} {summary.file}"] = own
        return self._found.get(run, ())
