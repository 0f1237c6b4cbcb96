"""A snapshot holds the tools of all sources at one moment, and says in words how another differs."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import ConfigurationError, HarnessError, ScenarioError, UnknownNameError, UsageError
from harness.tools import FunctionTool, Registry
from harness.tools.build import FACTORIES
from harness.tools.snapshot import differs, snapshot_of, tools_digest
from harness.types.codes import Effect
from harness.types.evaluation import EvalTool, SourceKind, ToolSource
from harness.types.jsontext import canonical_json
from tests.tools.sourcing import inline, names_of, schema_of, snapshot

GET = {"name": "get_order", "description": "Look up one order.", "parameters": {"properties": {"id": {"type": "integer"}}}}
PAY = {"name": "pay", "description": "Pay.", "parameters": {"type": "object", "properties": {}}}


def refund(order: int) -> str:
    """Pay an order back."""
    return str(order)


def look(place: str) -> str:
    """Look at a place."""
    return place


REGISTRY = Registry(FunctionTool(refund), FunctionTool(look, effect=Effect.READ))
REGISTRY_NAME = "tests.tools.test_snapshot:REGISTRY"
NO_REGISTRY = 7


class Awkward:
    """An object that raises whatever is asked of it."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(name)


AWKWARD = [SimpleNamespace(name="x", parameters=7, check=1, call=1, isolation=1)]
RAISING = [Awkward()]


def tool(name: str = "a", description: str = "", **parameters: Any) -> EvalTool:
    return EvalTool(name, description, canonical_json({"type": "object", "properties": {}, **parameters}))


# ---------------------------------------------------------------- sources


def test_tools_of_all_sources_stand_in_the_order_of_their_names() -> None:
    taken = snapshot(
        inline(PAY, GET), ToolSource(SourceKind.USE, names=("calculator",)), ToolSource(SourceKind.FROM, REGISTRY_NAME)
    )
    assert names_of(taken) == ["calculator", "get_order", "look", "pay", "refund"]
    assert taken.sources == ("schemas of the document", "built-in tools calculator", f"registry {REGISTRY_NAME!r}")
    assert taken.notes == ()


def test_the_effect_of_a_function_is_whether_it_only_reads() -> None:
    taken = snapshot(ToolSource(SourceKind.FROM, REGISTRY_NAME))
    assert [(tool.name, tool.read_only) for tool in taken.tools] == [("look", True), ("refund", False)]


def test_every_built_in_tool_can_be_offered() -> None:
    assert names_of(snapshot(ToolSource(SourceKind.USE, names=tuple(FACTORIES)))) == sorted(FACTORIES)


@pytest.mark.parametrize("name", ["tools.json", "tools.yaml"])
def test_schemas_come_from_a_file_beside_the_document(name: str, tmp_path: Path) -> None:
    tmp_path.joinpath(name).write_text(json.dumps([GET]), "utf-8")
    taken = snapshot(ToolSource(SourceKind.SCHEMAS, name), base=tmp_path)
    assert taken.digest == snapshot(inline(GET)).digest
    assert taken.sources == (f"schemas {name!r}",)


@pytest.mark.parametrize(
    "written",
    [
        pytest.param({"type": "function", "function": {**GET, "strict": True}}, id="chat"),
        pytest.param({"type": "function", **GET}, id="responses"),
        pytest.param({"name": "get_order", "description": "Look up one order.", "input_schema": GET["parameters"]}, id="messages"),
        pytest.param({**{key: GET[key] for key in ("name", "description")}, "inputSchema": GET["parameters"], "title": "Get"}, id="mcp"),
    ],
)
def test_a_tool_may_be_written_as_a_provider_takes_it(written: Any) -> None:
    assert snapshot(inline(written)).digest == snapshot(inline(GET)).digest


def test_a_schema_without_a_type_is_that_of_an_object() -> None:
    assert schema_of(snapshot(inline({"name": "ping"})), "ping") == {"type": "object", "properties": {}}


def test_only_keeps_the_named_tools_and_the_rest_is_told() -> None:
    taken = snapshot(inline(GET, PAY, only=("pay",)))
    assert names_of(taken) == ["pay"]
    assert taken.notes == ("schemas of the document: left out by 'only': get_order",)


