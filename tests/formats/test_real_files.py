"""Real files of other products come in with the counts that an independent script found in them."""

from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from harness.checks import judge
from harness.folds import calls_of, n_steps, status_of
from harness.formats import read_foreign, sniff
from harness.store import dump_trajectory, read_bytes
from harness.types.codes import Code, Origin, Outcome, Status
from harness.types.events import Trajectory
from harness.types.exchange import AssistantMessage, ModelRequest, ToolCall, ToolResult, ToolStart
from harness.types.lifecycle import ApprovalAnswered, RunEnd, TurnEnd


@pytest.fixture(scope="module")
def airline(shared: Path) -> list[Trajectory]:
    return list(read_foreign(shared / "data" / "tau-bench" / "gpt-4o-airline.json"))


@pytest.fixture(scope="module")
def sessions(shared: Path) -> dict[str, Trajectory]:
    folder = shared / "data" / "deepseek-harness"
    logs = [path for path in sorted(folder.rglob("*.jsonl")) if sniff(path) == "dsh"]
    return {str(path.relative_to(folder)): one for path in logs for one in read_foreign(path)}


def counts(trajectories: list[Trajectory]) -> dict[str, int]:
    traces = [trace for one in trajectories for trace in calls_of(one)]
    verdicts = [verdict for one in trajectories for verdict in judge(one)]
    return {
        "trajectories": len(trajectories),
        "assistant": sum(isinstance(event.fact, AssistantMessage) for one in trajectories for event in one),
        "calls": len(traces),
        "results": sum(isinstance(event.fact, ToolResult) for one in trajectories for event in one),
        "unpaired": sum(trace.result is None for trace in traces),
        "reused": sum(len(verdict.findings) for verdict in verdicts if verdict.check == "reused_ids"),
    }


@pytest.mark.conformance("32")
def test_the_airline_runs_have_the_known_counts(airline: list[Trajectory]) -> None:
    assert counts(airline) == {
        "trajectories": 136, "assistant": 1678, "calls": 784, "results": 784, "unpaired": 0, "reused": 48,
    }  # fmt: skip
    assert len({one.header.run_id for one in airline}) == 136
    assert {one.header.trial for one in airline} == {1, 2, 3, 4}


def test_the_session_logs_have_the_known_counts(sessions: dict[str, Trajectory]) -> None:
    assert counts(list(sessions.values())) == {
        "trajectories": 108, "assistant": 202, "calls": 111, "results": 111, "unpaired": 0, "reused": 0,
    }  # fmt: skip
    errors = Counter(event.fact.is_error for one in sessions.values() for event in one if isinstance(event.fact, ToolResult))
    assert errors == {True: 21, False: 90}


def test_the_ends_of_the_session_logs_are_the_known_ones(sessions: dict[str, Trajectory]) -> None:
    ends = Counter(event.fact.reason.kind for one in sessions.values() for event in one if isinstance(event.fact, TurnEnd))
    assert ends == {"final-answer": 98, "cancelled": 1, "error": 2, "max-tokens": 1, "interrupted": 1}


def test_no_check_fails_on_real_runs(airline: list[Trajectory], sessions: dict[str, Trajectory]) -> None:
    failed = [
        (one.source, verdict)
        for one in [*airline, *sessions.values()]
        for verdict in judge(one)
        if verdict.outcome not in (Outcome.PASS, Outcome.NOT_APPLICABLE)
    ]
    assert failed == []


def test_every_import_can_be_written_and_read_back(airline: list[Trajectory], sessions: dict[str, Trajectory]) -> None:
    for one in [*airline[::10], *sessions.values()]:
        read = read_bytes(dump_trajectory(one), one.source)
        assert (read.header, read.events) == (one.header, one.events)


def test_everything_in_an_import_says_that_it_is_one(sessions: dict[str, Trajectory]) -> None:
    for one in sessions.values():
        assert {event.origin for event in one} == {Origin.IMPORT}
        observed = dict(one.header.observed)
        assert set(observed.values()) == {Origin.IMPORT}
        assert {event.fact.TYPE for event in one} <= set(observed)
        assert ModelRequest.TYPE not in observed
        assert ToolStart.TYPE not in observed


