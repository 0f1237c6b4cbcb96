"""An evaluation on a Ray cluster that is there already; the one file that knows ray.

Only batches of requests and their answers travel: the folder is written by the process that was started, so workers
need no shared disk, only the same packages and the user's own function.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import islice
from typing import Any, Final

from harness.errors import ConfigurationError, HarnessError, UsageError
from harness.runner.evaluation.backends import Backend
from harness.runner.evaluation.batches import Answered, Batch, ask_batch, run_in_batches
from harness.runner.evaluation.plan import EvaluationPlan
from harness.runner.evaluation.running import Ran, Tell
from harness.runner.specs import ModelSource

_EACH_CPU: Final = 2
"""Batches that wait or run for each processor, so that none is idle."""


def ray_backend() -> Backend:
    """The backend on the cluster of RAY_ADDRESS. Raises ConfigurationError where ray or a cluster is missing."""
    return partial(_run, _connected())


def _connected() -> Any:
    try:
        import ray
    except ImportError:
        raise ConfigurationError(
            "--backend ray needs ray, which is not installed: pip install 'agent-loop-harness[ray]'"
        ) from None
    if not ray.is_initialized():
        try:
            ray.init(address="auto", log_to_driver=False, logging_level="ERROR")
        except ConnectionError as error:
            raise ConfigurationError(
                f"--backend ray: there is no cluster ({error}). Start one (ray start --head) or name it (RAY_ADDRESS)"
            ) from None
    return ray


def _run(ray: Any, plan: EvaluationPlan, *, tell: Tell | None = None) -> Ran:
    if plan.source is not ModelSource.OWN:
        raise UsageError(
            "--backend ray is for models that answer inside a process (model: {from: ...}); an endpoint is asked from "
            "one process, which keeps its pace and its budget"
        )
    return run_in_batches(plan, partial(_spread, ray), tell=tell)


def _spread(ray: Any, batches: Iterable[Batch]) -> Iterator[Answered]:
    """Few at a time, so that memory holds what is on its way and nothing else."""
    waiting = iter(batches)
    task = ray.remote(ask_batch)
    room = max(1, int(ray.cluster_resources().get("CPU", 1))) * _EACH_CPU
    running = [task.remote(batch) for batch in islice(waiting, room)]
    while running:
        ready, running = ray.wait(running, num_returns=1)
        try:
            found: list[Answered] = ray.get(ready)
        except ray.exceptions.RayError as error:
            yield Answered((), f"a worker of the cluster was lost ({type(error).__name__})", HarnessError.exit_code)
            return
        running.extend(task.remote(batch) for batch in islice(waiting, len(ready)))
        yield from found
