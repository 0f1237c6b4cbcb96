"""``harness scenario mutate``: which other behaviours of a run would its scenario not notice?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harness.cli.options import (
    AsJson,
    Cassettes,
    Checks,
    Jobs,
    Match,
    ModelName,
    OfSubject,
    Paths,
    collected,
    environment,
    let_names_resolve,
)
from harness.errors import ConfigurationError

if TYPE_CHECKING:
    from harness.runner import MutationSpec
    from harness.types.codes import Outcome
    from harness.types.mutating import Mutation


Told = Annotated[bool, typer.Option("-v", "--verbose", help="Every mutant, and what notices it.")]
Allow = Annotated[
    list[str] | None,
    typer.Option(
        "--allow",
        help="A kind of mutant that need not be noticed: calls, arguments, order, steps, results, answer, end, turns, "
        "state, loop. May be repeated.",
    ),
]
AtLeast = Annotated[
    float, typer.Option("--at-least", help="The part of the mutants of each scenario that must be noticed.")
]
Limit = Annotated[int, typer.Option("--limit", help="Mutants of one scenario at most.")]


def mutate(
    paths: Paths = None,
    match: Match = "",
    jobs: Jobs = 1,
    verbose: Told = False,
    as_json: AsJson = False,
    model: ModelName = "auto",
    subject: OfSubject = None,
    checks: Checks = None,
    cassettes: Cassettes = None,
    allow: Allow = None,
    at_least: AtLeast = 1.0,
    limit: Limit = 200,
) -> None:
    """Which other behaviours would a scenario not notice?

    Each scenario is run once. Its run is then made into others: a call left out, one too many, another argument,
    another order, a failing tool, another answer, another end. They are judged by the scenario's expectations and by
    all checks; for each that nothing notices, the field of expect is told that would. Exit code 1 where one is not
    noticed.
    """
    from harness.runner import RunOptions, check_jobs, plan_mutations, source_of
    from harness.runner.settings import settings

    let_names_resolve()
    check_jobs(jobs)
    if not 0 < at_least <= 1:
        raise ConfigurationError(f"--at-least is {at_least}; it is a part of all mutants, such as 0.9")
    configured = settings()
    source, own = source_of(model)
    options = RunOptions(
        subject=subject or configured.subject,
        source=source,
        model=own,
        checks=tuple(checks) if checks else None,
        cassettes=cassettes or Path(configured.cassettes),
        environ=environment(),
    )
    scenarios = collected(paths, configured.scenarios, match)
    specs = plan_mutations(scenarios, options, allowed=allow or (), limit=limit)
    tried = _Tried(round(at_least * 1000), verbose=verbose, as_json=as_json)
    tried.run(specs, jobs)
    raise typer.Exit(tried.finish())


@dataclass(slots=True)
class _Tried:
    """What has ended so far, told as it ends."""

    n_permille: int
    verbose: bool
    as_json: bool
    ended: list[Mutation] = field(default_factory=list)
    rows: list[dict[str, Any]] = field(default_factory=list)
    interrupted: bool = False
    wall_ms: int = 0

    def run(self, specs: Sequence[MutationSpec], jobs: int) -> None:
        """Try all, tell of each. Ctrl-C ends it early."""
        from harness.cli.progress import Counter
        from harness.clock import SystemClock
        from harness.runner import lost_mutation, mutate_one, spread

        clock = SystemClock()
        began_ms = clock.now_ms()
        counter = Counter(len(specs), "scenarios")
        counter.show()
        try:
            for one in spread(mutate_one, specs, jobs=jobs, lost=lost_mutation):
                counter.erase()
                self._tell(one)
                counter.step()
        except KeyboardInterrupt:
            counter.broken_off()
            self.interrupted = True
        finally:
            counter.erase()
        self.wall_ms = clock.now_ms() - began_ms

    def finish(self) -> int:
        """Say what all came to, give the exit code."""
        from harness.cli.output import say, say_json
        from harness.report import mutations_line

        if self.as_json:
            say_json({"exitCode": self.exit_code, "scenarios": self.rows})
        elif len(self.ended) > 1:
            say(mutations_line(self.ended, wall_ms=self.wall_ms))
        return self.exit_code

    @property
    def exit_code(self) -> int:
        """130 when interrupted, else by the scenarios: 1 before 5 before 4 before 3 before 0."""
        from harness.cli.session import INTERRUPTED
        from harness.folds import EXIT_CODES

        codes = {EXIT_CODES[self._outcome(one)] for one in self.ended}
        if self.interrupted:
            return INTERRUPTED
        return next(code for code in (1, 5, 4, 3, 0) if code in codes)

    def _outcome(self, one: Mutation) -> Outcome:
        return one.outcome(self.n_permille)

    def _tell(self, one: Mutation) -> None:
        from harness.cli.output import say
        from harness.report import mutation_text

        self.ended.append(one)
        if self.as_json:
            self.rows.append(_row(one, self._outcome(one)))
        else:
            say(mutation_text(one, self._outcome(one), verbose=self.verbose))


def _row(one: Mutation, outcome: Outcome) -> dict[str, Any]:
    return {
        "scenario": one.scenario,
        "subject": one.subject,
        "outcome": outcome.value,
        "run": one.reference.value,
        "why": one.why,
        "nMutants": len(one.counted),
        "nNoticed": one.n_noticed,
        "nLeftOut": one.n_left_out,
        "nUnsound": one.n_unsound,
        "nMeant": one.n_meant,
        "advice": one.advice,
        "mutants": [
            {
                "kind": mutant.kind.value,
                "what": mutant.what,
                "where": mutant.where,
                "before": mutant.before,
                "after": mutant.after,
                "noticedBy": list(mutant.noticed_by),
                "message": mutant.message,
                "hint": mutant.hint,
                "counted": mutant.kind not in one.allowed,
            }
            for mutant in one.mutants
        ],
    }
