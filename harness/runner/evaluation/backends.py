"""Where an evaluation runs: here, or on a cluster that is there already."""

from __future__ import annotations

from typing import Final, Protocol

from harness.errors import UnknownNameError
from harness.runner.evaluation.plan import EvaluationPlan
from harness.runner.evaluation.running import Ran, Tell

LOCAL: Final = "local"
RAY: Final = "ray"


class Backend(Protocol):
    """Runs a plan and tells how far it is."""

    def __call__(self, plan: EvaluationPlan, *, tell: Tell | None = None) -> Ran: ...


def backend_named(name: str) -> Backend:
    """The backend of that name; only it is loaded. Raises UnknownNameError, ConfigurationError where ray is missing."""
    if name == LOCAL:
        from harness.runner.evaluation.workers import run_evaluation

        return run_evaluation
    if name == RAY:
        from harness.runner.ray_pool import ray_backend

        return ray_backend()
    raise UnknownNameError(f"--backend is {name!r}; there are {LOCAL} and {RAY}")
