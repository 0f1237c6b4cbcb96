"""What a scenario expects, and the words in which it is told that something else happened."""

import pytest

from harness.types.codes import CancelBy, Code, LimitKind, Origin, Outcome, Status, ToolOutcome
from harness.types.exchange import ModelRequest, ToolEnd, ToolStart
from harness.types.jsontext import canonical_json
from harness.types.lifecycle import Note, RunEnd, TurnStart
from harness.types.messages import CallId, ChatUser, JsonText, Messages
from harness.types.reasons import Cancelled, Failed, FinalAnswer, LimitHit
from harness.types.scenario import CallOrder, Expectations, ExpectedCall, ExpectedCalls
from tests.checks.build import answer, call, messages, result, trajectory, verdict

RUN = (answer(None, call("c1", "a")), result("c1", name="a"), answer(None, call("c2", "b"), call("c3", "a")), answer("It is 52."))  # fmt: skip
FAILED = RunEnd(Status.FAILED, Failed(Code.AUTH, "no key"))
LIMIT = RunEnd(Status.LIMIT_REACHED, LimitHit(LimitKind.STEPS, 2))
DONE = RunEnd(Status.COMPLETED, FinalAnswer())


def exact(*names):
    return (ExpectedCalls(CallOrder.EXACT, tuple(ExpectedCall(name) for name in names)),)


@pytest.mark.parametrize(
    ("expect", "said"),
    [
        pytest.param(Expectations(calls=exact("a", "b", "a")), [], id="exact"),
        pytest.param(Expectations(calls=exact("a", "b")), ["expect calls exact: calls[3]: surplus call of 'a' with {}"], id="surplus"),
        pytest.param(Expectations(never=("c",)), [], id="never"),
        pytest.param(Expectations(never=("b",)), ["expect never 'b': it was called"], id="forbidden"),
        pytest.param(Expectations(at_most_once=("b",)), [], id="once"),
        pytest.param(Expectations(at_most_once=("a",)), ["expect 'a' at most once: it was called again"], id="again"),
        pytest.param(Expectations(before=(("b", "a"),)), ["expect 'b' before 'a': call 1 comes before call 2"], id="too-early"),
        pytest.param(Expectations(before=(("a", "b"),)), ["expect 'a' before 'b': call 2 comes before call 3"], id="every-call-of-the-first"),
        pytest.param(Expectations(before=(("a", "c"),)), [], id="the-second-never-came"),
    ],
)  # fmt: skip
def test_calls_are_held_against_what_is_expected_of_them(expect, said):
    assert messages("tool_order", trajectory(*RUN, expect=expect)) == said


def test_a_finding_about_a_call_cites_the_answer_that_made_it():
    judged = trajectory(*RUN, expect=Expectations(never=("b",), calls=exact("a", "b")))
    assert [finding.events for finding in verdict("tool_order", judged).findings] == [(2,), (2,)]


@pytest.mark.parametrize(
    ("answer_matcher", "said"),
    [
        pytest.param("It is 52.", [], id="whole"),
        pytest.param({"$contains": "52"}, [], id="contains"),
        pytest.param({"$regex": "53"}, ["expect answer: expected text with a match of '53', was \"It is 52.\""], id="other"),
    ],
)  # fmt: skip
def test_the_answer_is_matched_as_text(answer_matcher, said):
    assert messages("answer", trajectory(*RUN, expect=Expectations(answer=canonical_json(answer_matcher)))) == said


def test_a_run_that_ends_on_calls_has_no_answer():
    judged = trajectory(*RUN[:3], expect=Expectations(answer=canonical_json({"$any": True})))
    assert messages("answer", judged) == ["expect answer: the run gave none"]


@pytest.mark.parametrize(
    ("expect", "end", "said"),
    [
        pytest.param(Expectations(status="completed"), DONE, [], id="status"),
        pytest.param(Expectations(status="completed"), LIMIT, ["expect status completed: it was limit_reached (limit steps 2)"], id="another"),
        pytest.param(Expectations(reason="limit"), LIMIT, [], id="kind"),
        pytest.param(Expectations(reason="limit steps"), LIMIT, [], id="which"),
        pytest.param(Expectations(reason="limit wall-time"), LIMIT, ["expect reason limit wall-time: it was limit steps 2"], id="another-limit"),
        pytest.param(Expectations(reason="cancelled"), RunEnd(Status.CANCELLED, Cancelled(CancelBy.USER)), [], id="cancelled"),
        pytest.param(Expectations(error="AUTH"), FAILED, [], id="error-code"),
        pytest.param(Expectations(error="no key"), FAILED, [], id="error-text"),
        pytest.param(Expectations(error="QUOTA"), FAILED, ["expect error 'QUOTA': it was error AUTH: no key"], id="another-error"),
        pytest.param(Expectations(error="AUTH"), DONE, ["expect error 'AUTH': it was final-answer"], id="no-error"),
    ],
)  # fmt: skip
def test_the_end_is_held_against_what_is_expected_of_it(expect, end, said):
    assert messages("expected_end", trajectory(answer("x"), end, expect=expect)) == said


