"""A set of runs in a folder of their own: planned, run, summarised; whatever happens, what ran is kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from harness.cli.output import say, say_json
from harness.cli.stale import stale_lines
from harness.errors import ConfigurationError, HarnessError

if TYPE_CHECKING:
    from harness.cli.going_on import Wanted
    from harness.runner import Ran, RunOptions, RunSpec
    from harness.types.codes import Outcome
    from harness.types.records import RunSummary
    from harness.types.scenario import Scenario

INTERRUPTED: Final = 130
_FORMAT: Final = "harness-run/"


@dataclass(slots=True)
class Session:
    """What was asked for, and what has become of it so far."""

    scenarios: Sequence[Scenario]
    options: RunOptions
    folder: Path
    jobs: int = 1
    verbose: bool = False
    as_json: bool = False
    specs: tuple[RunSpec, ...] = ()
    ended: list[Ran] = field(default_factory=list)
    interrupted: bool = False
    wall_ms: int = 0
    revision: dict[str, Any] = field(default_factory=dict)
    broken_off: list[RunSummary] = field(default_factory=list)

    def run(self) -> None:
        """Plan, make room, run. Ctrl-C ends it early. Raises UsageError kin before anything runs."""
        from harness.runner import check_jobs, plan

        check_jobs(self.jobs)
        self.specs = plan(self.scenarios, self.options)
        check_jobs(self.jobs, self.specs)
        claim_folder(self.folder)
        self._carry_out()

    def go_on(self, wanted: Wanted, out: Path | None) -> None:
        """Plan a run that goes on from another's file, and run it into ``out``, else a folder of its own.

        Raises UsageError kin before anything runs.
        """
        spec, self.folder = wanted.plan(self.scenarios, self.options, out)
        self.scenarios, self.options, self.specs = [spec.scenario], spec.options, (spec,)
        claim_folder(self.folder)
        self._carry_out()

    def _carry_out(self) -> None:
        from harness.cli.progress import Progress
        from harness.clock import SystemClock
        from harness.runner import run_specs
        from harness.runner.bases.revisions import revision_info

        self.revision = revision_info(Path())
        self._write(finished=False)
        clock = SystemClock()
        began_ms = clock.now_ms()
        progress = Progress(len(self.specs), verbose=self.verbose, quiet=self.as_json, folder=self.folder)
        self.ended = progress.ended
        try:
            self.ended = list(run_specs(self.specs, jobs=self.jobs, tell=progress.tell))
        except KeyboardInterrupt:
            self.interrupted = True
            progress.broken_off()
        finally:
            progress.close()
        self.wall_ms = clock.now_ms() - began_ms

    @property
    def exit_code(self) -> int:
        """130 when interrupted, else by the runs."""
        from harness.runner import exit_code_of

        return INTERRUPTED if self.interrupted else exit_code_of(self.ended)

    def finish(self, **more: Any) -> int:
        """Write the summaries, say the totals, give the exit code. Raises RecordingFailed."""
        summaries = self._write(finished=not self.interrupted)
        if self.as_json:
            from harness.folds import to_plain

            say_json({**self._info(finished=not self.interrupted), "runs": to_plain(tuple(summaries)), **more})
        else:
            say("\n".join([*self._stale_lines(summaries), self._totals_line()]))
        return self.exit_code

    def _stale_lines(self, summaries: list[RunSummary]) -> list[str]:
        from harness.runner.settings import settings
        from harness.runner.stale import stale_recordings

        return stale_lines(stale_recordings(self.specs, summaries, settings().prices))

    def _write(self, *, finished: bool) -> list[RunSummary]:
        from harness.runner import write_folder

        self.broken_off = self._broken_off()
        summaries = [ran.summary for ran in self.ended if ran.summary is not None] + self.broken_off
        write_folder(self.folder, summaries, **self._info(finished=finished), **self.revision)
        return summaries

    def _broken_off(self) -> list[RunSummary]:
        """Summaries of runs that were interrupted, as far as their files go."""
        from harness.runner import summarise_file

        ended = {ran.run_id for ran in self.ended}
        paths = [spec.path for spec in self.specs if self.interrupted and spec.run_id not in ended and spec.path]
        found = []
        for path in paths:
            if path.exists():
                try:
                    found.append(summarise_file(path, self.folder, self.options.checks))
                except HarnessError as error:
                    say(f"NOT READ {path}: {error}")
        return found

    def _info(self, *, finished: bool) -> dict[str, Any]:
        skipped = [one for one in self.scenarios if one.skip is not None]
        return {
            "planned": len(self.specs) + len(skipped),
            "skipped": [{"scenario": one.id, "why": one.skip} for one in skipped],
            "notRun": [{"run": ran.run_id, "error": ran.error} for ran in self.ended if ran.error],
            **({} if finished or not (pending := self._pending()) else {"pending": pending}),
            "subject": self.options.subject,
            "model": self.options.model or self.options.source.value,
            **({} if self.options.checks is None else {"checks": list(self.options.checks)}),
            "finished": finished,
            **({"exitCode": self.exit_code} if self.ended or self.interrupted else {}),
        }

    def _pending(self) -> list[str]:
        """Runs that were planned and of which no end is known: what a process that is killed leaves to be told."""
        ended = {ran.run_id for ran in self.ended}
        return [spec.run_id for spec in self.specs if spec.run_id not in ended]

    def _totals_line(self) -> str:
        from harness.report import totals, totals_line

        n_skipped = sum(one.skip is not None for one in self.scenarios)
        stopped = [one.outcome for one in self.broken_off if one.status is not None]  # they came to an end
        outcomes = [*map(_outcome, self.ended), *stopped]
        counts = totals(outcomes, planned=len(self.specs) + n_skipped, skipped=n_skipped)
        return totals_line(counts, wall_ms=self.wall_ms, folder=str(self.folder))


def _outcome(ran: Ran) -> Outcome:
    from harness.folds import EXIT_CODES
    from harness.types.codes import Outcome

    if ran.summary is not None:
        return ran.summary.outcome
    by_code = {code: outcome for outcome, code in EXIT_CODES.items() if outcome is not Outcome.NOT_APPLICABLE}
    return by_code.get(ran.exit_code, Outcome.ERROR)


def claim_folder(folder: Path, option: str = "--out") -> None:
    """Make room for a new set of runs: older runs of ours go, nothing else is touched.

    ``option`` is what named it. Raises ConfigurationError for a file, and for a folder with something in it that no
    run of ours made.
    """
    from harness.store import check_folder

    check_folder(folder, option)
    try:
        if not folder.exists() or not any(folder.iterdir()):
            return
    except OSError as error:
        raise ConfigurationError(
            f"{folder}: no folder for runs ({error.strerror}); name another with {option}"
        ) from None
    if not _is_ours(folder):
        raise ConfigurationError(
            f"{folder} is not empty and holds no run.json of ours: name another folder with {option}, or empty it"
        )
    trajectories = folder / "trajectories"
    if trajectories.is_symlink():
        raise ConfigurationError(f"{trajectories} is a link to another folder, whose files may not be ours: remove it")
    for path in sorted((*trajectories.rglob("*.jsonl"), *trajectories.rglob("*.jsonl.resumed")), reverse=True):
        path.unlink()
    for path in sorted((one for one in trajectories.rglob("*") if one.is_dir()), reverse=True):
        if not any(path.iterdir()):
            path.rmdir()


def _is_ours(folder: Path) -> bool:
    from harness.store import read_info

    try:
        return str(read_info(folder).get("format", "")).startswith(_FORMAT)
    except HarnessError:
        return False
