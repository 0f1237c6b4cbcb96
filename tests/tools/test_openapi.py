"""Operations of an OpenAPI document are tools: names, arguments, schemas, and what is kept from the model."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import HarnessError, UnsupportedError, UsageError
from harness.tools.openapi import tools_of_document
from harness.tools.schema import ArgumentSchema
from harness.tools.sources import Found
from harness.types.evaluation import EvalTool, SourceKind, ToolSource
from tests.tools.sourcing import names_of, schema_of, snapshot

OK = {"responses": {"200": {"description": "ok"}}}


def api(paths: Any, version: str = "3.0.3", **more: Any) -> dict[str, Any]:
    return {"openapi": version, "info": {"title": "Shop", "version": "1"}, "paths": paths, **more}


def read(document: Any, **fields: Any) -> Found:
    return tools_of_document(document, ToolSource(SourceKind.OPENAPI, "api.yaml", **fields))


def one(document: Any) -> EvalTool:
    (tool,) = read(document).tools
    return tool


def with_body(schema: Any, version: str = "3.0.3", **schemas: Any) -> dict[str, Any]:
    """A document with one operation, whose JSON body has this schema."""
    post = {"operationId": "send", "requestBody": {"content": {"application/json": {"schema": schema}}}, **OK}
    return api({"/send": {"post": post}}, version, components={"schemas": schemas})


def body_of(document: Any) -> Any:
    return json.loads(one(document).parameters)["properties"]["body"]


def with_parameters(*parameters: Any, path: str = "/x", **more: Any) -> dict[str, Any]:
    return api({path: {"get": {"operationId": "x", "parameters": list(parameters), **OK}}}, **more)


def parameter(name: str, place: str = "query", **more: Any) -> dict[str, Any]:
    return {"name": name, "in": place, "schema": {"type": "string"}, **more}


def arguments(document: Any) -> Any:
    return json.loads(one(document).parameters)["properties"]


# ---------------------------------------------------------------- a document as a stranger writes it

SHOP = """
openapi: 3.0.3
info: {title: Shop, version: 1.4.0}
servers: [{url: https://shop.example/v1}]
security: [{key: []}]
paths:
  /orders:
    parameters:
      - $ref: '#/components/parameters/Trace'
    get:
      operationId: listOrders
      summary: List orders
      description: Use this to find orders of a customer by their state.
      parameters:
        - {name: state, in: query, schema: {$ref: '#/components/schemas/State'}, description: Only orders in this state.}
        - {name: limit, in: query, schema: {type: integer, minimum: 0, exclusiveMinimum: true, default: 20}, example: 50}
        - {name: X-Api-Key, in: header, required: true, schema: {type: string}}
        - {name: Authorization, in: header, schema: {type: string}}
      responses:
        200: {description: All of them, content: {application/json: {schema: {$ref: '#/components/schemas/Order'}}}}
        default: {description: Anything else}
    post:
      tags: [orders]
      requestBody:
        required: true
        content:
          application/json: {schema: {$ref: '#/components/schemas/Order'}}
      responses: {'201': {description: Made}}
  /orders/{id}:
    get:
      summary: Look up one order.
      parameters:
        - {name: id, in: path, required: true, schema: {type: integer, format: int64}}
      responses: {200: {description: It}}
    delete:
      operationId: orders.delete
      deprecated: true
      responses: {204: {description: Gone}}
components:
  securitySchemes:
    key: {type: apiKey, in: query, name: app_id}
    login: {type: oauth2, flows: {}}
  parameters:
    Trace: {name: trace, in: header, schema: {type: string}}
  schemas:
    State: {type: string, enum: [open, no, on], nullable: true}
    Order:
      type: object
      required: [id, lines]
      properties:
        id: {type: integer, readOnly: true}
        pin: {type: string, writeOnly: true}
        state: {$ref: '#/components/schemas/State'}
        lines: {type: array, minItems: 1, items: {$ref: '#/components/schemas/Line'}}
        parent: {$ref: '#/components/schemas/Order'}
    Line:
      type: object
      properties: {sku: {type: string, example: A-7}, n: {type: integer, default: 1}}
      xml: {name: line}
"""


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    tmp_path.joinpath("openapi.yaml").write_text(SHOP, "utf-8")
    return tmp_path


def test_a_whole_document_becomes_tools(shop: Path) -> None:
    taken = snapshot(ToolSource(SourceKind.OPENAPI, "openapi.yaml"), base=shop)
    assert [(tool.name, tool.original, tool.read_only) for tool in taken.tools] == [
        ("get_orders_by_id", "GET /orders/{id}", True),
        ("listOrders", None, True),
        ("orders_delete", "orders.delete", False),
        ("post_orders", "POST /orders", False),
    ]
    assert taken.sources == ("OpenAPI document 'openapi.yaml' ('Shop' 1.4.0)",)


def test_a_list_of_orders_takes_what_the_document_says_of_its_parameters(shop: Path) -> None:
    taken = snapshot(ToolSource(SourceKind.OPENAPI, "openapi.yaml", only=("listOrders",)), base=shop)
    (tool,) = taken.tools
    assert tool.description == "List orders\n\nUse this to find orders of a customer by their state."
    assert schema_of(taken, "listOrders") == {
        "type": "object",
        "properties": {
            "trace": {"type": "string"},
            "state": {
                "type": ["string", "null"],
                "enum": ["open", "no", "on", None],
                "description": "Only orders in this state.",
            },
            "limit": {"type": "integer", "exclusiveMinimum": 0, "default": 20, "examples": [50]},
        },
        "additionalProperties": False,
    }


def test_credentials_are_kept_from_the_model_and_told(shop: Path) -> None:
    taken = snapshot(ToolSource(SourceKind.OPENAPI, "openapi.yaml"), base=shop)
    text = " ".join(tool.parameters for tool in taken.tools)
    assert "Api-Key" not in text
    assert "Authorization" not in text
    kept = [note for note in taken.notes if "kept from the model" in note]
    assert kept == [
        "OpenAPI document 'openapi.yaml': kept from the model: header 'Authorization' (in listOrders)",
        "OpenAPI document 'openapi.yaml': kept from the model: header 'X-Api-Key' (in listOrders)",
    ]


def test_a_recursive_body_stands_in_defs_without_what_the_server_sets(shop: Path) -> None:
    schema = schema_of(snapshot(ToolSource(SourceKind.OPENAPI, "openapi.yaml"), base=shop), "post_orders")
    assert schema["required"] == ["body"]
    assert schema["properties"]["body"] == {"$ref": "#/$defs/Order"}
    order = schema["$defs"]["Order"]
    assert order["required"] == ["lines"]
    assert sorted(order["properties"]) == ["lines", "parent", "pin", "state"]
    assert order["properties"]["parent"] == {"$ref": "#/$defs/Order"}
    assert order["properties"]["lines"]["items"] == {
        "type": "object",
        "properties": {"sku": {"type": "string", "examples": ["A-7"]}, "n": {"type": "integer", "default": 1}},
    }


def test_an_undeclared_part_of_the_path_is_an_argument_all_the_same(shop: Path) -> None:
    schema = schema_of(snapshot(ToolSource(SourceKind.OPENAPI, "openapi.yaml"), base=shop), "orders_delete")
    assert schema == {
        "type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"], "additionalProperties": False,
    }  # fmt: skip


def test_a_deprecated_operation_is_marked(shop: Path) -> None:
    taken = snapshot(ToolSource(SourceKind.OPENAPI, "openapi.yaml"), base=shop)
    assert next(tool for tool in taken.tools if tool.name == "orders_delete").description == "Deprecated."
    assert "OpenAPI document 'openapi.yaml': marked as deprecated: orders_delete" in taken.notes


def test_json_gives_the_tools_that_yaml_gives(tmp_path: Path) -> None:
    document = with_body({"type": "object", "properties": {"a": {"type": "string"}}})
    for name in ("api.json", "api.yaml"):
        tmp_path.joinpath(name).write_text(json.dumps(document), "utf-8")
    taken = [snapshot(ToolSource(SourceKind.OPENAPI, name), base=tmp_path) for name in ("api.json", "api.yaml")]
    assert taken[0].digest == taken[1].digest


# ---------------------------------------------------------------- names


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        pytest.param({"/a/{b}": {"get": OK}, "/a/b": {"get": OK}}, ["get_a_b", "get_a_by_b"], id="parameter-or-word"),
        pytest.param({"/": {"get": OK}}, ["get"], id="root"),
        pytest.param({"/v1.2/a-b_c/{some_id}": {"put": OK}}, ["put_v1_2_a_b_c_by_some_id"], id="odd-characters"),
        pytest.param({"/天气": {"get": OK}}, ["get"], id="no-usable-character"),
        pytest.param({"/a": {"get": {"operationId": "list orders!", **OK}}}, ["list_orders"], id="characters-of-an-id"),
        pytest.param({"/a": {"get": {"operationId": "", **OK}}}, ["get_a"], id="empty-id"),
        pytest.param({"/a": {"get": {"operationId": 7, **OK}}}, ["get_a"], id="id-is-a-number"),
        pytest.param({"/a": {"get": {"operationId": "天气", **OK}}}, ["tool_4d9473"], id="id-without-usable-character"),
        pytest.param({"/a": {"x-y": 1, "summary": "s", "head": OK, "trace": OK}, "x-z": 1}, ["head_a", "trace_a"], id="extensions"),
    ],
)  # fmt: skip
def test_names_are_those_of_operations_or_made_of_method_and_path(paths: Any, names: list[str]) -> None:
    assert [tool.name for tool in read(api(paths)).tools] == names


def test_a_long_name_is_cut_and_stays_its_own() -> None:
    paths = {f"/a/{'x' * 80}/{end}": {"get": OK} for end in ("one", "two")}
    first, second = (tool.name for tool in read(api(paths)).tools)
    assert len(first) == len(second) == 64
    assert first != second


def test_two_operations_that_come_to_one_name_are_told_apart_whatever_their_order() -> None:
    paths = {"/a-b": {"get": OK}, "/a/b": {"get": OK}, "/c": {"get": {"operationId": "get_a_b", **OK}}}
    found = read(api(paths))
    by_origin = {tool.original: tool.name for tool in found.tools}
    assert by_origin[None] == "get_a_b"
    assert len(set(by_origin.values())) == 3
    turned = read(api(dict(reversed(paths.items()))))
    assert {tool.original: tool.name for tool in turned.tools} == by_origin


def test_one_operation_id_twice_is_told_apart_by_method_and_path() -> None:
    found = read(api({"/a": {"get": {"operationId": "list", **OK}}, "/b": {"get": {"operationId": "list", **OK}}}))
    assert [tool.name.rsplit("_", 1)[0] for tool in found.tools] == ["list", "list"]
    assert len({tool.name for tool in found.tools}) == 2
    (note,) = found.notes
    assert "several operations have the operationId 'list'" in note
    assert "GET /a is" in note


def test_an_operation_id_that_is_another_ones_method_and_path_loses_no_operation() -> None:
    found = read(api({"/a": {"get": {"operationId": "GET /b", **OK}}, "/b": {"get": OK}}))
    assert len(found.tools) == 2


@pytest.mark.parametrize("name", ["get_a", "GET /a"])
def test_only_takes_the_made_name_or_method_and_path(name: str) -> None:
    found = read(api({"/a": {"get": OK}, "/b": {"get": OK}}), only=(name,))
    assert [tool.name for tool in found.tools] == ["get_a"]


def test_what_only_leaves_out_need_not_be_readable() -> None:
    broken = {"operationId": "b", "parameters": [{"$ref": "other.yaml#/x"}], **OK}
    document = api({"/a": {"get": OK}, "/b": {"get": broken}})
    assert [tool.name for tool in read(document, only=("get_a",)).tools] == ["get_a"]
    with pytest.raises(UsageError, match=r"'other.yaml#/x' leads out of the document"):
        read(document)


# ---------------------------------------------------------------- parameters


@pytest.mark.parametrize(
    ("given", "names"),
    [
        pytest.param([parameter("a"), parameter("b", "header"), parameter("c", "cookie")], ["a", "b", "c"], id="every-place"),
        pytest.param([parameter("id", "path"), parameter("id", "query")], ["id_path", "id_query"], id="one-name-in-two-places"),
        pytest.param([parameter("filter[name]")], ["filter_name"], id="brackets"),
        pytest.param([parameter("$top"), parameter("top")], ["top", "top_37f917"], id="two-that-become-equal"),
        pytest.param([parameter("x" * 70)], ["x" * 57 + "_c71bd1"], id="long"),
        pytest.param([{"name": "f", "in": "query", "content": {"application/json": {"schema": {"type": "object"}}}}], ["f"], id="content"),
        pytest.param([{"name": "f", "in": "query"}], ["f"], id="no-schema"),
    ],
)  # fmt: skip
def test_parameters_are_arguments_under_names_that_providers_take(given: list[Any], names: list[str]) -> None:
    found = arguments(with_parameters(*given, path="/x/{id}" if given[0]["in"] == "path" else "/x"))
    assert sorted(found) == names
    assert all(len(name) <= 64 for name in found)


@pytest.mark.parametrize(
    ("name", "place", "is_hidden"),
    [
        pytest.param("Authorization", "header", True, id="authorization"),
        pytest.param("cookie", "header", True, id="cookie-header"),
        pytest.param("Content-Type", "header", True, id="sent-by-the-client"),
        pytest.param("X-API-Key", "header", True, id="key-header"),
        pytest.param("apikey", "query", True, id="key-in-the-query"),
        pytest.param("access_token", "query", True, id="token-in-the-query"),
        pytest.param("APP_ID", "query", True, id="of-a-security-scheme"),
        pytest.param("connect.sid", "cookie", True, id="session-cookie"),
        pytest.param("X-Request-Id", "header", False, id="another-header"),
        pytest.param("token_count", "query", False, id="no-token"),
        pytest.param("api_key", "path", False, id="part-of-the-path"),
        pytest.param("language", "cookie", False, id="another-cookie"),
        pytest.param("residence", "cookie", False, id="sid-in-a-word"),
    ],
)
def test_what_carries_a_credential_is_hidden(name: str, place: str, is_hidden: bool) -> None:
    schemes = {"k": {"$ref": "#/components/securitySchemes/real"}, "real": {"type": "apiKey", "in": "query", "name": "app_id"}}
    document = with_parameters(
        parameter(name, place), path="/x/{api_key}" if place == "path" else "/x", components={"securitySchemes": schemes}
    )
    assert (name in arguments(document)) is not is_hidden
    told = any("kept from the model" in note and repr(name) in note for note in read(document).notes)
    assert told is is_hidden


def test_a_parameter_of_the_operation_takes_the_place_of_that_of_its_path() -> None:
    get = {"operationId": "x", "parameters": [parameter("a", description="mine", required=True)], **OK}
    document = api({"/x": {"parameters": [parameter("a"), parameter("b")], "get": get}})
    schema = json.loads(one(document).parameters)
    assert schema["properties"] == {"a": {"type": "string", "description": "mine"}, "b": {"type": "string"}}
    assert schema["required"] == ["a"]


def test_examples_and_marks_of_a_parameter_are_kept() -> None:
    given = parameter("a", examples={"one": {"value": 1}, "two": {"value": 2}, "far": {"externalValue": "x"}}, deprecated=True)
    assert arguments(with_parameters(given)) == {"a": {"type": "string", "examples": [1, 2], "deprecated": True}}


# ---------------------------------------------------------------- bodies and schemas


@pytest.mark.parametrize(
    ("content", "offered", "note"),
    [
        pytest.param({"application/json": {"schema": {"type": "object"}}}, {"type": "object"}, None, id="json"),
        pytest.param({"text/plain": {}, "application/vnd.api+json": {"schema": {"type": "array"}}}, {"type": "array"}, None, id="json-by-suffix"),
        pytest.param({"application/json; charset=utf-8": {"schema": True}}, True, None, id="json-with-charset"),
        pytest.param({"*/*": {"schema": {"type": "object"}}}, {"type": "object"}, None, id="anything"),
        pytest.param({"multipart/form-data": {"schema": {"type": "object"}}}, {"type": "object"}, "multipart/form-data", id="form"),
        pytest.param({"application/octet-stream": {}}, None, "left out", id="bytes"),
        pytest.param({}, None, None, id="no-content"),
    ],
)
def test_the_body_is_one_argument_where_it_is_json_or_a_form(content: Any, offered: Any, note: str | None) -> None:
    found = read(api({"/a": {"post": {"operationId": "a", "requestBody": {"content": content}, **OK}}}))
    assert json.loads(found.tools[0].parameters)["properties"].get("body") == offered
    assert [note] == [text for text in [note] if any(text in one for one in found.notes)] if note else found.notes == ()


def test_a_body_beside_a_parameter_of_that_name_is_the_request_body() -> None:
    content = {"application/json": {"schema": {"type": "object"}, "example": {"a": 1}}}
    post = {"operationId": "a", "parameters": [parameter("body")], "requestBody": {"content": content, "description": "It."}, **OK}
    assert arguments(api({"/a": {"post": post}})) == {
        "body": {"type": "string"},
        "request_body": {"type": "object", "description": "It.", "examples": [{"a": 1}]},
    }


STRING = {"type": "string"}
CAT = {"type": "object", "properties": {"kind": {"type": "string", "enum": ["cat"]}, "id": {"type": "integer", "readOnly": True}}}
BASE = {"type": "object", "properties": {"id": {"type": "integer", "readOnly": True}, "name": STRING}}


@pytest.mark.parametrize(
    ("version", "schema", "schemas", "wanted"),
    [
        pytest.param("3.0.0", {"type": "string", "nullable": True}, {}, {"type": ["string", "null"]}, id="nullable"),
        pytest.param("3.0.0", {"nullable": True}, {}, {}, id="nullable-anything"),
        pytest.param("3.0.0", {"$ref": "#/components/schemas/A", "nullable": True}, {"A": STRING}, {"anyOf": [STRING, {"type": "null"}]}, id="nullable-reference"),
        pytest.param("3.0.0", {"allOf": [{"$ref": "#/components/schemas/A"}], "nullable": True}, {"A": STRING}, {"anyOf": [{"allOf": [STRING]}, {"type": "null"}]}, id="nullable-all-of"),
        pytest.param("3.1.0", {"type": "string", "nullable": True}, {}, STRING, id="no-nullable-in-3.1"),
        pytest.param("3.1.0", {"type": ["string", None]}, {}, {"type": ["string", "null"]}, id="null-without-quotes"),
        pytest.param("3.1.0", {"const": "a"}, {}, {"const": "a"}, id="const"),
        pytest.param("3.0.0", {"type": "integer", "maximum": 9, "exclusiveMaximum": True, "exclusiveMinimum": False}, {}, {"type": "integer", "exclusiveMaximum": 9}, id="bounds-of-3.0"),
        pytest.param("3.1.0", {"type": "integer", "exclusiveMaximum": 9}, {}, {"type": "integer", "exclusiveMaximum": 9}, id="bounds-of-3.1"),
        pytest.param("3.0.0", {"oneOf": [{"$ref": "#/components/schemas/Cat"}, STRING], "discriminator": {"propertyName": "kind"}}, {"Cat": CAT}, {"oneOf": [{"type": "object", "properties": {"kind": {"type": "string", "enum": ["cat"]}}}, STRING]}, id="one-of"),
        pytest.param("3.0.0", {"allOf": [{"$ref": "#/components/schemas/Base"}, {"required": ["id", "name"]}]}, {"Base": BASE}, {"allOf": [{"type": "object", "properties": {"name": STRING}}, {"required": ["name"]}]}, id="read-only-required-in-another-part"),
        pytest.param("3.0.0", {"properties": {"a": {"$ref": "#/components/schemas/R"}}, "required": ["a"]}, {"R": {"type": "string", "readOnly": True}}, {"properties": {}}, id="read-only-by-reference"),
        pytest.param("3.0.0", {"$ref": "#/components/schemas/A", "description": "mine", "type": "integer"}, {"A": {**STRING, "description": "its"}}, {**STRING, "description": "mine"}, id="beside-a-reference-in-3.0"),
        pytest.param("3.1.0", {"$ref": "#/components/schemas/A", "minLength": 2}, {"A": STRING}, {"allOf": [STRING], "minLength": 2}, id="beside-a-reference-in-3.1"),
        pytest.param("3.1.0", {"$ref": "#/components/schemas/A", "title": "t"}, {"A": True}, {"allOf": [True], "title": "t"}, id="reference-to-anything"),
        pytest.param("3.0.0", {"$ref": "#/components/schemas/a~1b~0c%20d"}, {"a/b~c d": STRING}, STRING, id="escaped-pointer"),
        pytest.param("3.0.0", {"$ref": "#/components/schemas/A/properties/x"}, {"A": {"properties": {"x": STRING}}}, STRING, id="pointer-into-a-schema"),
        pytest.param("3.0.0", {"$ref": "#/components/schemas/A/anyOf/1"}, {"A": {"anyOf": [{}, STRING]}}, STRING, id="pointer-into-a-list"),
        pytest.param("3.0.0", {"additionalProperties": {"$ref": "#/components/schemas/A"}, "not": {"type": "array"}}, {"A": STRING}, {"additionalProperties": STRING, "not": {"type": "array"}}, id="other-places"),
        pytest.param("3.1.0", {"prefixItems": [STRING], "items": False}, {}, {"prefixItems": [STRING], "items": False}, id="tuples"),
        pytest.param("3.0.0", {**STRING, "xml": {}, "x-a": 1, "externalDocs": {}, "required": True, "deprecated": False, "example": "e"}, {}, {**STRING, "examples": ["e"]}, id="what-a-model-has-no-use-for"),
        pytest.param("3.1.0", {**STRING, "examples": ["a"], "example": "b"}, {}, {**STRING, "examples": ["b", "a"]}, id="examples"),
        pytest.param("3.0.0", {"properties": {"$ref": STRING, "example": STRING}}, {}, {"properties": {"$ref": STRING, "example": STRING}}, id="properties-with-such-names"),
    ],
)  # fmt: skip
def test_a_schema_says_in_json_schema_what_it_says_in_openapi(version: str, schema: Any, schemas: Any, wanted: Any) -> None:
    assert body_of(with_body(schema, version, **schemas)) == wanted


def test_recursive_references_are_the_same_tree_of_any_depth() -> None:
    tree = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}, "kids": {"type": "array", "items": {"$ref": "#/components/schemas/Tree"}}}}
    tool = one(with_body({"$ref": "#/components/schemas/Tree"}, Tree=tree))
    schema = ArgumentSchema("send", tool.parameters)
    assert schema.explain({"body": {"n": 1, "kids": [{"n": 2, "kids": [{"n": 3}]}]}}) is None
    assert schema.explain({"body": {"n": 1, "kids": [{"n": 2, "kids": [{"n": "3"}]}]}}) is not None


def test_two_recursive_schemas_of_one_last_name_stay_two() -> None:
    schemas = {"A": {"x": {"T": {"properties": {"a": {"$ref": "#/components/schemas/A/x/T"}}}}}, "B": {"x": {"T": {"properties": {"b": {"$ref": "#/components/schemas/B/x/T"}}}}}}
    document = with_body({"properties": {"l": {"$ref": "#/components/schemas/A/x/T"}, "r": {"$ref": "#/components/schemas/B/x/T"}}}, **schemas)
    defs = json.loads(one(document).parameters)["$defs"]
    assert sorted(defs) == ["T", "T-2"]
    assert {name for one in defs.values() for name in one["properties"]} == {"a", "b"}


def test_references_that_double_at_every_step_stay_small() -> None:
    schemas: dict[str, Any] = {f"S{n}": {"properties": {side: {"$ref": f"#/components/schemas/S{n + 1}"} for side in "lr"}} for n in range(40)}
    tool = one(with_body({"$ref": "#/components/schemas/S0"}, **schemas, S40=STRING))
    assert len(tool.parameters) < 100_000
    assert ArgumentSchema("send", tool.parameters).explain({"body": {"l": {"r": {}}}}) is None


def test_a_long_chain_of_references_is_followed() -> None:
    schemas: dict[str, Any] = {f"S{n}": {"properties": {"next": {"$ref": f"#/components/schemas/S{n + 1}"}}} for n in range(1_000)}
    tool = one(with_body({"$ref": "#/components/schemas/S0"}, **schemas, S1000={"type": "object", "properties": {}}))
    assert len(json.loads(tool.parameters)["$defs"]) > 100


# ---------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("document", "says"),
    [
        pytest.param(7, "a mapping was expected", id="no-mapping"),
        pytest.param({}, "its version is missing", id="no-version"),
        pytest.param({"swagger": "2.0", "paths": {}}, "Swagger 2.0", id="swagger"),
        pytest.param(api({}, "3.2.0"), "3.2.0", id="a-later-version"),
        pytest.param(api({}), "no operations", id="no-operations"),
        pytest.param(api([]), "no operations", id="empty-list"),
        pytest.param(api([1]), "'paths' is a mapping", id="paths-is-a-list"),
        pytest.param(api({"/a": 7}), "'/a'", id="path-is-a-number"),
        pytest.param(api({"/a": {"get": "x"}}), "GET /a", id="operation-is-text"),
        pytest.param(api({"/a": {"get": {"parameters": {}}, "put": {"parameters": 7}}}), "'parameters' is a list", id="parameters-are-a-number"),
        pytest.param(with_parameters({"in": "query"}), "'name'", id="parameter-without-a-name"),
        pytest.param(with_parameters(parameter("b", "body")), "'body'", id="parameter-in-the-body"),
        pytest.param(with_parameters({"$ref": "#/components/parameters/X"}), "leads nowhere", id="reference-to-nothing"),
        pytest.param(with_parameters({"$ref": "#/paths/~1x/get/parameters/0"}), "leads to itself", id="reference-to-itself"),
        pytest.param(with_body({"$ref": "https://example.invalid/a.yaml#/A"}), "leads out of the document", id="remote"),
        pytest.param(with_body({"$ref": "models.yaml"}), "bundle it", id="another-file"),
        pytest.param(with_body({"type": "strnig"}), "properties.body.type", id="unknown-type"),
        pytest.param(with_body({"properties": [1]}), "'properties' is a mapping", id="properties-is-a-list"),
        pytest.param(with_body({"allOf": {}}), "'allOf' is a list", id="all-of-is-a-mapping"),
        pytest.param(with_body({"items": "string"}), "'string' is no schema", id="schema-is-text"),
        pytest.param(with_body(None), "None is no schema", id="schema-is-null"),
        pytest.param(with_body({"pattern": "("}), "'send'", id="pattern"),
        pytest.param(api({"/a": {"post": {"requestBody": 7}}}), "the body of POST /a", id="body-is-a-number"),
        pytest.param(api({"/a": {"post": {"requestBody": {"content": [1]}}}}), "'content' is a mapping", id="content-is-a-list"),
        pytest.param(api({"/a": {"get": OK}}, components={"securitySchemes": {"k": 7}}), "security scheme 'k'", id="scheme-is-a-number"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_refused_with_its_place(document: Any, says: str) -> None:
    with pytest.raises(UsageError) as caught:
        read(document)
    assert says in str(caught.value)
    assert "'api.yaml'" in str(caught.value)


def test_swagger_and_later_versions_are_known_and_not_offered() -> None:
    with pytest.raises(UnsupportedError):
        read({"swagger": "2.0"})


def nested(levels: int) -> Any:
    schema: Any = STRING
    for _ in range(levels):
        schema = {"type": "array", "items": schema}
    return schema


@pytest.mark.parametrize("levels", [140, 180, 5_000])
def test_deep_nesting_is_read_or_refused_but_never_a_crash(levels: int) -> None:
    try:
        read(with_body(nested(levels)))
    except UsageError as error:
        told = str(error)
        assert "nested deeper" in told
        return
    assert levels < 150


# ---------------------------------------------------------------- whatever stands there

WORDS = st.sampled_from(
    ["type", "properties", "items", "$ref", "allOf", "oneOf", "nullable", "required", "enum", "example", "readOnly", "schema", "name", "in", "content", "application/json", "parameters", "requestBody", "operationId", "get", "post", "/a/{b}", "/c", "additionalProperties", "deprecated", "description"]
)  # fmt: skip
VALUES = st.sampled_from(
    ["string", "object", "query", "path", "#/components/schemas/A", "#/paths/~1c", "#", "x.yaml", True, False, None, 7, 1.5, "", "id"]
)
ANYTHING = st.recursive(
    VALUES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=4), max_leaves=15
)
OPERATION = st.fixed_dictionaries(
    {},
    optional={
        "operationId": VALUES,
        "parameters": st.lists(st.fixed_dictionaries({"name": VALUES, "in": VALUES}, optional={"schema": ANYTHING}) | ANYTHING, max_size=3),
        "requestBody": ANYTHING | st.fixed_dictionaries({"content": st.fixed_dictionaries({"application/json": st.fixed_dictionaries({"schema": ANYTHING})})}),
        "deprecated": VALUES,
        "description": VALUES,
    },
)
DOCUMENTS = st.fixed_dictionaries(
    {"openapi": st.sampled_from(["3.0.0", "3.1.0"]), "paths": st.dictionaries(st.sampled_from(["/a/{b}", "/c", "/d"]), st.dictionaries(st.sampled_from(["get", "post", "parameters", "$ref"]), OPERATION | ANYTHING, max_size=3), max_size=3) | ANYTHING},
    optional={"components": ANYTHING | st.fixed_dictionaries({"schemas": st.fixed_dictionaries({"A": ANYTHING})}), "info": ANYTHING},
)


@given(DOCUMENTS)
def test_whatever_a_document_holds_gives_tools_with_valid_schemas_or_our_error(document: Mapping[str, Any]) -> None:
    try:
        found = read(document)
    except HarnessError as error:
        is_ours = error.exit_code == 2
    else:
        is_ours = all(ArgumentSchema(tool.name, tool.parameters) for tool in found.tools)
        assert names_of(found) == sorted({tool.name for tool in found.tools})  # type: ignore[arg-type]
    assert is_ours