@pytest.mark.parametrize(
    ("expect", "end", "outcome"),
    [
        pytest.param(Expectations(), FAILED, Outcome.FAIL, id="nothing-is-expected"),
        pytest.param(Expectations(steps=3), FAILED, Outcome.FAIL, id="something-else-is-expected"),
        pytest.param(Expectations(status="failed"), FAILED, Outcome.PASS, id="expected-by-status"),
        pytest.param(Expectations(error="AUTH"), FAILED, Outcome.PASS, id="expected-by-error"),
        pytest.param(Expectations(reason="error"), FAILED, Outcome.PASS, id="expected-by-reason"),
        pytest.param(None, FAILED, Outcome.NOT_APPLICABLE, id="an-import-expects-nothing"),
        pytest.param(Expectations(), RunEnd(Status.CANCELLED, Cancelled(CancelBy.USER)), Outcome.NOT_APPLICABLE, id="a-cancel-was-asked-for"),
        pytest.param(Expectations(), LIMIT, Outcome.NOT_APPLICABLE, id="a-limit-is-no-failure"),
        pytest.param(Expectations(), RunEnd(Status.FAILED, Failed(Code.SCRIPT_EXHAUSTED, "dry")), Outcome.NOT_APPLICABLE, id="a-dry-script-is-told-by-the-script"),
    ],
)  # fmt: skip
def test_a_run_that_failed_without_anybody_expecting_it_is_no_pass(expect, end, outcome):
    judged = verdict("expected_end", trajectory(answer("x"), end, expect=expect))
    assert judged.outcome is outcome
    if outcome is Outcome.FAIL:
        assert judged.findings[0].message == (
            "the run failed, which nobody expects: error AUTH: no key. If it should: expect: {status: failed}"
        )


def test_a_run_without_an_end_is_told_as_interrupted():
    judged = trajectory(answer("x"), expect=Expectations(status="completed"), seen={"run/end": Origin.SUBJECT})
    assert messages("expected_end", judged) == ["expect status completed: it was interrupted"]


@pytest.mark.article("12")
def test_steps_messages_and_turns_are_counted_from_the_events():
    judged = trajectory(TurnStart(), *RUN, expect=Expectations(steps=3, messages=4, turns=1))
    assert verdict("expected_counts", judged).outcome is Outcome.PASS
    other = trajectory(TurnStart(), *RUN, expect=Expectations(steps=2, messages=5, turns=2))
    assert messages("expected_counts", other) == [
        "expect 2 steps: there were 3",
        "expect 5 messages: there were 4",
        "expect 2 turns: there were 1",
    ]


@pytest.mark.article("6")
def test_codes_are_told_by_position_and_empty_is_no_failure():
    codes = ((1, "OK"), (2, "EMPTY"), (3, "TIMEOUT"), (4, "OK"), (5, "OK"))
    rows = (
        answer(None, *(call(f"c{n}") for n in (1, 2, 3, 4))),
        result("c1"), result("c2", code=Code.EMPTY), result("c3", is_error=True, code=Code.TOOL_TIMEOUT),
    )  # fmt: skip
    assert messages("result_codes", trajectory(*rows, expect=Expectations(result_codes=codes))) == [
        "expect result 3 TIMEOUT: call 'c3' of 'look' came to TOOL_TIMEOUT",
        "expect result 4 OK: call 'c4' of 'look' came to no result",
        "expect result 5 OK: there are 4 calls",
    ]


def test_at_two_doors_the_code_of_a_result_is_that_of_its_body():
    rows = (
        ModelRequest(Messages.of([ChatUser("go")])), answer(None, call("c1")),
        ToolStart(CallId("c1"), "look", JsonText("{}")), ToolEnd(2, ToolOutcome.ERROR, Code.TOOL_FAILED), result("c1", "boom"),
    )  # fmt: skip
    judged = trajectory(*rows, origin=Origin.PROBE, expect=Expectations(result_codes=((1, "TOOL_FAILED"),)))
    assert verdict("result_codes", judged).outcome is Outcome.PASS


def test_the_end_state_is_read_from_the_last_note_and_parts_not_named_are_not_asked():
    old, new = (Note("end_state", canonical_json({"memory": {"a": n}, "files": {"x": "y"}})) for n in (1, 2))
    for expected, outcome in (
        ({"memory": {"a": 2}}, Outcome.PASS),
        ({"memory": {"a": 1}}, Outcome.FAIL),
        ({"memory": {}}, Outcome.FAIL),
    ):
        judged = trajectory(old, new, expect=Expectations(end_state=canonical_json(expected)))
        assert verdict("end_state", judged).outcome is outcome
