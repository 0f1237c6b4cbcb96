"""Evaluation and trajectory-replay test harness for LLM agent loops.

The public surface. A name is loaded from its room when it is first used, so that `import harness` costs nothing;
what is not listed here may change without a word. A new name needs three lines: below, in `_HOMES`, and in `__all__`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from harness.checks.judging import judge
    from harness.compare.divergence import first_divergence
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
        ReplayDiffers,
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
    from harness.loop.driver import Driver
    from harness.protocols import ToolContext
    from harness.runner.evaluation.reading import EvaluationResult, read_evaluation
    from harness.runner.result import RunResult
    from harness.store.files import write_trajectory
    from harness.store.reading import read_trajectory
    from harness.subjects.ending import Ending
    from harness.subjects.env import Env
    from harness.testing import scenario, subject
    from harness.tools.registry import Registry, tool
    from harness.types.codes import Code, Origin, Outcome, Status
    from harness.types.evaluation_summary import EvaluationSummary
    from harness.types.events import Event, Header, Trajectory
    from harness.types.profile import Profile
    from harness.types.records import Finding, Verdict
    from harness.types.scenario import Limits, Scenario

# The room of each public name.
_HOMES: Final = {
    "CassetteError": "harness.errors",
    "CassetteMiss": "harness.errors",
    "ReplayDiffers": "harness.errors",
    "Code": "harness.types.codes",
    "ConfigurationError": "harness.errors",
    "Driver": "harness.loop.driver",
    "Ending": "harness.subjects.ending",
    "Env": "harness.subjects.env",
    "EvaluationResult": "harness.runner.evaluation.reading",
    "EvaluationSummary": "harness.types.evaluation_summary",
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
    "Registry": "harness.tools.registry",
    "RunCancelled": "harness.errors",
    "RunFailed": "harness.errors",
    "RunNotCompleted": "harness.errors",
    "RunResult": "harness.runner.result",
    "RunUnfinished": "harness.errors",
    "Scenario": "harness.types.scenario",
    "ScenarioError": "harness.errors",
    "ScriptExhausted": "harness.errors",
    "SecretFoundError": "harness.errors",
    "Status": "harness.types.codes",
    "ToolContext": "harness.protocols",
    "ToolError": "harness.errors",
    "Trajectory": "harness.types.events",
    "TrajectoryFormatError": "harness.errors",
    "UnknownNameError": "harness.errors",
    "UnsupportedError": "harness.errors",
    "UsageError": "harness.errors",
    "Verdict": "harness.types.records",
    "first_divergence": "harness.compare.divergence",
    "judge": "harness.checks.judging",
    "read_evaluation": "harness.runner.evaluation.reading",
    "read_trajectory": "harness.store.reading",
    "scenario": "harness.testing",
    "subject": "harness.testing",
    "tool": "harness.tools.registry",
    "write_trajectory": "harness.store.files",
}

__all__ = [
    "CassetteError",
    "CassetteMiss",
    "Code",
    "ConfigurationError",
    "Driver",
    "Ending",
    "Env",
    "EvaluationResult",
    "EvaluationSummary",
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
    "Registry",
    "ReplayDiffers",
    "RunCancelled",
    "RunFailed",
    "RunNotCompleted",
    "RunResult",
    "RunUnfinished",
    "Scenario",
    "ScenarioError",
    "ScriptExhausted",
    "SecretFoundError",
    "Status",
    "ToolContext",
    "ToolError",
    "Trajectory",
    "TrajectoryFormatError",
    "UnknownNameError",
    "UnsupportedError",
    "UsageError",
    "Verdict",
    "first_divergence",
    "judge",
    "read_evaluation",
    "read_trajectory",
    "scenario",
    "subject",
    "tool",
    "write_trajectory",
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
