"""Runs many specs, here or in worker processes, and tells of each as it ends."""

from __future__ import annotations

import asyncio
import ctypes
import multiprocessing
import signal
import sys
from collections.abc import Callable, Coroutine, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import resource_tracker
from typing import Any, Final, TypeVar

from harness.errors import ConfigurationError, HarnessError
from harness.folds import EXIT_CODES
from harness.redaction import redact_secrets
from harness.runner.approvers import TERMINAL
from harness.runner.executing import execute
from harness.runner.specs import RunSpec
from harness.types.jsontext import described
from harness.types.messages import RunId
from harness.types.records import RunSummary

_SEVEREST_FIRST = (2, 1, 5, 4, 3)
LOST: Final = "a worker process died during this run or another; -j 1 shows which"
_DIE_WITH_PARENT: Final = 1
"""``PR_SET_PDEATHSIG`` of Linux."""
T = TypeVar("T")
R = TypeVar("R")


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

    ``tell`` is called in the order in which runs end. A run whose process dies is an error of that run.
    Interrupted, the workers are ended and KeyboardInterrupt passes. Raises ConfigurationError as
    :func:`check_jobs` does.
    """
    check_jobs(jobs, specs)
    results: dict[RunId, Ran] = {}
    for ran in spread(run_one, specs, jobs=jobs, lost=lambda spec: _failed(spec, LOST, 5)):
        results[ran.run_id] = ran
        tell(ran)
    return tuple(results[spec.run_id] for spec in specs)


def check_jobs(jobs: int, specs: Sequence[RunSpec] = ()) -> None:
    """Raise ConfigurationError for less than one run at once, and for several that would ask at one terminal."""
    if jobs < 1:
        raise ConfigurationError(f"jobs is {jobs}; at least 1 is needed")
    if min(jobs, len(specs)) > 1 and any(spec.options.approver == TERMINAL for spec in specs):
        raise ConfigurationError(
            f"--approve terminal: {len(specs)} runs with -j {jobs} would ask at one terminal at once, and worker "
            "processes have none: leave -j out, and they ask in turn"
        )


def spread(work: Callable[[T], R], items: Sequence[T], *, jobs: int, lost: Callable[[T], R]) -> Iterator[R]:
    """``work`` of all items, at most ``jobs`` at once, each in one process; results in the order they come.

    ``lost`` gives the result of an item whose process died. Interrupted, the workers are ended.
    """
    if min(jobs, len(items)) <= 1:
        yield from map(work, items)
        return
    others = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(
        min(jobs, len(items)), mp_context=multiprocessing.get_context("spawn"), initializer=_ignore_interrupts
    )
    try:
        with _interrupts_held():
            waiting = {pool.submit(work, item): item for item in items}
        for future in as_completed(waiting):
            yield _result(future, waiting[future], lost)
    except BaseException:
        for process in set(multiprocessing.active_children()) - others:
            process.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Ctrl-C comes once the workers are started: they begin as blind to it as this thread is now.

    Without it a worker that is still starting ends with a traceback. Nothing on a system without signal masks.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # when it starts, it lets interrupts through
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


async def side_by_side(n: int, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Do the same work ``n`` times at once, here; none is left when this returns. What one raises ends the others."""
    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(n):
                group.create_task(work())
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None


def die_with_parent() -> None:
    """From now on this process dies with the one that started it, where the system can say so."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)


def _ignore_interrupts() -> None:
    """A terminal sends Ctrl-C to workers too; the parent process decides what becomes of them."""
    die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def _result(future: Future[R], item: T, lost: Callable[[T], R]) -> R:
    try:
        return future.result()
    except BrokenProcessPool:
        return lost(item)


def run_one(spec: RunSpec) -> Ran:
    """Run one spec; what it raises becomes part of the result, so that the others go on.

    A loop that calls ``sys.exit`` ends its own run as an error, never the whole set. With HARNESS_DEBUG
    in the environment, what is no error of ours is raised.
    """
    try:
        result = execute(spec)
    except HarnessError as error:
        return _failed(spec, f"{type(error).__name__}: {error}", error.exit_code)
    except SystemExit as error:
        return _failed(spec, f"the loop or a tool called sys.exit({error.code!r})", 5)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # somebody else's loop, model, tool or check may raise anything
        if dict(spec.options.environ).get("HARNESS_DEBUG"):
            raise
        return _failed(spec, f"{described(error)} (HARNESS_DEBUG=1 shows where)", 5)
    return Ran(spec.run_id, spec.scenario.id, result.summary, None, EXIT_CODES[result.outcome])


def _failed(spec: RunSpec, error: str, exit_code: int) -> Ran:
    return Ran(spec.run_id, spec.scenario.id, None, redact_secrets(error, spec.options.secrets), exit_code)


def exit_code_of(results: Sequence[Ran]) -> int:
    """Usage before failure before error before invalid before inconclusive; 4 where nothing ran."""
    codes = {ran.exit_code for ran in results}
    return next((code for code in _SEVEREST_FIRST if code in codes), 0 if codes else 4)
