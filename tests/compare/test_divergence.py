"""The first divergence names who is behind it, the step, the field, and both sides."""

import dataclasses
from typing import Any

import pytest

from harness.compare import first_divergence
from harness.folds import limits_to_json
from harness.types.codes import CancelBy, CancelScope, Code, LimitKind, QueueDisposition, Status
from harness.types.events import Trajectory
from harness.types.exchange import (
    AssistantChunk,
    AssistantMessage,
    ModelFailed,
    ModelRequest,
    ModelRetry,
    ToolResult,
)
from harness.types.jsontext import canonical_json
from harness.types.lifecycle import CancelDelivered, CancelRequested, RunQuiescent, StepEnd
from harness.types.messages import CallId, ChatTool, ChatUser, JsonText, Messages
from harness.types.reasons import Alive, LimitHit
from harness.types.records import Divergence
from harness.types.scenario import Limits
from tests.compare.made import ANSWERS, RESULTS, SYSTEM, TOOLS, failed_result, first, header, refund_run, with_facts

LOOK, REFUND, SAY = ANSWERS


def answering(*answers: Any) -> Trajectory:
    return refund_run(answers=answers)


def tools(**changes: Any) -> Trajectory:
    return refund_run(tools=[{**tool, **changes} if tool["name"] == "refund" else tool for tool in TOOLS])


def without(kind: type[Any]) -> Trajectory:
    return with_facts(refund_run(), lambda fact: None if isinstance(fact, kind) else fact)


def inserted(index: int, *facts: Any) -> Trajectory:
    run = refund_run()
    before = run.events[index]
    new = tuple(dataclasses.replace(before, fact=fact) for fact in facts)
    events = run.events[:index] + new + run.events[index:]
    return dataclasses.replace(run, events=tuple(dataclasses.replace(e, seq=i) for i, e in enumerate(events)))


def replaced(kind: type[Any], nth: int = 1, **changes: Any) -> Trajectory:
    run = refund_run()
    index = first(run, kind, nth)
    event = run.events[index]
    new = dataclasses.replace(event, fact=dataclasses.replace(event.fact, **changes))
    return dataclasses.replace(run, events=(*run.events[:index], new, *run.events[index + 1 :]))


CANCEL = (CancelBy.USER, CancelScope.RUN, QueueDisposition.DROP)
LONGER_REQUEST = Messages.of([ChatUser("Refund order 7, please."), ChatUser("and now")])

