"""Evaluation and trajectory-replay test harness for LLM agent loops.

The public surface. A name is loaded from its room when it is first used, so that `import harness` costs nothing;
what is not listed here may change without a word. A new name needs three lines: below, in `_HOMES`, and in `__all__`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from harness.checks.judging import judge
    from harness.compare.divergence import first_divergence
    from harness.loop.driver import Driver
    from harness.protocols import ToolContext
    from harness.runner.result import RunResult
    from harness.store.files import write_trajectory
    from harness.store.reading import read_trajectory
    from harness.subjects.function import Ending, Env
    from harness.testing import scenario, subject
    from harness.tools.registry import Registry, tool

# The room of each public name.
_HOMES: Final = {
    "Driver": "harness.loop.driver",
    "Ending": "harness.subjects.function",
    "Env": "harness.subjects.function",
    "Registry": "harness.tools.registry",
    "RunResult": "harness.runner.result",
    "ToolContext": "harness.protocols",
    "first_divergence": "harness.compare.divergence",
    "judge": "harness.checks.judging",
    "read_trajectory": "harness.store.reading",
    "scenario": "harness.testing",
    "subject": "harness.testing",
    "tool": "harness.tools.registry",
    "write_trajectory": "harness.store.files",
}

__all__ = [
    "Driver",
    "Ending",
    "Env",
    "Registry",
    "RunResult",
    "ToolContext",
    "first_divergence",
    "judge",
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
