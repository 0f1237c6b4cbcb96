"""Tools that scenarios name in ``tools.use``: arithmetic, memory, weather."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Final

from harness.errors import ConfigurationError, ToolError
from harness.protocols import Tool
from harness.tools.arithmetic import calculate
from harness.tools.content import nothing
from harness.tools.fixtures import Factory, Fixtures, store_of, write_store
from harness.tools.registry import FunctionTool
from harness.tools.replies import listed
from harness.tools.search import SEARCHING
from harness.types.codes import Effect, Mode

CITIES: Final[Mapping[str, Any]] = {
    "Beijing": {"now": {"temperature_c": 24, "sky": "sunny"}, "+3h": {"temperature_c": 21, "sky": "cloudy"}},
    "Shanghai": {"now": {"temperature_c": 27, "sky": "rain"}, "+3h": {"temperature_c": 26, "sky": "rain"}},
    "London": {"now": {"temperature_c": 14, "sky": "cloudy"}, "+3h": {"temperature_c": 12, "sky": "rain"}},
}
_OTHER_NAMES: Final = {"北京": "Beijing", "上海": "Shanghai", "伦敦": "London"}


def _reading(function: Callable[..., Any], **options: Any) -> FunctionTool:
    return FunctionTool(function, effect=Effect.READ, idempotent=True, **options)


def _calculator(fixtures: Fixtures) -> Tool:
    fixtures.options("calculator")

    def calculator(
        expression: Annotated[
            str, "An arithmetic expression such as (1 + 2) * 5: numbers, + - * / // % **, parentheses."
        ],
    ) -> str:
        """Work out an arithmetic expression exactly. Call this for every calculation."""
        return calculate(expression)

    return _reading(calculator)


def _read_memory(fixtures: Fixtures) -> Tool:
    fixtures.options("read_memory")

    def read_memory(key: Annotated[str, "The name under which the value was stored."]) -> Any:
        """Read a value that was remembered before, by its key."""
        store = store_of(fixtures)
        if key not in store:
            return nothing(f"nothing is stored under {key!r}; keys in use: {listed(sorted(store))}")
        return store[key]

    return _reading(read_memory)


def _write_memory(fixtures: Fixtures) -> Tool:
    fixtures.options("write_memory")

    def write_memory(
        key: Annotated[str, "The name under which to store the value."], value: Annotated[Any, "The value: any JSON."]
    ) -> str:
        """Remember a value under a key, for later in this run and for later runs."""
        write_store(fixtures, {**store_of(fixtures), key: value})
        return f"stored under {key!r}"

    return FunctionTool(write_memory, effect=Effect.WRITE, idempotent=True, mode=Mode.EXCLUSIVE)


def _get_weather(fixtures: Fixtures) -> Tool:
    options = fixtures.options("get_weather", "cities", "description")
    cities: Mapping[str, Any] = options.get("cities", CITIES)
    if not isinstance(cities, dict):
        raise ConfigurationError("options of tool 'get_weather': 'cities' must be an object of forecasts by city")

    def get_weather(
        city: Annotated[str, "The city, such as Beijing or 北京."],
        when: Annotated[str, "When: 'now', or hours from now such as '+3h'."] = "now",
    ) -> Any:
        """Get the weather of a city, now or some hours ahead. Call this whenever weather is asked for."""
        return _forecast(cities, city, when)

    return _reading(get_weather, description=options.get("description"))


def _forecast(cities: Mapping[str, Any], city: str, when: str) -> Any:
    name = next((name for name in (city, _OTHER_NAMES.get(city)) if name in cities), None)
    if name is None:
        raise ToolError(f"the city {city!r} is not known; allowed: {listed(sorted(cities))}")
    times = cities[name]
    if not isinstance(times, dict) or "now" not in times:
        times = {"now": times}
    if when not in times:
        raise ToolError(f"there is no forecast of {name!r} for {when!r}; allowed: {listed(sorted(times))}")
    return times[when]


BUILT_IN: Final[Mapping[str, Factory]] = {
    "calculator": _calculator,
    "get_weather": _get_weather,
    "read_memory": _read_memory,
    "write_memory": _write_memory,
    **SEARCHING,
}
