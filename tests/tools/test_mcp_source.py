"""Listing the tools of an MCP server calls none of them, ends the server, and tells what a broken one did."""

import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.errors import ConfigurationError, HarnessError, ToolSourceError
from harness.tools.mcp_source import address_of
from harness.types.evaluation import SourceKind, ToolSource
from tests.tools.sourcing import SERVERS, names_of, schema_of, server, snapshot

SOON_MS = 1_500
LATER_MS = 20_000


def is_alive(pid: int) -> bool:
    """Whether a process runs (one that ended and was not waited for does not)."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text("utf-8")
    except FileNotFoundError:
        return False
    return stat.rsplit(")", 1)[1].split()[0] != "Z"


# ---------------------------------------------------------------- a good server


@pytest.fixture
def called(tmp_path: Path) -> Path:
    """The file that a tool of the server writes if it is ever called."""
    return tmp_path / "called.txt"


def test_every_tool_of_a_server_is_listed_and_none_is_called(called: Path) -> None:
    taken = snapshot(server("orders.py", env=("CALLED",)), environ={"CALLED": str(called)})
    assert names_of(taken) == ["get_order", "orders_list_all", "refund_order"]
    assert [(tool.original, tool.read_only) for tool in taken.tools] == [(None, True), ("orders.list/all", None), (None, None)]
    assert schema_of(taken, "get_order")["properties"]["id"]["description"] == "The number of the order."
    assert not called.exists()


def test_name_and_version_of_the_server_stand_in_the_sources(called: Path) -> None:
    taken = snapshot(server("orders.py", env=("CALLED",), only=("get_order",)), environ={"CALLED": str(called)})
    assert taken.sources[0].startswith("MCP server 'orders' 2.1 (")
    assert taken.notes[0].endswith("left out by 'only': orders.list/all, refund_order")


@pytest.fixture
def url(called: Path) -> Iterator[str]:
    """The address of the same server over HTTP, on the loopback interface."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environ = {**os.environ, "CALLED": str(called)}
    command = [sys.executable, str(SERVERS / "orders.py"), str(port)]
    with subprocess.Popen(command, env=environ, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if "running on" in line:
                break
        yield f"http://127.0.0.1:{port}/mcp"
        process.kill()


def test_a_server_over_http_gives_the_same_snapshot_and_is_not_called(url: str, called: Path) -> None:
    over_pipes = snapshot(server("orders.py", env=("CALLED",)), environ={"CALLED": str(called)})
    over_http = snapshot(ToolSource(SourceKind.MCP, url))
    assert over_http.tools == over_pipes.tools
    assert over_http.digest == over_pipes.digest
    assert over_http.sources == (f"MCP server 'orders' 2.1 ({url})",)
    assert not called.exists()


def test_another_path_of_the_server_is_told_as_no_server(url: str) -> None:
    with pytest.raises(ToolSourceError, match="Not Found"):
        snapshot(ToolSource(SourceKind.MCP, url.replace("/mcp", "/other")))


# ---------------------------------------------------------------- odd and broken servers


@pytest.mark.parametrize(
    ("kind", "names", "note"),
    [
        pytest.param("two-pages", ["ping0", "ping1"], None, id="all-pages"),
        pytest.param("empty-cursor", ["ping"], None, id="an-empty-cursor-is-the-end"),
        pytest.param("no-tools", [], "offers no tools", id="no-tools"),
        pytest.param("chatty", ["ping"], "1 line on its stdout is no message ('Starting up…')", id="greets-on-stdout"),
        pytest.param("binary", ["ping"], " on its stdout ", id="bytes-on-stdout"),
        pytest.param("deep", ["ping"], "1 line on its stdout is no message", id="deep-json"),
        pytest.param("strict-greeting", ["ping"], None, id="hangs-up-at-the-new-greeting"),
    ],
)
def test_an_odd_server_is_listed_and_what_was_odd_is_noted(kind: str, names: list[str], note: str | None) -> None:
    taken = snapshot(server("broken.py", kind))
    assert names_of(taken) == names
    assert (note is None and taken.notes == ()) or (note is not None and note in taken.notes[0])


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        pytest.param("dies", ["exit code 1", "no module named 'acme'"], id="dies-at-once"),
        pytest.param("dies-later", ["exit code 1", "no more memory"], id="dies-when-asked"),
        pytest.param("hangs", [f"after {SOON_MS} ms"], id="hangs-at-once"),
        pytest.param("hangs-later", [f"after {SOON_MS} ms"], id="hangs-when-asked"),
        pytest.param("floods", ["1,000 lines", "'this is a log line, not a message'"], id="garbage"),
        pytest.param("notifies", ["5,001 messages"], id="notifies-without-end"),
        pytest.param("asks", ["5,001 messages"], id="asks-without-end"),
        pytest.param("one-line", ["16,777,216 bytes"], id="a-line-without-end"),
        pytest.param("error", ["-32603", "the database is down"], id="answers-with-an-error"),
        pytest.param("same-cursor", ["has no end"], id="one-cursor-for-ever"),
        pytest.param("many", ["3,000 tools"], id="too-many-tools"),
        pytest.param("doubles", ["several tools are called 'ping'"], id="doubles"),
        pytest.param("bad-schema", ["'ping'", "properties.a.type"], id="invalid-schema"),
        pytest.param("remote-ref", ["'ping'", "http://127.0.0.1:1/x.json"], id="remote-reference"),
        pytest.param("schema-no-object", ["tools.0.inputSchema"], id="schema-is-a-list"),
        pytest.param("no-schema", ["tools.0.inputSchema"], id="no-schema"),
        pytest.param("no-name", ["tools.0.name"], id="no-name"),
        pytest.param("tools-no-list", ["no list of tools"], id="tools-is-no-list"),
        pytest.param("no-result", ["no list of tools"], id="no-tools-key"),
        pytest.param("too-large", ["'ping' is too large"], id="huge-description"),
        pytest.param("long-line", ["16,777,216 bytes"], id="huge-message"),
    ],
)
def test_a_broken_server_is_told_with_what_it_did_and_ends_with_exit_code_5(kind: str, says: list[str]) -> None:
    with pytest.raises(ToolSourceError) as caught:
        snapshot(server("broken.py", kind), limit_ms=SOON_MS if kind.startswith("hangs") else LATER_MS)
    for words in says:
        assert words in str(caught.value)
    assert "broken.py" in str(caught.value)
    assert caught.value.exit_code == 5