ROWS = [
    ("system-line", refund_run(system=SYSTEM.replace("Be short", "Be brief")), "input", 1,
     "system prompt line 3", "Be short.", "Be brief."),
    ("system-line-added", refund_run(system=f"{SYSTEM}\nNow."), "input", 1, "system prompt line 4", None, "Now."),
    ("task", refund_run(task="Refund order 8, please."), "input", None,
     "user input", "Refund order 7, please.", "Refund order 8, please."),
    ("tool-description", tools(description="Refund it."), "input", 1,
     "tool refund description", "Refund an order.", "Refund it."),
    ("tool-schema", tools(parameters={"properties": {"order": {"type": "string"}}}), "input", 1,
     "tool refund parameters.properties.order.type", None, '"string"'),
    ("tool-removed", refund_run(tools=TOOLS[:1]), "input", 1, "tool refund", "offered", None),
    ("tool-order", refund_run(tools=TOOLS[::-1]), "input", 1,
     "order of the tools", "lookup_order, refund", "refund, lookup_order"),
    ("parameter", refund_run(parameters=JsonText('{"temperature":1}')), "input", 1,
     "request parameter temperature", "0", "1"),
    ("other-tool", answering(LOOK, ([("cancel_order", '{"id":7}')], None), SAY), "model", 2,
     "call 1", 'refund(order=7, why="late")', "cancel_order(7)"),
    ("argument", answering(LOOK, ([("refund", '{"order":8,"why":"late"}')], None), SAY), "model", 2,
     "call 1 refund arguments.order", "7", "8"),
    ("argument-type", answering(LOOK, ([("refund", '{"order":"7","why":"late"}')], None), SAY), "model", 2,
     "call 1 refund arguments.order", "7", '"7"'),
    ("argument-true-is-not-one", answering(([("lookup_order", '{"id":7}'), ("lookup_order", '{"id":true}')], "I look.")),
     "model", 1, "call 2 lookup_order arguments.id", "8", "true"),
    ("argument-missing", answering(LOOK, ([("refund", '{"order":7}')], None), SAY), "model", 2,
     "call 1 refund arguments.why", '"late"', None),
    ("argument-malformed", answering(LOOK, ([("refund", '{"order":7')], None), SAY), "model", 2,
     "call 1 refund arguments", '{"order":7,"why":"late"}', '"{\\"order\\":7"'),
    ("one-call-less", answering(([("lookup_order", '{"id":7}')], "I look."), REFUND, SAY), "model", 1,
     "call 2", "lookup_order(8)", None),
    ("answered-instead", answering(LOOK, ([], "Which order?")), "model", 2,
     "call 1", 'refund(order=7, why="late")', 'answer "Which order?"'),
    ("answer", answering(LOOK, REFUND, ([], "Done.")), "model", 3, "answer", "Refunded.", "Done."),
    ("text-beside-calls", answering((LOOK[0], "I look it up."), REFUND, SAY), "model", 1,
     "text beside the calls", "I look.", "I look it up."),
    ("reasoning", replaced(AssistantMessage, 3, reasoning="hm"), "model", 3, "reasoning", None, "hm"),
    ("interrupted-answer", replaced(AssistantMessage, 3, interrupted=True), "model", 3,
     "answer interrupted", "false", "true"),
    ("result", refund_run(results=(*RESULTS[:2], "refused")), "tool", 2, "call 1 refund result", "ok", "refused"),
    ("result-json", refund_run(results=(RESULTS[0], '{"id":8,"total":6}')), "tool", 1,
     "call 2 lookup_order result.total", "5", "6"),
    ("result-code", with_facts(refund_run(), failed_result(Code.TOOL_FAILED)), "tool", 2,
     "call 1 refund result", "OK: ok", "TOOL_FAILED: no such order"),
    ("results-swapped", refund_run(results=(RESULTS[1], RESULTS[0], RESULTS[2])), "tool", 1,
     "call 1 lookup_order result.id", "7", "8"),
    ("result-truncated", replaced(ToolResult, truncated=True), "tool", 1,
     "call 1 lookup_order result truncated", "false", "true"),
    ("no-results", without(ToolResult), "loop", 1, "what happens next", "tool/result lookup_order",
     "turn/end completed (final-answer)"),
    ("request-longer", replaced(ModelRequest, messages=LONGER_REQUEST), "loop", 1,
     "length of the request", "1 messages", "2 messages"),
    ("request-other-words", replaced(ModelRequest, messages=Messages.of([ChatUser("Refund!")])), "input", 1,
     "message 1 (user) content", "Refund order 7, please.", "Refund!"),
    ("one-step-less", refund_run(answers=ANSWERS[:2]), "end", 3, "end of the turn",
     "step/start", "turn/end completed (final-answer)"),
    ("limit", refund_run(status=Status.LIMIT_REACHED, reason=LimitHit(LimitKind.STEPS, 3)), "end", None,
     "status of turn 1", "completed (final-answer)", "limit_reached (limit steps 3)"),
    ("cancelled", inserted(6, CancelRequested(*CANCEL), CancelDelivered(*CANCEL)), "input", None,
     "cancel", "request/header", "cancel/requested by user"),
    ("left-alive", replaced(RunQuiescent, alive=(Alive("task", "poller"),)), "end", None,
     "run/quiescent alive[0]", None, '{"kind":"task","name":"poller"}'),
    ("file-ends", dataclasses.replace(refund_run(), events=refund_run().events[:-1]), "end", None,
     "end of the file", "run/quiescent", None),
    ("tokens", replaced(AssistantMessage, 2, usage=None), "detail", 2, None, None, None),
    ("spelling", answering(LOOK, ([("refund", '{"why": "late", "order": 7}')], None), SAY), "detail", 2, None, None, None),
    ("limits", refund_run(head=header(limits=limits_to_json(Limits(steps=3)))), "setup", None,
     "limits.steps", "10", "3"),
    ("expectations", refund_run(head=header(expectations=JsonText('{"steps":3}'))), "setup", None, None, None, None),
    ("models", refund_run(head=header(models=(("main", "other"),))), "setup", None, "models.main", '"scripted"', '"other"'),
]  # fmt: skip


@pytest.mark.parametrize(
    ("candidate", "kind", "step", "path", "base_text", "candidate_text"),
    [pytest.param(*row[1:], id=row[0]) for row in ROWS],
)
def test_a_change_is_named_with_its_cause_step_field_and_both_sides(
    candidate: Trajectory, kind: str, step: int | None, path: str | None, base_text: Any, candidate_text: Any
) -> None:
    found = first_divergence(refund_run(), candidate)
    assert found is not None
    assert found.kind == kind
    if path is not None:
        assert (found.path, found.base, found.candidate) == (path, base_text, candidate_text)
        assert found.step == step or step is None


