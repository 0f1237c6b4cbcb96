"""Evaluation and trajectory-replay test harness for LLM agent loops.

The public surface. A name is loaded from its room when it is first used, so that `import harness` costs nothing;
what is not listed here may change without a word. A new name needs three lines: below, in `_HOMES`, and in `__all__`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from harness.errors import (
        CassetteError,
        CassetteMiss,
        ConfigurationError,
        ForeignFormatError,
        HarnessError,
        InvalidValueError,
        LimitReached,
        MaxStepsExceeded,
        ModelError,
        NothingToRunError,
        RecordingFailed,
        RunCancelled,
        RunFailed,
        RunNotCompleted,
        RunUnfinished,
        ScenarioError,
        ScriptExhausted,
        SecretFoundError,
        ToolError,
        TrajectoryFormatError,
        UnknownNameError,
        UnsupportedError,
        UsageError,
    )
    from harness.types.codes import Code, Origin, Outcome, Status
    from harness.types.events import Event, Header, Trajectory
    from harness.types.profile import Profile
    from harness.types.records import Finding, Verdict
    from harness.types.scenario import Limits, Scenario

# The room of each public name.
_HOMES: Final = {
    "CassetteError": "harness.errors",
    "CassetteMiss": "harness.errors",
    "Code": "harness.types.codes",
    "ConfigurationError": "harness.errors",
    "Event": "harness.types.events",
    "Finding": "harness.types.records",
    "ForeignFormatError": "harness.errors",
    "HarnessError": "harness.errors",
    "Header": "harness.types.events",
    "InvalidValueError": "harness.errors",
    "LimitReached": "harness.errors",
    "Limits": "harness.types.scenario",
    "MaxStepsExceeded": "harness.errors",
    "ModelError": "harness.errors",
    "NothingToRunError": "harness.errors",
    "Origin": "harness.types.codes",
    "Outcome": "harness.types.codes",
    "Profile": "harness.types.profile",
    "RecordingFailed": "harness.errors",
    "RunCancelled": "harness.errors",
    "RunFailed": "harness.errors",
    "RunNotCompleted": "harness.errors",
    "RunUnfinished": "harness.errors",
    "Scenario": "harness.types.scenario",
    "ScenarioError": "harness.errors",
    "ScriptExhausted": "harness.errors",
    "SecretFoundError": "harness.errors",
    "Status": "harness.types.codes",
    "ToolError": "harness.errors",
    "Trajectory": "harness.types.events",
    "TrajectoryFormatError": "harness.errors",
    "UnknownNameError": "harness.errors",
    "UnsupportedError": "harness.errors",
    "UsageError": "harness.errors",
    "Verdict": "harness.types.records",
}

__all__ = [
    "CassetteError",
    "CassetteMiss",
    "Code",
    "ConfigurationError",
    "Event",
    "Finding",
    "ForeignFormatError",
    "HarnessError",
    "Header",
    "InvalidValueError",
    "LimitReached",
    "Limits",
    "MaxStepsExceeded",
    "ModelError",
    "NothingToRunError",
    "Origin",
    "Outcome",
    "Profile",
    "RecordingFailed",
    "RunCancelled",
    "RunFailed",
    "RunNotCompleted",
    "RunUnfinished",
    "Scenario",
    "ScenarioError",
    "ScriptExhausted",
    "SecretFoundError",
    "Status",
    "ToolError",
    "Trajectory",
    "TrajectoryFormatError",
    "UnknownNameError",
    "UnsupportedError",
    "UsageError",
    "Verdict",
]


def __getattr__(name: str) -> Any:
    """Load a public name from its room, once."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'harness' has no attribute {name!r}; its public names are in harness.__all__")
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The public names, loaded or not."""
    return sorted({*globals(), *__all__})