def test_pages_without_end_are_stopped_by_their_number() -> None:
    with pytest.raises(ToolSourceError, match="401 pages"):
        snapshot(server("broken.py", "endless"))


def test_a_secret_that_the_server_writes_does_not_come_into_the_message() -> None:
    with pytest.raises(ToolSourceError) as caught:
        snapshot(server("broken.py", "secret", env=("SHOP_TOKEN",)), environ={"SHOP_TOKEN": "hunter2-hunter2"})
    assert "cannot log in with" in str(caught.value)
    assert "hunter2" not in str(caught.value)


def test_a_server_that_nobody_listens_for_is_unreachable() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(ToolSourceError, match="the connection failed"):
        snapshot(ToolSource(SourceKind.MCP, f"http://127.0.0.1:{port}/mcp"))


# ---------------------------------------------------------------- the process is ended


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks at /proc")
def test_a_server_that_hangs_is_ended_with_its_children(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    with pytest.raises(ToolSourceError):
        snapshot(server("broken.py", "grandchild", env=("PIDS",)), environ={"PIDS": str(pids)}, limit_ms=SOON_MS)
    started = [int(pid) for pid in pids.read_text("utf-8").split()]
    assert len(started) == 2
    assert [pid for pid in started if is_alive(pid)] == []


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks at /proc")
def test_a_cancel_while_a_server_hangs_ends_it_too(tmp_path: Path) -> None:
    from harness.tools.snapshot import take_snapshot

    pids = tmp_path / "pids"
    source = server("broken.py", "grandchild", env=("PIDS",))
    environ = {**os.environ, "PIDS": str(pids)}

    async def cancelled_from_outside() -> None:
        async with asyncio.timeout(SOON_MS / 1000):
            await take_snapshot([source], base=tmp_path, environ=environ, limit_ms=60_000)

    with pytest.raises(TimeoutError):
        asyncio.run(cancelled_from_outside())
    started = [int(pid) for pid in pids.read_text("utf-8").split()]
    assert len(started) == 2
    assert [pid for pid in started if is_alive(pid)] == []


def test_a_server_that_stays_after_its_stdin_closed_is_ended() -> None:
    assert names_of(snapshot(server("broken.py", "will-not-go"))) == ["ping"]


# ---------------------------------------------------------------- what the document says


@pytest.mark.parametrize(
    ("source", "says"),
    [
        pytest.param(ToolSource(SourceKind.MCP, ""), "empty", id="empty"),
        pytest.param(ToolSource(SourceKind.MCP, "no-such-program-here --x"), "'no-such-program-here' cannot be started", id="no-program"),
        pytest.param(ToolSource(SourceKind.MCP, "python 'a"), "no command", id="quotes"),
        pytest.param(ToolSource(SourceKind.MCP, "python\0x"), "no command", id="nul"),
        pytest.param(ToolSource(SourceKind.MCP, "/"), "cannot be started", id="folder"),
        pytest.param(ToolSource(SourceKind.MCP, "http://"), "no URL", id="no-host"),
        pytest.param(ToolSource(SourceKind.MCP, "http://[::1"), "no URL", id="half-an-address"),
        pytest.param(ToolSource(SourceKind.MCP, "http://127.0.0.1:99999/"), "no URL", id="port"),
        pytest.param(ToolSource(SourceKind.MCP, "http://127.0.0.1:1/a b"), "no URL", id="space"),
        pytest.param(ToolSource(SourceKind.MCP, "http://127.0.0.1:1/", env=("A",)), "'env' is for a command", id="env-of-a-url"),
        pytest.param(server("orders.py", env=("NEVER_SET_HERE",)), "'NEVER_SET_HERE'", id="env-not-set"),
    ],
)  # fmt: skip
def test_a_source_that_cannot_be_asked_ends_with_exit_code_2(source: ToolSource, says: str) -> None:
    with pytest.raises(HarnessError) as caught:
        snapshot(source)
    assert says in str(caught.value)
    assert caught.value.exit_code == 2


def test_without_the_library_it_is_told_what_to_install() -> None:
    code = (
        "import sys, asyncio, pathlib; sys.modules['mcp'] = None\n"
        "from harness.tools.snapshot import take_snapshot\n"
        "from harness.types.evaluation import ToolSource, SourceKind\n"
        "asyncio.run(take_snapshot([ToolSource(SourceKind.MCP, 'x')], base=pathlib.Path(), environ={}))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert "ConfigurationError" in done.stderr.splitlines()[-1]
    assert "pip install 'agent-loop-harness[evaluate]'" in done.stderr.splitlines()[-1]


def test_a_server_is_given_the_named_variables_and_no_others() -> None:
    environ = {"PATH": "/usr/bin", "HOME": "/root", "OPENAI_API_KEY": "k", "ACME_URL": "u"}
    address = address_of(ToolSource(SourceKind.MCP, "acme-server", env=("ACME_URL",)), environ)
    assert dict(address.environ) == {"PATH": "/usr/bin", "HOME": "/root", "ACME_URL": "u"}


def test_python_is_our_own_interpreter_where_path_has_none(tmp_path: Path) -> None:
    assert address_of(ToolSource(SourceKind.MCP, "python -m x"), {"PATH": str(tmp_path)}).argv == (sys.executable, "-m", "x")


def test_a_key_in_a_command_is_not_shown() -> None:
    address = address_of(ToolSource(SourceKind.MCP, "acme --key hunter2-hunter2"), {"ACME_KEY": "hunter2-hunter2"})
    assert "hunter2" not in address.shown
    assert address.argv[-1] == "hunter2-hunter2"
    with pytest.raises(ConfigurationError):
        snapshot(ToolSource(SourceKind.MCP, "acme --key hunter2-hunter2"), environ={"ACME_KEY": "hunter2-hunter2"})
