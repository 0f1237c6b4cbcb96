"""Start-up: the package, the command line, and the plugin in a test session that does not use it."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from benchmarks.measure import Row

TIMES = 9
BUDGETS = {"import": (5.0, 0.10), "help": (12.5, 0.25), "plugin": (1.5, 0.03)}
"""As multiples of ``python -c pass`` (0.02 s), and the seconds that they stand for."""


def rows(folder: Path) -> Iterator[Row]:
    """CPU of processes of their own, in rounds; all budgets are multiples of an empty interpreter's start."""
    folder.joinpath("test_foreign.py").write_text("def test_nothing():\n    pass\n", "utf-8")
    commands = {
        "pass": ["-c", "pass"],
        "import": ["-c", "import harness"],
        "help": ["-m", "harness", "--help"],
        "bare pytest": _PYTEST,
        "pytest": [*_PYTEST, "-p", "harness.pytest_plugin"],
    }
    found: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(TIMES + 1):
        for name, command in commands.items():
            found[name].append(_cpu_s(command, folder))
    found = {name: times[1:] for name, times in found.items()}  # the first round warms the caches of files
    empty = median(found["pass"])
    plugin = median(one - other for one, other in zip(found["pytest"], found["bare pytest"], strict=True))
    for key, what, seconds in (
        ("import", "import harness", median(found["import"])),
        ("help", "harness --help", median(found["help"])),
        ("plugin", "idle plugin, on top of pytest", plugin),
    ):
        budget, _ = BUDGETS[key]
        yield Row(what, "ms", seconds * 1e3, empty * 1e3, measure="× python", value=seconds / empty, budget=budget)


_PYTEST = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "test_foreign.py"]


def _cpu_s(arguments: list[str], folder: Path) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environ = {key: value for key, value in os.environ.items() if not key.startswith(("HARNESS_", "PYTEST_"))}
    environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # the other plugins of this environment would drown ours
    subprocess.run([sys.executable, *arguments], cwd=folder, env=environ, check=True, capture_output=True, timeout=60)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