def test_a_prefix_stands_before_the_name_and_the_original_is_kept() -> None:
    taken = snapshot(inline(GET, prefix="shop_", only=("get_order",)))
    assert [(tool.name, tool.original) for tool in taken.tools] == [("shop_get_order", "get_order")]


def test_two_sources_with_one_name_are_refused_by_both_names_and_a_way_out() -> None:
    with pytest.raises(ConfigurationError) as caught:
        snapshot(inline(GET), inline(PAY, GET))
    assert "'get_order'" in str(caught.value)
    assert "schemas of the document" in str(caught.value)
    assert "'prefix'" in str(caught.value)
    assert "'only'" in str(caught.value)
    assert names_of(snapshot(inline(GET), inline(PAY, GET, prefix="b_"))) == ["b_get_order", "b_pay", "get_order"]


@pytest.mark.parametrize(
    ("source", "fault", "says"),
    [
        pytest.param(ToolSource(SourceKind.USE, names=("calculater",)), UnknownNameError, "'calculator'", id="unknown-built-in"),
        pytest.param(ToolSource(SourceKind.USE), ConfigurationError, "empty", id="use-nothing"),
        pytest.param(ToolSource(SourceKind.FROM, "tests.tools.nowhere:x"), UnknownNameError, "no module", id="no-module"),
        pytest.param(ToolSource(SourceKind.FROM, "tests.tools.test_snapshot:NO_REGISTRY"), ConfigurationError, "allowed: a Registry", id="no-registry"),
        pytest.param(ToolSource(SourceKind.FROM, "tests.tools.test_snapshot:AWKWARD"), HarnessError, "AWKWARD", id="no-tool"),
        pytest.param(ToolSource(SourceKind.FROM, "tests.tools.test_snapshot:RAISING"), HarnessError, "RuntimeError", id="raising"),
        pytest.param(ToolSource(SourceKind.SCHEMAS, "nowhere.yaml"), ScenarioError, "nowhere.yaml", id="no-yaml"),
        pytest.param(ToolSource(SourceKind.SCHEMAS, "nowhere.json"), ConfigurationError, "'nowhere.json'", id="no-json"),
        pytest.param(ToolSource(SourceKind.SCHEMAS, "a\0b"), ConfigurationError, "no name of a file", id="nul"),
        pytest.param(ToolSource(SourceKind.SCHEMAS, "."), ScenarioError, "directory", id="folder"),
        pytest.param(ToolSource(SourceKind.SCHEMAS, inline="[{]"), ConfigurationError, "not JSON", id="not-json"),  # type: ignore[arg-type]
        pytest.param(inline(), ConfigurationError, "empty", id="no-tools"),
        pytest.param(inline(7), ConfigurationError, "[0]", id="no-mapping"),
        pytest.param(inline({"description": "x"}), ConfigurationError, "'name'", id="no-name"),
        pytest.param(inline({"name": ""}), ConfigurationError, "'name'", id="empty-name"),
        pytest.param(inline({"name": "a", "descripton": "x"}), ConfigurationError, "did you mean 'description'", id="misspelt"),
        pytest.param(inline({"name": "a", "description": 7}), ConfigurationError, "'description'", id="description"),
        pytest.param(inline({"name": "a", "parameters": [1]}), ConfigurationError, "'a'", id="no-schema"),
        pytest.param(inline({"name": "a", "parameters": {}, "input_schema": {}}), ConfigurationError, "one of", id="two-schemas"),
        pytest.param(inline({"name": "a", "parameters": {"type": "array"}}), ConfigurationError, "always an object", id="array"),
        pytest.param(inline({"name": "a", "parameters": {"properties": {"x": {"type": "strnig"}}}}), ConfigurationError, "properties.x.type", id="bad-type"),
        pytest.param(inline({"name": "a", "parameters": {"$ref": "http://127.0.0.1:9/a"}}), ConfigurationError, "http://127.0.0.1:9/a", id="remote"),
        pytest.param(inline({"name": "a", "read_only": "yes"}), ConfigurationError, "'read_only'", id="read-only"),
        pytest.param(inline({"name": "a", "description": "x" * 100_001}), ConfigurationError, "too large", id="large"),
        pytest.param(inline(GET, GET), ConfigurationError, "several tools are called 'get_order'", id="doubles"),
        pytest.param(inline(GET, only=("get_ordr",)), ConfigurationError, "did you mean 'get_order'", id="only-unknown"),
        pytest.param(inline(GET, prefix="a b"), ConfigurationError, "prefix 'a b'", id="prefix"),
    ],
)  # fmt: skip
def test_what_a_document_gets_wrong_is_told_where_and_ends_with_exit_code_2(
    source: ToolSource, fault: type[HarnessError], says: str, tmp_path: Path
) -> None:
    with pytest.raises(fault) as caught:
        snapshot(source, base=tmp_path)
    assert says in str(caught.value)
    assert caught.value.exit_code == 2


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(["name", "description", "parameters", "function", "type", "properties", "$ref", "items", "anyOf", "required"])
        | st.text(max_size=6),
        inner,
        max_size=4,
    ),
    max_leaves=12,
)


