"""How far a cancel reaches: its turn or the run, its agent and the children, and not what was sent after it."""

import pytest

from harness.types.codes import (
    CancelBy,
    CancelScope,
    InboxQueue,
    Origin,
    Outcome,
    QueueDisposition,
    Status,
    ToolOutcome,
)
from harness.types.exchange import ModelRequest, ToolEnd, ToolStart, UserMessage
from harness.types.lifecycle import (
    CancelDelivered,
    InboxClaimed,
    InboxQueued,
    RunEnd,
    RunQuiescent,
    RunStart,
    TurnEnd,
    TurnStart,
)
from harness.types.messages import CallId, ChatUser, JsonText, MessageId, Messages
from harness.types.profile import Profile
from harness.types.profile_run import ParentCancel
from harness.types.reasons import Alive, Cancelled, FinalAnswer, QueuedMessage
from tests.checks.build import trajectory, verdict

PROMISES = ("cancel_no_tool_start", "cancel_no_model_request", "cancel_no_input_consumed", "cancel_settled")
P = {"origin": Origin.PROBE}
SEEN = dict.fromkeys(("tool/start", "tool/end", "model/request", "run/quiescent", "cancel/delivered"), Origin.PROBE)
SEEN |= {"user/message": Origin.SUBJECT, "run/end": Origin.SUBJECT}


def delivered(scope=CancelScope.RUN, queue=QueueDisposition.DROP):
    return (CancelDelivered(CancelBy.USER, scope, queue), P)


def start(call_id="c1", **place):
    return (ToolStart(CallId(call_id), "look", JsonText("{}")), {**P, **place})


def ended(seq):
    return (ToolEnd(seq, ToolOutcome.OK), P)


REQUEST = (ModelRequest(Messages.of([ChatUser("go")])), P)
STOPPED = TurnEnd(Status.CANCELLED, Cancelled(CancelBy.USER))
GOOD = TurnEnd(Status.COMPLETED, FinalAnswer())
QUEUED = InboxQueued(InboxQueue.FOLLOWUP, (QueuedMessage(MessageId("m2"), ChatUser("next")),))
CLAIMED = InboxClaimed(InboxQueue.FOLLOWUP, (MessageId("m2"),))
INPUT = UserMessage(ChatUser("next"))


def outcomes(*rows, **header):
    judged = trajectory(RunStart(), TurnStart(), *rows, seen=SEEN, **header)
    return {name: verdict(name, judged).outcome for name in PROMISES}


def broken(*rows, **header):
    return [name for name, outcome in outcomes(*rows, **header).items() if outcome is not Outcome.PASS]


@pytest.mark.conformance("81")
def test_a_cancelled_turn_leaves_later_turns_alone():
    cancel = delivered(CancelScope.TURN, QueueDisposition.KEEP)
    later = (TurnStart(), CLAIMED, INPUT, REQUEST, start(), ended(8), GOOD)
    assert broken(QUEUED, cancel, STOPPED, *later, RunEnd(Status.COMPLETED, FinalAnswer()), (RunQuiescent(), P)) == []


def test_a_cancelled_run_leaves_no_later_turn():
    later = (TurnStart(), CLAIMED, INPUT, REQUEST, start(), ended(8), GOOD)
    rows = (QUEUED, delivered(queue=QueueDisposition.KEEP), STOPPED, *later, (RunQuiescent(), P))
    assert broken(*rows)[:3] == ["cancel_no_tool_start", "cancel_no_model_request", "cancel_no_input_consumed"]


@pytest.mark.conformance("111")
def test_input_accepted_after_the_cancel_begins_a_turn_of_its_own():
    later = (QUEUED, TurnStart(), CLAIMED, INPUT, REQUEST, GOOD)
    assert broken(delivered(), STOPPED, *later, (RunQuiescent(), P)) == []


@pytest.mark.conformance("81")
def test_a_cancel_of_a_turn_while_none_is_open_governs_nothing():
    rows = (GOOD, delivered(CancelScope.TURN), TurnStart(), REQUEST, GOOD, (RunQuiescent(), P))
    assert broken(*rows) == []


@pytest.mark.conformance("110")
def test_input_claimed_before_the_cancel_may_still_enter_the_transcript():
    assert broken(QUEUED, CLAIMED, delivered(), INPUT, STOPPED, (RunQuiescent(), P)) == []
    assert broken(QUEUED, CLAIMED, delivered(), INPUT, INPUT, STOPPED, (RunQuiescent(), P)) == [
        "cancel_no_input_consumed"
    ]


@pytest.mark.conformance("88")
def test_a_cancel_reaches_children_unless_the_profile_says_that_they_go_on():
    rows = (delivered(), start("k1", agent="c1"), ended(3), STOPPED, (RunQuiescent(), P))
    assert broken(*rows) == ["cancel_no_tool_start"]
    assert broken(*rows, profile=Profile(parent_cancel=ParentCancel.CHILDREN_GO_ON)) == []


def test_a_cancel_of_a_child_does_not_reach_its_parent():
    rows = ((delivered()[0], {**P, "agent": "c1"}), start(), ended(3), GOOD, (RunQuiescent(), P))
    assert broken(*rows) == []


@pytest.mark.conformance("76", "77")
def test_a_body_that_is_named_at_the_last_line_counts_as_settled():
    rows = (start(), delivered(), STOPPED, RunEnd(Status.CANCELLED, Cancelled(CancelBy.USER)))
    assert broken(*rows, (RunQuiescent((Alive("tool", "look", 2),)), P)) == []
    assert broken(*rows, (RunQuiescent((Alive("tool", "look"),)), P)) == []
    assert broken(*rows, (RunQuiescent((Alive("tool", "put"),)), P)) == ["cancel_settled"]


@pytest.mark.conformance("67")
def test_a_run_that_had_ended_before_the_cancel_keeps_its_end():
    rows = (GOOD, RunEnd(Status.COMPLETED, FinalAnswer()), delivered(), (RunQuiescent(), P))
    assert broken(*rows) == []


def test_findings_cite_the_cancel_and_what_came_after_it():
    judged = trajectory(RunStart(), TurnStart(), delivered(), start(turn=1, step=1), seen=SEEN)
    (finding,) = verdict("cancel_no_tool_start", judged).findings
    assert finding.events == (2, 3)
    assert finding.message == "the body of 'look' started (turn 1, step 1) after the cancel was delivered"
    assert finding.rule == "conformance:63"
