"""Five hundred verdicts of the benchmark's own checker, replayed; and rules that are broken on purpose, told by them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.evaluate import bfcl, bfcl_values
from harness.evaluate.bfcl import BfclNames, BfclVerdict, grade_bfcl
from harness.evaluate.bfcl_case import item_of_case, misfit_of
from harness.evaluate.bfcl_truth import defects_of
from harness.evaluate.bfcl_values import BfclFault
from harness.formats.bfcl import read_bfcl
from harness.types.bfcl import BfclCategory, BfclItem
from harness.types.grades import MisfitKind
from tests.conftest import REPO
from tests.evaluate.bfcl_lab import Called, array, call, expected, function, item
from tests.laws.bfcl_compared import REASONS, our_faults

SAMPLE = REPO / "tests" / "data" / "bfcl-sample.jsonl"
Row = tuple[BfclItem, BfclNames, list[Called], list[str]]


@pytest.fixture(scope="module")
def items(shared: Path) -> dict[str, BfclItem]:
    """Every item of one turn, by id."""
    found = [one for path in sorted((shared / "data" / "bfcl").glob("*.json")) for one in read_bfcl(path)]
    return {one.id: one for one in found if isinstance(one, BfclItem)}


@pytest.fixture(scope="module")
def sample(items: dict[str, BfclItem]) -> list[Row]:
    rows = []
    for line in SAMPLE.read_text("utf-8").splitlines():
        identity, _, names, calls, *said = json.loads(line)
        rows.append((items[identity], BfclNames(names), [Called(*made) for made in calls], said))
    return rows


def disagreeing(sample: list[Row]) -> list[tuple[str, list[str], BfclVerdict]]:
    found = []
    for one, names, calls, said in sample:
        verdict = grade_bfcl(one, calls, names)
        if [REASONS[reason] for reason in said[1:]] != our_faults(verdict):
            found.append((one.id, said, verdict))
    return found


def test_a_sample_of_its_checkers_verdicts_is_given_again_with_their_reasons(sample: list[Row]) -> None:
    assert disagreeing(sample) == []


def test_the_sample_holds_every_category_and_nearly_every_reason(sample: list[Row]) -> None:
    assert len(sample) == 500
    assert Counter(one.category for one, *_ in sample).keys() == {
        category for category in BfclCategory if not category.startswith("multi_turn") and "relevance" not in category
    }
    faults = {REASONS[said[1]] for *_, said in sample if said[0] == "invalid"}
    assert set(BfclFault) - faults == {BfclFault.UNWANTED_CALL, BfclFault.NO_CALL, BfclFault.ONLY_LEFT_OUT}
    assert sum(said[0] == "valid" for *_, said in sample) > 40


BROKEN: dict[str, tuple[Any, str, Callable[..., Any]]] = {
    "text is compared exactly": (bfcl_values, "plain", lambda text: text),
    "text keeps its case": (bfcl_values, "plain", lambda text: text.translate(str.maketrans("", "", " ,./-_*^"))),
    "text keeps its spaces": (bfcl_values, "plain", lambda text: text.lower()),
    "no int becomes a float": (bfcl, "_as_float", lambda value: value),
    "items of lists are of any type": (bfcl_values, "_wrong_items", lambda *_: None),
    "keys may be left out": (bfcl_values, "_may_be_left_out", lambda _: True),
    "keys may not be left out": (bfcl_values, "_may_be_left_out", lambda _: False),
    "texts in lists are exact": (bfcl_values, "_plainly", lambda value: value),
    "JavaScript is not read": (bfcl, "javascript_value", lambda text, *_: text),
    "Java is not read": (bfcl, "java_value", lambda text, *_: text),
    "everything is accepted": (bfcl, "refusal_of_value", lambda *_: None),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_rule_is_told_by_the_sample(name: str, sample: list[Row], monkeypatch: pytest.MonkeyPatch) -> None:
    module, attribute, instead = BROKEN[name]
    monkeypatch.setattr(module, attribute, instead)
    assert disagreeing(sample) != []


# ---------------------------------------------------------------- rows that cannot be answered


def test_the_rows_that_nothing_satisfies_are_these(items: dict[str, BfclItem]) -> None:
    assert [name for name, one in items.items() if defects_of(one)] == [
        "live_simple_106-63-0", "live_simple_112-68-0", "simple_java_36",
    ]


@pytest.mark.parametrize(
    ("one", "why"),
    [
        pytest.param(item(expected(x=[1], y=[2]), functions=function(x="integer")), "y is expected and not declared", id="undeclared"),
        pytest.param(item(expected(), functions=function(x="integer", required=("x",))), "x is required, and nothing", id="nothing-for-a-required-one"),
        pytest.param(item(expected(x=[]), functions=function(x=array("integer"))), "x takes no value", id="no-value"),
        pytest.param(item(expected(x=[""]), functions=function(x="integer", required=("x",))), "x takes no value", id="required-and-only-left-out"),
        pytest.param(item(expected(x=[{"a": [""], "b": [[1.5], ""]}]), functions=function(x="dict")), None, id="an-object"),
        pytest.param(item(expected(x=[5], y=["", 2]), functions=function(x="float", y="integer")), None, id="sound"),
        pytest.param(item(expected(x=["", 2]), functions=function()), None, id="undeclared-and-may-be-left-out"),
    ],
)
def test_a_row_is_defective_where_the_rules_refuse_all_that_it_lists(one: BfclItem, why: str | None) -> None:
    found = defects_of(one)
    assert found == () if why is None else len(found) == 1 and why in found[0]


# ---------------------------------------------------------------- in the words of every evaluation


TWO = (function("f", x="integer"), function("g", x="integer"))


@pytest.mark.parametrize(
    ("one", "calls", "kind", "path"),
    [
        pytest.param(item(expected(x=[1]), functions=function(x="integer")), [call(x=1)], None, "", id="valid"),
        pytest.param(item(expected(x=[1]), functions=function(x="integer")), [], MisfitKind.NO_CALL, "calls", id="no-call"),
        pytest.param(item(expected(x=[1]), functions=function(x="integer")), [call(x=1)] * 2, MisfitKind.EXTRA_CALL, "calls", id="one-too-many"),
        pytest.param(item(expected(x=[1]), functions=function(x="integer")), [call(x=2)], MisfitKind.WRONG_VALUE, "calls[1].arguments.x", id="wrong-value"),
        pytest.param(item(expected(x=[1]), functions=function(x="integer")), [call(x="1")], MisfitKind.INVALID_ARGUMENTS, "calls[1].arguments.x", id="wrong-type"),
        pytest.param(item(expected(x=[1]), functions=function(x="integer")), [call(y=1, x=1)], MisfitKind.EXTRA_ARGUMENT, "calls[1].arguments.y", id="extra-argument"),
        pytest.param(item(expected(x=[1]), functions=function(x="integer")), [call()], MisfitKind.MISSING_ARGUMENT, "calls[1].arguments.x", id="missing-argument"),
        pytest.param(item(expected(x=[1]), functions=TWO, category=BfclCategory.MULTIPLE), [call("g", x=1)], MisfitKind.WRONG_TOOL, "calls[1].name", id="wrong-tool"),
        pytest.param(item(expected(x=[1]), functions=TWO, category=BfclCategory.MULTIPLE), [call("h", x=1)], MisfitKind.HALLUCINATED, "calls[1].name", id="unheard-of"),
        pytest.param(item(expected(x=[1]), expected("g", x=[1]), functions=TWO, category=BfclCategory.PARALLEL), [call(x=1)], MisfitKind.MISSING_CALL, "calls", id="one-too-few"),
        pytest.param(item(expected(x=[1]), expected("g", x=[1]), functions=TWO, category=BfclCategory.PARALLEL), [call("g", x=1), call(x=3)], MisfitKind.WRONG_VALUE, "calls[2].arguments.x", id="the-closest-call"),
        pytest.param(item(functions=function(), category=BfclCategory.IRRELEVANCE), [call()], MisfitKind.UNWANTED, "calls[1]", id="unwanted"),
    ],
)
def test_a_verdict_is_a_difference_with_its_class_and_place(one: BfclItem, calls: list[Called], kind: MisfitKind | None, path: str) -> None:
    misfit = misfit_of(one, calls, grade_bfcl(one, calls))
    assert (None if misfit is None else (misfit.kind, misfit.path)) == (None if kind is None else (kind, path))


def test_the_record_of_a_case_gives_its_item_back() -> None:
    record = {
        "category": "multiple",
        "functions": [{"name": "f", "parameters": {"type": "dict", "properties": {"x": {"type": "integer"}}, "required": ["x"]}}],
        "truth": [{"f": {"x": [1]}}],
    }
    one = item_of_case("a", record)
    assert grade_bfcl(one, [call(x=1)], BfclNames.AS_WRITTEN).valid
    assert grade_bfcl(one, [call(x=2)], BfclNames.AS_WRITTEN).fault is BfclFault.WRONG_VALUE
