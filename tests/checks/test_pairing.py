"""Pairing is by oldest open call, by step and by agent; what was never closed is not called missing."""

import pytest

from harness.types.codes import Code, FinishReason, Origin, Outcome, Status
from harness.types.exchange import ModelRequest, ToolCall, UserMessage
from harness.types.lifecycle import UNRECORDED_NOTE, Note, RunEnd, TurnEnd
from harness.types.messages import CallId, ChatAssistant, ChatCall, ChatTool, ChatUser, JsonText, Messages
from harness.types.reasons import FinalAnswer, Interrupted, OutOfTokens, Waiting
from tests.checks.build import answer, call, messages, observed_as, result, trajectory, verdict

NOT_WHOLE = "not all of the conversation was recorded: nobody knows which calls were answered"
ENDED = TurnEnd(Status.COMPLETED, FinalAnswer())


def step(number):
    return {"turn": 1, "step": number}


@pytest.mark.public_case("PB-002")
@pytest.mark.conformance("32")
def test_one_id_for_every_call_of_a_session_is_no_violation_and_is_told():
    rows = []
    for n, key in enumerate(("one", "two", "three"), start=1):
        own = call("K9" if n == 1 else f"1.{n}.0", "put", wire_id=None if n == 1 else "K9")
        rows += [(answer(None, own), step(n)), (result(own.id, f"stored {key}", "put"), step(n))]
    judged = trajectory(*rows, (answer("all stored"), step(4)), (ENDED, {"turn": 1}))
    assert verdict("pairing", judged).outcome is Outcome.PASS
    told = verdict("reused_ids", judged)
    assert (told.outcome, len(told.findings)) == (Outcome.PASS, 2)


@pytest.mark.public_case("PB-002")
def test_the_same_holds_where_an_importer_kept_the_one_id_as_it_came():
    rows = [row for n in (1, 2, 3) for row in ((answer(None, call("K9")), step(n)), (result("K9"), step(n)))]
    assert verdict("pairing", trajectory(*rows, (ENDED, {"turn": 1}))).outcome is Outcome.PASS


@pytest.mark.conformance("28", "29", "30")
@pytest.mark.parametrize(
    ("rows", "said"),
    [
        pytest.param([answer(None, call("c1")), ENDED], ["call 'c1' of 'look' has no result"], id="missing"),
        pytest.param([answer(None, call("c1")), result("c1"), result("c1"), ENDED], ["a second result for call 'c1'"], id="second"),
        pytest.param([result("c1"), answer(None, call("c1")), ENDED], ["a result without a call: 'c1'", "call 'c1' of 'look' has no result"], id="before-its-call"),
        pytest.param([answer(None, call("c1")), result("c1", name="put"), ENDED], ["call 'c1' asked for 'look', its result is of 'put'"], id="of-another-tool"),
        pytest.param([answer(None, call("c1")), ENDED, result("c1")], ["call 'c1' of 'look' has no result", "a second result for call 'c1'"], id="after-the-turn"),
        pytest.param([answer(None, call("c1"), call("c1")), result("c1"), ENDED], ["call 'c1' of 'look' has no result"], id="one-for-two-under-one-id"),
    ],
)  # fmt: skip
def test_a_result_too_few_or_too_many_is_named(rows, said):
    assert messages("pairing", trajectory(*rows, seen={"tool/result": Origin.SUBJECT})) == said


def test_a_result_in_a_later_step_does_not_satisfy_its_call():
    rows = [(answer(None, call("c1")), step(1)), (answer("hm"), step(2)), (result("c1"), step(2)), (ENDED, {"turn": 1})]
    assert messages("pairing", trajectory(*rows)) == [
        "call 'c1' of 'look' (turn 1, step 1) is answered in a later step (turn 1, step 2)"
    ]


def test_agents_are_paired_apart():
    child = {"agent": "c1"}
    rows = [answer(None, call("c1")), (answer(None, call("k1")), child), (result("k1"), child), result("c1"), ENDED]
    assert verdict("pairing", trajectory(*rows)).outcome is Outcome.PASS
    crossed = [answer(None, call("c1")), (answer(None, call("k1")), child), result("k1"), result("c1"), ENDED]
    assert messages("pairing", trajectory(*crossed)) == ["a result without a call: 'k1'"]


