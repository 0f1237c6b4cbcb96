"""Streamed answers in the loop: the same run as whole ones, and a cut one starts nothing and hides nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.runner import RunOptions, RunResult, RunSpec, execute
from harness.scenarios import collect
from harness.subjects.builtin import BUILT_IN_PROFILE
from harness.types.chunking import ChunkCut, ChunkPlan
from harness.types.codes import Outcome
from harness.types.exchange import AssistantChunk, AssistantMessage, ModelFailed, ToolCall, ToolStart
from harness.types.facts import Fact
from harness.types.lifecycle import RunQuiescent
from harness.types.profile_run import LateProgress, MessageEvents, StreamedPrefix
from harness.types.scenario import Scenario
from harness.types.script import ScriptBranch, ScriptEntry
from tests.loop.lab import play, shown, starts

REPO = Path(__file__).resolve().parents[2]
SHIPPED = collect([REPO / "scenarios"], configured=[str(REPO / "scenarios")])
CUTS = {
    "whole": ChunkPlan(ChunkCut.WHOLE),
    "words": ChunkPlan(ChunkCut.WORDS),
    "every character": ChunkPlan(ChunkCut.CHARACTERS),
}
SCRIPTED = [one for one in SHIPPED if one.script is not None and not one.id.startswith("streaming/")]
BY_TIME = [one for one in SCRIPTED if any(i.at.tick or i.at.after_ms for i in one.inject)]


def in_chunks(entries: tuple[ScriptEntry, ...], plan: ChunkPlan) -> tuple[ScriptEntry, ...]:
    """The same script with every answer that has words of its own in chunks."""
    made: list[ScriptEntry] = []
    for entry in entries:
        if isinstance(entry, ScriptBranch):
            cases = tuple(replace(case, script=in_chunks(case.script, plan)) for case in entry.cases)
            made.append(replace(entry, cases=cases))
        elif entry.fail or entry.hang or entry.function or entry.raw:
            made.append(entry)
        else:
            made.append(replace(entry, chunks=plan))
    return tuple(made)


def rewritten(scenario: Scenario, plan: ChunkPlan) -> Scenario:
    assert scenario.script is not None
    return replace(scenario, script=in_chunks(scenario.script, plan))


def facts(run: RunResult, kind: type[Any]) -> list[Any]:
    return [event.fact for event in run.trajectory if isinstance(event.fact, kind)]


def committed_view(run: RunResult) -> list[Fact]:
    """All facts but chunks, the last line, and what a failed answer let be seen; sequence numbers left out."""
    apart = (AssistantChunk, RunQuiescent)
    facts = [event.fact for event in run.trajectory if not isinstance(event.fact, apart)]
    facts = [fact for fact in facts if not (isinstance(fact, AssistantMessage) and fact.interrupted)]
    return [_without_numbers(fact) for fact in facts]


def _without_numbers(fact: Any) -> Any:
    numbers = {name: None for name in ("start", "within", "instead_of") if hasattr(fact, name)}
    return replace(fact, **numbers) if numbers else fact


@pytest.mark.conformance("141")
@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("scenario", [pytest.param(one, id=one.id) for one in SCRIPTED if one not in BY_TIME])
def test_a_shipped_scenario_is_the_same_run_in_chunks(scenario: Scenario, cut: str) -> None:
    plain = execute(RunSpec(scenario, RunOptions()))
    chunked = execute(RunSpec(rewritten(scenario, CUTS[cut]), RunOptions()))
    prefixes = [fact for fact in facts(chunked, AssistantMessage) if fact.interrupted]
    if not prefixes:  # a prefix that was kept is shown to the next request, so that is another run
        assert committed_view(chunked) == committed_view(plain)
    bad = [verdict for verdict in chunked.verdicts if verdict.outcome not in (Outcome.PASS, Outcome.NOT_APPLICABLE)]
    assert [verdict for verdict in bad if not (prefixes and verdict.check == "expected_counts")] == []


ANSWER: dict[str, Any] = {"say": "I do it.", "call": {"calculator": {"expression": "1 + 1"}}, "chunks": {"every": 4}}
N_CHUNKS = len(facts(play([ANSWER, {"say": "2"}]), AssistantChunk))


@pytest.mark.conformance("6", "98", "144", "145")
@pytest.mark.parametrize("at", range(N_CHUNKS))
@pytest.mark.parametrize("how", ["cut", "fail"])
def test_a_stream_that_breaks_anywhere_starts_no_tool_and_never_completes(at: int, how: str) -> None:
    broken = {"cut_after": at} if how == "cut" else {"fail_after": {"chunks": at}}
    run = play([{**ANSWER, **broken}], expect={"status": "failed", "calls": []})
    (failed,) = facts(run, ModelFailed)
    assert run.status == "failed"
    assert failed.code == ("NO_FINISH_REASON" if how == "cut" else "TRANSPORT")
    assert facts(run, ToolStart) == facts(run, ToolCall) == []
    assert all(not message.tool_calls and message.interrupted for message in facts(run, AssistantMessage))
    assert run.outcome is Outcome.PASS


@pytest.mark.conformance("69", "70")
@pytest.mark.parametrize("when", ["inside", "next-tick"])
@pytest.mark.parametrize("nth", range(1, N_CHUNKS + 1))
def test_a_cancel_at_any_chunk_keeps_what_was_seen_and_starts_nothing(nth: int, when: str) -> None:
    inject = [{"at": {"kind": "assistant/chunk", "nth": nth, "when": when}, "do": "cancel"}]
    run = play([{**ANSWER, "chunk_delay_ms": 1}, {"say": "2"}], inject=inject)
    seen = "".join(["", "I do", " it."][:nth])
    kept = [(message.content, message.interrupted, message.tool_calls) for message in facts(run, AssistantMessage)]
    assert kept == ([(seen, True, ())] if seen else [])
    assert len(facts(run, AssistantChunk)) == nth
    assert starts(run) == []
    assert run.status == "cancelled"
    assert [verdict for verdict in run.verdicts if verdict.outcome is Outcome.FAIL] == []


@pytest.mark.conformance("70")
def test_the_prefix_stands_in_the_history_of_the_next_turn_and_counts_as_no_step() -> None:
    inject = [{"at": {"kind": "assistant/chunk", "nth": 3}, "do": {"cancel": {"scope": "turn"}}}]
    script = [{"say": "One two three.", "reasoning": "", "chunks": "words", "chunk_delay_ms": 1}, {"say": "Four."}]
    run = play(script, tasks=["count", "on"], inject=inject)
    assert [message.content for message in shown(run, 2)] == ["count", "One two ", "on"]
    assert run.n_steps == 1
    assert run.status == "completed"


def test_reasoning_alone_leaves_no_message() -> None:
    run = play([{"say": "Yes.", "reasoning": "I think of it", "chunks": "words", "cut_after": 3}])
    assert facts(run, AssistantMessage) == []


@pytest.mark.conformance("146", "147")
def test_the_profile_tells_what_is_kept_of_a_stream_and_what_is_shown_of_a_message() -> None:
    declared = BUILT_IN_PROFILE.streamed_prefix, BUILT_IN_PROFILE.message_events, BUILT_IN_PROFILE.late_progress
    assert declared == (StreamedPrefix.KEPT_AND_MARKED, MessageEvents.END_ONLY, LateProgress.NOT_OFFERED)


def test_a_break_behind_the_last_chunk_is_an_error_of_the_script() -> None:
    run = play([{"say": "a", "chunks": "whole", "cut_after": 99}])
    (failed,) = facts(run, ModelFailed)
    assert "cut_after 99 never happens" in failed.message


def test_chunks_come_on_the_runs_clock() -> None:
    run = play([{"say": "a b c", "chunks": "words", "chunk_delay_ms": 20}])
    times = [event.time for event in run.trajectory if isinstance(event.fact, AssistantChunk)]
    assert times == [20 * n for n in range(1, len(times) + 1)]


@pytest.mark.conformance("143")
def test_what_the_assembler_decided_is_noted_in_the_run() -> None:
    chunk = {"choices": [{"index": 0, "delta": {"content": "a"}, "finish_reason": "stop"}]}
    late = {"choices": [{"index": 0, "delta": {"content": "b"}}]}
    run = play([{"chunks": [chunk, late]}])
    notes = [event.fact.data for event in run.trajectory if getattr(event.fact, "name", "") == "model/answer"]
    assert notes == ['"what came behind the finish reason was ignored"']


@pytest.mark.conformance("70")
def test_a_cancel_before_the_next_request_does_not_say_an_older_answer_again() -> None:
    inject = [{"at": {"kind": "step/start", "nth": 2}, "do": "cancel"}]
    run = play([ANSWER, {"say": "2"}], inject=inject)
    assert [(message.content, message.interrupted) for message in facts(run, AssistantMessage)] == [("I do it.", False)]


@pytest.mark.conformance("16", "144")
@pytest.mark.parametrize("at", range(N_CHUNKS))
def test_nothing_of_a_stream_that_failed_reaches_the_attempt_that_follows(at: int) -> None:
    retry = {"attempts": 2}
    failed = {**ANSWER, "fail_after": {"chunks": at}}
    once = play([ANSWER, {"say": "2"}], retry=retry)
    twice = play([failed, ANSWER, {"say": "2"}], retry=retry)
    assert twice.passed, twice.findings
    first, *others = [replace(message, attempt=1) for message in facts(twice, AssistantMessage)]
    assert [replace(message, tool_calls=()) for message in (first, *others)] == [
        replace(message, tool_calls=()) for message in facts(once, AssistantMessage)
    ]
    assert [(call.name, call.arguments) for call in facts(twice, ToolCall)] == [
        (call.name, call.arguments) for call in facts(once, ToolCall)
    ]


@pytest.mark.conformance("70", "144")
def test_only_the_last_attempt_leaves_what_was_seen_of_it() -> None:
    streams = [{"say": f"{word} time.", "chunks": "words", "fail_after": {"chunks": 2}} for word in ("First", "Second")]
    run = play(streams, retry={"attempts": 2}, expect={"status": "failed"})
    kept = [(message.content, message.attempt, message.interrupted) for message in facts(run, AssistantMessage)]
    assert kept == [("Second ", 2, True)]
    assert run.passed, run.findings
