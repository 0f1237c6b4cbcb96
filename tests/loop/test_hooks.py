"""Hooks of a driver: what they rewrite, refuse and add; and tools that conclude a turn."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from harness.loop import Enter, Hooks, Reject, Rewrite
from harness.subjects.builtin import BUILT_IN_PROFILE
from harness.tools import FunctionTool, conclude
from harness.types.codes import CancelBy, Code, InboxQueue, Isolation, Status
from harness.types.exchange import ToolResult, UserMessage
from harness.types.messages import ChatUser, Messages
from harness.types.profile_loop import TerminatingBatch
from harness.types.reasons import Blocked, Cancelled, Concluded, Failed, FinalAnswer
from harness.types.script import ScriptCall, ScriptReply
from tests.loop.desk import Desk, accounts
from tests.loop.test_inbox import SAYS, TWO_CALLS, drive, nothing

Input = tuple[ChatUser, ...]


def rewriting(*texts: str) -> Hooks:
    async def hook(history: Messages, claimed: Input) -> Rewrite:
        return Rewrite(tuple(ChatUser(text) for text in texts))

    return Hooks(pre_step=(hook,))


# ---------------------------------------------------------------- before a step


@pytest.mark.conformance("15")
@pytest.mark.parametrize("texts", [("redacted",), ("two", "pieces")])
def test_what_a_hook_rewrote_is_recorded_and_sent_and_the_original_is_not(texts: tuple[str, ...]) -> None:
    desk = drive(nothing, "my secret", hooks=rewriting(*texts))
    assert desk.shown() == [list(texts)]
    recorded = [event.fact.message.content for event in desk.log.events if isinstance(event.fact, UserMessage)]
    assert recorded == list(texts)


@pytest.mark.conformance("14")
def test_a_first_step_that_is_rewritten_to_nothing_completes_its_turn_without_steps() -> None:
    desk = drive(nothing, "go", hooks=rewriting())
    assert [(end.status, end.reason) for end in desk.ends()] == [(Status.COMPLETED, Concluded())]
    assert not {"step/start", "model/request", "user/message"} & set(desk.kinds())
    assert desk.model.asked == []


@pytest.mark.conformance("15", "13")
def test_hooks_see_the_history_and_what_was_claimed_each_in_turn_and_the_first_rejection_wins() -> None:
    seen: list[tuple[int, list[str]]] = []

    async def shout(history: Messages, claimed: Input) -> Rewrite:
        return Rewrite(tuple(ChatUser(str(message.content).upper()) for message in claimed))

    async def look(history: Messages, claimed: Input) -> Enter | Reject:
        seen.append((len(history), [str(message.content) for message in claimed]))
        return Reject("enough") if len(history) > 2 else Enter()

    async def never(history: Messages, claimed: Input) -> Enter:
        assert len(history) <= 2
        return Enter()

    desk = drive(nothing, "go", hooks=Hooks(pre_step=(shout, look, never)), script=[TWO_CALLS, *SAYS])
    assert seen == [(0, ["GO"]), (4, [])]
    assert [end.reason for end in desk.ends()] == [Blocked("enough")]
    assert len(desk.model.asked) == 1


@pytest.mark.conformance("13", "118")
def test_input_claimed_by_a_blocked_turn_is_dropped_and_never_shown() -> None:
    async def reject(history: Messages, claimed: Input) -> Enter | Reject:
        return Reject("no") if claimed and claimed[0].content == "bad" else Enter()

    async def go_on(desk: Desk) -> None:
        desk.driver.send("good")
        await desk.driver.run_until_idle()

    desk = drive(nothing, "bad", hooks=Hooks(pre_step=(reject,)), after=go_on)
    assert [end.status for end in desk.ends()] == [Status.BLOCKED, Status.COMPLETED]
    assert desk.shown() == [["good"]]
    assert accounts(desk.log.events) == {"m1": "dropped", "m2": "taken"}
    assert "step/start" not in desk.kinds()[: desk.kinds().index("turn/end")]


@pytest.mark.conformance("12", "118")
def test_a_hook_that_throws_fails_that_turn_only() -> None:
    async def broken(history: Messages, claimed: Input) -> Enter:
        if claimed and claimed[0].content == "bad":
            raise ValueError("broken policy")
        return Enter()

    async def go_on(desk: Desk) -> None:
        desk.driver.send("good")
        await desk.driver.run_until_idle()

    desk = drive(nothing, "bad", hooks=Hooks(pre_step=(broken,)), after=go_on)
    failed, fine = desk.ends()
    assert isinstance(failed.reason, Failed)
    assert (failed.reason.code, fine.reason) == (Code.HOOK_FAILED, FinalAnswer())
    assert accounts(desk.log.events) == {"m1": "dropped", "m2": "taken"}


async def hangs(*_: Any) -> Any:
    await asyncio.sleep(3600)


@pytest.mark.conformance("68", "84", "118")
@pytest.mark.parametrize(
    ("hooks", "n_requests", "account"),
    [
        pytest.param(Hooks(pre_step=(hangs,)), 0, "dropped", id="pre-step"),
        pytest.param(Hooks(turn_stopping=(hangs,)), 1, "taken", id="turn-stopping"),
    ],
)
def test_a_cancel_ends_a_hook_that_hangs_and_nothing_more_is_asked(hooks: Hooks, n_requests: int, account: str) -> None:
    def cancel(desk: Desk) -> None:
        desk.at("inbox/claimed", lambda: asyncio.get_running_loop().call_later(5, desk.driver.cancel))

    desk = drive(cancel, "go", hooks=hooks)
    assert [end.reason for end in desk.ends()] == [Cancelled(CancelBy.USER)]
    assert len(desk.model.asked) == n_requests
    assert accounts(desk.log.events) == {"m1": account}


# ---------------------------------------------------------------- when a turn would stop


def adding(texts: list[str | None], asked: list[int] | None = None) -> Hooks:
    """Adds the next of the texts each time a turn would stop; remembers the length of the history."""

    async def hook(history: Messages) -> str | None:
        if asked is not None:
            asked.append(len(history))
        return texts.pop(0) if texts else None

    return Hooks(turn_stopping=(hook,))


@pytest.mark.conformance("16")
def test_input_added_when_a_turn_would_stop_takes_exactly_one_more_step_in_that_turn() -> None:
    asked: list[int] = []
    desk = drive(nothing, "go", hooks=adding(["check it"], asked), script=[TWO_CALLS, *SAYS])
    assert desk.shown() == [["go"], ["go"], ["go", "check it"]]
    assert [end.reason for end in desk.ends()] == [FinalAnswer()]
    assert asked == [5, 7]  # never between two steps, only where the turn would stop


@pytest.mark.conformance("16")
@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(ScriptReply(say="cut", finish="length"), id="cut"),
        pytest.param(ScriptReply(refusal="no"), id="refused"),
    ],
)
def test_a_turn_that_does_not_stop_by_itself_asks_no_stopping_hook(reply: ScriptReply) -> None:
    asked: list[int] = []
    desk = drive(nothing, "go", hooks=adding(["more"], asked), script=[reply, *SAYS])
    assert (asked, len(desk.shown())) == ([], 1)


@pytest.mark.conformance("16", "104")
def test_pending_steering_goes_before_the_stopping_hook() -> None:
    asked: list[int] = []

    def steer(desk: Desk) -> None:
        desk.at("model/request", lambda: desk.driver.send("and", queue=InboxQueue.STEER))

    assert drive(steer, "go", hooks=adding([], asked)).shown() == [["go"], ["go", "and"]]
    assert asked == [4]


@pytest.mark.conformance("84")
def test_a_cancel_in_the_stopping_window_ends_the_turn_as_cancelled_without_an_extra_step() -> None:
    desks: list[Desk] = []

    async def cancelling(history: Messages) -> str:
        desks[0].driver.cancel()
        return "never shown"

    desk = drive(desks.append, "go", hooks=Hooks(turn_stopping=(cancelling,)))
    assert [end.reason for end in desk.ends()] == [Cancelled(CancelBy.USER)]
    assert len(desk.model.asked) == 1


@pytest.mark.conformance("12")
def test_a_stopping_hook_that_throws_fails_that_turn_only() -> None:
    thrown: list[str] = []

    async def once(history: Messages) -> None:
        if not thrown:
            thrown.append("boom")
            raise ValueError("boom")

    async def go_on(desk: Desk) -> None:
        desk.driver.send("again")
        await desk.driver.run_until_idle()

    desk = drive(nothing, "go", hooks=Hooks(turn_stopping=(once,)), after=go_on)
    assert [end.status for end in desk.ends()] == [Status.FAILED, Status.COMPLETED]


# ---------------------------------------------------------------- concluding


def finish(label: str) -> Any:
    """Say that there is nothing more to do."""
    return conclude({"label": label})


FINISH = ScriptReply(calls=(ScriptCall("wait", '{"ms":10}'), ScriptCall("finish", '{"label":"x"}')))


@pytest.mark.conformance("17")
@pytest.mark.parametrize("isolation", [Isolation.INLINE, Isolation.THREAD], ids=str)
def test_a_concluding_result_stops_the_turn_without_another_request(isolation: Isolation) -> None:
    desk = drive(nothing, "go", script=[FINISH, *SAYS], tools=[FunctionTool(finish, isolation=isolation)])
    assert [(end.status, end.reason) for end in desk.ends()] == [(Status.COMPLETED, Concluded())]
    assert len(desk.model.asked) == 1
    results = [event.fact.content for event in desk.log.events if isinstance(event.fact, ToolResult)]
    assert results == ["waited", '{"label":"x"}']


@pytest.mark.conformance("17")
@pytest.mark.parametrize(
    ("prepare", "hooks", "said"),
    [
        pytest.param(
            lambda desk: desk.at("tool/start", lambda: desk.driver.send("wait", queue=InboxQueue.STEER)),
            Hooks(), "wait", id="steered",
        ),
        pytest.param(nothing, adding(["check it"]), "check it", id="by-a-stopping-hook"),
    ],
)  # fmt: skip
def test_a_concluded_turn_goes_on_where_steering_is_pending(
    prepare: Callable[[Desk], None], hooks: Hooks, said: str
) -> None:
    desk = drive(prepare, "go", script=[FINISH, *SAYS], tools=[FunctionTool(finish)], hooks=hooks)
    assert desk.shown() == [["go"], ["go", said]]
    assert [end.reason for end in desk.ends()] == [FinalAnswer()]


@pytest.mark.conformance("18")
@pytest.mark.parametrize("n_asking", [1, 2])
def test_as_declared_one_result_that_asks_for_the_end_is_enough_for_its_batch(n_asking: int) -> None:
    calls = (ScriptCall("wait", '{"ms":10}'), *[ScriptCall("finish", f'{{"label":"{n}"}}') for n in range(n_asking)])
    desk = drive(nothing, "go", script=[ScriptReply(calls=calls), *SAYS], tools=[FunctionTool(finish)])
    assert BUILT_IN_PROFILE.terminating_batch is TerminatingBatch.ANY_OF_BATCH
    assert [end.reason for end in desk.ends()] == [Concluded()]


@pytest.mark.conformance("17", "67")
def test_a_cancel_beats_a_concluding_result() -> None:
    desk = drive(
        lambda desk: desk.at("tool/result", desk.driver.cancel, nth=2),
        "go", script=[FINISH, *SAYS], tools=[FunctionTool(finish)],
    )  # fmt: skip
    assert [end.reason for end in desk.ends()] == [Cancelled(CancelBy.USER)]
