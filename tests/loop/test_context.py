"""What a host replaces between steps, what the policy replaces by itself, and what a request then shows."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from harness.errors import RecordingFailed, UsageError
from harness.folds import estimated_tokens, n_messages
from harness.loop import Enter, Hooks, Policies
from harness.store import read_trajectory
from harness.testing import scenario
from harness.types.codes import CancelBy, Status
from harness.types.context import CompactSpec, ContextSpec
from harness.types.exchange import AssistantMessage, ContextReplaced, ModelRequest, ModelRetry, RequestHeader
from harness.types.lifecycle import Note, TurnEnd
from harness.types.messages import ChatTool, ChatUser, Messages
from harness.types.profile_loop import RequestHistory
from harness.types.profile_run import Compaction, ContextOverflow, InvalidReplacement, RewrittenResult
from harness.types.reasons import Cancelled
from harness.types.script import ScriptCall, ScriptReply
from tests.loop.desk import Desk, in_virtual_time
from tests.loop.lab import calculate, play, roles, shown

SAY = ScriptReply(say="Done.")
DOUBLE = ScriptReply(calls=(ScriptCall("double", '{"n":2}'),))
SHORT = ChatUser("Earlier.")


def replaced(desk: Desk) -> list[ContextReplaced]:
    return [event.fact for event in desk.log.events if isinstance(event.fact, ContextReplaced)]


def contents(desk: Desk, number: int) -> list[Any]:
    requests = [event.fact.messages for event in desk.log.events if isinstance(event.fact, ModelRequest)]
    return [message.content for message in requests[number - 1]]


# ---------------------------------------------------------------- by the host


@pytest.mark.conformance("124", "125")
def test_a_host_replaces_and_rewrites_while_idle_and_the_next_request_shows_it() -> None:
    async def main(clock: Any) -> None:
        desk = Desk(clock, [DOUBLE, SAY, SAY])
        context = desk.driver.context
        desk.driver.open()
        desk.driver.send("double it")
        await desk.driver.run_until_idle()
        user, asked, result, _ = context.nodes
        rewritten = context.rewrite_result(result.seq, "four")
        assert context.nodes[2].seq == rewritten
        assert context.nodes[2].message == ChatTool(result.message.call_id, "four")  # type: ignore[union-attr]
        context.replace(asked.seq, rewritten, SHORT)
        async with desk.driver.maintenance():
            context.replace(user.seq, user.seq, ChatUser("double the two"))
        desk.driver.send("again")
        await desk.driver.run_until_idle()
        desk.driver.close()
        assert contents(desk, 3) == ["double the two", "Earlier.", "Done.", "again"]
        assert desk.complaints() == []

    in_virtual_time(main)


@pytest.mark.conformance("124", "125", "127")
@pytest.mark.parametrize(
    "attempt",
    [
        pytest.param(lambda c, n: c.replace(n[2].seq, n[1].seq, SHORT), id="turned"),
        pytest.param(lambda c, n: c.replace(n[0].seq + 1, n[3].seq, SHORT), id="no-message"),
        pytest.param(lambda c, n: c.replace(n[1].seq, n[1].seq, SHORT), id="inside-a-pair"),
        pytest.param(lambda c, n: c.replace(n[0].seq, n[3].seq, ChatUser("x" * 999)), id="grows"),
        pytest.param(lambda c, n: c.replace(n[2].seq, n[2].seq, ChatTool("other", "x")), id="another-call-id"),
        pytest.param(lambda c, n: c.rewrite_result(n[1].seq, "x"), id="rewrites-what-is-no-result"),
        pytest.param(lambda c, n: c.replace(n[0].seq, n[0].seq, SHORT, seen=Messages.of(())), id="never-seen"),
    ],
)
def test_what_may_not_be_replaced_is_refused_with_its_reason_and_changes_nothing(attempt: Any) -> None:
    async def main(clock: Any) -> None:
        desk = Desk(clock, [DOUBLE, SAY])
        desk.driver.open()
        desk.driver.send("double it")
        await desk.driver.run_until_idle()
        nodes, n_events = desk.driver.context.nodes, len(desk.log.events)
        with pytest.raises(UsageError, match=r"events? \d+ .*(not replaced: .|no tool result)"):
            attempt(desk.driver.context, nodes)
        assert desk.driver.context.nodes == nodes
        assert len(desk.log.events) == n_events

    in_virtual_time(main)


@pytest.mark.conformance("127")
def test_a_conversation_that_has_moved_since_it_was_looked_at_is_not_replaced() -> None:
    async def main(clock: Any) -> None:
        desk = Desk(clock, [DOUBLE, SAY, SAY])
        desk.driver.open()
        desk.driver.send("double it")
        await desk.driver.run_until_idle()
        nodes = desk.driver.context.nodes
        seen = desk.driver._desk.history.messages
        desk.driver.send("again")
        await desk.driver.run_until_idle()
        with pytest.raises(UsageError, match="has moved"):
            desk.driver.context.replace(nodes[0].seq, nodes[-1].seq, SHORT, seen=seen)
        assert replaced(desk) == []

    in_virtual_time(main)


@pytest.mark.conformance("124")
@pytest.mark.parametrize("kind", ["step/start", "model/request", "assistant/message", "tool/start", "tool/result"])
def test_while_a_step_is_open_nothing_is_replaced(kind: str) -> None:
    async def main(clock: Any) -> None:
        desk = Desk(clock, [DOUBLE, SAY])
        told: list[str] = []

        def act() -> None:
            try:
                desk.driver.context.replace(0, 0, SHORT)
            except UsageError as error:
                told.append(str(error))

        desk.at(kind, act)
        desk.driver.open()
        desk.driver.send("double it")
        await desk.driver.run_until_idle()
        desk.driver.close()
        assert ["a step is open" in text for text in told] == [True]
        with pytest.raises(UsageError, match="or the run is not"):
            desk.driver.context.replace(0, 0, SHORT)
        assert desk.complaints() == []

    in_virtual_time(main)


@pytest.mark.conformance("15", "124")
def test_a_pre_step_hook_may_replace_what_its_step_then_shows() -> None:
    async def main(clock: Any) -> None:
        async def shorten(history: Any, claimed: Any) -> Enter:
            nodes = desk.driver.context.nodes
            if len(nodes) == 3:
                desk.driver.context.rewrite_result(nodes[2].seq, "four")
            return Enter()

        desk = Desk(clock, [DOUBLE, SAY], hooks=Hooks(pre_step=(shorten,)))
        desk.driver.open()
        desk.driver.send("double it")
        await desk.driver.run_until_idle()
        desk.driver.close()
        assert contents(desk, 2) == ["double it", None, "four"]
        assert desk.complaints() == []

    in_virtual_time(main)


# ---------------------------------------------------------------- by policy

FOLD = {"compact": {"at_messages": 5, "keep_last": 2}}
SUMMARISE = {"compact": {"at_messages": 5, "keep_last": 2, "by": "summariser"}}


def added(context: dict[str, Any], n: int = 4, **fields: Any) -> Any:
    return play([*(calculate(f"{i} + 1") for i in range(n)), {"say": "Done."}], context=context, **fields)


@pytest.mark.conformance("127")
@pytest.mark.article("33")
def test_older_history_is_folded_where_calls_balance_and_a_fold_of_a_fold_counts_on() -> None:
    run = added(FOLD)
    assert run.passed, run.findings
    assert roles(run, 4) == ["user", "user", "assistant", "tool"]
    assert [m.content for m in shown(run, 4)][:2] == [
        "go",
        "Earlier, folded into one sentence: called: calculator 2x (2 ok).",
    ]
    assert "calculator 3x (3 ok)" in str(shown(run, 5)[1].content)


@pytest.mark.conformance("8", "123")
@pytest.mark.parametrize("context", [FOLD, {"window": {"last_messages": 2}}], ids=["folded", "windowed"])
def test_requests_that_show_less_than_all_are_rebuilt_from_the_file_which_keeps_ranges(
    tmp_path: Path, context: dict[str, Any]
) -> None:
    run = scenario(
        task="go",
        tools={"use": ["calculator"]},
        context=context,
        script=[*(calculate(f"{i} + 1") for i in range(5)), {"say": "Done."}],
    ).run(folder=tmp_path)
    assert run.passed, run.findings
    assert run.path is not None
    read = read_trajectory(run.path)
    assert read.events == run.trajectory.events
    text = run.path.read_text("utf-8")
    assert text.count('"go"') <= 3  # the input, its message, the first request: later requests keep it by range


@pytest.mark.conformance("7")
def test_a_window_leaves_the_conversation_whole_and_declares_itself() -> None:
    run = added({"window": {"last_messages": 2}})
    assert run.passed, run.findings
    assert run.trajectory.header.profile.request_history is RequestHistory.WINDOWED
    assert roles(run, 5) == ["user", "assistant", "tool"]
    assert n_messages(run.trajectory) == 10
    assert "context/replaced" not in {event.fact.TYPE for event in run.trajectory}  # type: ignore[union-attr]


@pytest.mark.conformance("7", "124", "125", "127", "153")
def test_the_profile_says_what_the_policy_changes_and_nothing_else() -> None:
    plain = added({}).trajectory.header.profile
    assert plain.request_history is RequestHistory.APPEND_ONLY
    assert plain.context_overflow is ContextOverflow.FAILS_RUN
    assert plain.invalid_replacement is InvalidReplacement.REFUSED
    assert plain.rewritten_result is RewrittenResult.CONTENT_ONLY
    assert plain.compaction is Compaction.WHERE_CALLS_BALANCE
    assert added(FOLD).trajectory.header.profile.context_overflow is ContextOverflow.COMPACTED_AND_RETRIED_ONCE


def summarised(script: list[Any], **fields: Any) -> Any:
    return added(SUMMARISE, models={"summariser": {"script": script, "allow_leftovers": True}}, **fields)


@pytest.mark.conformance("127")
@pytest.mark.article("21")
def test_a_summariser_is_an_agent_of_its_own_and_no_step_of_the_main_one() -> None:
    run = summarised([{"say": "1, then 2."}], n=3, limits={"steps": 4})
    assert run.passed, run.findings
    agents = [event.agent for event in run.trajectory if isinstance(event.fact, AssistantMessage)]
    assert agents == ["", "", "", "summariser-1.4", ""]
    assert [m.content for m in shown(run, 5)][:2] == ["go", "Earlier, summed up: 1, then 2."]
    (request,) = shown(run, 4)
    assert "calls calculator" in str(request.content)
    offered = [e.fact.tools for e in run.trajectory if isinstance(e.fact, RequestHeader) and e.agent]
    assert offered == ["[]"]


@pytest.mark.conformance("127")
@pytest.mark.parametrize(
    ("reply", "why"),
    [
        pytest.param({"say": "x" * 999}, "does not shrink", id="grows"),
        pytest.param({"fail": "SERVER"}, "scripted failure", id="fails"),
        pytest.param({"say": "It was", "finish": "length"}, "no whole summary", id="cut"),
        pytest.param({"call": {"calculator": {"expression": "1"}}}, "asks for tools", id="calls-tools"),
        pytest.param({"empty": True}, "neither text nor calls", id="says-nothing"),
    ],
)
def test_a_summary_that_is_none_is_refused_and_noted_and_the_run_goes_on(reply: Any, why: str) -> None:
    run = summarised([reply], n=3)
    assert run.status is Status.COMPLETED
    assert [verdict for verdict in run.verdicts if verdict.outcome == "FAIL"] == []
    notes = [str(e.fact.data) for e in run.trajectory if isinstance(e.fact, Note) and e.fact.name == "context/refused"]
    assert len(notes) == 1
    assert why in notes[0]
    assert len(shown(run, 5)) == 7


@pytest.mark.conformance("63", "64", "88")
def test_a_cancel_while_the_summariser_is_silent_ends_both_and_replaces_nothing() -> None:
    at = {"kind": "model/request", "agent": "summariser-1.4", "when": {"after_ms": 5}}
    run = summarised([{"hang": True}], n=3, inject=[{"at": at, "do": "cancel"}], expect={"status": "cancelled"})
    assert run.passed, run.findings
    ends = {e.agent: e.fact.reason for e in run.trajectory if isinstance(e.fact, TurnEnd)}
    assert ends == {"summariser-1.4": Cancelled(CancelBy.PARENT), "": Cancelled(CancelBy.USER)}
    assert not [e for e in run.trajectory if isinstance(e.fact, ContextReplaced)]


@pytest.mark.conformance("127")
def test_a_history_that_moves_while_it_is_summed_up_is_not_replaced() -> None:
    async def main(clock: Any) -> None:
        async def summarise(agent: str, text: str, signal: Any) -> str:
            nodes = desk.driver.context.nodes
            desk.driver.context.rewrite_result(nodes[2].seq, "four")
            await asyncio.sleep(0)
            return "short"

        spec = ContextSpec(CompactSpec(at_messages=3, keep_last=0))
        desk = Desk(clock, [DOUBLE, DOUBLE, SAY], policies=Policies(context=spec, summarise=summarise))
        desk.driver.open()
        desk.driver.send("double it")
        await desk.driver.run_until_idle()
        desk.driver.close()
        assert all(fact.start == fact.end for fact in replaced(desk))
        notes = [str(e.fact.data) for e in desk.log.events if isinstance(e.fact, Note)]
        assert notes
        assert all("has moved" in text for text in notes)
        assert desk.complaints() == []

    in_virtual_time(main)


@pytest.mark.conformance("116")
def test_a_disk_that_breaks_at_a_replacement_ends_the_run_as_failed() -> None:
    class Breaks:
        """A disk that takes no more once it was told to."""

        broken = False

        def append(self, event: Any) -> None:
            self.broken = self.broken or isinstance(event.fact, ContextReplaced)
            self.commit()

        def commit(self) -> None:
            if self.broken:
                raise RecordingFailed("no space left")

    async def main(clock: Any) -> None:
        spec = ContextSpec(CompactSpec(at_messages=4, keep_last=0))
        desk = Desk(clock, [DOUBLE, DOUBLE, SAY], sink=Breaks(), policies=Policies(context=spec))
        desk.driver.open()
        desk.driver.send("double it")
        await desk.driver.run_until_idle()
        desk.driver.close()
        assert [end.status for end in desk.ends()] == [Status.FAILED]
        assert desk.kinds().count("model/request") == 2

    in_virtual_time(main)


# ---------------------------------------------------------------- overflow

OVERFLOW = {"compact": {"at_tokens": 99_999, "keep_last": 2}}


def overflown(n_calls: int, *replies: Any, **fields: Any) -> Any:
    script = [*(calculate(f"{i} + 1") for i in range(n_calls)), *replies]
    return play(script, context=OVERFLOW, **fields)


@pytest.mark.conformance("153")
def test_after_an_overflow_older_history_is_replaced_and_the_request_made_once_more() -> None:
    run = overflown(3, {"fail": "CONTEXT_OVERFLOW"}, {"say": "Done."})
    assert run.passed, run.findings
    facts = [event.fact for event in run.trajectory]
    kinds = [type(fact).__name__ for fact in facts if isinstance(fact, ContextReplaced | ModelRetry | ModelRequest)]
    assert kinds[-4:] == ["ModelRequest", "ContextReplaced", "ModelRetry", "ModelRequest"]
    first, second = shown(run, 4), shown(run, 5)
    assert sum(map(estimated_tokens, second)) < sum(map(estimated_tokens, first))
    assert run.n_steps == 4


@pytest.mark.conformance("153")
@pytest.mark.parametrize(
    ("n_calls", "n_overflows", "n_requests"),
    [
        pytest.param(3, 2, 5, id="still-too-long"),
        pytest.param(0, 1, 1, id="nothing-to-replace"),
        pytest.param(1, 1, 2, id="all-of-it-is-to-be-kept"),
    ],
)
def test_a_request_that_stays_too_long_fails_the_run(n_calls: int, n_overflows: int, n_requests: int) -> None:
    run = overflown(n_calls, *[{"fail": "CONTEXT_OVERFLOW"}] * n_overflows, {"say": "never said"})
    assert run.status is Status.FAILED
    assert "CONTEXT_OVERFLOW" in str(run.reason)
    assert sum(isinstance(event.fact, ModelRequest) for event in run.trajectory) == n_requests


@pytest.mark.conformance("153")
def test_without_a_policy_an_overflow_fails_the_run_at_once() -> None:
    run = play([calculate("1 + 1"), calculate("2 + 1"), {"fail": "CONTEXT_OVERFLOW"}, {"say": "never said"}])
    assert run.status is Status.FAILED
    assert not [e for e in run.trajectory if isinstance(e.fact, ContextReplaced | ModelRetry)]


@pytest.mark.conformance("151", "153")
def test_each_step_may_overflow_once_and_other_failures_keep_their_own_attempts() -> None:
    run = overflown(
        4,
        {"fail": "CONTEXT_OVERFLOW"},
        {"fail": "SERVER"},
        calculate("9 + 9"),
        calculate("8 + 9"),
        {"fail": "CONTEXT_OVERFLOW"},
        {"say": "Done."},
        retry={"attempts": 3, "base_ms": 1},
    )
    assert run.passed, run.findings
    retries = [(e.fact.code.value, e.fact.attempt) for e in run.trajectory if isinstance(e.fact, ModelRetry)]
    assert retries == [("CONTEXT_OVERFLOW", 1), ("SERVER", 2), ("CONTEXT_OVERFLOW", 1)]


@pytest.mark.conformance("100")
def test_compaction_comes_before_the_limit_on_context_so_that_a_run_that_can_shrink_goes_on() -> None:
    limits = {"context_tokens": 180}
    assert added({}, n=8, limits=limits).status is Status.LIMIT_REACHED
    run = added({"compact": {"at_tokens": 150, "keep_last": 2}}, n=8, limits=limits)
    assert run.status is Status.COMPLETED
    assert [v for v in run.verdicts if v.outcome == "FAIL"] == []


def test_a_run_with_no_policy_is_the_same_as_ever() -> None:
    one, other = added({}), added({"window": {"last_messages": 99}})
    strip = [event for event in one.trajectory.events if not isinstance(event.fact, Note)]
    assert strip == [event for event in other.trajectory.events if not isinstance(event.fact, Note)]
