"""What can be a tool, and what is refused at registration."""

import json
from typing import Any

import pytest

from harness.errors import ConfigurationError, UnknownNameError, UnsupportedError
from harness.protocols import ToolContext
from harness.tools import FunctionTool, Registry, offered_tool, tool
from harness.tools.stubs import StubTool
from harness.types.codes import Effect, Isolation, Mode
from harness.types.scenario import Stub
from tests.tools.lab import made, reply_of


def weather(city_name: str) -> str:
    """Weather of a city.

    More, which no model needs.
    """
    return city_name


def schema(*names: str, required: tuple[str, ...] = ()) -> dict[str, Any]:
    return {"type": "object", "properties": {name: {"type": "string"} for name in names}, "required": list(required)}


@pytest.mark.article("8")
@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        pytest.param(schema("city", required=("city",)), ["'city'", "'city_name'", "meant"], id="other-name"),
        pytest.param(schema("city_name", "unit", required=("city_name",)), ["'unit'"], id="one-too-many"),
        pytest.param(schema(), ["'city_name'", "not in the schema"], id="one-too-few"),
        pytest.param(schema("city_name"), ["'city_name'", "does not require"], id="needed-but-not-required"),
    ],
)
def test_a_schema_that_disagrees_with_its_function_is_refused(parameters: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(ConfigurationError) as caught:
        made(weather, parameters=parameters)
    assert [word for word in [*words, "'weather'"] if word not in str(caught.value)] == []


@pytest.mark.article("8")
def test_a_schema_that_agrees_is_taken_as_it_was_written() -> None:
    parameters = schema("city_name", required=("city_name",))
    assert json.loads(made(weather, parameters=parameters).parameters) == parameters


def positional(a: int, /) -> int:
    return a


def untyped(a) -> Any:  # type: ignore[no-untyped-def]
    return a


async def asynchronous() -> str:
    return "x"


def with_context(context: ToolContext) -> str:
    return "x"


def no_schema(a: ToolContext | object) -> str:
    return "x"


@pytest.mark.parametrize(
    ("function", "options", "words"),
    [
        pytest.param(weather, {"parameters": {"type": "objec"}}, ["objec"], id="type-is-not-object"),
        pytest.param(
            weather,
            {"parameters": {"properties": {"city_name": {"type": "strin"}}, "required": ["city_name"]}},
            ["properties.city_name.type"],
            id="no-json-schema",
        ),
        pytest.param(weather, {"parameters": "{"}, ["not JSON"], id="no-json"),
        pytest.param(weather, {"parameters": "[]"}, ["object"], id="no-object"),
        pytest.param(weather, {"parameters": {"$ref": "http://127.0.0.1:9/x"}}, ["disabled"], id="never-fetched"),
        pytest.param(weather, {"name": "my tool"}, ["'my tool'", "letters"], id="name-that-no-provider-takes"),
        pytest.param(lambda: 1, {}, ["<lambda>"], id="no-name"),
        pytest.param(positional, {}, ["'a'", "positional"], id="positional-only"),
        pytest.param(untyped, {}, ["'a'", "annotation"], id="no-annotation"),
        pytest.param(no_schema, {}, ["derived"], id="annotation-without-schema"),
        pytest.param("weather", {"name": "x"}, ["no function"], id="no-function"),
    ],
)
def test_what_cannot_be_a_tool_is_refused_and_the_text_says_why(
    function: Any, options: dict[str, Any], words: list[str]
) -> None:
    with pytest.raises(ConfigurationError) as caught:
        made(function, **options)
    assert [word for word in words if word not in str(caught.value)] == []


@pytest.mark.parametrize(
    ("function", "isolation"),
    [
        pytest.param(asynchronous, Isolation.THREAD, id="async-in-a-thread"),
        pytest.param(with_context, Isolation.SUBPROCESS, id="context-into-a-child"),
        pytest.param(lambda: 1, Isolation.SUBPROCESS, id="lambda-in-a-child"),
    ],
)
def test_an_isolation_that_a_function_cannot_have_is_refused_by_name(function: Any, isolation: Isolation) -> None:
    with pytest.raises(UnsupportedError, match=r"thread|subprocess"):
        made(function, name="t", isolation=isolation)


def test_the_first_line_of_the_docstring_is_the_description() -> None:
    assert made(weather).description == "Weather of a city."
    assert made(weather, description="other").description == "other"


def test_the_context_is_handed_over_and_never_offered() -> None:
    def f(context: ToolContext, a: int) -> str:
        return f"{a} {context.call_id} {context.signal.is_set} {context.clock.now_ms()}"

    assert list(json.loads(made(f).parameters)["properties"]) == ["a"]
    assert reply_of(made(f), '{"a":1}').content == "1 c1 False 0"


def test_a_parameter_called_like_a_method_of_a_model_is_a_parameter() -> None:
    def f(json: str, schema: str, copy: int = 1) -> str:
        return json + schema + str(copy)

    assert reply_of(made(f), '{"json":"a","schema":"b"}').content == "ab1"


def test_a_decorated_tool_is_still_a_function() -> None:
    @tool(effect=Effect.READ, mode=Mode.EXCLUSIVE)
    def double(n: int) -> int:
        """Double."""
        return 2 * n

    assert double(4) == 8
    assert offered_tool(double).mode is Mode.EXCLUSIVE
    assert reply_of(double, '{"n":4}').content == "8"


def test_a_registry_keeps_tools_by_name_in_canonical_order() -> None:
    registry = Registry()

    @registry.tool
    def zeta() -> str:
        return "z"

    @registry.tool(name="alpha")
    def other() -> str:
        return "a"

    assert zeta() == "z"
    assert [found.name for found in registry] == ["alpha", "zeta"] == list(registry.names)
    assert len(registry) == 2
    assert "zeta" in registry
    assert "other" not in registry


def test_a_loop_that_calls_functions_itself_gets_them_by_name() -> None:
    assert Registry(FunctionTool(weather, name="w")).functions() == {"w": weather}
    with pytest.raises(UnsupportedError, match=r"no functions.*: s"):
        Registry(FunctionTool(weather), StubTool("s", Stub(raises="x"))).functions()


def test_a_name_twice_is_refused_and_an_unknown_one_names_those_there_are() -> None:
    registry = Registry(FunctionTool(weather))
    with pytest.raises(ConfigurationError, match="'weather' is registered twice"):
        registry.add(weather)
    with pytest.raises(UnknownNameError, match=r"'wether'.*weather"):
        registry["wether"]
