"""Each rule of the lint finds the tool that breaks it, and leaves alone the one that does not."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.tools.lint import RULES, LintFinding, lint_tools
from harness.tools.snapshot import snapshot_of
from harness.types.evaluation import EvalTool
from harness.types.jsontext import canonical_json
from tests.tools.sourcing import inline, snapshot

GOOD = {
    "name": "get_order",
    "description": "Look up one order by its number. Use this when a customer asks where an order is.",
    "parameters": {
        "type": "object",
        "properties": {"order_number": {"type": "integer", "description": "The number on the invoice, such as 1042."}},
        "required": ["order_number"],
    },
}
OTHER = {
    "name": "pay_back",
    "description": "Refund money to a customer. Call it only after a person has agreed to the amount.",
    "parameters": {"type": "object", "properties": {}},
}


def told(*tools: Any) -> tuple[LintFinding, ...]:
    return lint_tools(snapshot(inline(*tools)))


def changed(**fields: Any) -> dict[str, Any]:
    return {**GOOD, **fields}


def described(text: str, **fields: Any) -> dict[str, Any]:
    return changed(description=text, **fields)


def with_parameter(schema: Any, name: str = "order_number") -> dict[str, Any]:
    return changed(parameters={"type": "object", "properties": {name: schema}, "required": [name]})


def test_good_tools_are_left_alone() -> None:
    assert told(GOOD, OTHER) == ()


WHEN = "Use this when a customer asks."
TEXT = {"type": "string", "description": "What the customer said, word for word."}


@pytest.mark.article("39")
@pytest.mark.parametrize(
    ("rule", "path", "tools"),
    [
        pytest.param("name-vague", "", [changed(name="do_it")], id="vague-name"),
        pytest.param("name-vague", "", [changed(name="get_data")], id="get-data"),
        pytest.param("name-refused", "", [changed(name="2fa_check_code")], id="refused-name"),
        pytest.param("name-style", "", [GOOD, {**OTHER, "name": "payBack"}], id="two-styles"),
        pytest.param("description-empty", "", [described("  ")], id="no-description"),
        pytest.param("description-short", "", [described("Finds when used")], id="three-words"),
        pytest.param("description-is-the-name", "", [described("Get the order.")], id="the-name-again"),
        pytest.param("description-long", "", [described(GOOD["description"] + " x" * 800)], id="long"),
        pytest.param("description-no-when", "", [described("Looks up one order by its number.")], id="no-when"),
        pytest.param("description-no-when", "", [described("Lists only orders after a date, for each customer.")], id="words-that-are-no-when"),
        pytest.param("description-contradicts", "", [described(f"Deletes an order. {WHEN}", read_only=True)], id="read-only-that-deletes"),
        pytest.param("description-contradicts", "", [described(f"Look up; changes nothing. {WHEN}", read_only=False)], id="writer-that-reads"),
        pytest.param("description-contradicts", "", [described(f"Looks it up. Takes no arguments. {WHEN}")], id="no-arguments"),
        pytest.param("description-contradicts", "", [described(f"Looks it up by the parameter `sku`. {WHEN}")], id="unknown-parameter"),
        pytest.param("neighbour-description", "", [GOOD, {**GOOD, "name": "find_parcel"}], id="equal-descriptions"),
        pytest.param("neighbour-description", "", [GOOD, {**described("Looks up one order by its numbers. Use this when the customer asks where his order is."), "name": "find_parcel"}], id="near-descriptions"),
        pytest.param("neighbour-name", "", [GOOD, {**OTHER, "name": "get_orders"}], id="plural"),
        pytest.param("neighbour-name", "", [GOOD, {**OTHER, "name": "order_get"}], id="turned"),
        pytest.param("neighbour-name", "", [changed(name="search_customers_list"), {**OTHER, "name": "search_customer_lists"}], id="a-letter"),
        pytest.param("parameter-undocumented", "order_number", [with_parameter({"type": "integer"})], id="no-words"),
        pytest.param("parameter-undocumented", "order_number", [with_parameter({"type": "integer", "description": "Order number"})], id="its-name-again"),
        pytest.param("parameter-undocumented", "who.mail", [with_parameter({"type": "object", "description": "The customer.", "properties": {"mail": {"type": "string"}}}, "who")], id="nested"),
        pytest.param("parameter-undocumented", "who[].mail", [with_parameter({"type": "array", "description": "Them.", "items": {"type": "object", "properties": {"mail": {"type": "string"}}}}, "who")], id="in-a-list"),
        pytest.param("parameter-undocumented", "$defs.Tree.kid", [changed(parameters={"type": "object", "properties": {"t": {"$ref": "#/$defs/Tree"}}, "required": ["t"], "$defs": {"Tree": {"type": "object", "properties": {"kid": {"type": "string"}}}}})], id="in-defs"),
        pytest.param("parameter-long", "order_number", [with_parameter({"type": "integer", "description": "x " * 301})], id="long-parameter"),
        pytest.param("parameter-name", "filter[a]", [with_parameter(TEXT, "filter[a]")], id="brackets"),
        pytest.param("parameter-no-type", "order_number", [with_parameter({"description": "The number on the invoice."})], id="no-type"),
        pytest.param("parameter-no-type", "order_number", [with_parameter(True)], id="anything"),
        pytest.param("parameter-enum", "state", [with_parameter({"type": "string", "description": "The state: 'open', 'paid' or 'sent'."}, "state")], id="quoted-values"),
        pytest.param("parameter-enum", "state", [with_parameter({"type": "string", "description": "One of open, paid or sent."}, "state")], id="one-of"),
        pytest.param("parameter-enum", "state", [with_parameter({"type": "string", "description": "Allowed values: asc | desc"}, "state")], id="bars"),
        pytest.param("parameter-open", "order", [with_parameter({"type": "object", "description": "The order."}, "order")], id="open-object"),
        pytest.param("parameter-open", "orders", [with_parameter({"type": "array", "description": "The orders."}, "orders")], id="open-list"),
        pytest.param("parameters-many", "", [changed(parameters={"type": "object", "properties": {f"p{n}": TEXT for n in range(13)}, "required": ["p1"]})], id="many-parameters"),
        pytest.param("required-missing", "", [changed(parameters={"type": "object", "properties": {"a": TEXT, "b": TEXT}})], id="nothing-required"),
        pytest.param("required-unknown", "c", [changed(parameters={"type": "object", "properties": {"a": TEXT}, "required": ["a", "c"]})], id="required-of-nothing"),
        pytest.param("required-default", "a", [changed(parameters={"type": "object", "properties": {"a": {**TEXT, "default": "x"}}, "required": ["a"]})], id="required-with-default"),
        pytest.param("tools-many", "", [changed(name=f"{letter}{n}_order", description=f"{letter * 9}{n} use it for {n * 77}") for letter in "abcde" for n in range(9)], id="many-tools"),
    ],
)  # fmt: skip
def test_a_rule_finds_what_breaks_it(rule: str, path: str, tools: list[Any]) -> None:
    found = [(finding.rule, finding.path) for finding in told(*tools)]
    assert (rule, path) in found


@pytest.mark.parametrize(
    ("rule", "tools"),
    [
        pytest.param("description-no-when", [described("查询一个订单。当客户询问订单时使用。")], id="chinese"),
        pytest.param("description-short", [described("查询一个订单。当客户询问订单时使用。")], id="chinese-is-not-short"),
        pytest.param("description-no-when", [described("Zeigt eine Bestellung, wenn ein Kunde danach fragt.")], id="german"),
        pytest.param("parameter-undocumented", [with_parameter({"type": "boolean"}, "include_closed_orders")], id="a-flag-that-says-it"),
        pytest.param("parameter-undocumented", [with_parameter({"type": "string", "enum": ["open", "paid"]})], id="an-enum-says-it"),
        pytest.param("parameter-enum", [with_parameter({"type": "string", "description": "A city, such as 'Oslo' or 'Lima'."})], id="examples-are-no-values"),
        pytest.param("parameter-enum", [with_parameter({"type": "string", "enum": ["a", "b"], "description": "One of a or b."})], id="enum-is-there"),
        pytest.param("required-missing", [changed(parameters={"type": "object", "properties": {"limit": {**TEXT, "default": "9"}}})], id="defaults"),
        pytest.param("neighbour-name", [GOOD, {**OTHER, "name": "set_order"}], id="another-verb"),
        pytest.param("neighbour-name", [changed(name="get_invoice_2023"), {**OTHER, "name": "get_invoice_2024"}], id="another-number"),
        pytest.param("neighbour-name", [changed(name="delete_conversation"), {**OTHER, "name": "delete_conversation_item"}], id="a-word-more"),
        pytest.param("neighbour-description", [described("Get the spend limit of a project."), {**described("Delete the spend limit of a project."), "name": "b"}], id="another-first-word"),
        pytest.param("parameter-enum", [with_parameter({"type": "string", "description": "One of `url` or `path` must be given."})], id="names-of-parameters"),
        pytest.param("name-style", [GOOD, {**OTHER, "name": "refund"}], id="one-word"),
        pytest.param("description-contradicts", [described(f"Deletes an order. {WHEN}", read_only=False)], id="writer-that-writes"),
    ],
)  # fmt: skip
def test_a_rule_leaves_alone_what_only_looks_like_it(rule: str, tools: list[Any]) -> None:
    assert rule not in [finding.rule for finding in told(*tools)]


def test_every_rule_is_found_by_some_row_above() -> None:
    (mark,) = [one for one in test_a_rule_finds_what_breaks_it.pytestmark if one.name == "parametrize"]  # type: ignore[attr-defined]
    assert {row.values[0] for row in mark.args[1]} == set(RULES)


def test_the_page_tells_of_every_rule() -> None:
    page = (Path(__file__).parents[2] / "docs" / "tool-sources.md").read_text("utf-8")
    assert dict(re.findall(r"^\| `([a-z-]+)` \| (.+) \|$", page, re.MULTILINE)).items() >= RULES.items()


def test_a_finding_says_which_tool_where_and_what_to_do() -> None:
    (finding,) = told(with_parameter({"type": "integer"}))
    assert finding == LintFinding(
        rule="parameter-undocumented",
        tool="get_order",
        path="order_number",
        message="it has no description",
        advice="say what it is, in which form, and where to take it from",
    )


def test_what_two_branches_share_is_found_once() -> None:
    branch = {"type": "object", "properties": {"mail": {"type": "string"}}}
    found = told(with_parameter({"description": "Who it is for.", "anyOf": [branch, branch]}, "who"))
    assert [(finding.rule, finding.path) for finding in found] == [("parameter-undocumented", "who.mail")]


def test_findings_do_not_depend_on_the_order_of_the_tools() -> None:
    tools = [GOOD, {**GOOD, "name": "get_orders"}, changed(name="x", description=""), {**OTHER, "name": "doIt"}]
    assert told(*tools) == told(*reversed(tools))
    assert told(*tools)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(["type", "properties", "items", "required", "description", "$defs", "anyOf", "enum", "default", "x"]), inner, max_size=4
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.text(max_size=8), st.tuples(st.text(max_size=40), st.dictionaries(st.sampled_from(["properties", "required", "$defs", "type"]), JSON)), max_size=4))
def test_any_tools_can_be_linted(drawn: dict[str, Any]) -> None:
    tools = [EvalTool(name, text, canonical_json(schema)) for name, (text, schema) in drawn.items()]
    for finding in lint_tools(snapshot_of(tools)):
        assert finding.rule in RULES
        assert finding.tool in {"", *drawn}
        assert finding.message
        assert finding.advice
        json.dumps([finding.path, finding.message])
