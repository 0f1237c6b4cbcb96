"""One small diagram shows where two runs part, whatever they say and however long they are (ARTICLES 13)."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given

from harness.compare import explain
from harness.report.trace import LIMIT_BYTES, MOST_ARROWS, MOST_NOTES, no_trace, trace
from harness.types.agents import AGENT_NOTE
from harness.types.codes import Change, DivergenceKind
from harness.types.events import Trajectory
from harness.types.exchange import ToolResult
from harness.types.lifecycle import Note
from harness.types.messages import JsonText
from harness.types.records import Divergence, ScenarioComparison
from tests.compare.made import ANSWERS, refund_run, summary, with_facts
from tests.report.nasty import NASTY
from tests.report.test_mermaid import check_syntax
from tests.strategies import trajectories

LOOK, REFUND, SAY = ANSWERS
RUN = refund_run()
OTHER = refund_run(answers=(LOOK, ([("cancel_order", '{"id":7}')], None), SAY))


def drawn(base: Trajectory, candidate: Trajectory) -> str:
    found = explain(base, candidate)
    first = found.first if found else None
    return trace(ScenarioComparison("a", "changed", first, summary("a"), summary("a"), found), base, candidate)


def lines(diagram: str) -> list[str]:
    return [line.strip() for line in diagram.split("\n") if not line.strip().startswith(("participant", "sequenceDiagram"))]


@pytest.mark.article("13")
def test_the_candidate_is_drawn_and_what_the_base_did_there_stands_beside() -> None:
    said = lines(drawn(RUN, OTHER))
    at = said.index("Note over U,T: here they part, step 2")
    assert said[at - 1] == "A->>M: request: 4 messages"
    assert said[at + 1].startswith("Note over U,T: base: refund #123;#34;order#34;:7")
    assert said[at + 2] == "M-->>A: call cancel_order"
    assert said[-1] == "Note over A: completed (final-answer)"
    check_syntax(drawn(RUN, OTHER))


@pytest.mark.article("13")
def test_where_a_tool_answered_differently_the_bases_result_is_shown() -> None:
    other = with_facts(RUN, lambda fact: dataclasses.replace(fact, content="no") if isinstance(fact, ToolResult) and fact.name == "refund" else fact)
    said = lines(drawn(RUN, other))
    at = next(at for at, line in enumerate(said) if "here they part" in line)
    assert said[at + 1] == "Note over U,T: base: ok"
    assert said[at + 2] == "T-->>A: result of refund OK: no"


def test_an_answer_of_the_base_is_shown_where_the_candidate_called() -> None:
    said = lines(drawn(refund_run(answers=(LOOK, ([], "I cannot."))), RUN))
    assert "Note over U,T: base: I cannot." in said


def test_runs_that_do_not_differ_have_no_diagram() -> None:
    assert drawn(RUN, RUN) == ""


def test_a_long_run_is_drawn_around_the_place_and_says_what_is_left_out() -> None:
    long = [([("lookup_order", f'{{"id":{n}}}')], None) for n in range(80)]
    other = [*long[:40], ([("refund", '{"order":7}')], None), *long[41:]]
    diagram = drawn(refund_run(answers=(*long, SAY)), refund_run(answers=(*other, SAY)))
    said = lines(diagram)
    arrows = [line for line in said if not line.startswith("Note")]
    assert 35 <= len(arrows) <= MOST_ARROWS
    assert len(said) <= MOST_ARROWS + MOST_NOTES
    assert len(diagram.encode()) <= LIMIT_BYTES
    assert said[0].startswith("Note over U,T: 1")
    assert said[0].endswith(" arrows before")
    assert said[-1].endswith(" arrows more")
    assert "Note over U,T: here they part, step 41" in said
    check_syntax(diagram)


@pytest.mark.parametrize("n_calls", [1, 4, 9])
def test_the_notes_beside_are_few_however_many_calls_the_base_made(n_calls: int) -> None:
    """Each run goes on and on, so that something is left out before and behind."""
    long: list[tuple[list[tuple[str, str]], str | None]] = [([("lookup_order", f'{{"id":{n}}}')], None) for n in range(80)]
    many = [("refund", f'{{"order":{n}}}') for n in range(n_calls)]
    one, other = ([*long[:40], (calls, None), *long[41:], ([], "x")] for calls in (many, [("cancel_order", "{}")]))
    said = lines(drawn(refund_run(answers=one), refund_run(answers=other)))
    assert len(said) <= MOST_ARROWS + MOST_NOTES
    assert sum("base: " in line for line in said) == min(n_calls, 4)


@pytest.mark.article("13")
def test_runs_that_were_set_up_differently_part_before_the_first_arrow() -> None:
    other = dataclasses.replace(RUN, header=dataclasses.replace(RUN.header, limits='{"steps":99,"toolTimeoutMs":30000}'))
    said = lines(drawn(RUN, other))
    assert said[0].startswith("Note over U,T: here they part, limits")
    assert said[1].startswith("Note over U,T: base: ")
    assert said[-1] == "Note over A: completed (final-answer)"


def test_what_the_candidate_did_not_do_any_more_parts_behind_its_last_arrow() -> None:
    cut = dataclasses.replace(RUN, events=RUN.events[:20])
    said = lines(drawn(RUN, cut))
    assert said[-2].startswith("Note over U,T: here they part")


def test_an_agent_that_only_receives_takes_part_by_its_name() -> None:
    """Of its work only one result lies within the diagram."""
    answers = [*(([("lookup_order", f'{{"id":{n}}}')], None) for n in range(12)), ([], "done")]
    run = refund_run(answers=answers, results=["r"] * 12)
    results = [at for at, event in enumerate(run.events) if isinstance(event.fact, ToolResult)]
    events = list(run.events)
    events[1] = dataclasses.replace(events[1], fact=Note(AGENT_NOTE, JsonText('{"name":"researcher"}')), agent="call_1_0")
    events[results[8]] = dataclasses.replace(events[results[8]], agent="call_1_0")
    at = events[results[9]].seq
    found = Divergence(DivergenceKind.MODEL, "call 1", "a", "b", 1, 11, at, at)
    diagram = trace(ScenarioComparison("a", Change.CHANGED, found), run, dataclasses.replace(run, events=tuple(events)))
    assert "T-->>A1: result of lookup_order OK: r" in lines(diagram)
    assert "    participant A1 as researcher" in diagram.split("\n")
    check_syntax(diagram)


@pytest.mark.public_case("PB-046")
@pytest.mark.parametrize("nasty", NASTY, ids=ascii)
def test_no_text_is_syntax_in_the_diagram(nasty: str) -> None:
    one = refund_run(task=nasty, answers=(([(nasty, nasty)], nasty), ([], nasty)), results=(nasty,))
    other = refund_run(task=nasty, answers=(([(nasty, nasty)], nasty), ([], nasty + "!")), results=(nasty,))
    check_syntax(drawn(one, other))
    check_syntax(no_trace(nasty or "x"))


@given(trajectories(), trajectories())
def test_any_two_runs_give_a_small_diagram_or_none(one: Trajectory, other: Trajectory) -> None:
    found = ScenarioComparison("a", "changed", explain(RUN, OTHER).first, explanation=explain(RUN, OTHER))  # type: ignore[union-attr]
    diagram = trace(found, one, other)
    assert len(diagram.encode()) <= LIMIT_BYTES
    assert sum("here they part" in line for line in diagram.split("\n")) == 1
    assert "`" not in diagram
