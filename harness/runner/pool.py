"""Runs many specs, here or in worker processes, and tells of each as it ends."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass

from harness.errors import ConfigurationError, HarnessError
from harness.folds import EXIT_CODES
from harness.runner.executing import execute
from harness.runner.specs import RunSpec
from harness.types.messages import RunId
from harness.types.records import RunSummary

_SEVEREST_FIRST = (2, 1, 5, 4, 3)


@dataclass(frozen=True, slots=True)
class Ran:
    """What became of one spec: its summary, or why it could not run (``error`` and its exit code)."""

    run_id: RunId
    scenario: str
    summary: RunSummary | None
    error: str | None
    exit_code: int


def run_specs(specs: Sequence[RunSpec], *, jobs: int, tell: Callable[[Ran], None]) -> tuple[Ran, ...]:
    """Run all specs, at most ``jobs`` at once, each in one process; results in the order of the specs.

    ``tell`` is called in the order in which runs end. Raises ConfigurationError for jobs below 1.
    """
    if jobs < 1:
        raise ConfigurationError(f"jobs is {jobs}; at least 1 is needed")
    results: dict[RunId, Ran] = {}
    for ran in _results(specs, min(jobs, len(specs))):
        results[ran.run_id] = ran
        tell(ran)
    return tuple(results[spec.run_id] for spec in specs)


def _results(specs: Sequence[RunSpec], jobs: int) -> Iterator[Ran]:
    if jobs <= 1:
        yield from map(run_one, specs)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=context) as pool:
        waiting = [pool.submit(run_one, spec) for spec in specs]
        try:
            for future in as_completed(waiting):
                yield future.result()
        finally:
            pool.shutdown(cancel_futures=True)


def run_one(spec: RunSpec) -> Ran:
    """Run one spec; an error of ours becomes part of the result, so that the others go on."""
    try:
        result = execute(spec)
    except HarnessError as error:
        return Ran(spec.run_id, spec.scenario.id, None, f"{type(error).__name__}: {error}", error.exit_code)
    return Ran(spec.run_id, spec.scenario.id, result.summary, None, EXIT_CODES[result.outcome])


def exit_code_of(results: Sequence[Ran]) -> int:
    """Usage before failure before error before invalid before inconclusive; 4 where nothing ran."""
    codes = {ran.exit_code for ran in results}
    return next((code for code in _SEVEREST_FIRST if code in codes), 0 if codes else 4)
