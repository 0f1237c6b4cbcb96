"""A skeleton has a case for each tool, with arguments that its schema allows, and two that need no tool."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.tools.schema import ArgumentSchema
from harness.tools.skeleton import TO_FILL_IN, example_arguments, skeleton
from harness.types.jsontext import canonical_json
from tests.tools.sourcing import inline, snapshot

S = {"type": "string"}


def test_each_tool_has_a_case_and_two_need_none() -> None:
    taken = snapshot(
        inline(
            {"name": "pay", "description": "Pays.", "parameters": {"properties": {"n": {"type": "integer"}}, "required": ["n"]}},
            {"name": "list_all", "parameters": {"properties": {"state": S}}},
        )
    )
    assert skeleton(taken) == [
        {"id": "list_all", "ask": f"{TO_FILL_IN}: what a user says who needs list_all", "expect": "list_all"},
        {"id": "pay", "ask": f"{TO_FILL_IN}: what a user says who needs pay (Pays.)", "expect": {"pay": {"n": 1}}},
        {"id": "no-tool", "ask": f"{TO_FILL_IN}: something that needs no tool, such as 'Thanks, bye'", "expect": "no_call"},
        {"id": "ask-back", "ask": f"{TO_FILL_IN}: a request that lacks what a tool must be given", "expect": "ask_user"},
    ]


def test_a_tool_called_like_a_case_of_ours_does_not_take_its_id() -> None:
    ids = [case["id"] for case in skeleton(snapshot(inline({"name": "no-tool"})))]
    assert ids == ["no-tool", "no-tool-case", "ask-back"]


@pytest.mark.parametrize(
    ("schema", "example"),
    [
        pytest.param(S, TO_FILL_IN, id="text"),
        pytest.param({**S, "examples": ["A-7", "B"]}, "A-7", id="example"),
        pytest.param({**S, "default": "d"}, "d", id="default"),
        pytest.param({**S, "enum": ["open", "paid"]}, "open", id="enum"),
        pytest.param({"const": 3}, 3, id="const"),
        pytest.param({**S, "format": "date"}, "2025-01-31", id="format"),
        pytest.param({"type": "integer", "minimum": 5}, 5, id="minimum"),
        pytest.param({"type": "integer", "exclusiveMinimum": 5}, 6, id="exclusive-minimum"),
        pytest.param({"type": "integer", "maximum": -2}, -2, id="maximum"),
        pytest.param({"type": "boolean"}, True, id="boolean"),
        pytest.param({"type": ["null", "string"]}, TO_FILL_IN, id="nullable"),
        pytest.param({"type": "null"}, None, id="null"),
        pytest.param({"type": "array", "items": {"type": "integer"}}, [1], id="list"),
        pytest.param({"type": "array", "items": S, "minItems": 2}, [TO_FILL_IN, TO_FILL_IN], id="two-items"),
        pytest.param({"type": "object", "properties": {"a": S, "b": S}, "required": ["b"]}, {"b": TO_FILL_IN}, id="what-must-be-there"),
        pytest.param({"anyOf": [{"type": "null"}, {"type": "integer"}]}, 1, id="any-of"),
        pytest.param({"oneOf": [S, {"type": "integer"}]}, TO_FILL_IN, id="one-of"),
        pytest.param({"allOf": [{"$ref": "#/$defs/A"}, {"required": ["x"]}]}, {"x": 1}, id="all-of"),
        pytest.param({"$ref": "#/$defs/A"}, {}, id="reference"),
        pytest.param({"$ref": "#/$defs/Nowhere"}, TO_FILL_IN, id="reference-to-nothing"),
        pytest.param(True, TO_FILL_IN, id="anything"),
        pytest.param({"type": "integer", "minimum": "x"}, 1, id="no-number"),
    ],
)  # fmt: skip
def test_an_argument_is_as_its_schema_shows_it(schema: Any, example: Any) -> None:
    defs = {"A": {"type": "object", "properties": {"x": {"type": "integer"}}}}
    assert example_arguments({"properties": {"v": schema}, "required": ["v"], "$defs": defs}) == {"v": example}


def test_a_tree_without_end_comes_to_an_end() -> None:
    tree = {"type": "object", "properties": {"kid": {"$ref": "#/$defs/T"}}, "required": ["kid"]}
    example = example_arguments({"properties": {"t": {"$ref": "#/$defs/T"}}, "required": ["t"], "$defs": {"T": tree}})
    assert TO_FILL_IN in json.dumps(example)


SCHEMAS = st.recursive(
    st.sampled_from([S, {"type": "integer"}, {"type": "boolean"}, {"type": "number"}, {"type": "null"}, {"enum": [1, "a"]}])
    | st.builds(lambda least: {"type": "integer", "minimum": least}, st.integers(-9, 9)),
    lambda inner: st.builds(lambda one: {"type": "array", "items": one}, inner)
    | st.builds(lambda one: {"anyOf": [one, {"type": "null"}]}, inner)
    | st.builds(
        lambda fields: {"type": "object", "properties": fields, "required": sorted(fields), "additionalProperties": False},
        st.dictionaries(st.sampled_from("abc"), inner, max_size=2),
    ),
    max_leaves=4,
)


@given(st.dictionaries(st.sampled_from("xyz"), SCHEMAS, max_size=3))
def test_example_arguments_are_what_the_schema_allows(fields: dict[str, Any]) -> None:
    schema = {"type": "object", "properties": fields, "required": sorted(fields), "additionalProperties": False}
    assert ArgumentSchema("t", canonical_json(schema)).explain(example_arguments(schema)) is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(["type", "properties", "items", "required", "allOf", "anyOf", "$ref", "$defs", "enum", "examples", "minimum", "maximum", "exclusiveMinimum", "minItems", "format"]), inner, max_size=5),
    max_leaves=15,
)


@given(st.dictionaries(st.sampled_from(["properties", "required", "$defs", "type", "allOf", "$ref"]), JSON, max_size=4))
def test_any_schema_gives_some_arguments(schema: dict[str, Any]) -> None:
    assert isinstance(example_arguments(schema), dict)


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        pytest.param({"type": "object", "properties": {"a": S}}, {"$any": True}, id="an-object-with-optional-fields-only"),
        pytest.param({"type": "object"}, {"$any": True}, id="an-object-of-anything"),
        pytest.param({"default": {}}, {"$any": True}, id="an-empty-default"),
        pytest.param({"type": "array", "items": {"type": "object"}}, [{"$any": True}], id="inside-a-list"),
        pytest.param({"type": "object", "properties": {"o": {"type": "object"}, "n": {"const": 1}}, "required": ["o", "n"]}, {"o": {"$any": True}, "n": 1}, id="inside-an-object"),
    ],
)  # fmt: skip
def test_an_object_that_may_hold_anything_is_not_expected_to_be_empty(schema: dict[str, Any], expected: Any) -> None:
    (case, *_) = skeleton(snapshot(inline({"name": "put", "parameters": {"properties": {"body": schema}, "required": ["body"]}})))
    assert case["expect"] == {"put": {"body": expected}}
