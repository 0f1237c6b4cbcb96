"""Small rooms: 300 lines a file, 60 a function, nine functions in ten under 30, a median of at most 10."""

from pathlib import Path

import pytest

from tests.house.sizes import Ledger, over_the_walls, read_ledger, shape
from tests.house.source import Function, Source, functions_of, package_sources

LEDGER = Path(__file__).with_name("ledger.toml")
NOTHING = Ledger(files={}, functions={})


def function_text(n_lines: int, *, name: str = "f", indent: str = "") -> str:
    return f"{indent}def {name}():\n" + f"{indent}    x = 1\n" * (n_lines - 1)


def lengths(*values: int) -> list[Function]:
    return [Function("harness/a.py", f"f{index}", value) for index, value in enumerate(values)]


def test_nothing_in_the_package_is_over_a_wall_but_what_the_ledger_names() -> None:
    assert over_the_walls(package_sources(), read_ledger(LEDGER)) == []


def test_most_functions_of_the_package_are_short() -> None:
    assert shape(function for source in package_sources() for function in functions_of(source)) == []


@pytest.mark.parametrize(
    ("text", "ledger", "word"),
    [
        pytest.param("x = 1\n" * 301, NOTHING, "has 301 lines", id="file-too-long"),
        pytest.param(function_text(61), NOTHING, "'harness/a.py:f' has 61 lines", id="function-too-long"),
        pytest.param(
            "class C:\n" + function_text(61, indent="    "), NOTHING, "'harness/a.py:C.f'", id="method-too-long"
        ),
        pytest.param(
            "def g():\n" + function_text(61, indent="    "), NOTHING, "'harness/a.py:g.f'", id="nested-too-long"
        ),
        pytest.param("x = 1\n" * 320, Ledger({"harness/a.py": 310}, {}), "allowed are 310", id="entry-outgrown"),
        pytest.param("x = 1\n" * 305, Ledger({"harness/a.py": 310}, {}), "shrank to 305", id="entry-not-lowered"),
        pytest.param("x = 1\n", Ledger({"harness/a.py": 310}, {}), "remove it", id="entry-not-needed"),
        pytest.param("x = 1\n", Ledger({"harness/gone.py": 310}, {}), "remove it", id="entry-of-a-file-that-is-gone"),
        pytest.param(
            function_text(5), Ledger({}, {"harness/a.py:f": 70}), "remove it", id="entry-of-a-function-not-needed"
        ),
    ],
)
def test_what_is_over_a_wall_or_wrong_in_the_ledger_is_refused(text: str, ledger: Ledger, word: str) -> None:
    findings = over_the_walls([Source("harness/a.py", text)], ledger)
    assert any(word in finding for finding in findings), findings


@pytest.mark.parametrize(
    ("text", "ledger"),
    [
        pytest.param("x = 1\n" * 300, NOTHING, id="file-at-the-wall"),
        pytest.param(function_text(60), NOTHING, id="function-at-the-wall"),
        pytest.param("x = 1\n" * 310, Ledger({"harness/a.py": 310}, {}), id="entry-as-it-is"),
    ],
)
def test_what_stands_at_a_wall_or_in_the_ledger_is_let_through(text: str, ledger: Ledger) -> None:
    assert over_the_walls([Source("harness/a.py", text)], ledger) == []


@pytest.mark.parametrize(
    ("values", "n_findings"),
    [
        pytest.param([5] * 9 + [40], 0, id="nine-in-ten"),
        pytest.param([5] * 8 + [30, 40], 1, id="eight-in-ten"),
        pytest.param([11] * 10, 1, id="all-middling"),
        pytest.param([], 1, id="none-at-all"),
    ],
)
def test_the_shape_of_all_functions_is_judged(values: list[int], n_findings: int) -> None:
    assert len(shape(lengths(*values))) == n_findings