@pytest.mark.parametrize(
    "rows",
    [
        pytest.param([answer(None, call("c1"))], id="the-file-ends-on-the-call"),
        pytest.param([answer(None, call("c1")), RunEnd(Status.INCOMPLETE, Interrupted())], id="the-process-died"),
        pytest.param([answer(None, call("c1")), TurnEnd(Status.WAITING_FOR_USER, Waiting(CallId("c1")))], id="parked"),
        pytest.param([answer("cu", call("c1"), finish=FinishReason.LENGTH), TurnEnd(Status.INCOMPLETE, OutOfTokens())], id="cut"),
        pytest.param([answer("vis", call("c1"), interrupted=True), ENDED], id="half-streamed"),
    ],
)  # fmt: skip
def test_a_call_that_nothing_closed_is_not_called_missing(rows):
    judged = trajectory(*rows, seen={"tool/result": Origin.SUBJECT})
    assert verdict("pairing", judged).outcome is Outcome.PASS


SAYS = UserMessage(ChatUser("go on"))


@pytest.mark.conformance("28")
@pytest.mark.parametrize(
    ("rows", "missing"),
    [
        pytest.param([answer(None, call("c1")), SAYS, answer("done")], ["c1"], id="the-user-goes-on"),
        pytest.param([answer(None, call("c1")), answer("done")], ["c1"], id="the-assistant-goes-on"),
        pytest.param([answer(None, call("c1"), call("c2")), result("c1"), answer("done")], ["c2"], id="one-of-two-answered"),
        pytest.param([answer(None, call("c1")), SAYS, answer(None, call("c2"))], ["c1"], id="only-the-last-is-at-the-end"),
        pytest.param([answer(None, call("c1")), SAYS, answer("hm"), result("c1")], [], id="answered-late"),
        pytest.param([answer(None, call("c1"), call("c2")), result("c1")], [], id="open-at-the-end"),
        pytest.param([answer("cu", call("c1"), finish=FinishReason.LENGTH), SAYS, answer("done")], [], id="cut"),
    ],
)  # fmt: skip
def test_in_a_conversation_without_ends_a_call_is_missed_where_the_talk_went_on(rows, missing):
    judged = trajectory(*rows, seen={"tool/result": Origin.IMPORT}, origin=Origin.IMPORT)
    assert messages("pairing", judged) == [f"call {call_id!r} of 'look' has no result" for call_id in missing]


def test_an_error_result_answers_a_call_as_well_as_a_good_one():
    rows = [answer(None, call("c1")), result("c1", is_error=True, code=Code.ABORTED), ENDED]
    assert verdict("pairing", trajectory(*rows)).outcome is Outcome.PASS


def test_without_any_call_there_is_nothing_to_pair():
    judged = verdict("pairing", trajectory(answer("hi"), ENDED, seen={"tool/result": Origin.SUBJECT}))
    assert (judged.outcome, judged.why) == (Outcome.NOT_APPLICABLE, "no tool was called")


def two_doors(*rows):
    return observed_as(trajectory(*rows, origin=Origin.PROBE), tool_result=Origin.PROBE)


def test_at_two_doors_results_after_the_last_request_are_not_seen_and_not_missed():
    request = ModelRequest(Messages.of([ChatUser("go")]))
    end = RunEnd(Status.LIMIT_REACHED, Interrupted())
    assert verdict("pairing", two_doors(request, answer(None, call("c1")), end)).outcome is Outcome.PASS


def test_at_two_doors_a_call_that_the_next_request_forgot_is_missed():
    first, second = ModelRequest(Messages.of([ChatUser("go")])), ModelRequest(Messages.of([ChatUser("go on")]))
    end = RunEnd(Status.COMPLETED, FinalAnswer())
    rows = (first, answer(None, call("c1")), second, answer("done"), end)
    assert messages("pairing", two_doors(*rows)) == ["call 'c1' of 'look' has no result"]


# ---------------------------------------------------------------- the same, as a provider sees it