def test_the_aborted_session_is_cancelled_and_its_second_call_never_started(sessions: dict[str, Trajectory]) -> None:
    one = sessions["acp-agent/cancel-tool-calls/session.jsonl"]
    assert status_of(one) is Status.CANCELLED
    results = [event.fact for event in one if isinstance(event.fact, ToolResult)]
    assert [result.code for result in results] == [Code.ABORTED, Code.ABORTED_BEFORE_DISPATCH]
    assert [result.call_id for result in results] == ["call_wait", "call_skipped"]
    promise = next(verdict for verdict in judge(one) if verdict.check == "cancel_no_tool_start")
    assert promise.outcome is Outcome.NOT_APPLICABLE


def test_the_log_without_a_turn_end_reads_as_interrupted(sessions: dict[str, Trajectory]) -> None:
    open_turns = [name for name, one in sessions.items() if status_of(one) is None and "run/end" in dict(one.header.observed)]
    assert open_turns == ["acp-snapshot/fixtures/suite/shared-pin/session.jsonl"]
    assert not any(isinstance(event.fact, RunEnd) for event in sessions[open_turns[0]])


def test_a_session_that_never_worked_is_not_called_interrupted(sessions: dict[str, Trajectory]) -> None:
    idle = sessions["acp-agent/handshake/session.jsonl"]
    assert "run/end" not in dict(idle.header.observed)


def test_parallel_calls_are_announced_before_their_results(sessions: dict[str, Trajectory]) -> None:
    kinds = [type(event.fact) for event in sessions["acp-agent/parallel-tool-calls/session.jsonl"] if isinstance(event.fact, ToolCall | ToolResult)]
    assert kinds == [ToolCall, ToolCall, ToolResult, ToolResult]


def test_a_crash_leaves_a_turn_that_was_interrupted_and_a_call_of_unknown_outcome(sessions: dict[str, Trajectory]) -> None:
    one = sessions["headless-agent/semantic-checkpoint-tool-outcome-unknown/session.expected.jsonl"]
    codes = [event.fact.code for event in one if isinstance(event.fact, ToolResult)]
    assert codes == [Code.TOOL_OUTCOME_UNKNOWN]
    assert status_of(one) is Status.COMPLETED, "a later turn went on"


def test_a_rejected_escalation_is_an_answered_approval(sessions: dict[str, Trajectory]) -> None:
    one = sessions["acp-agent/escalation-rejected/session.jsonl"]
    assert [event.fact.outcome.value for event in one if isinstance(event.fact, ApprovalAnswered)] == ["rejected"]


def test_packed_and_flat_logs_read_like_the_others(sessions: dict[str, Trajectory]) -> None:
    packed = sessions["acp-agent/packed-chunks/session.jsonl"]
    flat = sessions["web/code-mode-round/session.jsonl"]
    assert n_steps(packed) == n_steps(flat) == 2
    (trace,) = calls_of(flat)
    assert trace.call.name == "run_code"
    assert trace.result is not None
    assert "CODE_ROUND_OK" in str(trace.result.fact)


def test_reused_ids_of_a_real_run_stay_visible_and_pair_with_the_oldest_open_call(airline: list[Trajectory]) -> None:
    reusing = [one for one in airline if any(trace.call.wire_id for trace in calls_of(one))]
    assert len(reusing) == 33
    for one in reusing:
        ids = [trace.call.id for trace in calls_of(one)]
        assert len(set(ids)) == len(ids)
        for trace in calls_of(one):
            assert trace.result is not None
            following = [later for earlier, later in pairwise(one) if earlier is trace.emitted]
            assert following == [trace.result], "in this format each result follows its call"


@pytest.mark.parametrize(
    ("folder", "allowed"),
    [("atif", {"atif", "chat"}), ("bfcl", set()), ("nemo-gym", {"nemo"}), ("cassettes", set()), ("tau-bench", {"chat"}), ("agentdojo", {"agentdojo"}), ("swe-agent", {"swe"}), ("mini-swe-agent", {"mini", "chat"})],
)  # fmt: skip
def test_what_a_file_is_said_to_be_is_what_it_is(shared: Path, folder: str, allowed: set[str]) -> None:
    files = [path for path in sorted((shared / "data" / folder).rglob("*")) if path.suffix in (".json", ".jsonl", ".yaml", ".traj")]
    assert files
    found = {sniff(path) for path in files[:60]} - {None}
    assert found <= allowed
