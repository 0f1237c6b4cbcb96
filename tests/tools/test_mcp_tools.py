"""With ``execute: true`` the tools of an MCP server are bodies: a call goes to the server, as long as it is open."""

import asyncio
import json
import os
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from harness.errors import ToolError, ToolSourceError
from harness.tools.mcp_source import open_mcp_tools
from harness.types.codes import Code, Effect
from harness.types.evaluation import ToolSource
from tests.tools.sourcing import server

ANSWERS = server("broken.py", "answers")


def opened(
    main: Callable[[dict[str, Any]], Coroutine[Any, Any, Any]], source: ToolSource = ANSWERS, *, call_limit_ms: int = 5_000, **environ: str
) -> Any:
    """Run ``main(tools by name)`` while the server's tools are open, and give what it gives."""

    async def run() -> Any:
        given = {**os.environ, **environ}
        async with open_mcp_tools(source, environ=given, limit_ms=10_000, call_limit_ms=call_limit_ms) as (_, tools):
            return await main({tool.name: tool for tool in tools})

    return asyncio.run(run())


async def ping(tools: dict[str, Any], **arguments: Any) -> Any:
    return await tools["ping"].call(arguments, None)


def test_a_call_is_answered_by_the_server() -> None:
    async def twice(tools: dict[str, Any]) -> list[str]:
        return [await ping(tools, a=1), await ping(tools)]

    assert opened(twice) == ['ping {"a": 1}', "ping {}"]


def test_calls_at_once_get_each_its_own_answer() -> None:
    async def at_once(tools: dict[str, Any]) -> list[str]:
        return list(await asyncio.gather(*(ping(tools, n=n) for n in range(20))))

    assert opened(at_once) == [f'ping {json.dumps({"n": n})}' for n in range(20)]


def test_the_server_is_called_by_its_own_name() -> None:
    async def main(tools: dict[str, Any]) -> str:
        answer: str = await tools["shop_ping"].call({}, None)
        return answer

    assert opened(main, server("broken.py", "answers", prefix="shop_")) == "ping {}"


@pytest.mark.parametrize(
    ("how", "code", "says"),
    [
        pytest.param("fail", Code.TOOL_FAILED, "ping", id="an-error-result"),
        pytest.param("refuse", Code.TOOL_FAILED, "the database is down", id="an-error-of-the-protocol"),
        pytest.param("hang", Code.TOOL_TIMEOUT, "300 ms", id="no-answer"),
        pytest.param("die", Code.TOOL_FAILED, "has ended", id="the-server-ends"),
    ],
)
def test_what_the_server_does_not_do_is_a_tool_error(how: str, code: Code, says: str) -> None:
    with pytest.raises(ToolError, match=says) as caught:
        opened(lambda tools: ping(tools, how=how), call_limit_ms=300)
    assert caught.value.code == code


def test_a_tool_that_raises_at_the_server_is_called_once_and_told(tmp_path: Path) -> None:
    called = tmp_path / "called.txt"
    with pytest.raises(ToolError, match="refund_order"):
        opened(
            lambda tools: tools["refund_order"].call({"id": 7}, None), server("orders.py", env=("CALLED",)), CALLED=str(called)
        )
    assert called.read_text("utf-8") == "refund_order\n"


def test_opening_alone_calls_nothing_and_tells_effects_and_schemas(tmp_path: Path) -> None:
    called = tmp_path / "called.txt"

    async def look(tools: dict[str, Any]) -> Any:
        return {name: tool.effect for name, tool in tools.items()}, tools["get_order"].check({"id": "seven"})

    effects, fault = opened(look, server("orders.py", env=("CALLED",)), CALLED=str(called))
    assert effects == {"get_order": Effect.READ, "orders_list_all": Effect.WRITE, "refund_order": Effect.WRITE}
    assert "integer" in fault
    assert not called.exists()


@pytest.mark.parametrize(
    ("how", "text"),
    [
        pytest.param("picture", '[image image/png, blake2b:', id="a-picture-is-its-digest"),
        pytest.param("picture", '{"name":"a","type":"resource_link","uri":"file:///a"}', id="a-link"),
        pytest.param("structure", '{"a":2,"b":1}', id="a-value-without-text"),
    ],
)
def test_content_that_is_no_text_is_told_as_text(how: str, text: str) -> None:
    answer = opened(lambda tools: ping(tools, how=how))
    assert text in answer
    assert "aGVsbG8=" not in answer


def test_a_cancel_during_a_call_passes_and_ends_the_server() -> None:
    async def given_up(tools: dict[str, Any]) -> None:
        async with asyncio.timeout(0.2):
            await ping(tools, how="hang")

    with pytest.raises(TimeoutError):
        opened(given_up, call_limit_ms=60_000)


class Stop(Exception):
    """Raised by a test's own code while the tools are open."""


def test_an_exception_of_the_caller_comes_out_as_it_is() -> None:
    async def stop(tools: dict[str, Any]) -> None:
        raise Stop(len(tools))

    with pytest.raises(Stop):
        opened(stop)


def test_a_server_that_cannot_be_listed_is_not_opened() -> None:
    with pytest.raises(ToolSourceError, match="acme"):
        opened(ping, server("broken.py", "dies"))
