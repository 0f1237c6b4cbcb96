"""A claim needs evidence: in an earlier good result, or in the input; the model's own words are none."""

from __future__ import annotations

from typing import Any

import pytest

from harness.testing import RunResult, scenario
from harness.types.codes import Outcome

RESULTS = {"look": {"returns": {"order": 7, "code": "A-42", "total": 19.9}}, "broken": {"raises": "order 99"}}
TOOLS = {"stub": RESULTS, "schemas": {"look": {"type": "object"}, "broken": {"type": "object"}}}


def ran(answer: str, *, arguments: dict[str, Any] | None = None, tool: str = "look", **wanted: Any) -> RunResult:
    script = [{"call": {tool: arguments or {}}}, {"say": answer}]
    provenance = wanted or {"answer": [r"[A-Z]-\d+|\d+(\.\d+)?"]}
    return scenario(
        task="what about order 5?", system="rule 3", tools=TOOLS, script=script, expect={"provenance": provenance}
    ).run()


def told(run: RunResult) -> list[str]:
    (verdict,) = [one for one in run.verdicts if one.check == "provenance"]
    assert verdict.outcome is (Outcome.FAIL if verdict.findings else Outcome.PASS)
    return [finding.message for finding in verdict.findings]


@pytest.mark.article("30")
@pytest.mark.parametrize(
    ("answer", "unproved"),
    [
        pytest.param("Order 7 under A-42 costs 19.9.", [], id="all-of-a-result"),
        pytest.param("Order 5 by rule 3.", [], id="of-the-input-and-the-system-prompt"),
        pytest.param("Nothing to say.", [], id="no-claim"),
        pytest.param("Order 8 costs 19.9.", ["8"], id="from-nowhere"),
        pytest.param("It costs 19.", ["19"], id="a-part-of-a-number"),
        pytest.param("Code A-4.", ["A-4"], id="a-part-of-a-word"),
        pytest.param("8, 8 and 9", ["8", "9"], id="each-claim-once"),
    ],
)
def test_what_the_answer_claims_must_have_been_told(answer: str, unproved: list[str]) -> None:
    assert told(ran(answer)) == [f"the answer says {claim!r}, which no result and no input told" for claim in unproved]


@pytest.mark.article("30")
def test_a_failed_result_and_the_models_own_words_are_no_evidence() -> None:
    assert len(told(ran("It was 99.", tool="broken"))) == 1
    assert len(told(ran("It was 77.", arguments={"q": 77}))) == 1


@pytest.mark.article("30")
@pytest.mark.parametrize(
    ("arguments", "n_findings"),
    [
        pytest.param({"id": 5}, 0, id="of-the-input"),
        pytest.param({"id": 6}, 1, id="from-nowhere"),
        pytest.param({"id": [5, {"x": "six"}]}, 1, id="all-the-way-down"),
        pytest.param({"id": True, "other": 6}, 0, id="true-and-unnamed-arguments-claim-nothing"),
    ],
)
def test_a_named_argument_must_have_been_told_before_the_call(arguments: dict[str, Any], n_findings: int) -> None:
    run = scenario(
        task="what about order 5?",
        tools=TOOLS,
        script=[{"call": {"look": arguments}}, {"say": "ok"}],
        expect={"provenance": {"arguments": {"look": ["id"]}}},
    ).run()
    assert len(told(run)) == n_findings


def test_nothing_is_judged_where_nobody_asks() -> None:
    run = scenario(task="x", script=[{"say": "42"}]).run()
    assert [one.outcome for one in run.verdicts if one.check == "provenance"] in ([], [Outcome.NOT_APPLICABLE])
