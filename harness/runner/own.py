"""A user's own checks and models, found by the names that somebody wrote down.

Entry points of installed distributions (groups ``harness.checks`` and ``harness.models``), or
``package.module:name``.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

from harness import plugins
from harness.checks import CHECKS
from harness.errors import UnknownNameError, UsageError
from harness.protocols import Check, Clock, Model
from harness.runner.functions import FunctionModel, answers_itself
from harness.types.codes import ClockKind
from harness.types.scenario import Scenario

_CHECK_PARTS: Final = ("name", "needs", "rules")


def own_checks(names: Collection[str]) -> dict[str, Check]:
    """The checks among ``names`` that are not built in, by those names; only they are imported.

    Raises UnknownNameError (with the names there are) and UsageError for what is no check.
    """
    return {name: _check(name) for name in sorted(set(names) - set(CHECKS))}


def _check(name: str) -> Check:
    if ":" in name:
        found = plugins.resolve(name)
    elif name in (known := plugins.entry_point_names(plugins.CHECKS)):
        found = plugins.load_entry_point(plugins.CHECKS, name)
    else:
        there = ", ".join(sorted({*CHECKS, *known}))
        raise UnknownNameError(f"no check is named {name!r}; there are {there}")
    if not callable(found) or any(not hasattr(found, part) for part in _CHECK_PARTS):
        raise UsageError(
            f"{name!r} is no check: a check is called with a trajectory, gives a Verdict, "
            f"and has {', '.join(_CHECK_PARTS)}"
        )
    check: Check = found
    return check


class OwnModel:
    """A user's model factory: ``factory(scenario, clock)`` gives a Model for one run; or a function of one argument,
    the request, that answers it (:class:`harness.runner.functions.FunctionModel`).

    The run's clock is the system's, as for a live model, unless the factory has an attribute
    ``clock`` that says ``virtual``. Where the model has ``closing_verdicts()`` or ``aclose()``, they
    are called at the end of the run.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._factory = _factory(name)

    @property
    def clock(self) -> ClockKind:
        """The clock of its runs. Raises UsageError for a factory whose ``clock`` is neither."""
        wanted = getattr(self._factory, "clock", ClockKind.SYSTEM)
        if wanted not in (ClockKind.SYSTEM, ClockKind.VIRTUAL):
            raise UsageError(f"the model {self.name!r} has clock {wanted!r}; allowed are 'system' and 'virtual'")
        return ClockKind(wanted)

    def open(self, scenario: Scenario, clock: Clock) -> Model:
        """A model for one run. Raises UsageError where the factory fails or gives something else."""
        if answers_itself(self._factory):
            return FunctionModel(self.name, self._factory)
        try:
            found = self._factory(scenario, clock)
        except Exception as error:  # somebody else's code may raise anything
            raise UsageError(f"the model {self.name!r} cannot be made: {type(error).__name__}: {error}") from error
        if not hasattr(found, "answer") or not hasattr(found, "name"):
            raise UsageError(f"the model {self.name!r} gave a {type(found).__name__}, which has no 'answer' and 'name'")
        model: Model = found
        return model


def _factory(name: str) -> Any:
    known = plugins.entry_point_names(plugins.MODELS)
    if ":" not in name and name not in known:
        there = ", ".join(("auto", "scripted", "cassette", "live", *known))
        raise UnknownNameError(f"no model is named {name!r}; there are {there}, and package.module:name")
    found = plugins.resolve(name) if ":" in name else plugins.load_entry_point(plugins.MODELS, name)
    if not callable(found):
        raise UsageError(
            f"{name!r} is no model: a function or class called with (scenario, clock) is needed, "
            "or a function of the request"
        )
    return found
