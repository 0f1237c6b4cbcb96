"""Calls that are answered without a body: refused of a loop that tells all, doubted of one seen at its two doors."""

import pytest

from harness.mutants import MUTANTS, originals
from harness.types.codes import CancelBy, CancelScope, Code, Origin, Outcome, QueueDisposition, ToolOutcome
from harness.types.events import OfferedTool
from harness.types.exchange import ToolEnd, ToolStart
from harness.types.lifecycle import NOT_WRAPPED_NOTE, CancelDelivered, Note
from harness.types.messages import CallId, JsonText
from tests.checks.build import answer, call, messages, result, trajectory, verdict

CHECK = "tool_runs"
SEEN = {"tool/start": Origin.PROBE, "tool/end": Origin.PROBE}
REFUND = OfferedTool("refund", "Give the money back.", JsonText('{"required":["order"],"type":"object"}'))
ORDER = '{"order":7}'


def body(seq, call_id, name="refund", arguments=ORDER):
    start = ToolStart(call_id and CallId(call_id), name, JsonText(arguments))
    return [(start, {"origin": Origin.PROBE}), (ToolEnd(seq, ToolOutcome.OK), {"origin": Origin.PROBE})]


def told(*rows, **fields):
    return trajectory(
        answer(None, call("c1", "refund", ORDER)), *rows, result("c1", "ok", "refund", **fields), seen=SEEN
    )


def seen_at_the_doors(*rows, text="ok", name="refund", arguments=ORDER):
    shown = result("c9", text, name)
    return trajectory(
        *rows, answer(None, call("c9", name, arguments)), shown,
        seen={**SEEN, "tool/result": Origin.PROBE}, tools=(REFUND,),
    )  # fmt: skip


@pytest.mark.parametrize("code", [None, Code.EMPTY, Code.TRUNCATED, Code.SUMMARISED])
def test_a_call_told_as_done_without_a_body_is_refused(code):
    assert verdict(CHECK, told(code=code)).outcome is Outcome.FAIL
    assert messages(CHECK, told(code=code)) == ["call 'c1' of 'refund' is answered as done, but no body ran for it"]
    assert verdict(CHECK, told(*body(1, "c1"), code=code)).outcome is Outcome.PASS


@pytest.mark.parametrize("code", [code for code in Code if code not in (Code.EMPTY, Code.TRUNCATED, Code.SUMMARISED)])
def test_a_code_says_why_no_body_ran(code):
    assert verdict(CHECK, told(is_error=True, code=code)).outcome is Outcome.NOT_APPLICABLE


def test_a_body_that_takes_over_or_names_no_call_is_one():
    other = ToolStart(CallId("c1"), "pay", JsonText(ORDER), instead_of="refund")
    failed = [body(1, "c1")[0], (ToolEnd(1, ToolOutcome.ERROR), {"origin": Origin.PROBE})]
    assert messages(CHECK, told(*failed, (other, {"origin": Origin.PROBE}))) == []
    assert messages(CHECK, told(*body(1, None))) == []


def test_where_bodies_are_not_seen_nothing_is_said():
    bare = trajectory(answer(None, call("c1", "refund", ORDER)), result("c1", "ok", "refund"))
    assert verdict(CHECK, bare).outcome is Outcome.NOT_APPLICABLE


def test_a_loop_seen_at_its_doors_that_answers_without_a_body_is_in_doubt():
    found = verdict(CHECK, seen_at_the_doors())
    assert found.outcome is Outcome.INCONCLUSIVE
    assert found.why == "call 'c9' of 'refund' was answered with 'ok', but no body was seen"


EARLIER = (answer(None, call("c1", "refund", ORDER)), *body(1, "c1"), result("c1", "ok", "refund"))
CANCEL = CancelDelivered(CancelBy.USER, CancelScope.RUN, QueueDisposition.DROP)


@pytest.mark.parametrize(
    ("rows", "fields"),
    [
        pytest.param((), {"text": "The user declined."}, id="says-why"),
        pytest.param((), {"text": '{"error": "no such order"}'}, id="an-error"),
        pytest.param((), {"text": " "}, id="says-nothing"),
        pytest.param((), {"name": "think", "arguments": "{}"}, id="a-tool-of-the-loops-own"),
        pytest.param((), {"arguments": '{"id":7}'}, id="arguments-that-the-tool-does-not-take"),
        pytest.param((), {"arguments": "{"}, id="broken-arguments"),
        pytest.param(EARLIER, {}, id="kept-from-before"),
        pytest.param((CANCEL,), {}, id="cancelled"),
    ],
)
def test_a_loop_seen_at_its_doors_may_be_sane_though_no_body_ran(rows, fields):
    assert verdict(CHECK, seen_at_the_doors(*rows, **fields)).outcome in (Outcome.PASS, Outcome.NOT_APPLICABLE)


def test_what_is_found_counts_before_a_doubt():
    surplus = body(0, "c7", name="pay")
    assert verdict(CHECK, seen_at_the_doors(*surplus)).outcome is Outcome.FAIL


def test_a_tool_that_was_not_wrapped_is_told_as_such():
    note = Note(NOT_WRAPPED_NOTE, '["refund"]')
    found = verdict(CHECK, seen_at_the_doors(note))
    assert found.outcome is Outcome.INCONCLUSIVE
    assert "was the registry wrapped" in found.why


def test_a_run_in_which_no_tool_ever_ran_is_refused():
    broken = MUTANTS["nothing_ran"].mutate(originals()["completed"])
    assert broken is not None
    assert verdict("result_truth", broken).outcome is Outcome.NOT_APPLICABLE, "no digest is there to hold results against"
    assert verdict(CHECK, broken).outcome is Outcome.FAIL