@pytest.mark.public_case("PB-036")
def test_other_ids_times_and_run_id_are_no_difference_and_exchanged_results_are() -> None:
    same = refund_run(ids="call_111_{}_{}".format, head=header(run_id="another", trial=2, version="2"))
    later = dataclasses.replace(
        same, events=tuple(dataclasses.replace(e, time=(e.time or 0) * 7) for e in same)
    )
    assert first_divergence(refund_run(), later) is None

    swapped = {CallId("call_1_0"): CallId("call_1_1"), CallId("call_1_1"): CallId("call_1_0")}

    def exchanged(fact: Any) -> Any:
        return dataclasses.replace(fact, call_id=swapped.get(fact.call_id, fact.call_id)) if isinstance(fact, ToolResult) else fact

    found = first_divergence(refund_run(), with_facts(refund_run(), exchanged))
    assert found is not None
    assert (found.kind, found.path) == ("tool", "call 1 lookup_order result.id")


def test_streaming_retries_and_doors_that_were_not_seen_are_no_difference() -> None:
    run = refund_run()
    request, answer = first(run, ModelRequest), first(run, AssistantMessage)
    noisy = inserted(
        answer,
        AssistantChunk(JsonText('{"x":1}')),
        ModelFailed(Code.RATE_LIMIT, "slow down"),
        ModelRetry(Code.RATE_LIMIT, 1, 500),
        dataclasses.replace(run.events[request].fact, attempt=2),
    )
    assert first_divergence(run, noisy) is None
    assert first_divergence(run, refund_run(doors=False)) is None


def test_the_first_place_of_behaviour_wins_over_earlier_bookkeeping() -> None:
    base, candidate = refund_run(), replaced(AssistantMessage, 1, fingerprint="fp_2")
    detail = first_divergence(base, candidate)
    other_answer = refund_run(answers=(LOOK, REFUND, ([], "Done.")))
    both = dataclasses.replace(other_answer, events=(*candidate.events[:9], *other_answer.events[9:]))
    found = first_divergence(base, both)
    assert detail is not None
    assert found is not None
    assert (detail.kind, detail.step) == ("detail", 1)
    assert (found.kind, found.step) == ("model", 3)


def test_a_model_that_gave_no_answer_is_behind_the_difference() -> None:
    def fail(fact: Any) -> Any:
        return ModelFailed(Code.SERVER, "down") if isinstance(fact, AssistantMessage) and fact.content == "Refunded." else fact

    found = first_divergence(refund_run(), with_facts(refund_run(), fail))
    assert found == Divergence(
        "model", "answer", 'answer "Refunded."', "turn/end completed (final-answer)", 1, 3, found.base_seq, found.candidate_seq
    )


def test_steps_are_counted_where_the_file_has_none() -> None:
    def placeless(run: Trajectory) -> Trajectory:
        kept = with_facts(run, lambda fact: None if isinstance(fact, StepEnd) else fact)
        return dataclasses.replace(kept, events=tuple(dataclasses.replace(e, turn=None, step=None) for e in kept))

    found = first_divergence(placeless(refund_run()), placeless(answering(LOOK, ([("refund", "{}")], None), SAY)))
    assert found is not None
    assert (found.turn, found.step, found.path) == (None, 2, "call 1 refund arguments.order")


def test_long_lines_are_cut_around_the_place_where_they_part() -> None:
    found = first_divergence(refund_run(task="a" * 500 + "b" + "c" * 500), refund_run(task="a" * 500 + "d" + "c" * 500))
    assert found is not None
    assert found.base == "…" + "a" * 30 + "b" + "c" * 69 + "…"
    assert found.candidate == "…" + "a" * 30 + "d" + "c" * 69 + "…"


def test_whole_numbers_stay_exact_in_a_difference() -> None:
    one, other = (answering(([("refund", canonical_json({"order": n}))], None)) for n in (2**53, 2**53 + 1))
    found = first_divergence(one, other)
    assert found is not None
    assert (found.base, found.candidate) == ("9007199254740992", "9007199254740993")


@pytest.mark.parametrize("sent", ["", "call_1_2", "another"])
def test_an_id_that_is_sent_back_otherwise_is_a_difference(sent: str) -> None:
    """Ids are renamed by first appearance, and what answers what stays."""

    def wrong(fact: Any) -> Any:
        if not isinstance(fact, ModelRequest):
            return fact
        messages = (dataclasses.replace(one, call_id=sent) if isinstance(one, ChatTool) else one for one in fact.messages)
        return dataclasses.replace(fact, messages=Messages.of(messages))

    run = refund_run()
    assert first_divergence(run, with_facts(run, wrong)) is not None
