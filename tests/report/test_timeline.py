"""``harness show`` tells a run with event numbers, and the whole of it when asked."""

import dataclasses
import re
import unicodedata

import pytest
from hypothesis import given

from harness.folds import summarise
from harness.formats import FORMATS, parse_document
from harness.report import Verbosity, mermaid, timeline
from harness.types.codes import CancelBy, CancelScope, Code, QueueDisposition, Status, ToolOutcome
from harness.types.events import Parent, TornTail, Trajectory
from harness.types.exchange import (
    AssistantChunk,
    AssistantMessage,
    ContextReplaced,
    ModelFailed,
    ModelRequest,
    ModelRetry,
    ToolEnd,
    ToolStart,
)
from harness.types.facts import Fact
from harness.types.lifecycle import CancelDelivered, CancelRequested, InboxDiscarded, Note, RunEnd, RunQuiescent
from harness.types.messages import CallId, ChatUser, JsonText, MessageId, Messages, RunId
from harness.types.reasons import Alive, Cancelled
from tests.compare.made import Maker, failed_result, header, refund_run, with_facts
from tests.report.nasty import NASTY
from tests.strategies import trajectories

NORMAL = """\
shop/refund  arm default, trial 1  subject built-in  model scripted  clock virtual
    2  turn 1
    4    user: Refund order 7, please.
    5    step 1
    6      system: You refund orders.\\nLook first.\\nBe short.
           tools offered: lookup_order, refund
    7      request: 1 message
    8      assistant: I look.
           call 1 lookup_order {"id":7}
           call 2 lookup_order {"id":8}
   15      result of call 1 lookup_order OK: {"id":7,"total":19.9}
   16      result of call 2 lookup_order OK: {"id":8,"total":5}
   18    step 2
   19      request: 4 messages
   20      call 1 refund {"order":7,"why":"late"}
   24      result of call 1 refund OK: ok
   26    step 3
   27      request: 6 messages
   28      assistant: Refunded.
   30  turn 1 ends: completed (final-answer)
   31  run ends: completed (final-answer)
   32  quiescent: nothing still runs (after 0 ms)
state: done
3 steps, 8 messages, 32 ms"""


def cut(trajectory: Trajectory, n_events: int) -> Trajectory:
    return dataclasses.replace(trajectory, events=trajectory.events[:n_events])


def told(*facts: Fact) -> list[str]:
    """The lines of a run of these facts, without title and the three last lines."""
    make = Maker()
    for fact in facts:
        make.add(fact)
    return timeline(
        Trajectory(header(), (*make.events, make.add(RunEnd(Status.CANCELLED, Cancelled(CancelBy.USER)))))
    ).split("\n")[1:-3]


def test_a_run_is_told_turn_by_turn_with_the_numbers_of_its_events() -> None:
    assert timeline(refund_run()) == NORMAL


@pytest.mark.article("12")
def test_the_last_line_tells_steps_messages_and_milliseconds() -> None:
    assert timeline(refund_run()).split("\n")[-1] == "3 steps, 8 messages, 32 ms"
    untimed = dataclasses.replace(refund_run(), events=tuple(dataclasses.replace(e, time=None) for e in refund_run()))
    assert timeline(untimed).split("\n")[-1] == "3 steps, 8 messages, no times"


@pytest.mark.article("12")
def test_verbose_shows_every_step_call_argument_and_result_and_the_whole_answer() -> None:
    answer = "line one " + "x" * 400 + "\nline two"
    arguments = '{"id":"' + "y" * 400 + '"}'
    run = refund_run(answers=(([("lookup_order", arguments)], None), ([], answer)), results=("r" * 400,))
    shown = timeline(run, verbosity=Verbosity.VERBOSE)
    for text in (*answer.split("\n"), arguments, "r" * 400, "step 1", "step 2", "starts", "ended: ok", "10 in, 1 out"):
        assert text in shown
    for text in (answer.split("\n")[0], arguments, "r" * 400):
        assert text not in timeline(run)


@pytest.mark.article("14")
@pytest.mark.parametrize(
    ("n_events", "boundary"),
    [
        pytest.param(24, "step (turn 1, step 1, event 17)", id="in-a-step"),
        pytest.param(25, "call 'call_2_0' (turn 1, step 2, event 24)", id="after-a-result"),
        pytest.param(31, "turn (turn 1, event 30)", id="after-a-turn"),
        pytest.param(5, "none", id="nothing-closed"),
        pytest.param(0, "none", id="empty"),
    ],
)
def test_an_interrupted_file_names_its_last_closed_boundary(n_events: int, boundary: str) -> None:
    lines = timeline(cut(refund_run(), n_events)).split("\n")
    assert lines[-2] == f"interrupted: the file has no run/end. Last closed boundary: {boundary}"
    assert "interrupted" not in timeline(refund_run())


@pytest.mark.article("40")
@pytest.mark.parametrize(
    ("n_events", "state"),
    [
        pytest.param(8, "when it broke off, it was asking the model (step 1)", id="asking"),
        pytest.param(12, "when it broke off, it was running lookup_order", id="running"),
        pytest.param(99, "state: done", id="done"),
    ],
)
def test_what_a_run_is_doing_or_came_to_is_said_in_words(n_events: int, state: str) -> None:
    assert state in timeline(cut(refund_run(), n_events)).splitlines()


def test_an_import_of_a_format_without_ends_is_not_called_interrupted() -> None:
    messages = b'[{"role":"user","content":"hi"},{"role":"assistant","content":"hello"}]'
    (one,) = FORMATS["chat"].read(parse_document(messages, "talk.json"))
    assert "interrupted" not in timeline(one)
    assert "how the run ended is not told" in timeline(one)
    assert "interrupted" not in mermaid(one)
    assert summarise(one, (), "talk.json").reason == "no end is told"
    session = b'{"type":"session","id":"s","createdAt":0}\n{"type":"turn/start","data":{"turn":1}}\n'
    (log,) = FORMATS["dsh"].read(parse_document(session, "session.jsonl"))
    assert "interrupted: the file has no run/end" in timeline(log)


