"""Gates as documents: what they say, what is refused and how, the published schema, and the page about them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from harness import scenarios
from harness.documents import load_document
from harness.errors import ConfigurationError
from harness.scenarios.gate_fields import ExactFields, InconclusiveFields, PassRateFields
from harness.scenarios.gates import GATE_SCHEMA_FILE, gate_schema, read_gate
from harness.types.gates import MOST_DAYS, UNLESS_SAID, Gate, GrowthRule, PassRateRule, Quarantine
from harness.types.review import Rule, Severity
from tests.scenarios.test_page import field_names

HEAD = "format: harness-gate/1\n"
PAGE = (Path(__file__).resolve().parents[2] / "docs/gates.md").read_text("utf-8")
BLOCKS = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)


def test_an_empty_gate_asks_all_that_can_be_asked_exactly_and_nothing_else() -> None:
    assert read_gate(HEAD, "gate.yaml") == Gate()
    assert [rule for rule, severity in Gate().exact if severity is not Severity.FAIL] == [Rule.DETAILS]
    assert Gate().pass_rate is None
    assert Gate().growth == ()


def test_a_gate_with_everything() -> None:
    text = HEAD + (
        "exact: {behaviour: warn, details: fail}\n"
        "statistical:\n"
        "  pass-rate: {margin: 5 %, level: 0.9}\n"
        "  latency: {at_most: 0.25, severity: warn}\n"
        "  cost: {at_most: 150 %}\n"
        "inconclusive: {exact: warn, statistical: fail}\n"
        "quarantine:\n"
        "  - {scenario: shop/*, until: 2026-12-31, why: issue 12}\n"
        "  - {scenario: a, until: 2027-02-28, why: x, rules: [cancel, missing]}\n"
    )
    exact = {**UNLESS_SAID, Rule.BEHAVIOUR: Severity.WARN, Rule.DETAILS: Severity.FAIL}
    assert read_gate(text, "gate.yaml") == Gate(
        exact=tuple(exact.items()),
        pass_rate=PassRateRule(0.05, 0.9),
        growth=(GrowthRule(Rule.COST, 1.5), GrowthRule(Rule.LATENCY, 0.25, severity=Severity.WARN)),
        inconclusive_exact=Severity.WARN,
        inconclusive_statistical=Severity.FAIL,
        quarantine=(
            Quarantine("shop/*", "2026-12-31", "issue 12"),
            Quarantine("a", "2027-02-28", "x", (Rule.CANCEL, Rule.MISSING)),
        ),
    )


BAD = [
    pytest.param("exact: {chekcs: fail}\n", 2, "exact.chekcs", "did you mean 'checks'", id="unknown-rule"),
    pytest.param("exact: {checks: fial}\n", 2, "exact.checks", "did you mean 'fail'", id="unknown-word"),
    pytest.param("exact: {checks: true}\n", 2, "exact.checks", "must be text", id="no-word"),
    pytest.param("exact:\n", 2, "exact", "has no value", id="nothing"),
    pytest.param("rules: []\n", 2, "rules", "unknown field", id="unknown-field"),
    pytest.param("statistical: {cost: 10 %}\n", 2, "statistical.cost", "must be a mapping", id="no-mapping"),
    pytest.param("statistical: {cost: {}}\n", 2, "statistical.cost.at_most", "is required", id="no-bound"),
    pytest.param("statistical: {cost: {margin: 0.1}}\n", 2, "statistical.cost.margin", "unknown field", id="bound-of-another-rule"),
    pytest.param("statistical: {cost: {at_most: 10}}\n", 2, "statistical.cost.at_most", "write numbers above 1 as per cent", id="ten-is-no-share"),
    pytest.param("statistical: {cost: {at_most: ten}}\n", 2, "statistical.cost.at_most", "must be a share", id="no-number"),
    pytest.param("statistical: {cost: {at_most: true}}\n", 2, "statistical.cost.at_most", "must be a share", id="truth-is-no-number"),
    pytest.param("statistical: {cost: {at_most: -0.1}}\n", 2, "statistical.cost.at_most", "must lie between", id="negative"),
    pytest.param("statistical: {cost: {at_most: 5000 %}}\n", 2, "statistical.cost.at_most", "must lie between", id="far-too-much"),
    pytest.param("statistical: {pass-rate: {margin: 0}}\n", 2, "statistical.pass-rate.margin", "must be above 0", id="margin-of-nothing"),
    pytest.param("statistical: {pass-rate: {margin: 120 %}}\n", 2, "statistical.pass-rate.margin", "must lie between", id="margin-beyond-all"),
    pytest.param("statistical: {pass-rate: {margin: 0.1, level: 1}}\n", 2, "statistical.pass-rate.level", "below 1", id="sure"),
    pytest.param("statistical: {pass-rate: {margin: 0.1, severity: pass}}\n", 2, "statistical.pass-rate.severity", "unknown value 'pass'", id="a-rule-for-nothing"),
    pytest.param("inconclusive: warn\n", 2, "inconclusive", "must be a mapping", id="inconclusive-for-all"),
    pytest.param("quarantine: [{scenario: a, why: x}]\n", 2, "quarantine[0].until", "is required", id="no-expiry"),
    pytest.param("quarantine: [{scenario: a, until: 2026-12-31}]\n", 2, "quarantine[0].why", "is required", id="no-reason"),
    pytest.param("quarantine: [{scenario: a, until: 2026-12-31, why: ' '}]\n", 2, "quarantine[0].why", "must not be empty", id="empty-reason"),
    pytest.param("quarantine:\n  - {scenario: a, until: 2026-02-30, why: x}\n", 3, "quarantine[0].until", "year-month-day", id="no-such-day"),
    pytest.param("quarantine: [{scenario: a, until: 31.12.2026, why: x}]\n", 2, "quarantine[0].until", "year-month-day", id="another-way-to-write-a-day"),
    pytest.param("quarantine: [{scenario: a, until: 20261231, why: x}]\n", 2, "quarantine[0].until", "must be text", id="a-number"),
    pytest.param("quarantine: [{scenario: a, until: 2026-12-31, why: x, rules: [chance]}]\n", 2, "quarantine[0].rules[0]", "unknown value 'chance'", id="quarantine-of-no-rule"),
    pytest.param("quarantine: [{scenario: a, until: 2026-12-31, why: x, rules: []}]\n", 2, "quarantine[0].rules", "must not be empty", id="quarantine-of-nothing"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "line", "field", "what"), BAD)
def test_what_is_wrong_is_told_with_file_line_field_and_what_to_do(body: str, line: int, field: str, what: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        read_gate(HEAD + body, "ci/gate.yaml")
    text = str(caught.value)
    assert text.startswith(f"the gate cannot be read: ci/gate.yaml:{line}, field {field!r}: ")
    assert what in text
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    ("text", "what"),
    [
        pytest.param("", "is empty", id="empty"),
        pytest.param("a: [", "not YAML", id="no-yaml"),
        pytest.param("- a\n", "write 'format: harness-gate/1' first", id="a-list"),
        pytest.param("exact: {}\n", "write 'format: harness-gate/1' first", id="no-format"),
        pytest.param("format: harness-gate/2\n", "must be 'harness-gate/1'", id="another-version"),
        pytest.param("format: harness-scenario/1\ntask: x\n", "must be 'harness-gate/1'", id="a-scenario"),
        pytest.param(HEAD + "exact: {checks: fail, checks: pass}\n", "stands twice", id="twice"),
        pytest.param(HEAD.encode("utf-16"), "UTF-16", id="another-encoding"),
    ],
)
def test_what_is_no_gate_is_refused(text: str | bytes, what: str) -> None:
    with pytest.raises(ConfigurationError, match=re.escape(what)):
        read_gate(text, "gate.yaml")


def test_the_published_schema_is_the_generated_one() -> None:
    """After a change of the fields: write ``gate_schema()`` to the file, and look at the difference."""
    golden = Path(scenarios.__file__).parent / GATE_SCHEMA_FILE
    assert json.loads(golden.read_text("utf-8")) == gate_schema()


BEYOND_SHAPE = {"far-too-much", "margin-of-nothing", "margin-beyond-all", "sure", "no-such-day"}
"""What only the reader refuses."""


@pytest.mark.parametrize("body", [pytest.param(row.values[0], id=row.id) for row in BAD if row.id not in BEYOND_SHAPE])
def test_the_schema_refuses_what_the_reader_refuses_by_shape(body: Any) -> None:
    assert not jsonschema_rs.validator_for(gate_schema()).is_valid(load_document(HEAD + body, "x").value)


@pytest.mark.parametrize("block", BLOCKS, ids=range(len(BLOCKS)))
def test_an_example_of_the_page_is_read_and_fits_the_schema(block: str) -> None:
    assert isinstance(read_gate(block, "page.yaml"), Gate)
    assert jsonschema_rs.validator_for(gate_schema()).is_valid(load_document(block, "x").value)


def test_the_page_names_every_field_and_word() -> None:
    assert len(BLOCKS) >= 3
    names = {*field_names(gate_schema()), *(rule.value for rule in Rule), *(severity.value for severity in Severity)}
    told = "\n".join([*BLOCKS, *re.findall(r"`([^`\n]+)`", PAGE)])
    assert sorted(name for name in names if not re.search(rf"\b{re.escape(name)}\b", told)) == []
    assert f"{MOST_DAYS} days" in PAGE


def test_the_defaults_of_fields_are_those_of_the_value() -> None:
    assert dict(ExactFields().made()) == UNLESS_SAID
    assert (InconclusiveFields().exact, InconclusiveFields().statistical) == (
        Gate().inconclusive_exact,
        Gate().inconclusive_statistical,
    )
    assert PassRateFields(margin=0.1).made() == PassRateRule(0.1)
