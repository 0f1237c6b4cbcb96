"""What ran at the tools' door is compared: whether, how often, with which arguments, and whether the model was told."""

from __future__ import annotations

import dataclasses
from itertools import permutations
from typing import Any

import pytest

from harness.compare import align, digest_of, explain, first_divergence
from harness.compare.choices import behaviour_of
from harness.types.codes import Cause, Code, DivergenceKind, Origin, SegmentKind, ToolOutcome
from harness.types.events import Trajectory
from harness.types.exchange import ModelRequest, ToolResult
from harness.types.jsontext import canonical_json
from harness.types.lifecycle import NOT_WRAPPED_NOTE, Note
from harness.types.messages import Messages
from harness.types.records import Explanation
from tests.compare.bodies import LOOK_7, REFUND, Ran, seen_run
from tests.compare.made import ANSWERS, RESULTS, TOOLS, failed_result, header, refund_run, with_facts

FAILED = ToolOutcome.ERROR
OTHER = (RESULTS[0], RESULTS[1], "no")
LOOP, TOOL = Cause.LOOP, Cause.TOOL


def explained(base: Trajectory, candidate: Trajectory) -> Explanation:
    found = explain(base, candidate)
    assert found is not None
    assert first_divergence(base, candidate) == found.first
    assert digest_of(base) != digest_of(candidate)
    assert not align(base, candidate, found.first).is_equal
    return found


DIFFERENT = [
    pytest.param({REFUND: ()}, {}, "call 1 refund body", "ran once", "not run", LOOP, id="skipped"),
    pytest.param({REFUND: (Ran(), Ran())}, {}, "call 1 refund body", "ran once", "ran 2 times", LOOP, id="twice"),
    pytest.param(
        {REFUND: (Ran(), Ran(named=False))}, {}, "call 1 refund body", "ran once", "ran 2 times", LOOP, id="again-unnamed",
    ),
    pytest.param(
        {REFUND: (Ran(arguments='{"order":7,"why":"late","amount":1000000}'),)}, {},
        "call 1 refund runs with amount", None, "1000000", LOOP, id="added-argument",
    ),
    pytest.param(
        {REFUND: (Ran(arguments='{"order":8,"why":"late"}', named=False),)}, {},
        "call 1 refund runs with order", "7", "8", LOOP, id="other-argument-of-a-body-without-an-id",
    ),
    pytest.param(
        {REFUND: (Ran(name="lookup_order"),)}, {},
        "call 1 refund body", 'refund(order=7, why="late")', 'lookup_order(order=7, why="late")', LOOP, id="other-tool",
    ),
    pytest.param(
        {REFUND: (Ran(), Ran(name="delete", named=False, arguments="{}"))}, {},
        "bodies that no call asked for", None, "delete()", LOOP, id="unasked",
    ),
    pytest.param({REFUND: (Ran(text="ok"),)}, {"results": OTHER}, "call 1 refund result", "ok", "no", LOOP, id="edited"),
    pytest.param({}, {"results": OTHER}, "call 1 refund result", "ok", "no", TOOL, id="answered-differently"),
    pytest.param(
        {REFUND: (Ran(text="no"),)}, {},
        "call 1 refund result", "what its body gave", "not what its body gave", LOOP, id="hidden",
    ),
    pytest.param(
        {REFUND: (Ran(outcome=FAILED, code=Code.TOOL_FAILED),)}, {"results": OTHER},
        "call 1 refund result", "ok", "no", TOOL, id="raised-and-told",
    ),
    pytest.param(
        {REFUND: (Ran(outcome=FAILED, code=Code.TOOL_FAILED),)}, {},
        "call 1 refund body", "ok", "error TOOL_FAILED", TOOL, id="raised-and-not-told",
    ),
    pytest.param({REFUND: ()}, {"results": OTHER}, "call 1 refund body", "ran once", "not run", LOOP, id="skipped-and-told-so"),
]  # fmt: skip


@pytest.mark.parametrize(("bodies", "changes", "path", "was", "now", "cause"), DIFFERENT)
def test_what_ran_for_a_call_is_compared(
    bodies: Any, changes: Any, path: str, was: str | None, now: str | None, cause: Cause
) -> None:
    base, candidate = seen_run(), seen_run(bodies, **changes)
    found = explained(base, candidate)
    assert (found.first.path, found.first.base, found.first.candidate) == (path, was, now)
    assert (found.first.step, found.cause) == (2, cause)
    assert found.first.kind is (DivergenceKind.TOOL if cause is TOOL else DivergenceKind.LOOP)
    back = explained(candidate, base)
    assert (back.first.path, back.first.base, back.first.candidate, back.cause) == (path, now, was, cause)


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_the_order_in_which_bodies_run_is_no_difference(order: tuple[int, ...]) -> None:
    base, candidate = seen_run(), seen_run(order=order)
    assert explain(base, candidate) is None
    assert digest_of(base) == digest_of(candidate)
    assert behaviour_of(base) == behaviour_of(candidate)
    assert align(base, candidate, None).is_equal


@pytest.mark.parametrize(
    "observed",
    [
        pytest.param((), id="accepted-baseline"),
        pytest.param((("tool/start", Origin.IMPORT), ("tool/end", Origin.IMPORT)), id="import"),
        pytest.param((("tool/start", Origin.PROBE),), id="ends-are-not-seen"),
    ],
)
def test_bodies_count_only_where_the_harness_saw_them_on_both_sides(observed: Any) -> None:
    unseen = header(observed=observed)
    assert explain(seen_run(head=unseen), seen_run({REFUND: ()}, head=unseen)) is None
    for base, candidate in ((seen_run(), seen_run({REFUND: ()}, head=unseen)), (seen_run(head=unseen), seen_run())):
        found = explain(base, candidate)
        assert found is not None
        assert (found.first.kind, found.cause) == (DivergenceKind.SETUP, Cause.SETUP)


