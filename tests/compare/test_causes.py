"""The cause of a difference is named: what was given, what the model, a tool or the loop did, or a recording."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from harness.compare import explain
from harness.folds import cause_text, limits_to_json, parting_line
from harness.types.codes import CancelBy, CancelScope, Cause, Code, LimitKind, QueueDisposition, Status
from harness.types.events import Trajectory
from harness.types.exchange import AssistantMessage, ContextReplaced, ModelFailed, ModelRequest, ToolResult
from harness.types.lifecycle import CancelDelivered, CancelRequested, RunEnd, TurnEnd
from harness.types.messages import ChatSystem, ChatUser, JsonText, Messages
from harness.types.reasons import Failed, LimitHit
from harness.types.records import Divergence, Explanation, Share
from harness.types.scenario import Limits
from tests.compare.made import ANSWERS, RESULTS, SYSTEM, TOOLS, first, header, refund_run, with_facts
from tests.conftest import REPO

LOOK, REFUND, SAY = ANSWERS
CANCELS = (LOOK, ([("cancel_order", '{"order":7}')], None), SAY)
BRIEF = SYSTEM.replace("Be short", "Be brief")
DESCRIBED = [{**tool, "description": "Undo an order."} if tool["name"] == "refund" else tool for tool in TOOLS]
TYPED = [{**tool, "parameters": {"properties": {"order": {"type": "integer"}}}} if tool["name"] == "refund" else tool for tool in TOOLS]


def replaced(kind: type[Any], nth: int = 1, **changes: Any) -> Trajectory:
    run = refund_run()
    index = first(run, kind, nth)
    event = dataclasses.replace(run.events[index], fact=dataclasses.replace(run.events[index].fact, **changes))  # type: ignore[type-var]
    return dataclasses.replace(run, events=(*run.events[:index], event, *run.events[index + 1 :]))


def ended(status: Status, reason: Any, run: Trajectory | None = None) -> Trajectory:
    def end(fact: Any) -> Any:
        return dataclasses.replace(fact, status=status, reason=reason) if isinstance(fact, TurnEnd | RunEnd) else fact

    return with_facts(run or refund_run(), end)


def missed(run: Trajectory) -> Trajectory:
    """The run as it ends when the recording does not hold its first request."""
    reason = Failed(Code.CASSETTE_MISS, "no recorded exchange answers this request")
    at = first(run, AssistantMessage)
    failed = dataclasses.replace(run.events[at], fact=ModelFailed(Code.CASSETTE_MISS, "no exchange"))
    rest = [event for event in run.events[at + 1 :] if event.fact.TYPE in ("turn/end", "run/end", "run/quiescent")]
    cut = dataclasses.replace(run, events=tuple(dataclasses.replace(e, seq=i) for i, e in enumerate([*run.events[:at], failed, *rest])))
    return ended(Status.FAILED, reason, cut)


def cancelled() -> Trajectory:
    run = refund_run()
    cancel = (CancelBy.USER, CancelScope.RUN, QueueDisposition.DROP)
    at = first(run, ToolResult, 3)
    more = tuple(dataclasses.replace(run.events[at], fact=fact(*cancel)) for fact in (CancelRequested, CancelDelivered))
    result = dataclasses.replace(run.events[at], fact=dataclasses.replace(run.events[at].fact, is_error=True, code=Code.ABORTED, content="stopped"))  # type: ignore[type-var]
    events = (*run.events[:at], *more, result, *run.events[at + 1 :])
    return dataclasses.replace(run, events=tuple(dataclasses.replace(e, seq=i) for i, e in enumerate(events)))


def summed_up(text: str) -> Trajectory:
    run = refund_run()
    at = first(run, ModelRequest, 3)
    users = [event.seq for event in run if event.fact.TYPE in ("user/message", "assistant/message")]
    fact = ContextReplaced(users[0], users[1], ChatUser(text))
    events = (*run.events[:at], dataclasses.replace(run.events[at], fact=fact), *run.events[at:])
    return dataclasses.replace(run, events=tuple(dataclasses.replace(e, seq=i) for i, e in enumerate(events)))


RUN = refund_run()
TURNS = 'refund(order=7, why="late") → cancel_order(7)'
ROWS = [
    ("prompt-and-effect", RUN, refund_run(system=BRIEF, answers=CANCELS), Cause.SYSTEM_PROMPT,
     f"refund  step 2: {TURNS}  cause: system prompt changed (line 3)"),
    ("prompt-without-effect", RUN, refund_run(system=BRIEF), Cause.SYSTEM_PROMPT,
     "refund  step 1 system prompt line 3: Be short. → Be brief.  cause: system prompt changed (line 3); nothing was done differently"),
    ("tool-description", RUN, refund_run(tools=DESCRIBED, answers=CANCELS), Cause.TOOL_DESCRIPTION,
     f"refund  step 2: {TURNS}  cause: tool description changed (refund)"),
    ("tool-schema", RUN, refund_run(tools=TYPED, answers=CANCELS), Cause.TOOL_SCHEMA,
     f"refund  step 2: {TURNS}  cause: tool schema changed (refund)"),
    ("tool-removed", RUN, refund_run(tools=TOOLS[:1], answers=CANCELS), Cause.TOOLS_OFFERED,
     f"refund  step 2: {TURNS}  cause: tools offered changed (refund)"),
    ("tool-order", RUN, refund_run(tools=TOOLS[::-1], answers=CANCELS), Cause.TOOLS_OFFERED,
     f"refund  step 2: {TURNS}  cause: tools offered changed (order)"),
    ("parameter", RUN, refund_run(parameters=JsonText('{"temperature":1}'), answers=CANCELS), Cause.PARAMETERS,
     f"refund  step 2: {TURNS}  cause: request parameter changed (temperature)"),
    ("user-input", RUN, refund_run(task="Cancel order 7.", answers=CANCELS), Cause.USER_INPUT,
     f"refund  step 2: {TURNS}  cause: user input changed"),
    ("several-inputs", RUN, refund_run(system=BRIEF, tools=DESCRIBED, answers=CANCELS), Cause.SYSTEM_PROMPT,
     f"refund  step 2: {TURNS}  cause: system prompt changed (line 3) and 1 more input"),
    ("context-inserted", RUN, replaced(ModelRequest, messages=Messages.of([ChatSystem("Today is Monday.")])), Cause.LOOP, None),
    ("context-reworded", RUN, replaced(ModelRequest, messages=Messages.of([ChatUser("Refund!")])), Cause.CONTEXT, None),
    ("context-summed-up-otherwise", summed_up("He wants a refund."), summed_up("He is angry."), Cause.CONTEXT, None),
    ("cancel", RUN, cancelled(), Cause.OUTSIDE,
     "refund  step 2 call 1 refund result: OK: ok → ABORTED: stopped  cause: something came from outside (cancel)"),
    ("other-choice", RUN, refund_run(answers=CANCELS), Cause.MODEL,
     f"refund  step 2: {TURNS}  cause: the model chose differently on the same input"),
    ("other-model", RUN, refund_run(answers=CANCELS, head=header(models=(("main", "big"),))), Cause.OTHER_MODEL,
     f"refund  step 2: {TURNS}  cause: another model (scripted → big)"),
    ("tool-answer", RUN, refund_run(results=(*RESULTS[:2], "refused")), Cause.TOOL,
     "refund  step 2 call 1 refund result: ok → refused  cause: the tool answered differently (refund)"),
    ("loop-gives-up", RUN, ended(Status.LIMIT_REACHED, LimitHit(LimitKind.STEPS, 3)), Cause.LOOP, None),
    ("loop-repeats-a-step", RUN, refund_run(answers=ANSWERS[:2]), Cause.LOOP, None),
    ("limit-changed", RUN, dataclasses.replace(
        ended(Status.LIMIT_REACHED, LimitHit(LimitKind.STEPS, 3)), header=header(limits=limits_to_json(Limits(steps=3)))),
     Cause.SETUP, None),
    ("recording", RUN, missed(refund_run(system=BRIEF)), Cause.RECORDING, None),
    ("recording-of-the-base", missed(RUN), RUN, Cause.RECORDING,
     ('refund  answer: turn/end failed (error CASSETTE_MISS no recorded exchange answers this request) → lookup_order(7), lookup_order(8)'
     "  cause: recording out of date (the base's)")),
    ("limits-alone", RUN, refund_run(head=header(limits=limits_to_json(Limits(steps=3)))), Cause.SETUP,
     "refund  limits.steps: 10 → 3  cause: setup changed (limits.steps)"),
    ("tokens", RUN, replaced(AssistantMessage, 2, usage=None), Cause.DETAIL, None),
]  # fmt: skip


@pytest.mark.parametrize(("base", "candidate", "cause", "line"), [pytest.param(*row[1:], id=row[0]) for row in ROWS])
def test_the_cause_is_named_beside_what_was_done_differently(
    base: Trajectory, candidate: Trajectory, cause: Cause, line: str | None
) -> None:
    found = explain(base, candidate)
    assert found is not None
    assert found.cause is cause
    if line is not None:
        assert parting_line("refund", found) == line


def test_every_cause_has_an_example_here() -> None:
    assert {row[3] for row in ROWS} == set(Cause)


def test_the_page_explains_every_cause_in_the_words_that_are_shown() -> None:
    page = (REPO / "docs" / "compare.md").read_text("utf-8")
    rows = [line.split(" | ")[0] for line in page.split("\n") if line.startswith("| ")]
    shown = {cause_text(Explanation(cause, "", Divergence("model", "x", "a", "b"), Divergence("model", "x", "a", "b"))) for cause in Cause}
    assert {f"| {words}" for words in shown} <= set(rows)


def explained(base: Trajectory, candidate: Trajectory) -> Explanation:
    found = explain(base, candidate)
    assert found is not None
    return found


def test_all_inputs_that_differ_before_the_effect_are_told_and_none_behind_it() -> None:
    found = explained(RUN, refund_run(system=BRIEF, tools=DESCRIBED, parameters=JsonText("{}"), answers=CANCELS))
    assert [one.path for one in found.inputs] == [
        "system prompt line 3",
        "tool refund description",
        "request parameter temperature",
    ]
    assert found.first.path == "system prompt line 3"
    assert found.effect is not None
    assert (found.effect.step, found.shown) == (2, found.effect)
    late = explained(refund_run(answers=CANCELS), refund_run())
    assert late.inputs == ()


def test_a_schema_that_repeats_its_tools_description_is_no_second_difference() -> None:
    def tools(text: str, own: str) -> list[dict[str, object]]:
        return [{"name": "refund", "description": text, "parameters": {"description": own, "properties": {}}}]

    same = explained(refund_run(tools=tools("A", "A")), refund_run(tools=tools("B", "B")))
    other = explained(refund_run(tools=tools("A", "A")), refund_run(tools=tools("B", "C")))
    schema = explained(refund_run(tools=tools("A", "A")), refund_run(tools=tools("A", "B")))
    assert [one.path for one in same.inputs] == ["tool refund description"]
    assert [one.path for one in other.inputs] == ["tool refund description", "tool refund parameters.description"]
    assert schema.cause is Cause.TOOL_SCHEMA


def test_a_recording_out_of_date_says_what_it_does_not_hold() -> None:
    found = explained(RUN, missed(refund_run(system=BRIEF)))
    assert found.detail == "system prompt line 3"
    assert cause_text(found) == "recording out of date (system prompt line 3)"
    assert explained(missed(RUN), refund_run(system=BRIEF)).detail == "the base's: system prompt line 3"


def test_how_often_the_base_chose_so_is_told_where_it_has_trials() -> None:
    found = explained(RUN, refund_run(answers=CANCELS))
    plain = "the model chose differently on the same input"
    assert cause_text(found, Share(2, 5)) == f"{plain}; the base chose this in 2 of 5"
    assert cause_text(found, Share(0, 1)) == plain
    assert cause_text(explained(RUN, refund_run(results=("a", "b", "c"))), Share(2, 5)) == "the tool answered differently (lookup_order)"
