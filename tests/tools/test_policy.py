"""The host's rules for tools at the door: attempts, what takes over, time-outs, composed tools, modes."""

import asyncio
import json
from typing import Any

import pytest

from harness.errors import ConfigurationError, ToolError, UnsupportedError
from harness.protocols import ToolContext
from harness.tools.probes import flaky, slow, stubborn, throwing
from harness.types.codes import CancelBy, Code, Isolation, Mode
from harness.types.exchange import ToolStart
from harness.types.lifecycle import Note
from harness.types.reasons import Cancelled
from harness.types.tool_policy import AfterFailure, OnFailure, ResultLimit, Rung, ToolPolicy, ToolRules
from tests.tools.lab import Lab, in_lab, made, reply_of


def every(**rules: Any) -> ToolPolicy:
    return ToolPolicy(ToolRules(**rules))


def only(name: str, **rules: Any) -> ToolPolicy:
    return ToolPolicy(tools=((name, ToolRules(**rules)),))


def bodies(lab: Lab) -> list[tuple[str, int, str | None, int | None]]:
    starts = [event.fact for event in lab.log.events if isinstance(event.fact, ToolStart)]
    return [(start.name, start.attempt, start.instead_of, start.within) for start in starts]


@pytest.mark.article("20")
@pytest.mark.public_case("PB-027")
def test_retries_for_every_tool_are_those_of_idempotent_ones_and_the_effect_of_another_happens_once() -> None:
    outbox: list[tuple[str, int]] = []
    keys: list[str] = []

    def send(context: ToolContext) -> None:
        outbox.append((context.key, context.attempt))
        raise ConnectionError("reset")

    def fetch(context: ToolContext) -> str:
        keys.append(context.key)
        if context.attempt < 3:
            raise ConnectionError("reset")
        return "data"

    async def main(lab: Lab) -> Any:
        return await lab.call("send"), await lab.call("fetch", call_id="c2"), bodies(lab)

    policy = every(failure=OnFailure(retries=2, delay_ms=50))
    sent, fetched, started = in_lab([made(send), made(fetch, idempotent=True)], main, policy=policy)
    assert (sent.code, "reset" in sent.content, fetched.content) == (Code.TOOL_FAILED, True, "data")
    assert (outbox, keys) == ([("c1", 1)], ["c2", "c2", "c2"])
    assert started == [("send", 1, None, None), *(("fetch", number, None, None) for number in (1, 2, 3))]


@pytest.mark.article("20")
@pytest.mark.parametrize(
    ("policy", "words"),
    [
        pytest.param(only("probe_throwing", failure=OnFailure(retries=1)), "not declared idempotent", id="unsafe"),
        pytest.param(only("nobody", timeout_ms=1), "nobody", id="unknown-tool"),
        pytest.param(only("probe_throwing", timeout_ms=0), "1 and more", id="no-time"),
        pytest.param(every(results=ResultLimit(199)), "200 and more", id="no-room"),
        pytest.param(every(failure=OnFailure(then=AfterFailure.FALL_BACK)), "go together", id="fallback-unnamed"),
        pytest.param(
            only("probe_throwing", failure=OnFailure(0, 0, AfterFailure.FALL_BACK, "nobody")), "nobody", id="fallback-unknown"
        ),
        pytest.param(
            only("probe_throwing", failure=OnFailure(0, 0, AfterFailure.FALL_BACK, "probe_throwing")), "itself", id="to-itself"
        ),
        pytest.param(ToolPolicy(repair=(Rung.LONE_STRING, Rung.LONE_STRING)), "twice", id="rung-twice"),
    ],
)  # fmt: skip
def test_a_policy_that_the_tools_cannot_have_is_a_configuration_error(policy: ToolPolicy, words: str) -> None:
    with pytest.raises(ConfigurationError, match=words):
        reply_of(throwing(), policy=policy)


@pytest.mark.article("20")
@pytest.mark.conformance("74", "78")
def test_a_cancel_in_the_pause_between_attempts_ends_it_at_once_and_the_failure_stands() -> None:
    async def main(lab: Lab) -> Any:
        task = asyncio.create_task(lab.call("probe_flaky"))
        await lab.clock.sleep_ms(10)
        lab.stop.set(Cancelled(CancelBy.USER))
        reply = await task
        return reply.code, lab.clock.now_ms(), lab.started()

    policy = every(failure=OnFailure(retries=3, delay_ms=60_000))
    assert in_lab([flaky(9)], main, policy=policy) == (Code.TOOL_FAILED, 10, ["probe_flaky"])


@pytest.mark.article("20")
def test_what_a_tool_says_on_purpose_is_not_asked_again() -> None:
    def body() -> None:
        raise ToolError("not for you", code="PERMISSION_DENIED")

    async def main(lab: Lab) -> Any:
        return (await lab.call("body")).code, len(lab.started())

    policy = every(failure=OnFailure(retries=3))
    assert in_lab([made(body, idempotent=True)], main, policy=policy) == (Code.PERMISSION_DENIED, 1)


def test_a_body_that_ignores_its_time_out_is_not_run_again_beside_itself() -> None:
    tool = stubborn(10_000, n_swallowed=3)
    tool.idempotent = True

    async def main(lab: Lab) -> Any:
        return (await lab.call(tool.name)).code, len(lab.started())

    policy = every(failure=OnFailure(retries=3), timeout_ms=5)
    assert in_lab([tool], main, policy=policy, grace_ms=5) == (Code.TOOL_TIMEOUT, 1)


