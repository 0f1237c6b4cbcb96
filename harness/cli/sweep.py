"""``harness sweep``: every scenario again and again, cancelled or failed at one boundary each time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harness.cli.html_file import Html, check_html
from harness.cli.options import AsJson, Jobs, Match, Paths, collected, environment, let_names_resolve
from harness.cli.sweep_results import sweep_command, sweep_row, write_sweeps

if TYPE_CHECKING:
    from harness.runner import SweepSpec
    from harness.types.scenario import Scenario
    from harness.types.sweeps import Sweep

DEFAULT_FOLDER = Path("reports/sweep")


def sweep(
    paths: Paths = None,
    kinds: Annotated[
        list[str] | None,
        typer.Option(
            "--kind",
            help="cancel, tool-error, model-error, throw, send, limit, order, kill, pair; repeatable (default: all).",
        ),
    ] = None,
    ticks: Annotated[
        bool, typer.Option("--ticks", help="Cancel at every tick of the event loop too (virtual time only).")
    ] = False,
    axes: Annotated[
        list[str] | None,
        typer.Option(
            "--axis",
            help="Cancel also with a follow-up queued (queued), also among tools that swallow it (stubborn).",
        ),
    ] = None,
    match: Match = "",
    jobs: Jobs = 1,
    subject: Annotated[
        str | None, typer.Option("--subject", help="Loop under test: built-in, an entry point, or package.module:name.")
    ] = None,
    out: Annotated[
        Path, typer.Option("--out", help="Folder for scenario files that show a red cell again.")
    ] = DEFAULT_FOLDER,
    html: Html = None,
    as_json: AsJson = False,
) -> None:
    """Cancel, fail, limit and kill scenarios at every boundary."""
    from harness.clock import SystemClock
    from harness.report import sweeps_line
    from harness.runner import RunOptions, check_jobs, plan_sweeps
    from harness.runner.settings import settings
    from harness.types.sweeps import SweepLevel

    let_names_resolve()
    check_jobs(jobs)
    configured = settings()
    options = RunOptions(subject=subject or configured.subject, environ=environment())
    scenarios = collected(paths, configured.scenarios, match)
    level = SweepLevel.TICKS if ticks else SweepLevel.BOUNDARIES
    specs = plan_sweeps(scenarios, options, kinds or (), level, axes or ())
    _check_places(scenarios, out)
    check_html(html)
    clock = SystemClock()
    began_ms = clock.now_ms()
    swept = _Swept(out, as_json, options.subject if subject else "")
    swept.run(specs, jobs)
    code, without = swept.exit_code, _without_script(scenarios)
    results = {"exitCode": code, "planned": len(specs), "notScripted": without, "finished": not swept.interrupted}
    wall_ms = clock.now_ms() - began_ms
    line = sweeps_line(swept.ended, n_without_script=len(without), wall_ms=wall_ms, n_planned=len(specs))
    given: dict[str, object] = {"--kind": kinds, "--ticks": ticks, "--axis": axes, "-k": match, "--subject": subject}
    given |= {"--out": out if out != DEFAULT_FOLDER else None, "--html": html}
    swept.say_end(results, line, html, sweep_command(paths, given))
    raise typer.Exit(code)


def _check_places(scenarios: Sequence[Scenario], folder: Path) -> None:
    """A red cell that is found after a long sweep must have a place. Raises ConfigurationError."""
    from harness.store import check_file, check_folder

    check_folder(folder, "--out")
    for scenario in scenarios:
        for path in _files(folder, scenario.id):
            check_file(path, "--out")


def _files(folder: Path, scenario: str) -> tuple[Path, Path]:
    """Where a red cell is written: as a scenario, and as the file of a process that was killed."""
    from harness.store import scenario_path

    path = scenario_path(folder, f"{scenario}-red")
    return path, path.with_suffix(".jsonl")


def _without_script(scenarios: Sequence[Scenario]) -> list[str]:
    return [one.id for one in scenarios if one.script is None and one.skip is None]


@dataclass(slots=True)
class _Swept:
    """What has ended so far, told as it ends."""

    folder: Path
    as_json: bool
    subject: str = ""
    ended: list[Sweep] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    interrupted: bool = False

    def run(self, specs: Sequence[SweepSpec], jobs: int) -> None:
        """Sweep all, tell of each. Ctrl-C ends it early."""
        from harness.cli.progress import Counter
        from harness.runner import lost_sweep, spread, sweep_one

        counter = Counter(len(specs), "scenarios")
        counter.show()
        try:
            for one in spread(sweep_one, specs, jobs=jobs, lost=lost_sweep):
                counter.erase()
                self._tell(one)
                counter.step()
        except KeyboardInterrupt:
            self.interrupted = True
            counter.broken_off()
        finally:
            counter.erase()

    def say_end(self, results: dict[str, Any], line: str, html: Path | None, command: str) -> None:
        """Say what all sweeps came to, and write the page where one was asked for."""
        from harness.cli.output import say, say_json

        whole = {**results, "sweeps": self.rows} if self.as_json or html is not None else results
        if self.as_json:
            say_json(whole)
        else:
            say(line)
        if html is not None:
            write_sweeps(html, self.told, whole, line=line, command=command)

    @property
    def told(self) -> list[tuple[Sweep, str]]:
        """Each sweep that ended, with what shows its smallest red cell again ("" for nothing)."""
        return list(zip(self.ended, self.files, strict=False))

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The same as plain values."""
        return [sweep_row(one, file) for one, file in self.told]

    @property
    def exit_code(self) -> int:
        """130 when interrupted, else by the sweeps; 4 where nothing was judged at all."""
        from harness.cli.session import INTERRUPTED
        from harness.folds import EXIT_CODES
        from harness.types.codes import Outcome

        codes = {EXIT_CODES[one.outcome] for one in self.ended if one.outcome is not Outcome.INVALID}
        if self.interrupted:
            return INTERRUPTED
        return next((code for code in (1, 5, 3, 0) if code in codes), EXIT_CODES[Outcome.INVALID])

    def _tell(self, one: Sweep) -> None:
        from harness.cli.output import complain, say
        from harness.errors import HarnessError
        from harness.report import sweep_text
        from harness.runner import cell_text

        self.ended.append(one)
        try:
            file = self._written(one)
        except (HarnessError, OSError) as error:  # a disk that is full by now: what was found is told all the same
            file = ""
            complain(f"not written: what shows {one.scenario} again: {error}")
        self.files.append(file)
        if not self.as_json:
            say(sweep_text(one, text_of=cell_text, shown_by=file))

    def _written(self, one: Sweep) -> str:
        """What shows the smallest red cell again: a scenario file, or how to resume the file of a killed process.

        "" where none is red, and then older ones go. Raises RecordingFailed.
        """
        from harness.store import replace_file

        path, died = _files(self.folder, one.scenario)
        smallest = one.smallest
        self._remove(path, died)
        if smallest is None or not smallest.reproduction:
            return ""
        file = path if smallest.killed is None else died
        replace_file(file, [smallest.reproduction.encode("utf-8")])
        named = f" --subject {self.subject}" if self.subject else ""
        return str(file) if smallest.killed is None else f"harness run --resume {file}{named}"

    def _remove(self, path: Path, died: Path) -> None:
        from harness.runner import SWEEP_TAG
        from harness.store import is_trajectory

        if path.is_file() and SWEEP_TAG.encode() in path.read_bytes():
            path.unlink()
        if died.is_file() and is_trajectory(died):
            died.unlink()