@given(st.lists(JSON, max_size=3))
def test_whatever_stands_in_a_list_of_tools_gives_tools_or_our_error(entries: list[Any]) -> None:
    n_tools = None
    try:
        n_tools = len(snapshot(inline(*entries)).tools)
    except UsageError:
        return
    assert n_tools == len(entries)


# ---------------------------------------------------------------- digest and difference


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        pytest.param([tool("a")], [tool("a"), tool("b")], ["tool 'b' was added"], id="added"),
        pytest.param([tool("a"), tool("b")], [tool("b")], ["tool 'a' was removed"], id="removed"),
        pytest.param([tool("a", "x")], [tool("a", "y")], ["description of tool 'a' changed"], id="description"),
        pytest.param([tool()], [tool(properties={"x": {}})], ["parameter 'a.x' was added"], id="parameter-added"),
        pytest.param([tool(properties={"x": {}})], [tool()], ["parameter 'a.x' was removed"], id="parameter-removed"),
        pytest.param([tool(properties={"x": {"type": "string"}})], [tool(properties={"x": {"type": "integer"}})], ["parameter 'a.x' changed"], id="parameter-changed"),
        pytest.param([tool(properties={"x": {}})], [tool(properties={"x": {}}, required=["x"])], ["parameter 'a.x' changed"], id="required"),
        pytest.param([tool()], [tool(additionalProperties=False)], ["the schema of tool 'a' changed outside its parameters"], id="rest"),
        pytest.param([tool(required=["y"])], [tool()], ["the schema of tool 'a' changed outside its parameters"], id="required-of-no-property"),
        pytest.param([tool("a", "x"), tool("b")], [tool("b"), tool("a", "x")], [], id="order"),
    ],
)  # fmt: skip
def test_a_difference_is_said_in_words(old: list[EvalTool], new: list[EvalTool], words: list[str]) -> None:
    assert differs(snapshot_of(old), snapshot_of(new)) == words


def test_where_a_tool_came_from_is_no_difference() -> None:
    here = EvalTool("a", "", canonical_json({}), original="A", read_only=True)
    there = EvalTool("a", "", canonical_json({}))
    assert tools_digest([here]) == tools_digest([there])


SCHEMAS = st.fixed_dictionaries(
    {"type": st.just("object")},
    optional={
        "properties": st.dictionaries(st.sampled_from("xyz"), st.sampled_from([{}, {"type": "string"}, True]), max_size=3)
        | st.sampled_from([[], None]),
        "required": st.lists(st.sampled_from("xyz"), max_size=3, unique=True).map(sorted) | st.none(),
        "additionalProperties": st.booleans(),
    },
)
TOOLS = st.dictionaries(st.sampled_from("abc"), st.tuples(st.sampled_from(["", "x"]), SCHEMAS), max_size=3)


def tools_of(drawn: dict[str, tuple[str, Any]]) -> list[EvalTool]:
    return [EvalTool(name, text, canonical_json(schema)) for name, (text, schema) in drawn.items()]


@given(TOOLS, TOOLS)
def test_two_snapshots_have_one_digest_exactly_if_no_difference_is_said(one: Any, other: Any) -> None:
    old, new = snapshot_of(tools_of(one)), snapshot_of(tools_of(other))
    assert (old.digest == new.digest) is (differs(old, new) == [])
