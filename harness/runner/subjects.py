"""Finds a subject by what the options say."""

from __future__ import annotations

from collections.abc import Callable

from harness import plugins
from harness.errors import UnknownNameError, UsageError
from harness.protocols import Subject
from harness.runner.specs import BUILT_IN
from harness.subjects import BuiltInLoop, FunctionSubject
from harness.subjects.function import UNNAMED
from harness.types.profile import Profile
from harness.types.scenario import Scenario


def profile_of(subject: Subject, scenario: Scenario) -> Profile:
    """What a subject declares of a run of this scenario: its profile, unless it has one for each scenario."""
    made: Callable[[Scenario], Profile] | None = getattr(subject, "profile_for", None)
    return subject.profile if made is None else made(scenario)


def real_time_of(subject: Subject) -> str:
    """Why a subject's runs take the system's clock; "" where they need not."""
    return str(getattr(subject, "real_time", ""))


def find_subject(name: str) -> Subject:
    """``built-in``, the name of an entry point, or ``package.module:name`` of a subject or function.

    Raises UnknownNameError for a name that leads nowhere, UsageError for what is no subject.
    """
    if name == BUILT_IN:
        return BuiltInLoop()
    known = plugins.entry_point_names(plugins.SUBJECTS)
    if ":" not in name and name not in known:
        there = ", ".join((BUILT_IN, *known))
        raise UnknownNameError(f"no subject is named {name!r}; there are {there}, and package.module:name")
    found = plugins.resolve(name) if ":" in name else plugins.load_entry_point(plugins.SUBJECTS, name)
    if hasattr(found, "run") and hasattr(found, "profile"):
        if isinstance(found, FunctionSubject) and found.name == UNNAMED:
            found.name = name  # it was written down under this name, and has no other
        subject: Subject = found
        return subject
    if callable(found):
        return FunctionSubject(found, name=name)
    raise UsageError(f"{name!r} is neither a subject nor a function (it is a {type(found).__name__})")
