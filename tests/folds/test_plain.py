"""Records written as plain values come back equal; anything else is refused, not guessed."""

import re
from dataclasses import fields
from typing import Any

import pytest
from hypothesis import given

from harness.errors import InvalidValueError
from harness.folds import (
    expectations_from_json,
    expectations_to_json,
    from_plain,
    limits_from_json,
    limits_to_json,
    to_plain,
)
from harness.types.jsontext import canonical_json, parse_json
from harness.types.messages import JsonText, camel
from harness.types.records import Comparison, Divergence, RunSummary, ScenarioComparison, Verdict
from harness.types.scenario import CallOrder, Expectations, ExpectedCall, ExpectedCalls, Limits
from tests.strategies import values_of


@given(values_of(Expectations))
def test_expectations_come_back_from_their_header(expectations: Expectations) -> None:
    assert expectations_from_json(expectations_to_json(expectations)) == expectations


@given(values_of(Limits))
def test_limits_come_back_from_their_header_and_are_all_written(limits: Limits) -> None:
    text = limits_to_json(limits)
    assert limits_from_json(text) == limits
    always = {"graceMs", "parallelTools", "steps", "toolTimeoutMs", "wallMs"}
    given = {camel(spec.name) for spec in fields(limits) if getattr(limits, spec.name) is not None}
    assert set(parse_json(text)) == always | given


@pytest.mark.parametrize("cls", [RunSummary, Verdict, Comparison])
def test_records_survive_json(cls: type[Any]) -> None:
    @given(values_of(cls))
    def law(record: Any) -> None:
        assert from_plain(cls, parse_json(canonical_json(to_plain(record)))) == record

    law()


def test_defaults_are_left_out_and_keys_are_in_camel_case() -> None:
    calls = ExpectedCalls(CallOrder.IN_ORDER, (ExpectedCall("refund"),))
    expectations = Expectations(steps=3, calls=(calls,), at_most_once=("refund",))
    assert expectations_to_json(expectations) == '{"atMostOnce":["refund"],"calls":[{"calls":[{"name":"refund"}],"order":"in-order"}],"steps":3}'
    assert expectations_to_json(Expectations()) == "{}"
    assert expectations_from_json(None) == Expectations()
    assert limits_from_json(None) is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param("[]", "an object, not list", id="no-object"),
        pytest.param("{", "not JSON", id="no-json"),
        pytest.param('{"stepz":3}', "has no field 'stepz'", id="unknown-field"),
        pytest.param('{"steps":"three"}', "Expectations.steps: 'three' is not of type int", id="text-for-number"),
        pytest.param('{"steps":true}', "is not of type int", id="true-is-no-number"),
        pytest.param('{"steps":3.0}', "is not of type int", id="float"),
        pytest.param('{"never":"refund"}', "is not a list", id="text-for-list"),
        pytest.param('{"never":[1]}', "is not of type str", id="number-in-list"),
        pytest.param('{"before":[["a"]]}', "has 1 items, not 2", id="half-a-pair"),
        pytest.param('{"calls":[{"order":"sideways","calls":[]}]}', "'sideways' is not one of exact", id="unknown-word"),
        pytest.param('{"calls":[{"calls":[]}]}', "a ExpectedCalls needs the field 'order'", id="missing"),
        pytest.param('{"calls":[{"order":[],"calls":[]}]}', "[] is not one of exact", id="list-for-word"),
        pytest.param('{"calls":[3]}', "an object, not int", id="number-for-object"),
    ],
)
def test_what_was_not_written_by_us_is_refused_with_its_place(text: str, words: str) -> None:
    with pytest.raises(InvalidValueError, match=re.escape(words)):
        expectations_from_json(JsonText(text))


@pytest.mark.parametrize(
    ("kind", "field", "value"),
    [
        pytest.param(ScenarioComparison, "change", {"runId": "a", "change": "odd"}, id="change"),
        pytest.param(Divergence, "kind", {"kind": "odd", "path": "", "base": None, "candidate": None}, id="kind"),
    ],
)
def test_a_comparison_that_is_read_has_no_word_that_nobody_knows(kind: type[Any], field: str, value: dict[str, Any]) -> None:
    with pytest.raises(InvalidValueError, match="'odd' is not one of"):
        from_plain(kind, value)
