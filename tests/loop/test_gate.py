"""What stands between a call and its body: hooks around tools, rules, a person; and a parked turn."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from harness.clock import Clocks
from harness.errors import UsageError
from harness.guarding import Guard
from harness.loop import Hooks, Policies, StopSignal
from harness.loop.step import finish_step
from harness.loop.turn import Turn
from harness.protocols import Signal
from harness.runner import judge
from harness.tools import FunctionTool, conclude, with_context
from harness.types.codes import ApprovalOutcome, CancelBy, CancelScope, Code, InboxQueue, Status
from harness.types.doors import ToolReply
from harness.types.exchange import AssistantMessage, ToolResult, ToolStart, UserMessage
from harness.types.lifecycle import (
    CHANGED_ARGUMENTS_NOTE,
    ApprovalAnswered,
    ApprovalAsked,
    InboxDiscarded,
    Note,
    RunEnd,
)
from harness.types.messages import CallId
from harness.types.policy import ApprovalReply, Ask, Deny, Judgement, Question, Ruling, Show, Use
from harness.types.reasons import Cancelled, Concluded, EmittedCall, Failed, FinalAnswer, Waiting
from harness.types.script import ScriptCall, ScriptReply
from tests.loop.desk import Desk, in_virtual_time
from tests.loop.lab import play
from tests.loop.test_inbox import SAYS, drive, nothing


def calls(*wanted: tuple[str, str]) -> ScriptReply:
    return ScriptReply(calls=tuple(ScriptCall(name, arguments) for name, arguments in wanted))


DOUBLE = calls(("double", '{"n":4}'))
SLOW_QUICK_SLOW = calls(("wait", '{"ms":90}'), ("double", '{"n":1}'), ("wait", '{"ms":30}'))


def results(desk: Desk) -> list[tuple[str, Code | None]]:
    """(content, code) of every result, in order."""
    facts = [event.fact for event in desk.log.events if isinstance(event.fact, ToolResult)]
    return [(str(fact.content), fact.code) for fact in facts]


def codes(desk: Desk) -> list[Code | None]:
    return [code for _, code in results(desk)]


def started(desk: Desk) -> list[tuple[str, str]]:
    return [(e.fact.name, e.fact.arguments) for e in desk.log.events if isinstance(e.fact, ToolStart)]


def outcomes(desk: Desk) -> list[tuple[ApprovalOutcome, str]]:
    return [(e.fact.outcome, e.fact.by) for e in desk.log.events if isinstance(e.fact, ApprovalAnswered)]


class Person:
    """Answers in order, each after 20 ms; remembers what was shown. A reply that is an exception is raised."""

    name = "person"

    def __init__(self, *replies: Any, delay_ms: int = 20) -> None:
        self.left = list(replies)
        self.shown: list[Question] = []
        self.delay_ms = delay_ms

    async def ask(self, question: Question, *, signal: Signal) -> ApprovalReply:
        self.shown.append(question)
        await asyncio.sleep(self.delay_ms / 1000)
        reply = self.left.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return reply  # type: ignore[no-any-return]


def ask_all(_: str, __: str) -> Judgement:
    return Judgement(Ruling.ASK, "just to be sure")


def guarded(person: Any = None, rules: Callable[[str, str], Judgement] | None = ask_all) -> Policies:
    return Policies(guard=Guard(rules, person))


# ---------------------------------------------------------------- hooks


def watching(seen: list[str]) -> Hooks:
    async def before(call: EmittedCall) -> None:
        seen.append(f"before {call.name} {call.arguments}")

    async def after(call: EmittedCall, reply: ToolReply) -> None:
        seen.append(f"after {call.name} {call.arguments}")

    return Hooks(pre_tool=(before,), post_tool=(after,))


@pytest.mark.conformance("51")
def test_hooks_run_in_model_order_although_the_bodies_overlap_and_end_in_another() -> None:
    seen: list[str] = []
    desk = drive(nothing, "go", script=[SLOW_QUICK_SLOW, *SAYS], hooks=watching(seen))
    names = ['wait {"ms":90}', 'double {"n":1}', 'wait {"ms":30}']
    assert seen == [*(f"before {name}" for name in names), *(f"after {name}" for name in names)]
    assert [event.time for event in desk.log.events if event.fact.TYPE == "tool/end"] == [0, 30, 90]


@pytest.mark.conformance("51")
def test_a_post_hook_that_takes_its_time_holds_up_no_body_that_runs() -> None:
    async def after(call: EmittedCall, reply: ToolReply) -> Show:
        await asyncio.sleep(0.05)
        return Show(f"{call.name} seen")

    hooks = Hooks(post_tool=(after,))
    desk = drive(nothing, "go", script=[SLOW_QUICK_SLOW, *SAYS], hooks=hooks)
    assert [content for content, _ in results(desk)] == ["wait seen", "double seen", "wait seen"]
    assert [event.time for event in desk.log.events if event.fact.TYPE == "tool/end"] == [0, 30, 90]
    assert [event.time for event in desk.log.events if event.fact.TYPE == "tool/result"] == [140, 190, 240]


@pytest.mark.conformance("53")
def test_a_post_hook_replaces_content_and_the_result_stays_that_of_its_call() -> None:
    async def after(call: EmittedCall, reply: ToolReply) -> Show:
        return Show("[hidden]")

    desk = drive(nothing, "go", script=[SLOW_QUICK_SLOW, *SAYS], hooks=Hooks(post_tool=(after,)))
    facts = [event.fact for event in desk.log.events if isinstance(event.fact, ToolResult)]
    assert [fact.content for fact in facts] == ["[hidden]"] * 3
    assert [fact.call_id for fact in facts] == ["call_1_0", "call_1_1", "call_1_2"]
    notes = [event.fact.data for event in desk.log.events if isinstance(event.fact, Note)]
    assert notes == [f'{{"call":"{fact.call_id}"}}' for fact in facts]
    assert set(Show.__slots__) == {"content", "context"}


@pytest.mark.conformance("52")
def test_a_pre_hook_denies_one_call_among_siblings_and_no_post_hook_sees_it() -> None:
    seen: list[str] = []

    async def no_doubling(call: EmittedCall) -> Deny | None:
        return Deny("no doubling today") if call.name == "double" else None

    watch = watching(seen)
    hooks = Hooks(pre_tool=(no_doubling, *watch.pre_tool), post_tool=watch.post_tool)
    desk = drive(nothing, "go", script=[SLOW_QUICK_SLOW, *SAYS], hooks=hooks)
    assert codes(desk) == [None, Code.PERMISSION_DENIED, None]
    assert "no doubling today" in results(desk)[1][0]
    assert [name for name, _ in started(desk)] == ["wait", "wait"]
    assert not [line for line in seen if "double" in line]


@pytest.mark.conformance("54")
def test_arguments_that_a_hook_changed_are_checked_again_used_and_noted_and_the_call_stays_raw() -> None:
    async def triple(call: EmittedCall) -> Use:
        return Use(call.arguments.replace("4", "6"))

    async def more(call: EmittedCall) -> Use:
        return Use(call.arguments.replace("6", "7"))

    desk = drive(nothing, "go", script=[DOUBLE, *SAYS], hooks=Hooks(pre_tool=(triple, more)))
    assert started(desk) == [("double", '{"n":7}')]
    assert results(desk) == [("14", None)]
    (note,) = [e.fact for e in desk.log.events if isinstance(e.fact, Note) and e.fact.name == CHANGED_ARGUMENTS_NOTE]
    assert note.data == '{"arguments":"{\\"n\\":7}","call":"call_1_0"}'
    assert [e.fact.arguments for e in desk.log.events if e.fact.TYPE == "tool/call"] == ['{"n":4}']  # type: ignore[union-attr]


@pytest.mark.conformance("54")
@pytest.mark.parametrize("changed", ['{"n":"many"}', "{}", "not json", '{"n":4,"m":5}'])
def test_arguments_that_a_hook_made_invalid_run_nothing(changed: str) -> None:
    async def spoil(call: EmittedCall) -> Use:
        return Use(changed)

    desk = drive(nothing, "go", script=[DOUBLE, *SAYS], hooks=Hooks(pre_tool=(spoil,)))
    assert codes(desk) == [Code.INVALID_ARGS]
    assert started(desk) == []


def test_what_the_door_refuses_reaches_no_hook() -> None:
    seen: list[str] = []
    script = [calls(("nobody", "{}"), ("double", "not json")), *SAYS]
    desk = drive(nothing, "go", script=script, hooks=watching(seen))
    assert codes(desk) == [Code.UNKNOWN_TOOL, Code.INVALID_ARGS]
    assert seen == []


async def breaks(*_: Any) -> None:
    raise KeyError("a hook's own mistake")


async def gives_nonsense(*_: Any) -> Any:
    return "yes"


async def cancels_itself(*_: Any) -> None:
    raise asyncio.CancelledError


@pytest.mark.conformance("12", "155", "56")
@pytest.mark.parametrize("hook", [breaks, gives_nonsense, cancels_itself])
def test_a_pre_hook_that_breaks_fails_the_run_once_what_runs_is_settled(hook: Any) -> None:
    async def second(call: EmittedCall) -> Any:
        return await hook() if call.name == "double" else None

    desk = drive(nothing, "go", script=[SLOW_QUICK_SLOW], hooks=Hooks(pre_tool=(second,)))
    (end,) = desk.ends()
    assert isinstance(end.reason, Failed)
    assert (end.status, end.reason.code) == (Status.FAILED, Code.HOOK_FAILED)
    assert codes(desk) == [None, Code.ABORTED_BEFORE_DISPATCH, Code.ABORTED_BEFORE_DISPATCH]
    assert [event.time for event in desk.log.events if event.fact.TYPE == "tool/end"] == [90]


@pytest.mark.conformance("12", "155")
@pytest.mark.parametrize("hook", [breaks, gives_nonsense, cancels_itself])
def test_a_post_hook_that_breaks_fails_the_run_and_loses_no_result(hook: Any) -> None:
    desk = drive(nothing, "go", script=[SLOW_QUICK_SLOW], hooks=Hooks(post_tool=(hook,)))
    (end,) = desk.ends()
    assert isinstance(end.reason, Failed)
    assert end.reason.code is Code.HOOK_FAILED
    assert results(desk) == [("waited", None), ("2", None), ("waited", None)]
    assert len(desk.model.asked) == 1


@pytest.mark.conformance("12")
def test_after_a_run_failed_by_its_hook_the_next_turn_works() -> None:
    left = [breaks]

    async def once(call: EmittedCall) -> None:
        if left:
            await left.pop()()

    async def again(desk: Desk) -> None:
        desk.driver.send("again")
        await desk.driver.run_until_idle()

    script = [DOUBLE, DOUBLE, *SAYS]
    desk = drive(nothing, "go", script=script, hooks=Hooks(pre_tool=(once,)), after=again)
    assert [end.status for end in desk.ends()] == [Status.FAILED, Status.COMPLETED]


@pytest.mark.parametrize("where", ["pre_tool", "post_tool"])
def test_a_cancel_stops_a_hook_and_what_a_body_returned_is_committed_as_it_is(where: str) -> None:
    async def sleepy(*_: Any) -> None:
        await asyncio.sleep(60)

    def cancel_later(desk: Desk) -> None:
        desk.at("tool/call", lambda: asyncio.get_running_loop().call_later(0.05, desk.driver.cancel))

    hooks = Hooks(pre_tool=(sleepy,)) if where == "pre_tool" else Hooks(post_tool=(sleepy,))
    desk = drive(cancel_later, "go", script=[DOUBLE], hooks=hooks)
    assert codes(desk) == [Code.ABORTED_BEFORE_DISPATCH if where == "pre_tool" else None]
    assert desk.log.events[-1].time == 50
    assert [end.reason for end in desk.ends()] == [Cancelled(CancelBy.USER)]


# ---------------------------------------------------------------- context


async def note_down(n: int) -> Any:
    """Say something besides."""
    await asyncio.sleep((3 - n) / 100)
    return with_context(f"noted {n}", f"remember {n}", f"and {n} again")


@pytest.mark.conformance("55")
def test_what_tools_and_hooks_add_comes_behind_all_results_in_model_order_and_is_shown() -> None:
    async def after(call: EmittedCall, reply: ToolReply) -> Show | None:
        return Show(context=(f"hook saw {call.id}",)) if call.name == "double" else None

    script = [calls(("note_down", '{"n":1}'), ("double", '{"n":1}'), ("note_down", '{"n":2}')), *SAYS]
    hooks, tools = Hooks(post_tool=(after,)), (FunctionTool(note_down),)
    desk = drive(nothing, "go", script=script, hooks=hooks, tools=tools)
    told = ["remember 1", "and 1 again", "hook saw call_1_1", "remember 2", "and 2 again"]
    assert desk.roles(2) == ["user", "assistant", "tool", "tool", "tool", *["user"] * 5]
    assert desk.shown()[1] == ["go", *told]
    added = [event for event in desk.log.events if isinstance(event.fact, UserMessage) and event.step]
    assert [str(event.fact.message.content) for event in added] == told  # type: ignore[union-attr]


@pytest.mark.conformance("55", "17")
def test_a_tool_that_concludes_may_still_say_something_besides() -> None:
    def finish() -> Any:
        """Finish."""
        return with_context(conclude("done"), "remember it")

    desk = drive(nothing, "go", script=[calls(("finish", "{}"))], tools=(FunctionTool(finish),))
    assert [end.reason for end in desk.ends()] == [Concluded()]
    assert [e.fact.message.content for e in desk.log.events if isinstance(e.fact, UserMessage)] == ["go", "remember it"]


@pytest.mark.conformance("65", "55")
def test_after_a_cancel_in_the_last_result_nothing_is_added() -> None:
    def cancel_there(desk: Desk) -> None:
        desk.at("tool/result", desk.driver.cancel)

    script = [calls(("note_down", '{"n":1}'))]
    desk = drive(cancel_there, "go", script=script, tools=(FunctionTool(note_down),))
    assert [e.fact.message.content for e in desk.log.events if isinstance(e.fact, UserMessage)] == ["go"]


# ---------------------------------------------------------------- rules and people


@pytest.mark.conformance("52")
def test_rules_have_the_last_word_on_what_hooks_changed() -> None:
    seen: list[tuple[str, str]] = []

    def rules(name: str, arguments: str) -> Judgement:
        seen.append((name, arguments))
        return Judgement(Ruling.DENY, "seven is too much") if "7" in arguments else Judgement(Ruling.ALLOW)

    async def seven(call: EmittedCall) -> Use:
        return Use('{"n":7}')

    desk = drive(nothing, "go", script=[DOUBLE, *SAYS], hooks=Hooks(pre_tool=(seven,)), policies=guarded(rules=rules))
    assert seen == [("double", '{"n":7}')]
    assert codes(desk) == [Code.PERMISSION_DENIED]


def test_a_question_is_a_barrier_and_is_shown_with_what_the_body_would_get() -> None:
    person = Person(ApprovalReply.ALLOW)

    async def unsure(call: EmittedCall) -> Ask | Use | None:
        return Ask("a double") if call.name == "double" else None

    hooks = Hooks(pre_tool=(unsure,))
    desk = drive(nothing, "go", script=[SLOW_QUICK_SLOW, *SAYS], hooks=hooks, policies=guarded(person, None))
    assert person.shown == [Question(CallId("call_1_1"), "double", '{"n":1}', "a double")]
    assert desk.kinds().index("approval/asked") > desk.kinds().index("tool/result")
    assert [event.time for event in desk.log.events if event.fact.TYPE == "tool/start"] == [0, 110, 110]
    assert outcomes(desk) == [(ApprovalOutcome.ALLOWED, "person")]


@pytest.mark.conformance("57")
@pytest.mark.parametrize(
    ("person", "code", "by"),
    [
        pytest.param(None, Code.APPROVAL_UNAVAILABLE, "nobody", id="nobody-is-there"),
        pytest.param(Person(RuntimeError("line broken")), Code.APPROVAL_UNAVAILABLE, "person", id="throws"),
        pytest.param(Person(ApprovalReply.UNAVAILABLE), Code.APPROVAL_UNAVAILABLE, "person", id="away"),
        pytest.param(Person(True), Code.APPROVAL_UNAVAILABLE, "person", id="answers-with-what-is-no-answer"),
        pytest.param(Person(None), Code.APPROVAL_UNAVAILABLE, "person", id="answers-nothing"),
        pytest.param(Person(ApprovalReply.REJECT), Code.REJECTED, "person", id="rejects"),
    ],
)
def test_without_a_yes_nothing_runs_and_only_a_no_is_a_rejection(person: Any, code: Code, by: str) -> None:
    if person is not None:
        person.left = [*person.left, ApprovalReply.ALLOW]  # for whoever asks twice
    desk = drive(nothing, "go", script=[DOUBLE, *SAYS], policies=guarded(person))
    assert codes(desk) == [code]
    assert started(desk) == []
    rejected = code is Code.REJECTED
    assert outcomes(desk) == [(ApprovalOutcome.REJECTED if rejected else ApprovalOutcome.UNAVAILABLE, by)]
    assert [end.reason for end in desk.ends()] == [FinalAnswer()]


@pytest.mark.conformance("58", "85")
@pytest.mark.parametrize("reply", [ApprovalReply.ALLOW, ApprovalReply.REJECT, ApprovalReply.PARK])
@pytest.mark.parametrize("at_ms", [0, 10, 19])
def test_a_cancel_while_a_person_is_asked_is_no_rejection_and_later_words_are_discarded(
    reply: ApprovalReply, at_ms: int
) -> None:
    person = Person(reply)

    def cancel_meanwhile(desk: Desk) -> None:
        loop = asyncio.get_running_loop()
        desk.at("approval/asked", lambda: loop.call_later(at_ms / 1000, desk.driver.cancel))

    desk = drive(cancel_meanwhile, "go", script=[SLOW_QUICK_SLOW], policies=guarded(person))
    assert outcomes(desk) == [(ApprovalOutcome.CANCELLED, CancelBy.USER)]
    assert codes(desk) == [Code.ABORTED_BEFORE_DISPATCH] * 3
    assert started(desk) == []
    assert [end.reason for end in desk.ends()] == [Cancelled(CancelBy.USER)]


@pytest.mark.conformance("58")
@pytest.mark.parametrize("person", [None, Person(ApprovalReply.ALLOW)])
def test_a_question_that_is_cancelled_as_it_is_recorded_is_shown_to_nobody(person: Any) -> None:
    def cancel_there(desk: Desk) -> None:
        desk.at("approval/asked", desk.driver.cancel)

    desk = drive(cancel_there, "go", script=[DOUBLE], policies=guarded(person))
    assert person is None or person.shown == []
    assert [outcome for outcome, _ in outcomes(desk)] == [ApprovalOutcome.CANCELLED]


@pytest.mark.conformance("58")
def test_after_a_cancel_in_a_hook_nobody_is_asked() -> None:
    person, desks = Person(ApprovalReply.ALLOW), list[Desk]()

    async def cancels(call: EmittedCall) -> None:
        desks[0].driver.cancel(by=CancelBy.HOOK)

    desk = drive(desks.append, "go", script=[DOUBLE], hooks=Hooks(pre_tool=(cancels,)), policies=guarded(person))
    assert "approval/asked" not in desk.kinds()
    assert person.shown == []
    assert [end.reason for end in desk.ends()] == [Cancelled(CancelBy.HOOK)]


@pytest.mark.conformance("63", "58")
def test_a_cancel_inside_the_yes_keeps_the_body_from_starting() -> None:
    def cancel_there(desk: Desk) -> None:
        desk.at("approval/answered", desk.driver.cancel)

    desk = drive(cancel_there, "go", script=[DOUBLE], policies=guarded(Person(ApprovalReply.ALLOW)))
    assert started(desk) == []
    assert codes(desk) == [Code.ABORTED_BEFORE_DISPATCH]


@pytest.mark.conformance("74")
@pytest.mark.parametrize(
    ("rules", "kind", "code"),
    [
        pytest.param(lambda *_: Judgement(Ruling.DENY), "tool/result", Code.PERMISSION_DENIED, id="denial"),
        pytest.param(ask_all, "approval/answered", Code.REJECTED, id="rejection"),
    ],
)
def test_a_refusal_that_races_with_a_cancel_keeps_its_own_code(rules: Any, kind: str, code: Code) -> None:
    def cancel_there(desk: Desk) -> None:
        desk.at(kind, desk.driver.cancel)

    policies = guarded(Person(ApprovalReply.REJECT), rules)
    desk = drive(cancel_there, "go", script=[calls(("double", '{"n":1}'), ("double", '{"n":2}'))], policies=policies)
    assert codes(desk) == [code, Code.ABORTED_BEFORE_DISPATCH]


# ---------------------------------------------------------------- parking


def parked(before: Callable[[Desk], None] = nothing, *texts: str) -> Desk:
    async def only_doubles(call: EmittedCall) -> Ask | None:
        return Ask() if call.name == "double" else None

    return drive(
        before,
        *(texts or ("go",)),
        script=[SLOW_QUICK_SLOW],
        hooks=Hooks(pre_tool=(only_doubles,)),
        policies=guarded(Person(ApprovalReply.PARK), None),
    )


@pytest.mark.article("28")
@pytest.mark.conformance("28", "29")
def test_a_parked_call_ends_the_run_as_waiting_and_only_what_came_before_it_has_a_result() -> None:
    desk = parked()
    waiting = Waiting(CallId("call_1_1"))
    assert [(end.status, end.reason) for end in desk.ends()] == [(Status.WAITING_FOR_USER, waiting)]
    assert desk.kinds()[-5:] == ["tool/result", "approval/asked", "step/end", "turn/end", "run/end"]
    assert results(desk) == [("waited", None)]
    assert desk.log.events[-1].fact == RunEnd(Status.WAITING_FOR_USER, waiting)
    assert outcomes(desk) == []


@pytest.mark.article("28")
@pytest.mark.parametrize("kind", ["step/end", "turn/end", "run/end"])
@pytest.mark.parametrize("scope", list(CancelScope))
def test_a_cancel_that_comes_when_the_turn_is_parked_changes_nothing(kind: str, scope: CancelScope) -> None:
    desk = parked(lambda desk: desk.at(kind, lambda: desk.driver.cancel(scope=scope)))
    assert desk.kinds() == parked().kinds()
    assert desk.log.events[-1].fact == RunEnd(Status.WAITING_FOR_USER, Waiting(CallId("call_1_1")))


@pytest.mark.article("28")
@pytest.mark.conformance("118")
@pytest.mark.parametrize("queue", list(InboxQueue))
def test_input_that_is_pending_when_a_run_is_parked_is_told_as_dropped_and_later_input_is_refused(
    queue: InboxQueue,
) -> None:
    refused: list[str] = []

    def send(desk: Desk) -> None:
        desk.at("approval/asked", lambda: desk.driver.send("more", queue=queue))
        desk.at("turn/end", lambda: late(desk))

    def late(desk: Desk) -> None:
        with pytest.raises(UsageError):
            desk.driver.send("too late")
        refused.append("too late")

    desk = parked(send, "go")
    (dropped,) = [event.fact for event in desk.log.events if isinstance(event.fact, InboxDiscarded)]
    assert dropped.why == "the run waits for a person"
    assert refused == ["too late"]
    assert len(desk.ends()) == 1


# ---------------------------------------------------------------- going on


def gone_on(answers: dict[CallId, ApprovalReply], rules: Callable[[str, str], Judgement]) -> tuple[Desk, Any]:
    """The parked step of ``parked()`` gone on with: its log up to the question, then what comes of the answers."""
    asked = [event.fact.TYPE for event in parked().log.events].index("approval/asked")
    past = parked().log.events[: asked + 1]

    async def main(clock: Clocks) -> tuple[Desk, Any]:
        desk = Desk(clock, [], policies=guarded(Person(ApprovalReply.ALLOW), rules))
        inner = desk.driver._desk
        for event in past:
            desk.log.record(event.fact, origin=event.origin, turn=event.turn, step=event.step)
            inner.history.apply(event)
        message = next(event.fact for event in past if isinstance(event.fact, AssistantMessage))
        turn = Turn(1, StopSignal(), step=1, step_is_open=True)
        reason = await finish_step(inner, turn, message.tool_calls[1:], answers)
        return desk, reason

    desk, reason = in_virtual_time(main)
    return desk, reason


def allow_all(_: str, __: str) -> Judgement:
    return Judgement(Ruling.ALLOW)


def deny_all(_: str, __: str) -> Judgement:
    return Judgement(Ruling.DENY, "not any more")


PARKED = CallId("call_1_1")


@pytest.mark.article("28")
@pytest.mark.parametrize(
    ("answers", "rules", "told", "said"),
    [
        pytest.param({PARKED: ApprovalReply.ALLOW}, allow_all, [("double", None), ("wait", None)], ["user"], id="yes"),
        pytest.param({PARKED: ApprovalReply.REJECT}, allow_all, [("double", Code.REJECTED), ("wait", None)], ["user"], id="no"),
        pytest.param({PARKED: ApprovalReply.ALLOW}, ask_all, [("double", None), ("wait", None)], ["user", "person"], id="yes-and-the-next-is-asked"),
        pytest.param({PARKED: ApprovalReply.ALLOW}, deny_all, [("double", Code.PERMISSION_DENIED), ("wait", Code.PERMISSION_DENIED)], [], id="a-rule-of-today-denies"),
    ],
)  # fmt: skip
def test_a_parked_step_goes_on_with_the_answer_and_the_calls_behind_it(
    answers: Any, rules: Any, told: list[Any], said: list[str]
) -> None:
    desk, reason = gone_on(answers, rules)
    facts = [event.fact for event in desk.log.events if isinstance(event.fact, ToolResult)]
    assert [(fact.name, fact.code) for fact in facts[1:]] == told
    assert [by for _, by in outcomes(desk)] == said
    assert [name for name, _ in started(desk)] == ["wait", *(name for name, code in told if code is None)]
    assert reason is None
    assert desk.kinds()[-1] == "step/end"


@pytest.mark.article("28")
def test_a_step_that_went_on_may_be_parked_again() -> None:
    desk, reason = gone_on({PARKED: ApprovalReply.PARK}, allow_all)
    assert reason == Waiting(PARKED)
    assert len(results(desk)) == 1


@pytest.mark.conformance("100")
@pytest.mark.parametrize(
    ("limits", "n_asked"),
    [
        pytest.param({"tool_calls": 1}, 1, id="calls"),
        pytest.param({"tokens": 100}, 0, id="tokens"),
        pytest.param({"repeats": 2}, 2, id="repeats"),
    ],
)
def test_nobody_is_asked_about_a_call_that_a_limit_no_longer_lets_run(limits: dict[str, int], n_asked: int) -> None:
    calls = {"calls": [{"calculator": {"expression": "1+1"}}, {"calculator": {"expression": "1+2"}}]}
    run = play(
        [{**calls, "usage": {"input": 99, "output": 1}}, calls, {"say": "done"}],
        limits=limits,
        policy={"tools": {"calculator": "ask"}, "approvals": [{"answer": "allow"}] * 5},
    )
    assert run.findings == ()
    assert run.status is Status.LIMIT_REACHED
    asked = [event.fact.call_id for event in run.trajectory if isinstance(event.fact, ApprovalAsked)]
    assert len(asked) == n_asked
    skipped = [e.fact.call_id for e in run.trajectory if isinstance(e.fact, ToolResult) and e.fact.code is Code.SKIPPED]
    assert skipped
    assert not set(asked) & set(skipped)


def approved(approvals: list[Any], **fields: Any) -> Any:
    given = {"policy": {"tools": {"calculator": "ask"}, "approvals": approvals}, "allow_leftovers": False, **fields}
    return play([{"call": {"calculator": {"expression": "1+1"}}}, {"say": "2"}], **given)


@pytest.mark.parametrize(
    ("approvals", "left"),
    [
        pytest.param([{"answer": "allow"}], [], id="all-given"),
        pytest.param([{"answer": "allow"}, {"answer": "reject"}], ["policy.approvals[1] (reject)"], id="one-too-many"),
        pytest.param(
            [{"tool": "calculator", "call": "c9", "answer": "reject"}, {"answer": "allow"}],
            ["policy.approvals[0] (reject about 'calculator' about 'c9')"],
            id="of-another-call",
        ),
        pytest.param([{"tool": "calculator", "answer": "allow"}], [], id="of-the-tool"),
        pytest.param([{"call": "call_1_0", "answer": "allow", "after_ms": 5}], [], id="of-the-call"),
    ],
)
def test_answers_that_nobody_took_fail_the_run_as_replies_do(approvals: list[Any], left: list[str]) -> None:
    run = approved(approvals)
    words = [f"{one} was never asked for. Remove it, or say allow_leftovers." for one in left]
    assert [finding.message for finding in run.findings] == words
    assert run.exit_code == (1 if left else 0)
    assert [verdict.check for verdict in judge(run.trajectory) if verdict.findings] == (["approvals"] if left else [])
    assert approved(approvals, allow_leftovers=True).findings == ()