@pytest.mark.article("20")
def test_another_tool_takes_over_under_the_same_call_and_one_that_cannot_leaves_the_failure() -> None:
    def old(text: str) -> str:
        raise ValueError("down")

    def new(text: str) -> str:
        return text.upper()

    def picky(number: int) -> int:
        return number

    async def main(lab: Lab) -> Any:
        reply = await lab.call("old", '{"text":"hi"}')
        return reply.content, bodies(lab), [e.fact.name for e in lab.log.events if isinstance(e.fact, Note)]

    tools = [made(old), made(new), made(picky)]
    for other, content, notes in (("new", "HI", []), ("picky", "Error (TOOL_FAILED)", ["tool/no-fallback"])):
        policy = only("old", failure=OnFailure(0, 0, AfterFailure.FALL_BACK, other))
        said, started, noted = in_lab(tools, main, policy=policy)
        assert (said.startswith(content), noted) == (True, notes)
        assert started == [("old", 1, None, None), *([("new", 2, "old", None)] if other == "new" else [])]


@pytest.mark.conformance("41")
def test_a_tool_has_a_time_out_of_its_own_and_the_host_has_the_last_word() -> None:
    tool = slow(100)
    tool.rules = ToolRules(timeout_ms=20)
    assert "within 20 ms" in reply_of(tool, timeout_ms=50).content
    assert reply_of(tool, policy=only("probe_slow", timeout_ms=200)).code is None
    assert reply_of(slow(100), policy=only("probe_slow", timeout_ms=30)).code is Code.TOOL_TIMEOUT


def _raises(_: Any) -> Mode:
    raise ValueError("cannot tell")


@pytest.mark.conformance("46")
@pytest.mark.parametrize(
    ("classify", "mode"),
    [
        pytest.param(lambda _: Mode.PARALLEL, Mode.PARALLEL, id="parallel"),
        pytest.param(lambda values: Mode.EXCLUSIVE if values["n"] else Mode.PARALLEL, Mode.EXCLUSIVE, id="by-arguments"),
        pytest.param(lambda _: True, Mode.EXCLUSIVE, id="true"),
        pytest.param(lambda _: None, Mode.EXCLUSIVE, id="none"),
        pytest.param(lambda _: "parallel", Mode.EXCLUSIVE, id="a-word"),
        pytest.param(_raises, Mode.EXCLUSIVE, id="raises"),
    ],
)  # fmt: skip
def test_a_mode_that_is_not_plainly_parallel_is_exclusive(classify: Any, mode: Mode) -> None:
    def body(n: int) -> int:
        return n

    async def main(lab: Lab) -> Any:
        return lab.door.mode_of("body", '{"n":1}')

    assert in_lab([made(body, mode=classify)], main) is mode


# ---------------------------------------------------------------- composed tools


def twice(uses: str, **arguments: Any) -> Any:
    async def both(context: ToolContext) -> Any:
        assert context.use is not None
        return [await context.use(uses, arguments) for _ in range(2)]

    return made(both, uses=(uses,))


def test_a_composed_tool_calls_others_through_the_same_door_within_its_own_start() -> None:
    async def main(lab: Lab) -> Any:
        reply = await lab.call("both")
        return json.loads(reply.content), bodies(lab), lab.ends(), lab.door.open_bodies()

    said, started, ends, alive = in_lab([twice("probe_slow"), slow(5)], main)
    assert (said, alive) == (["slow", "slow"], ())
    assert started == [("both", 1, None, None), ("probe_slow", 1, None, 0), ("probe_slow", 1, None, 0)]
    assert [start for start, _, _ in ends] == [1, 3, 0]


def test_a_failure_inside_is_the_composed_tools_own_and_bad_arguments_inside_run_nothing() -> None:
    async def main(lab: Lab) -> Any:
        reply = await lab.call("both")
        return reply.code, reply.content, lab.started()

    code, content, _ = in_lab([twice("probe_throwing"), throwing()], main)
    assert (code, "broken on purpose" in content) == (Code.TOOL_FAILED, True)
    assert in_lab([twice("probe_slow", nothing=1), slow()], main)[::2] == (Code.INVALID_ARGS, ["both"])


@pytest.mark.conformance("63")
def test_a_cancel_reaches_the_inner_body_and_no_further_one_starts() -> None:
    async def main(lab: Lab) -> Any:
        task = asyncio.create_task(lab.call("both"))
        await lab.clock.sleep_ms(5)
        lab.stop.set(Cancelled(CancelBy.USER))
        task.cancel()
        await asyncio.wait([task])
        return task.cancelled(), lab.ends(), lab.started(), lab.door.open_bodies()

    assert in_lab([twice("probe_slow"), slow(1_000)], main) == (
        True,
        [(1, "cancelled", None), (0, "cancelled", None)],
        ["both", "probe_slow"],
        (),
    )


def test_a_composed_tool_is_exclusive_with_an_exclusive_one_and_waited_for_with_a_threaded_one() -> None:
    async def main(lab: Lab) -> Any:
        return lab.door.mode_of("both"), lab.door.isolation_of("both")

    inner = made(lambda: "x", name="inner", mode=Mode.EXCLUSIVE, isolation=Isolation.THREAD)
    assert in_lab([twice("inner"), inner], main) == (Mode.EXCLUSIVE, Isolation.THREAD)


def test_a_composed_tool_names_what_is_there_and_not_itself() -> None:
    with pytest.raises(ConfigurationError, match="not there"):
        reply_of(twice("nobody"))
    with pytest.raises(ConfigurationError, match="itself in the end"):
        reply_of(twice("both"))
    with pytest.raises(UnsupportedError, match="ToolContext"):
        made(lambda: "x", name="x", uses=("y",))
