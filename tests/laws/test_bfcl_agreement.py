"""What `make bfcl` found, as it is committed; and that its program tells a disagreement without a class and an empty class."""

from __future__ import annotations

import json
import random
import tomllib
from pathlib import Path

import pytest

from harness.evaluate.bfcl import BfclVerdict, grade_bfcl
from harness.evaluate.bfcl_values import BfclFault
from harness.types.bfcl import BfclCategory
from tests.conftest import REPO
from tests.evaluate.bfcl_lab import expected, function, item
from tests.laws import bfcl as law
from tests.laws.bfcl_answers import answers
from tests.laws.bfcl_compared import REASONS, Compared, sorted_out

RESULT = json.loads((REPO / "tests" / "data" / "bfcl-result.json").read_text("utf-8"))
CLASSES = tomllib.loads((REPO / "tests" / "data" / "bfcl-disagreements.toml").read_text("utf-8"))["classes"]
ONE = item(expected(x=[1]), functions=function(x="integer"))


def test_the_committed_result_has_enough_answers_and_no_disagreement_without_a_class() -> None:
    total = RESULT["counts"]["all judged by calls"]
    assert total["answers"] >= 20_000
    assert RESULT["disagreements"]["without a class"] == 0
    assert total["answers"] - total["same_reason"] == sum(RESULT["disagreements"].values())


def test_every_class_has_a_reason_and_a_disagreement_in_the_committed_result() -> None:
    assert set(CLASSES) == set(RESULT["disagreements"]) - {"without a class"}
    assert all(entry["reason"].strip() and entry["when"] for entry in CLASSES.values())
    assert all(RESULT["disagreements"][name] > 0 for name in CLASSES)


def test_every_category_that_is_judged_by_calls_was_asked_about() -> None:
    single = {str(category) for category in BfclCategory if not category.startswith("multi_turn")}
    assert set(RESULT["counts"]) - {"all judged by calls", "all of (ir)relevance"} == single
    assert {reason for reason in RESULT["reasons"] if reason != "valid" and not reason.startswith("raised")} <= set(REASONS)


def test_the_page_tells_what_the_result_holds() -> None:
    page = (REPO / "docs" / "bfcl.md").read_text("utf-8")
    total = RESULT["counts"]["all judged by calls"]
    assert f"answers {total['answers']:>6}  valid {total['valid']:>6}  same_verdict {total['same_verdict']:>6}" in page
    assert f"bfcl-eval {RESULT['bfcl-eval']}: {RESULT['answers']} answers" in page
    assert f"of {RESULT['changes']} kinds" in page
    assert all(f"**{name}** ({RESULT['disagreements'][name]})" in page for name in CLASSES)
    assert all(f"`{name}`" in page for name in RESULT["no valid answer"])


def test_the_committed_result_is_of_the_data_beside_the_repository(shared: Path) -> None:
    assert RESULT["data"] == law.digest()


def told(*found: Compared) -> tuple[dict[str, int], int]:
    counts, left = sorted_out(found, CLASSES)
    return dict(counts), len(left)


def judged(theirs: tuple[str, ...], fault: BfclFault | None) -> Compared:
    answer = next(answers(ONE, random.Random(1), 1))
    return Compared(answer, theirs, BfclVerdict(fault))


@pytest.mark.parametrize(
    ("theirs", "fault", "agrees"),
    [
        pytest.param(("valid",), None, True, id="both-accept"),
        pytest.param(("valid",), BfclFault.WRONG_TEXT, False, id="only-theirs"),
        pytest.param(("invalid", "value_error:string"), None, False, id="only-ours"),
        pytest.param(("invalid", "value_error:string"), BfclFault.WRONG_TEXT, True, id="same-reason"),
        pytest.param(("invalid", "value_error:string"), BfclFault.WRONG_TYPE, False, id="another-reason"),
        pytest.param(("invalid", "a reason never heard of"), BfclFault.WRONG_TYPE, False, id="unknown-reason"),
        pytest.param(("raised", "KeyError", "'x'"), BfclFault.WRONG_TYPE, False, id="it-broke-off"),
    ],
)
def test_agreement_is_about_verdict_and_reason(theirs: tuple[str, ...], fault: BfclFault | None, agrees: bool) -> None:
    counts, left = told(judged(theirs, fault))
    assert left == (0 if agrees else 1)
    assert set(counts.values()) == {0}


def test_a_disagreement_falls_into_the_class_whose_conditions_hold() -> None:
    counts, left = told(judged(("raised", "OverflowError", "too large"), BfclFault.WRONG_TYPE))
    assert (counts, left) == ({"its-checker-breaks-off": 1}, 0)
    counts, left = told(judged(("raised", "OverflowError", "too large"), None))
    assert (counts, left) == ({"its-checker-breaks-off": 0}, 1)


def test_the_program_fails_for_an_empty_class_and_for_a_disagreement_without_one(capsys: pytest.CaptureFixture[str]) -> None:
    rows = {"all judged by calls": {"answers": law.AT_LEAST}}
    counts, _ = sorted_out([], CLASSES)
    assert law.told([], counts, rows) == 1
    assert "take it out" in capsys.readouterr().err
    assert law.told([judged(("valid",), BfclFault.WRONG_TEXT)], +counts, rows) == 1
    assert law.told([], +counts, rows) == 0
    assert law.told([], +counts, {"all judged by calls": {"answers": law.AT_LEAST - 1}}) == 1


def test_answers_are_the_same_each_time_and_hold_right_and_wrong_ones() -> None:
    first, again = (list(answers(ONE, random.Random(3), 40)) for _ in range(2))
    assert first == again
    verdicts = {grade_bfcl(answer.item, answer.calls, answer.names).valid for answer in first}
    assert verdicts == {True, False}
    right = [answer for answer in first if answer.change.startswith("right")]
    assert all(grade_bfcl(answer.item, answer.calls, answer.names).valid for answer in right)
