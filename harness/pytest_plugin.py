"""The pytest plugin: every scenario file is a test item, findings stand where a traceback would.

Silent and light in projects without scenarios: nothing but the standard library is loaded until a
file says ``format: harness-scenario/1``, or lies under a path that ``[tool.harness]`` names.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from _pytest._code.code import TerminalRepr, TracebackStyle

    from harness.runner import RunResult, RunSpec, Settings
    from harness.types.scenario import Scenario

_SUFFIXES = frozenset({".yaml", ".yml"})
_FORMAT = rb"""^[\s{]*["']?format["']?\s*:\s*["']?"""
_MARK = re.compile(_FORMAT + rb"harness-scenario/", re.MULTILINE)
_OTHER_MARK = re.compile(_FORMAT + rb"harness-evaluation/", re.MULTILINE)
"""As in ``harness.scenarios``, which an idle plugin does not load."""
_HEAD_BYTES = 4096
_settings_key = pytest.StashKey["Settings"]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options, all of them ``--harness-*``."""
    group = parser.getgroup("harness", "agent loop harness")
    group.addoption("--harness-subject", metavar="NAME", help="loop under test: built-in, or package.module:name")
    group.addoption(
        "--harness-model", default="auto", metavar="SOURCE", help="auto, scripted, cassette, live, or your own's name"
    )
    group.addoption("--harness-out", metavar="DIR", help="keep the trajectories of scenario items in this folder")


def pytest_collection(session: pytest.Session) -> None:
    """Say once, before any folder is looked at, what is wrong with ``[tool.harness]``. Raises UsageError."""
    pyproject = session.config.rootpath / "pyproject.toml"
    if pyproject.is_file() and b"harness" in pyproject.read_bytes():
        _is_configured(pyproject, session.config)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> ScenarioFile | None:
    """A scenario file, where this is one."""
    if file_path.suffix not in _SUFFIXES:
        return None
    if not (_is_marked(file_path) or _is_configured(file_path, parent.config)) or _is_marked(file_path, _OTHER_MARK):
        return None
    return ScenarioFile.from_parent(parent, path=file_path)


def _is_marked(path: Path, mark: re.Pattern[bytes] = _MARK) -> bool:
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD_BYTES)
    except OSError:
        return False  # pytest itself will say what is wrong with the file, if anybody asked for it
    return mark.search(head.removeprefix(b"\xef\xbb\xbf")) is not None


def _is_configured(path: Path, config: pytest.Config) -> bool:
    from harness.errors import HarnessError

    try:
        roots = _settings(config).scenarios
    except HarnessError as error:
        raise pytest.UsageError(str(error)) from None
    return any(path.is_relative_to(config.rootpath / root) for root in roots)


def _settings(config: pytest.Config) -> Settings:
    if _settings_key not in config.stash:
        from harness.runner.settings import settings

        config.stash[_settings_key] = settings(config.rootpath)
    return config.stash[_settings_key]


def _let_names_resolve(config: pytest.Config) -> None:
    """Names such as ``myapp:registry`` are looked up from the project's root too, last."""
    root = str(config.rootpath)
    if root not in sys.path:
        sys.path.append(root)


class ScenarioFile(pytest.File):
    """A YAML file of one scenario."""

    def collect(self) -> Iterable[ScenarioItem]:
        """Its one item. Raises ScenarioError, shown without traceback."""
        from harness.scenarios import collect

        roots = [str(self.config.rootpath / root) for root in _settings(self.config).scenarios]
        for scenario in collect([self.path], configured=roots):
            yield ScenarioItem.from_parent(self, name=scenario.id, scenario=scenario)

    def repr_failure(
        self, excinfo: pytest.ExceptionInfo[BaseException], style: TracebackStyle | None = None
    ) -> str | TerminalRepr:
        """An error of ours is its text."""
        from harness.errors import HarnessError

        if isinstance(excinfo.value, HarnessError):
            return str(excinfo.value)
        return super().repr_failure(excinfo)


class ScenarioFailed(Exception):
    """A scenario's outcome is neither PASS nor NOT_APPLICABLE."""

    def __init__(self, result: RunResult) -> None:
        super().__init__(f"{result.outcome}: {result.trajectory.header.run_id}")
        self.result = result


class ScenarioItem(pytest.Item):
    """One scenario as a test."""

    def __init__(self, *, scenario: Scenario, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.scenario = scenario
        self.extra_keyword_matches.update(scenario.tags)
        if scenario.skip is not None:
            self.add_marker(pytest.mark.skip(reason=scenario.skip))

    def runtest(self) -> None:
        """Run it and judge it. Raises ScenarioFailed, or an error of ours."""
        from harness.runner import execute
        from harness.types.codes import PASSING

        result = execute(self._spec())
        self.user_properties.append(("harness_outcome", result.outcome.value))
        self.user_properties.append(("harness_status", str(result.status)))
        if result.outcome not in PASSING:
            raise ScenarioFailed(result)

    def _spec(self) -> RunSpec:
        import os

        from harness.runner import RunOptions, plan, source_of

        option, configured = self.config.option, _settings(self.config)
        _let_names_resolve(self.config)
        source, model = source_of(option.harness_model)
        options = RunOptions(
            subject=option.harness_subject or configured.subject,
            source=source,
            model=model,
            cassettes=self.config.rootpath / configured.cassettes,
            folder=Path(option.harness_out) if option.harness_out else None,
            environ=tuple(sorted(os.environ.items())),
        )
        (spec,) = plan([self.scenario], options)
        return spec

    def repr_failure(
        self, excinfo: pytest.ExceptionInfo[BaseException], style: TracebackStyle | None = None
    ) -> str | TerminalRepr:
        """Findings instead of a traceback."""
        from harness.errors import HarnessError

        error = excinfo.value
        if isinstance(error, ScenarioFailed):
            return self._findings(error.result)
        if isinstance(error, HarnessError):
            return f"{type(error).__name__}: {error}"
        return super().repr_failure(excinfo, style)

    def _findings(self, result: RunResult) -> str:
        from harness.report import run_line, run_text, verdict_lines

        if result.path is not None:
            return run_text(result.summary, folder=str(self.config.option.harness_out))
        keep = "  keep the trajectory with --harness-out=DIR to look at it (harness show)"
        return "\n".join([run_line(result.summary), *verdict_lines(result.verdicts), keep])

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Where the scenario stands."""
        line = self.scenario.line
        return self.path, (line - 1) if line else None, f"scenario {self.scenario.id}"
