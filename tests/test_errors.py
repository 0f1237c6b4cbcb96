"""The exception tree is the one that its docstring draws, and gives the exit codes of the verdict table."""

import inspect
import re

import pytest

from harness import (
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
    errors,
)

# What a drawn line holds: the lines of the tree, a name, an exit code unless the parent's holds.
DRAWN = re.compile(r"^    (?P<lines>[│├└─ ]*)(?P<name>[A-Z]\w+) +(?P<code>\d)?", re.MULTILINE)


def drawn_tree() -> dict[str, tuple[str | None, int]]:
    """Parent and exit code of each error, as the docstring of the module draws them."""
    path: list[str] = []
    tree: dict[str, tuple[str | None, int]] = {}
    for match in DRAWN.finditer(errors.__doc__ or ""):
        depth = len(match["lines"]) // 4
        path[depth:] = [match["name"]]
        parent = path[depth - 1] if depth else None
        code = int(match["code"]) if match["code"] else tree[str(parent)][1]
        tree[match["name"]] = (parent, code)
    return tree


def real_tree() -> dict[str, tuple[str | None, int]]:
    classes = [value for value in vars(errors).values() if inspect.isclass(value) and issubclass(value, HarnessError)]
    return {
        error.__name__: (None if error is HarnessError else error.__bases__[0].__name__, error.exit_code)
        for error in classes
    }


def test_the_tree_is_the_one_that_is_drawn() -> None:
    assert drawn_tree() == real_tree()


@pytest.mark.parametrize(
    ("error", "parent", "exit_code"),
    [
        pytest.param(UsageError, HarnessError, 2, id="usage"),
        pytest.param(ConfigurationError, UsageError, 2, id="configuration"),
        pytest.param(ScenarioError, UsageError, 2, id="unloadable-scenario"),
        pytest.param(UnknownNameError, UsageError, 2, id="unknown-name"),
        pytest.param(UnsupportedError, UsageError, 2, id="not-offered"),
        pytest.param(NothingToRunError, HarnessError, 4, id="nothing-to-run"),
        pytest.param(TrajectoryFormatError, HarnessError, 4, id="damaged-trajectory"),
        pytest.param(ForeignFormatError, HarnessError, 4, id="damaged-foreign-file"),
        pytest.param(CassetteError, HarnessError, 4, id="damaged-cassette"),
        pytest.param(SecretFoundError, HarnessError, 5, id="secret"),
        pytest.param(RecordingFailed, HarnessError, 5, id="disk-full"),
        pytest.param(errors.ToolSourceError, HarnessError, 5, id="tool-source"),
        pytest.param(ModelError, HarnessError, 1, id="model"),
        pytest.param(ScriptExhausted, ModelError, 1, id="script-dry"),
        pytest.param(CassetteMiss, ModelError, 1, id="cassette-miss"),
        pytest.param(ToolError, HarnessError, 1, id="tool"),
        pytest.param(InvalidValueError, HarnessError, 1, id="not-json"),
        pytest.param(RunNotCompleted, HarnessError, 1, id="not-completed"),
        pytest.param(MaxStepsExceeded, RunNotCompleted, 1, id="step-limit"),
        pytest.param(LimitReached, RunNotCompleted, 1, id="other-limit"),
        pytest.param(RunCancelled, RunNotCompleted, 1, id="cancelled"),
        pytest.param(RunFailed, RunNotCompleted, 1, id="failed"),
        pytest.param(RunUnfinished, RunNotCompleted, 1, id="unfinished"),
    ],
)
def test_an_error_is_caught_as_its_parent_and_gives_its_exit_code(
    error: type[HarnessError], parent: type[HarnessError], exit_code: int
) -> None:
    assert issubclass(error, parent)
    assert error.exit_code == exit_code


@pytest.mark.parametrize(
    ("place", "text"),
    [
        pytest.param({"file": "a.yaml", "line": 3, "field": "task"}, "a.yaml:3, field 'task': empty", id="all"),
        pytest.param({"file": "a.yaml"}, "a.yaml: empty", id="file-only"),
        pytest.param({"field": "task"}, "field 'task': empty", id="field-only"),
        pytest.param({}, "empty", id="nowhere"),
    ],
)
def test_a_scenario_error_says_where_as_far_as_it_is_known(place: dict[str, object], text: str) -> None:
    assert str(ScenarioError("empty", **place)) == text  # type: ignore[arg-type]