def shown(*parts):
    return trajectory(ModelRequest(Messages.of([ChatUser("go"), *parts])), origin=Origin.PROBE)


def asks(*ids):
    return ChatAssistant(None, tool_calls=tuple(ChatCall(call_id, "look", "{}") for call_id in ids))


@pytest.mark.conformance("28", "33", "49", "86")
@pytest.mark.parametrize(
    ("parts", "said"),
    [
        pytest.param([asks("a", "b"), ChatTool("a", "1"), ChatTool("b", "2")], [], id="sane"),
        pytest.param([asks("a"), ChatUser("x"), ChatTool("a", "1")], ["message 2 of the request: call 'a' of 'look' is not answered directly behind it", "message 4 of the request: a tool message for 'a' that answers no call before it"], id="apart"),
        pytest.param([asks("a", "b"), ChatTool("b", "2"), ChatTool("a", "1")], ["message 2 of the request: results come as ['b', 'a'], the calls were ['a', 'b']"], id="out-of-order"),
        pytest.param([asks("a"), ChatTool("a", "1"), ChatTool("a", "1")], ["message 4 of the request: a second tool message for 'a'"], id="twice"),
        pytest.param([asks("a")], ["message 2 of the request: call 'a' of 'look' is not answered directly behind it"], id="dangling"),
        pytest.param([asks(""), ChatTool("", "1")], ["message 2 of the request: a call of 'look' with an empty id"], id="empty-id"),
        pytest.param([asks("a", "a"), ChatTool("a", "1"), ChatTool("a", "2")], ["message 2 of the request: two calls under the id 'a'"], id="one-id-twice"),
        pytest.param([ChatTool("a", "1")], ["message 2 of the request: a tool message for 'a' that answers no call before it"], id="orphan"),
        pytest.param([ChatAssistant(None)], ["message 2 of the request: an assistant message with neither content nor calls"], id="empty-answer"),
    ],
)  # fmt: skip
def test_a_history_that_a_provider_would_refuse_is_named_by_message(parts, said):
    assert messages("provider_history", shown(*parts)) == said


def test_a_defect_that_stays_in_the_history_is_told_once():
    history = [ChatUser("go"), asks("a")]
    requests = [ModelRequest(Messages(history, 2)), ModelRequest(Messages.of([*history, ChatUser("more")]))]
    assert len(messages("provider_history", trajectory(*requests, origin=Origin.PROBE))) == 1


SWAPPED = (answer(None, call("a"), call("b")), result("b"), result("a"), answer("done"))
RAN = (ToolCall(CallId("a"), "look", "{}"), ToolCall(CallId("b"), "look", "{}"))


@pytest.mark.conformance("49")
@pytest.mark.parametrize(
    ("rows", "origin", "n"),
    [
        pytest.param(SWAPPED, Origin.IMPORT, 0, id="import-that-pairs-by-id"),
        pytest.param((SWAPPED[0], *RAN, *SWAPPED[1:]), Origin.IMPORT, 1, id="import-that-tells-how-calls-ran"),
        pytest.param(SWAPPED, Origin.SUBJECT, 1, id="a-loop"),
    ],
)
def test_results_in_another_order_are_told_only_of_a_loop_whose_work_is_seen(rows, origin, n):
    found = messages("event_grammar", trajectory(*rows, origin=origin))
    assert len([text for text in found if "comes after that of a later call" in text]) == n


@pytest.mark.parametrize("sides", ['["request"]', '["answer"]'])
def test_nothing_is_missed_in_a_conversation_that_was_not_recorded_whole(sides):
    rows = (answer(None, call("a")), Note(UNRECORDED_NOTE, JsonText(sides)), answer("done"))
    seen = {"tool/result": Origin.IMPORT}
    told = verdict("pairing", trajectory(*rows, origin=Origin.IMPORT, seen=seen))
    assert (told.outcome, told.why) == (Outcome.NOT_APPLICABLE, NOT_WHOLE)
    missed = verdict("pairing", trajectory(rows[0], rows[2], origin=Origin.IMPORT, seen=seen))
    assert missed.outcome is Outcome.FAIL