def test_a_torn_tail_is_told_with_its_place() -> None:
    run = dataclasses.replace(cut(refund_run(), 20), torn=TornTail(22, 4711, 9))
    assert "torn tail: line 22 is unfinished, 9 bytes from byte 4711 on are no event" in timeline(run)


def test_results_carry_their_code() -> None:
    assert "result of call 1 refund TOOL_FAILED: no such order" in timeline(
        with_facts(refund_run(), failed_result(Code.TOOL_FAILED))
    )


CANCEL = (CancelBy.USER, CancelScope.RUN, QueueDisposition.DROP)


def test_a_body_is_shown_in_short_only_when_it_starts_after_a_cancel_or_does_not_end_well() -> None:
    start = ToolStart(CallId("c"), "refund", JsonText('{"order":7}'))
    quiet = told(start, ToolEnd(0, ToolOutcome.OK))
    failed = told(start, ToolEnd(0, ToolOutcome.ERROR, Code.TOOL_FAILED))
    late = told(CancelRequested(*CANCEL, "enough"), CancelDelivered(*CANCEL), start, ToolEnd(2, ToolOutcome.OK))
    assert quiet == []
    assert failed == ["    1  call refund ended: error TOOL_FAILED"]
    assert late == [
        "    0  >>> cancel requested by user (scope run, queue drop): enough",
        "    1  >>> cancel delivered by user (scope run, queue drop)",
        '    2  after the cancel: call refund starts {"order":7}',
        "    3  call refund ended: ok",
    ]


@pytest.mark.parametrize(
    ("fact", "line"),
    [
        pytest.param(
            ModelFailed(Code.RATE_LIMIT, "slow\ndown"), "model error RATE_LIMIT: slow\\ndown (attempt 1)", id="error"
        ),
        pytest.param(ModelRetry(Code.SERVER, 2, 500), "retry in 500 ms after SERVER (attempt 2)", id="retry"),
        pytest.param(
            ContextReplaced(1, 5, ChatUser("short")), "context: events 1 to 5 replaced by short", id="context"
        ),
        pytest.param(AssistantMessage(interrupted=True), "assistant, interrupted: (empty)", id="empty-answer"),
        pytest.param(AssistantMessage(refusal="No."), "refusal: No.", id="refusal"),
        pytest.param(
            RunQuiescent((Alive("tool", "poll", 3),), 50), "still running after 50 ms: tool poll (event 3)", id="alive"
        ),
    ],
)
def test_what_is_rare_has_words_too(fact: Fact, line: str) -> None:
    assert told(fact) == [f"    0  {line}"]


def test_a_streamed_answer_tells_how_many_chunks_its_last_attempt_had() -> None:
    chunk, request = AssistantChunk(JsonText("{}")), ModelRequest(Messages.of(()))
    lines = told(
        request, chunk, request, chunk, chunk, AssistantMessage("Yes"), AssistantMessage("No", interrupted=True)
    )
    assert [line.split("  ")[-1] for line in lines[2:]] == ["assistant, in 2 chunks: Yes", "assistant, interrupted: No"]


def test_dropped_input_is_told() -> None:
    from harness.types.codes import InboxQueue

    fact = InboxDiscarded(InboxQueue.FOLLOWUP, (MessageId("m1"),), "cancelled")
    assert told(fact) == ["    0  discarded (followup): m1: cancelled"]


def test_notes_are_shown_when_verbose_only() -> None:
    run = Trajectory(header(), (Maker().add(Note("shape", JsonText("[1]"))),))
    assert "note shape [1]" not in timeline(run)
    assert "note shape [1]" in timeline(run, verbosity=Verbosity.VERBOSE)


def test_children_and_what_a_run_goes_on_from_are_named() -> None:
    run = refund_run(head=header(parent=Parent(RunId("first"), 12, "fork")))
    child = dataclasses.replace(run, events=(*run.events, dataclasses.replace(run.events[28], agent="call_1", seq=33)))
    assert "goes on from first event 12 (fork)" in timeline(run)
    assert "       [call_1] assistant: Refunded." in timeline(child)


@pytest.mark.parametrize("nasty", NASTY, ids=ascii)
@pytest.mark.parametrize("verbosity", Verbosity)
def test_no_text_can_add_a_line_or_hide_in_one(nasty: str, verbosity: Verbosity) -> None:
    text = nasty.replace("\n", " ")
    run = refund_run(task=text, system=text, answers=(([(text, text)], text or "x"), ([], text)), results=(text,))
    plain = refund_run(task="x", system="x", answers=(([("x", "x")], "x"), ([], "x")), results=("x",))
    shown = timeline(run, verbosity=verbosity)
    assert len(shown.splitlines()) == len(timeline(plain, verbosity=verbosity).splitlines())
    assert not {unicodedata.category(char) for char in shown.replace("\n", "")} & {"Cc", "Cs", "Zl", "Zp"}


@given(trajectories())
def test_any_trajectory_can_be_shown(trajectory: Trajectory) -> None:
    for verbosity in Verbosity:
        lines = timeline(trajectory, verbosity=verbosity).split("\n")
        assert re.fullmatch(r"\d+ steps?, \d+ messages?, (\d+ ms|no times)", lines[-1])
        numbers = [int(line[:5]) for line in lines[1:-1] if line[:5].strip().isdigit()]
        assert numbers == sorted(numbers)
