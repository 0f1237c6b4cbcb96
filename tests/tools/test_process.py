"""Bodies in a child process: results cross, and nobody of the process group is left."""

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest

from harness.tools import FunctionTool
from harness.types.codes import ClockKind, Code, Isolation
from harness.types.doors import ToolReply
from tests.tools import child_bodies
from tests.tools.lab import Lab, in_lab, made, until

pytestmark = pytest.mark.skipif(os.name != "posix", reason="process groups are needed")


def in_child(function: Any) -> FunctionTool:
    return made(function, isolation=Isolation.SUBPROCESS)


@pytest.mark.parametrize(
    ("function", "arguments", "content", "code"),
    [
        pytest.param(child_bodies.add, '{"a":2,"b":3}', '{"sum":5}', None, id="value-beside-prints"),
        pytest.param(child_bodies.add_later, '{"a":2,"b":3}', "5", None, id="async"),
        pytest.param(child_bodies.nothing_at_all, "", "null", Code.EMPTY, id="empty"),
        pytest.param(child_bodies.concludes, "", '{"sum":5}', None, id="concludes"),
        pytest.param(child_bodies.broken, "", "ValueError: broken in the child", Code.TOOL_FAILED, id="throws"),
        pytest.param(child_bodies.refused, "", "not for you", Code.PERMISSION_DENIED, id="own-code"),
        pytest.param(child_bodies.odd, "", "object", Code.INVALID_TOOL_OUTPUT, id="no-json"),
        pytest.param(child_bodies.dies, "", "exit code 7", Code.TOOL_FAILED, id="dies"),
    ],
)
def test_a_reply_crosses_from_the_child_as_it_would_from_within(
    function: Any, arguments: str, content: str, code: Code | None
) -> None:
    tool = in_child(function)
    reply = in_lab([tool], lambda lab: lab.call(tool.name, arguments), kind=ClockKind.SYSTEM)
    assert (reply.code, content in reply.content) == (code, True), reply
    assert reply.concludes is (function is child_bodies.concludes)


async def grandchild_of(folder: Path) -> int:
    """The grandchild's process id, once it has written it."""
    await until((folder / "pid").exists)
    return int((folder / "pid").read_text())


def is_gone(pid: int) -> bool:
    """True once no process of that id runs (one that nobody has reaped yet does not run)."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    status = Path(f"/proc/{pid}/stat")
    return status.exists() and status.read_text().rsplit(")", 1)[1].split()[0] in "ZX"


def test_a_cancel_ends_the_child_and_its_children(tmp_path: Path) -> None:
    tool = in_child(child_bodies.leaves)

    async def main(lab: Lab) -> Any:
        task = asyncio.create_task(lab.call(tool.name, json.dumps({"folder": str(tmp_path)})))
        pid = await grandchild_of(tmp_path)
        alive = lab.door.open_bodies()
        task.cancel()
        await asyncio.wait([task])
        await until(lambda: is_gone(pid))
        return task.cancelled(), lab.ends(), [body.kind for body in alive], lab.door.open_bodies()

    assert in_lab([tool], main, kind=ClockKind.SYSTEM) == (True, [(0, "cancelled", None)], ["tool"], ())


def test_a_time_out_ends_the_child(tmp_path: Path) -> None:
    tool = in_child(child_bodies.leaves)

    async def main(lab: Lab) -> Any:
        reply: ToolReply = await lab.call(tool.name, json.dumps({"folder": str(tmp_path)}))
        return reply.code, lab.ends(), lab.door.open_bodies()

    result = in_lab([tool], main, kind=ClockKind.SYSTEM, timeout_ms=300)
    assert result == (Code.TOOL_TIMEOUT, [(0, "error", "TOOL_TIMEOUT")], ())


def test_a_grandchild_left_behind_by_a_body_that_returned_is_ended_too(tmp_path: Path) -> None:
    tool = in_child(child_bodies.forgets)

    async def main(lab: Lab) -> Any:
        reply: ToolReply = await lab.call(tool.name, json.dumps({"folder": str(tmp_path)}))
        pid = await grandchild_of(tmp_path)
        await until(lambda: is_gone(pid))
        return reply.content

    assert in_lab([tool], main, kind=ClockKind.SYSTEM) == "returned"


@pytest.mark.conformance("41")
@pytest.mark.public_case("PB-024")
def test_a_time_out_ends_the_grandchild_too_and_the_result_comes_in_time(tmp_path: Path) -> None:
    tool = in_child(child_bodies.leaves)

    async def main(lab: Lab) -> Any:
        began = lab.clock.now_ms()
        reply: ToolReply = await lab.call(tool.name, json.dumps({"folder": str(tmp_path)}))
        took_ms = lab.clock.now_ms() - began
        pid = await grandchild_of(tmp_path)
        await until(lambda: is_gone(pid))
        return reply.code, "1500" in reply.content, took_ms < 1500 + 2000, lab.door.open_bodies()

    assert in_lab([tool], main, kind=ClockKind.SYSTEM, timeout_ms=1500) == (Code.TOOL_TIMEOUT, True, True, ())