def test_of_a_tool_that_was_not_wrapped_nobody_says_that_it_did_not_run() -> None:
    bare = seen_run({REFUND: ()})
    note = dataclasses.replace(bare.events[-2], fact=Note(NOT_WRAPPED_NOTE, canonical_json(["refund"])))
    events = (*bare.events[:-1], note, bare.events[-1])
    events = tuple(dataclasses.replace(event, seq=seq) for seq, event in enumerate(events))
    unwrapped = dataclasses.replace(bare, events=events)
    assert explain(unwrapped, unwrapped) is None
    found = explained(seen_run(), unwrapped)
    assert (found.first.path, found.first.base, found.first.candidate) == ("call 1 refund body", "ran once", "not seen")


def test_a_result_that_says_by_a_code_why_no_body_ran_is_told_rather_than_that() -> None:
    rejected = with_facts(seen_run({REFUND: ()}), failed_result(Code.REJECTED))
    found = explained(seen_run(), rejected)
    assert (found.first.path, found.first.candidate) == ("call 1 refund result", "REJECTED: no such order")
    assert found.cause is LOOP


def test_results_exchanged_by_the_loop_are_the_loops() -> None:
    exchanged = (RESULTS[1], RESULTS[0], RESULTS[2])
    bodies = {LOOK_7: (Ran(text=RESULTS[0]),), 1: (Ran(text=RESULTS[1]),)}
    found = explained(seen_run(), seen_run(bodies, results=exchanged))
    assert (found.first.path, found.first.base, found.first.candidate) == ("call 1 lookup_order result.id", "7", "8")
    assert found.cause is LOOP


def test_a_result_reworded_only_in_a_later_request_is_the_loops() -> None:
    base = seen_run()
    n_messages = max(len(event.fact.messages) for event in base if isinstance(event.fact, ModelRequest))

    def reworded(fact: Any) -> Any:
        if not isinstance(fact, ModelRequest) or len(fact.messages) < n_messages:
            return fact
        last = dataclasses.replace(fact.messages[n_messages - 1], content="not ok")
        return dataclasses.replace(fact, messages=Messages.of([*fact.messages[: n_messages - 1], last]))

    found = explained(base, with_facts(base, reworded))
    assert (found.first.step, found.cause) == (3, LOOP)


def test_blocks_behind_the_first_difference_are_changed_where_other_bodies_ran() -> None:
    base, candidate = seen_run(), seen_run({LOOK_7: (), REFUND: ()})
    found = explained(base, candidate)
    kinds = [pair.kind for pair in align(base, candidate, found.first).pairs]
    assert kinds.count(SegmentKind.CHANGED) == 2


# ---------------------------------------------------------------- inputs explain only what a model did

OTHER_PROMPT = "You refund orders.\nLook first.\nBe curt."


def offered(tool: str, **change: Any) -> tuple[dict[str, Any], ...]:
    return tuple({**one, **change} if one["name"] == tool else dict(one) for one in TOOLS)


@pytest.mark.parametrize(
    "given",
    [
        pytest.param({"system": OTHER_PROMPT}, id="system-prompt"),
        pytest.param({"tools": offered("lookup_order", description="Find it.")}, id="description-of-another-tool"),
        pytest.param({"tools": offered("refund", description="Pay back.")}, id="description-of-the-tool"),
        pytest.param({"tools": offered("lookup_order", parameters={})}, id="schema-of-another-tool"),
        pytest.param({"task": "Refund order 7, now."}, id="user-input"),
    ],
)
@pytest.mark.parametrize(
    ("bodies", "done", "path", "cause"),
    [
        pytest.param({}, {"results": OTHER}, "call 1 refund result", TOOL, id="tool"),
        pytest.param({REFUND: ()}, {}, "call 1 refund body", LOOP, id="skipped"),
        pytest.param({}, {"answers": (*ANSWERS[:2],)}, "end of the turn", LOOP, id="ends-earlier"),
    ],
)
def test_an_input_does_not_take_the_blame_for_what_no_model_did(
    given: Any, bodies: Any, done: Any, path: str, cause: Cause
) -> None:
    found = explained(seen_run(), seen_run(bodies, **given, **done))
    assert found.effect is not None
    assert found.cause is cause
    assert found.inputs, "what else differs is told beside it"
    if path != "end of the turn":
        assert found.effect.path == path


@pytest.mark.parametrize(
    "tools",
    [
        pytest.param(offered("refund", parameters={"required": ["reason"]}), id="schema"),
        pytest.param(offered("lookup_order")[:1], id="not-offered"),
    ],
)
def test_the_schema_of_a_tool_explains_its_own_result(tools: Any) -> None:
    changed = with_facts(seen_run({REFUND: ()}, tools=tools), failed_result(Code.INVALID_ARGS))
    found = explained(seen_run(), changed)
    assert found.cause in (Cause.TOOL_SCHEMA, Cause.TOOLS_OFFERED)
    assert found.detail == "refund"


def test_a_run_without_bodies_on_either_side_is_explained_as_before() -> None:
    def reworded(fact: Any) -> Any:
        return dataclasses.replace(fact, content="no") if isinstance(fact, ToolResult) and fact.name == "refund" else fact

    found = explain(refund_run(), with_facts(refund_run(), reworded))
    assert found is not None
    assert found.cause is TOOL
