"""The door: what it offers, what it refuses, and how bodies end."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from harness.errors import ConfigurationError, ToolError, UnsupportedError
from harness.protocols import ToolDoor
from harness.recorder import Recorder
from harness.tools import Door, FunctionTool
from harness.tools.probes import throwing
from harness.types.codes import Code, Isolation, Mode, Origin, ToolOutcome
from harness.types.exchange import ToolStart
from harness.types.messages import CallId, JsonText
from tests.tools.lab import Lab, in_lab, made, no_redaction, reply_of


def up() -> str:
    """Say up."""
    return "up"


def sites() -> list[str]:
    """List sites."""
    return []


@pytest.mark.article("2")
def test_what_is_offered_is_name_description_and_schema_in_order_of_names_and_nothing_else() -> None:
    async def main(lab: Lab) -> Any:
        return lab.door.offered

    offered = in_lab([made(up), made(sites, idempotent=True)], main)
    assert [sorted(item) for item in json.loads(offered)] == [["description", "name", "parameters"]] * 2
    assert [item["name"] for item in json.loads(offered)] == ["sites", "up"]
    assert offered == in_lab([made(sites), made(up)], main)


@pytest.mark.conformance("34")
@pytest.mark.article("6", "7")
@pytest.mark.public_case("PB-031")
def test_an_unknown_tool_is_an_error_result_that_lists_the_tools_and_nothing_runs() -> None:
    async def main(lab: Lab) -> Any:
        return await lab.call("list_sites"), lab.door.refuse("list_sites", "{}"), list(lab.log.events)

    reply, refusal, events = in_lab([made(up), made(sites)], main)
    assert reply == refusal
    assert (reply.code, reply.is_error, events) == (Code.UNKNOWN_TOOL, True, [])
    assert [word for word in ("list_sites", "sites", "up") if word not in reply.content] == []


@pytest.mark.conformance("59")
def test_a_tool_that_is_not_allowed_does_not_run_though_it_is_offered() -> None:
    async def main(lab: Lab) -> Any:
        return await lab.call("up"), await lab.call("sites"), lab.started(), lab.door.offered

    refused, good, started, offered = in_lab([made(up), made(sites)], main, allowed=("sites",))
    assert (refused.code, good.code, started) == (Code.TOOL_NOT_ALLOWED, Code.EMPTY, ["sites"])
    assert "Allowed tools: sites." in refused.content
    assert '"up"' in offered


def test_start_and_end_are_recorded_by_the_harness_around_the_body() -> None:
    async def main(lab: Lab) -> Any:
        def body(b: int, a: int) -> str:
            return f"{len(lab.log.events)} {[alive.name for alive in lab.door.open_bodies()]}"

        door = Door([made(body, name="t")], log=lab.log, clock=lab.clock, redact=no_redaction)
        reply = await door.run(
            "t", '{ "b": 1, "a": 2 }', call_id=CallId("c7"), signal=lab.stop, turn=2, step=3, agent="kid"
        )
        return reply, list(lab.log.events), door.open_bodies()

    reply, (start, end), alive = in_lab([], main)
    assert reply.content == "1 []"
    assert start.fact == ToolStart(CallId("c7"), "t", JsonText('{"a":2,"b":1}'))
    assert (end.fact.start, end.fact.outcome, end.fact.code) == (start.seq, ToolOutcome.OK, None)
    assert {(event.origin, event.turn, event.step, event.agent) for event in (start, end)} == {
        (Origin.PROBE, 2, 3, "kid")
    }
    assert alive == ()


def test_an_empty_result_ends_with_its_code() -> None:
    async def main(lab: Lab) -> Any:
        await lab.call("sites")
        return lab.ends()

    assert in_lab([made(sites)], main) == [(0, "ok", "EMPTY")]


class Loud(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text for you")


def exits() -> None:
    raise SystemExit(3)


@pytest.mark.conformance("39")
@pytest.mark.public_case("PB-020")
@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        pytest.param(
            ValueError("broken"), Code.TOOL_FAILED, ["'probe_throwing'", "ValueError", "broken"], id="exception"
        ),
        pytest.param(SystemExit(3), Code.TOOL_FAILED, ["SystemExit", "3"], id="system-exit"),
        pytest.param(StopIteration("x"), Code.TOOL_FAILED, ["StopIteration"], id="stop-iteration"),
        pytest.param(RecursionError("deep"), Code.TOOL_FAILED, ["RecursionError"], id="recursion"),
        pytest.param(Loud(), Code.TOOL_FAILED, ["Loud"], id="exception-without-a-text"),
        pytest.param(ValueError(), Code.TOOL_FAILED, ["ValueError"], id="exception-without-words"),
        pytest.param(TimeoutError("slow disk"), Code.TOOL_FAILED, ["TimeoutError"], id="its-own-time-out"),
        pytest.param(asyncio.CancelledError(), Code.TOOL_FAILED, ["CancelledError"], id="cancelled-by-nobody"),
        pytest.param(
            ToolError("no such row", code="PERMISSION_DENIED"), Code.PERMISSION_DENIED, ["no such row"], id="own-code"
        ),
        pytest.param(ToolError("odd", code="NONSENSE"), Code.TOOL_FAILED, ["odd"], id="code-that-does-not-exist"),
        pytest.param(ToolError("odd", code="RATE_LIMIT"), Code.TOOL_FAILED, ["odd"], id="code-of-models"),
        pytest.param(ToolError("odd", code="UNKNOWN_TOOL"), Code.TOOL_FAILED, ["odd"], id="code-that-says-nothing-ran"),
        pytest.param(
            ExceptionGroup("two", [ValueError("a"), KeyError("b")]),
            Code.TOOL_FAILED,
            ["ExceptionGroup", "two"],
            id="group",
        ),
        pytest.param(ValueError("x\ud83d"), Code.TOOL_FAILED, ["x\ufffd"], id="lone-surrogate"),
    ],
)
@pytest.mark.parametrize("isolation", [Isolation.INLINE, Isolation.THREAD])
def test_a_throwing_tool_is_an_error_result(
    error: BaseException, code: Code, words: list[str], isolation: Isolation
) -> None:
    async def main(lab: Lab) -> Any:
        return await lab.call("probe_throwing"), lab.ends()

    tool = made(throwing(error).function, name="probe_throwing", isolation=isolation)
    reply, ends = in_lab([tool], main)
    assert (reply.code, reply.is_error, reply.outcome) == (code, True, ToolOutcome.ERROR)
    assert [word for word in words if word not in reply.content] == []
    assert ends == [(0, "error", code.value)]


@pytest.mark.article("6")
@pytest.mark.parametrize(("code", "truncated"), [("EMPTY", False), ("TRUNCATED", True)])
def test_empty_and_truncated_said_by_a_tool_are_no_errors(code: str, truncated: bool) -> None:
    reply = reply_of(throwing(ToolError("nothing there", code=code)))
    assert (reply.is_error, reply.code, reply.content, reply.truncated) == (
        False,
        Code(code),
        "nothing there",
        truncated,
    )


@pytest.mark.article("1")
def test_the_text_of_an_exception_is_redacted_and_holds_no_traceback() -> None:
    error = RuntimeError("cannot open /srv/app/key.pem with sk-secret")
    reply = reply_of(
        throwing(error), redact=lambda text: text.replace("/srv/app/key.pem", "<path>").replace("sk-secret", "<secret>")
    )
    assert "cannot open <path> with <secret>" in str(reply.content)
    assert [word for word in ("Traceback", "probes.py", "/srv", "sk-secret") if word in f"{reply}"] == []


def test_a_very_long_exception_text_is_cut() -> None:
    assert len(str(reply_of(throwing(ValueError("x" * 1_000_000))).content)) < 3_000


def test_an_interrupt_by_keyboard_passes_through_and_the_end_is_recorded() -> None:
    async def main(lab: Lab) -> Any:
        try:
            await lab.call("probe_throwing")
        except KeyboardInterrupt:
            return lab.ends(), lab.door.open_bodies()

    assert in_lab([throwing(KeyboardInterrupt())], main) == ([(0, "error", "TOOL_FAILED")], ())


@pytest.mark.conformance("47")
def test_the_mode_is_the_one_of_now() -> None:
    tool = made(up)

    async def main(lab: Lab) -> Any:
        before = lab.door.mode_of("up")
        tool.mode = Mode.EXCLUSIVE
        return before, lab.door.mode_of("up"), lab.door.mode_of("nobody")

    assert in_lab([tool], main) == (Mode.PARALLEL, Mode.EXCLUSIVE, Mode.PARALLEL)


def test_a_failing_sibling_costs_nobody_else_a_result() -> None:
    async def main(lab: Lab) -> Any:
        return await asyncio.gather(
            lab.call("up"), lab.call("probe_throwing", call_id="c2"), lab.call("up", call_id="c3")
        )

    replies = in_lab([made(up), throwing()], main)
    assert [reply.code for reply in replies] == [None, Code.TOOL_FAILED, None]


@pytest.mark.parametrize(
    ("tools", "options", "words"),
    [
        pytest.param([made(up), made(up)], {}, "twice: up", id="name-twice"),
        pytest.param([made(up)], {"allowed": ("down",)}, "down; offered are: up", id="allowed-but-not-offered"),
        pytest.param([made(up)], {"timeout_ms": 0}, "at least 1 ms", id="no-time"),
    ],
)
def test_a_door_that_contradicts_itself_is_refused(
    tools: list[FunctionTool], options: dict[str, Any], words: str
) -> None:
    with pytest.raises(ConfigurationError, match=words):
        in_lab(tools, _nothing, **options)


def test_the_door_is_a_tool_door() -> None:
    async def main(lab: Lab) -> Any:
        door: ToolDoor = lab.door  # judged by the type checker
        return door.isolation_of("up"), door.isolation_of("nobody")

    assert in_lab([made(up, isolation=Isolation.THREAD)], main) == (Isolation.THREAD, Isolation.INLINE)


def test_two_calls_with_one_text_share_no_values() -> None:
    def body(items: list[int]) -> int:
        items.append(0)
        return len(items)

    async def main(lab: Lab) -> Any:
        refusals = {lab.door.refuse("t", '{"items":[1]}') for _ in range(2)}
        calls = [lab.call("t", '{"items":[1]}', call_id=f"c{n}") for n in range(3)]
        return refusals, [reply.content for reply in await asyncio.gather(*calls)]

    assert in_lab([made(body, name="t")], main) == ({None}, ["2", "2", "2"])


async def _nothing(lab: Lab) -> None:
    return None


def test_subprocess_tools_under_virtual_time_are_refused_by_name() -> None:
    with pytest.raises(UnsupportedError, match=r"up.*clock: system"):
        in_lab([made(up, isolation=Isolation.SUBPROCESS)], _nothing)


def test_a_start_that_cannot_be_recorded_starts_nothing() -> None:
    ran: list[int] = []

    class Full(Recorder):
        def record(self, *args: Any, **kwargs: Any) -> Any:
            raise OSError("disk full")

    async def main(lab: Lab) -> None:
        door = Door([made(lambda: ran.append(1), name="t")], log=Full(lab.clock), clock=lab.clock, redact=no_redaction)
        await door.run("t", "{}", call_id=CallId("c1"), signal=lab.stop, turn=1, step=1)

    with pytest.raises(OSError, match="disk full"):
        in_lab([], main)
    assert ran == []


def test_a_plain_function_that_gives_a_coroutine_is_awaited() -> None:
    async def later() -> str:
        await asyncio.sleep(1)
        return "later"

    make: Callable[[], Any] = lambda: later()  # noqa: E731
    assert reply_of(made(make, name="t")).content == "later"
