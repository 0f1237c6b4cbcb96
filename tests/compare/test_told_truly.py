"""What a line says of a difference holds: the step is there, the order is another one, the number is the whole one."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from harness.compare import align, explain, first_divergence
from harness.compare.alignment import segments_of
from harness.compare.blocks import STEP, Block, blocks_of
from harness.compare.choices import Choices, behaviour_of
from harness.folds import cause_text, known_sum, parting_line, told_usages
from harness.types.codes import Cause, Code, HeaderWhy, Status
from harness.types.events import Trajectory
from harness.types.exchange import AssistantMessage, ModelFailed, ModelRequest, RequestHeader, ToolResult, UserMessage
from harness.types.jsontext import canonical_json
from harness.types.lifecycle import RunQuiescent, StepEnd, StepStart, TurnEnd, TurnStart
from harness.types.messages import ChatSystem, ChatUser
from harness.types.reasons import Alive
from harness.types.records import Explanation, Share
from tests.compare.made import ANSWERS, PARAMETERS, RESULTS, SYSTEM, TOOLS, first, numbered, refund_run, with_facts
from tests.loop.lab import play

LOOK, REFUND, SAY = ANSWERS
PAYS = (LOOK, ([("pay", '{"n":1}')], None), SAY)
CANCELS = (LOOK, ([("cancel", '{"n":1}')], None), SAY)


def explained(base: Trajectory, candidate: Trajectory) -> Explanation:
    found = explain(base, candidate)
    assert found is not None
    return found


def line(base: Trajectory, candidate: Trajectory) -> str:
    return parting_line("refund", explained(base, candidate))


def placeless(run: Trajectory) -> Trajectory:
    """The run as a loop with two doors leaves it: no turns and no steps."""
    kept = with_facts(run, lambda fact: None if isinstance(fact, StepStart | StepEnd | TurnStart | TurnEnd) else fact)
    return numbered(kept, [dataclasses.replace(event, turn=None, step=None) for event in kept])


def with_one_failed_request(run: Trajectory) -> Trajectory:
    """Its first request is made twice, the first time in vain: what a loop that asks again by itself leaves."""
    at = first(run, ModelRequest)
    failed = dataclasses.replace(run.events[at], fact=ModelFailed(Code.SERVER, "down"))
    return numbered(run, [*run.events[: at + 1], failed, *run.events[at:]])


def alive(run: Trajectory) -> Trajectory:
    return with_facts(run, lambda f: RunQuiescent((Alive("task", "poller"),)) if isinstance(f, RunQuiescent) else f)


# ---------------------------------------------------------------- steps (6)


def test_what_is_outside_of_every_step_is_told_without_one() -> None:
    turns = [{"say": "one"}, {"say": "two"}, {"say": "three"}]
    base = play(turns, tasks=["a", "b", "c"]).trajectory
    found = explained(base, play(turns, tasks=["a", "b", "x"]).trajectory)
    assert (found.first.path, found.first.base, found.first.candidate, found.first.step) == (
        "user input",
        "c",
        "x",
        None,
    )
    assert explained(base, alive(base)).first.step is None
    assert explained(placeless(refund_run()), alive(placeless(refund_run()))).first.step is None


@pytest.mark.parametrize("prompt", [pytest.param(SYSTEM, id="same-prompt"), pytest.param("Hi.", id="other-prompt")])
@pytest.mark.parametrize("n_failed", [0, 1])
def test_a_file_without_steps_counts_answered_requests(prompt: str, n_failed: int) -> None:
    base, candidate = placeless(refund_run(answers=PAYS)), placeless(refund_run(answers=CANCELS, system=prompt))
    if n_failed:
        base, candidate = with_one_failed_request(base), with_one_failed_request(candidate)
    found = explained(base, candidate)
    assert (found.shown.base, found.shown.candidate, found.shown.step) == ("pay(1)", "cancel(1)", 2)
    other = explained(placeless(refund_run()), placeless(refund_run(results=(*RESULTS[:2], "no"))))
    assert other.shown.step == 2


def test_blocks_of_a_file_without_steps_are_numbered_by_answered_requests() -> None:
    run = with_one_failed_request(placeless(refund_run()))
    assert [block.step for block in blocks_of(run) if block.kind == STEP] == [1, 1, 2, 3]


def test_a_step_is_numbered_without_a_look_at_all_steps_before_it() -> None:
    class Counted(list[Any]):
        n_looks = 0

        def __iter__(self) -> Any:
            Counted.n_looks += 1
            return super().__iter__()

    run = placeless(refund_run(answers=[*[LOOK] * 20, SAY]))
    counted = Counted()
    for event in run.events[: first(run, AssistantMessage, 20)]:
        if isinstance(event.fact, ModelRequest):
            Block(STEP, event, counted)
    assert (len(counted), Counted.n_looks) == (20, 0)


# ---------------------------------------------------------------- tools (7)


def tool(name: str, own: str | None) -> dict[str, Any]:
    return {"name": name, "description": "A", "parameters": {"properties": {}} | ({"description": own} if own else {})}


@pytest.mark.parametrize(
    ("base", "candidate", "cause", "detail", "path"),
    [
        pytest.param([tool("a", "A")], [tool("a", None)], Cause.TOOL_SCHEMA, "a", "tool a parameters.description", id="repeats-no-more"),
        pytest.param([tool("a", None)], [tool("a", "A")], Cause.TOOL_SCHEMA, "a", "tool a parameters.description", id="repeats-now"),
        pytest.param([tool("a", "A"), tool("b", "A")], [tool("b", None), tool("a", "A")], Cause.TOOLS_OFFERED, "order", "order of the tools", id="order"),
    ],
)  # fmt: skip
def test_the_order_of_tools_is_blamed_only_where_it_is_another(
    base: Any, candidate: Any, cause: Cause, detail: str, path: str
) -> None:
    found = explained(refund_run(tools=base), refund_run(tools=candidate))
    assert (found.cause, found.detail, found.first.path) == (cause, detail, path)


# ---------------------------------------------------------------- headers (10)

OTHER_TOOLS = [{**one, "description": "Undo."} if one["name"] == "refund" else one for one in TOOLS]


def switching(answers: Any = ANSWERS, step: int = 2) -> Trajectory:
    """A run that is given other words for a tool from that step on."""
    run = refund_run(answers=answers)
    at = first(run, ModelRequest, step)
    fact = RequestHeader((ChatSystem(SYSTEM),), canonical_json(OTHER_TOOLS), PARAMETERS, HeaderWhy.CHANGE)
    return numbered(run, [*run.events[:at], dataclasses.replace(run.events[at], fact=fact), *run.events[at:]])


@pytest.mark.parametrize("turned", [False, True])
def test_tools_that_change_in_mid_run_on_one_side_are_named(turned: bool) -> None:
    def found(base: Trajectory, candidate: Trajectory) -> Explanation:
        return explained(candidate, base) if turned else explained(base, candidate)

    with_effect = found(refund_run(answers=PAYS), switching(CANCELS))
    assert (with_effect.cause, with_effect.detail) == (Cause.TOOL_DESCRIPTION, "refund")
    assert with_effect.inputs[0].step == 2
    without = found(refund_run(), switching())
    texts = ("Refund an order.", "Undo.")
    assert (without.cause, without.effect, without.first.step) == (Cause.TOOL_DESCRIPTION, None, 2)
    assert (without.first.path, without.first.base, without.first.candidate) == (
        "tool refund description",
        *(texts[::-1] if turned else texts),
    )
    later = found(switching(step=3), switching(step=2))
    assert (later.cause, later.detail, later.first.step) == (Cause.TOOL_DESCRIPTION, "refund", 2)


# ---------------------------------------------------------------- how many inputs (11)


def said(*texts: str) -> Trajectory:
    run = refund_run()
    at = first(run, UserMessage)
    more = [dataclasses.replace(run.events[at], fact=UserMessage(ChatUser(text))) for text in texts]
    return numbered(run, [*run.events[: at + 1], *more, *run.events[at + 1 :]])


def test_all_inputs_are_counted_also_those_that_are_not_shown() -> None:
    def tools(text: str) -> list[dict[str, Any]]:
        return [{"name": f"t{n:02}", "description": text, "parameters": {}} for n in range(20)]

    found = explained(refund_run(tools=tools("A")), refund_run(tools=tools("B")))
    assert (found.n_inputs, len(found.inputs)) == (20, 8)
    assert cause_text(found) == "tool description changed (t00) and 19 more inputs; nothing was done differently"


@pytest.mark.parametrize(
    ("base", "candidate", "told"),
    [
        pytest.param("bcde", "abcde", [(None, "a")], id="one-more-in-front"),
        pytest.param("abcde", "acde", [("b", None)], id="one-less"),
        pytest.param("abcd", "axcy", [("b", "x"), ("d", "y")], id="two-others"),
        pytest.param("abc", "xabcy", [(None, "x"), (None, "y")], id="around"),
    ],
)
def test_one_message_more_makes_no_difference_of_those_behind_it(base: str, candidate: str, told: list[Any]) -> None:
    found = explained(said(*base), said(*candidate))
    assert [(one.base, one.candidate) for one in found.inputs] == told
    assert found.n_inputs == len(told)


# ---------------------------------------------------------------- results (12)


def with_results(*changed: tuple[int, dict[str, Any] | None]) -> Trajectory:
    """The results of both look-ups in this order: which, and what of it is changed (None: nothing of it)."""
    run = refund_run()
    at = [first(run, ToolResult, nth) for nth in (1, 2)]
    results = [
        dataclasses.replace(run.events[at[n]], fact=dataclasses.replace(run.events[at[n]].fact, **(changes or {})))  # type: ignore[type-var]
        for n, changes in changed
    ]
    return numbered(run, [*run.events[: at[0]], *results, *run.events[at[1] + 1 :]])


ABORTED = {"code": Code.ABORTED, "is_error": True}
ONE, TWO = "call 1 lookup_order result", "call 2 lookup_order result"


@pytest.mark.parametrize(
    ("candidate", "kind", "path", "base_text", "candidate_text"),
    [
        pytest.param(with_results((1, None)), "loop", ONE, f"OK: {RESULTS[0]}", None, id="first-dropped"),
        pytest.param(with_results((1, None), (0, None)), "loop", "order of the results", "call 1 lookup_order", "call 2 lookup_order", id="swapped"),
        pytest.param(with_results((1, None), (0, ABORTED)), "tool", ONE, f"OK: {RESULTS[0]}", f"ABORTED: {RESULTS[0]}", id="swapped-and-failed"),
        pytest.param(with_results((1, None), (0, {"is_error": True})), "tool", ONE, f"OK: {RESULTS[0]}", f"error: {RESULTS[0]}", id="swapped-and-an-error"),
        pytest.param(with_results((1, None), (0, {"truncated": True})), "tool", f"{ONE} truncated", "false", "true", id="swapped-and-truncated"),
    ],
)  # fmt: skip
def test_another_order_of_results_is_told_only_of_results_that_are_there_and_the_same(
    candidate: Trajectory, kind: str, path: str, base_text: str, candidate_text: str | None
) -> None:
    found = first_divergence(refund_run(), candidate)
    assert found is not None
    assert (found.kind, found.path, found.base, found.candidate) == (kind, path, base_text, candidate_text)


def test_a_result_that_only_the_candidate_has_is_told_as_such() -> None:
    found = first_divergence(with_results((1, None)), refund_run())
    assert found is not None
    assert (found.kind, found.path, found.base, found.candidate) == ("loop", ONE, None, f"OK: {RESULTS[0]}")


# ---------------------------------------------------------------- one number, one spelling (17, 19)


def looking(arguments: str, said: str = "A") -> Trajectory:
    return refund_run(answers=[([("look", arguments)], None), ([], said)])


@pytest.mark.parametrize(
    ("one", "other"),
    [pytest.param('{"id":1}', '{"id":1.0}', id="a-whole-number"), pytest.param("", "{}", id="no-arguments"),
     pytest.param('{"a":[{"b":-0.0}]}', '{"a":[{"b":0}]}', id="deep")],
)  # fmt: skip
def test_digests_say_the_same_of_another_spelling_as_comparison_does(one: str, other: str) -> None:
    assert explained(looking(one), looking(other)).cause is Cause.DETAIL
    assert behaviour_of(looking(one)) == behaviour_of(looking(other))
    effect = explained(looking(one), looking(other, "B")).effect
    assert effect is not None
    assert Choices([looking(one)] * 3).share(looking(one), looking(other, "B"), effect) == Share(0, 3)


@pytest.mark.parametrize(
    ("one", "other"), [pytest.param('{"id":1}', '{"id":1.5}', id="number"), pytest.param('{"id":1}', '{"id":true}', id="true")]
)  # fmt: skip
def test_digests_tell_other_values_apart(one: str, other: str) -> None:
    assert behaviour_of(looking(one)) != behaviour_of(looking(other))


def test_half_characters_that_cannot_be_written_out_are_told_by_their_numbers() -> None:
    found = first_divergence(looking('{"q":"\\ud800"}'), looking('{"q":"\\ud801"}'))
    assert found is not None
    assert (found.base, found.candidate) == ('"\\ud800"', '"\\ud801"')


# ---------------------------------------------------------------- sums (18)


def test_amounts_of_all_segments_add_up_to_those_of_the_run() -> None:
    base, candidate = refund_run(), refund_run(answers=CANCELS)
    segments = segments_of(align(base, candidate, first_divergence(base, candidate)))
    for side, run in (("base", base), ("candidate", candidate)):
        amounts = [getattr(segment, side) for segment in segments if getattr(segment, side)]
        assert len(amounts) > 1
        usages = list(told_usages(run))
        assert sum(amount.input_tokens for amount in amounts) == known_sum(usage.input_tokens for usage in usages)
        assert sum(amount.output_tokens for amount in amounts) == known_sum(usage.output_tokens for usage in usages)
    start = segments_of(align(base, refund_run(task="Else."), first_divergence(base, refund_run(task="Else."))))[0]
    assert start.base is not None
    assert (start.base.n_steps, start.base.input_tokens, start.base.cost_micro_usd) == (0, 0, 0)


def test_an_answer_that_says_nothing_keeps_its_stretch_unknown() -> None:
    run = with_facts(
        refund_run(), lambda f: dataclasses.replace(f, usage=None) if isinstance(f, AssistantMessage) else f
    )
    (whole,) = segments_of(align(run, run, None))
    assert whole.base is not None
    assert (whole.base.input_tokens, whole.base.cost_micro_usd) == (None, None)


# ---------------------------------------------------------------- words (8, 24)


def test_an_empty_text_beside_nothing_is_told_as_empty_and_a_turn_without_a_number_without_one() -> None:
    def answer(text: str | None) -> Trajectory:
        return refund_run(answers=[([], text)])

    assert "(nothing) → (empty)" in line(answer(None), answer(""))
    assert "hm → (nothing)" in line(answer("hm"), answer(None))

    def ended(run: Trajectory, **changes: Any) -> Trajectory:
        run = numbered(run, [dataclasses.replace(event, turn=None, step=None) for event in run])
        return with_facts(run, lambda f: dataclasses.replace(f, **changes) if isinstance(f, TurnEnd) else f)

    assert "status of the turn: " in line(ended(refund_run()), ended(refund_run(), status=Status.INCOMPLETE))
