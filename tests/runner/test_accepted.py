"""What a baseline keeps of a run: all that is behaviour, nothing that is noise, as a file that reads back."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from harness.errors import TrajectoryFormatError
from harness.folds import committed_view, outcome_of, summarise
from harness.runner.accepted import accepted, accepted_bytes, accepted_header
from harness.runner.accepted_failing import FAILING_NOTE, came_to, says, variant_bytes
from harness.runner.baseline_accept import parting
from harness.runner.baselines import EVALUATIONS, variant_file, variants_folder
from harness.store import read_bytes
from harness.types.codes import Code, Origin, Outcome, Status
from harness.types.events import Event, Trajectory, Volatile
from harness.types.exchange import AssistantMessage, RequestHeader, ToolEnd, ToolStart
from harness.types.facts import Fact
from harness.types.jsontext import canonical_json
from harness.types.lifecycle import Note, RunQuiescent
from harness.types.messages import JsonText, RunId
from harness.types.reasons import Alive, Failed, Usage
from harness.types.records import Finding, RunSummary, Verdict
from tests.compare.made import ANSWERS, RESULTS, SYSTEM, TOOLS, header, refund_run, with_facts
from tests.compare.test_laws import renamed
from tests.strategies import NASTY, trajectories

NAME = "shop/refund"


def events_of(trajectory: Trajectory) -> bytes:
    """The lines behind the header."""
    return accepted_bytes(trajectory, NAME).partition(b"\n")[2]


def beside(trajectory: Trajectory) -> Trajectory:
    """A run as it is compared with a variant."""
    return dataclasses.replace(trajectory, header=accepted_header(trajectory.header, NAME))


@given(trajectories())
def test_what_is_kept_of_a_kept_run_is_the_same_bytes(trajectory: Trajectory) -> None:
    once = accepted_bytes(trajectory, NAME)
    assert accepted_bytes(accepted(trajectory, NAME), NAME) == once


@given(trajectories())
def test_a_run_takes_the_variant_that_was_made_of_it(trajectory: Trajectory) -> None:
    kept = accepted(trajectory, NAME)
    assert parting(kept, beside(trajectory)) is None
    assert [one.kind for one in committed_view(kept)] == [event.fact.TYPE for event in kept]


@given(trajectories())
def test_other_ids_give_the_same_lines(trajectory: Trajectory) -> None:
    other = dataclasses.replace(trajectory, events=tuple(map(renamed, trajectory.events)))
    assume([one.key for one in committed_view(other)] == [one.key for one in committed_view(trajectory)])
    assert events_of(other) == events_of(trajectory)


def changed(kind: type[Any], **changes: Any) -> Callable[[Trajectory], Trajectory]:
    def change(fact: Fact) -> Fact:
        return dataclasses.replace(fact, **changes) if isinstance(fact, kind) else fact

    return lambda trajectory: with_facts(trajectory, change)


def later(trajectory: Trajectory) -> Trajectory:
    moved = tuple(dataclasses.replace(event, time=9 + 7 * event.seq) for event in trajectory)
    return dataclasses.replace(trajectory, events=moved)


def headed(**changes: Any) -> Callable[[Trajectory], Trajectory]:
    return lambda trajectory: dataclasses.replace(trajectory, header=header(**changes))


NOISE: dict[str, Callable[[Trajectory], Trajectory]] = {
    "times": later,
    "tokens": changed(AssistantMessage, usage=Usage(7, 7)),
    "fingerprint": changed(AssistantMessage, fingerprint="fp_7", raw_finish_reason="eos"),
    "attempt": changed(AssistantMessage, attempt=2),
    "streaming": changed(RequestHeader, parameters=JsonText('{"stream":true,"temperature":0}')),
    "ids": lambda _: refund_run(ids="chatcmpl-tool-{}{}".format),
    "doors": lambda _: refund_run(doors=False),
    "settling": changed(RunQuiescent, settle_ms=400),
    "start": headed(volatile=Volatile("2026-01-02T03:04:05Z", 7)),
    "trial": headed(run_id=RunId("shop/refund@default#9"), trial=9),
}


@pytest.mark.parametrize("noise", NOISE)
def test_noise_does_not_show_in_what_is_kept(noise: str) -> None:
    other = NOISE[noise](refund_run())
    assert events_of(other) == events_of(refund_run())
    assert parting(accepted(refund_run(), NAME), beside(other)) is None


def test_times_starts_and_ends_of_bodies_and_tokens_are_not_in_the_file() -> None:
    text = accepted_bytes(later(refund_run()), NAME).decode()
    assert not any(word in text for word in ('"time"', "tool/start", "tool/end", "usage", "call_1_0", "volatile"))
    whole = refund_run()
    n_bodies = sum(isinstance(event.fact, ToolStart | ToolEnd) for event in whole)
    assert n_bodies == 6
    assert text.count("\n") == 1 + len(whole) - n_bodies


MUTANTS: dict[str, Callable[[], Trajectory]] = {
    "system-prompt": lambda: refund_run(system=SYSTEM + "!"),
    "task": lambda: refund_run(task="Refund order 8, please."),
    "description": lambda: refund_run(tools=({**TOOLS[0], "description": "Look."}, TOOLS[1])),
    "fewer-tools": lambda: refund_run(tools=TOOLS[:1]),
    "parameters": lambda: refund_run(parameters=JsonText('{"temperature":1}')),
    "argument": lambda: refund_run(answers=(([("lookup_order", '{"id":9}'), ANSWERS[0][0][1]], "I look."), *ANSWERS[1:])),
    "integer-by-one": lambda: refund_run(results=(RESULTS[0].replace("19.9", "19.91"), *RESULTS[1:])),
    "order-of-calls": lambda: refund_run(answers=((ANSWERS[0][0][::-1], "I look."), *ANSWERS[1:])),
    "one-call-less": lambda: refund_run(answers=((ANSWERS[0][0][:1], "I look."), *ANSWERS[1:])),
    "one-step-more": lambda: refund_run(answers=(*ANSWERS[:2], ([("refund", "{}")], None), ANSWERS[2])),
    "answer": lambda: refund_run(answers=(*ANSWERS[:2], ([], "Refunded!"))),
    "status": lambda: refund_run(status=Status.FAILED, reason=Failed(Code.SERVER, "down")),
    "left-running": lambda: changed(RunQuiescent, alive=(Alive("task", "upload"),))(refund_run()),
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_another_behaviour_takes_another_variant(mutant: str) -> None:
    kept, other = accepted(refund_run(), NAME), MUTANTS[mutant]()
    assert events_of(other) != events_of(refund_run())
    assert parting(kept, beside(other)) is not None
    assert parting(accepted(other, NAME), beside(refund_run())) is not None


@pytest.mark.parametrize("text", NASTY)
def test_any_text_that_a_tool_returns_is_kept_and_taken_again(text: str) -> None:
    whole = refund_run(results=(text, RESULTS[1], canonical_json({"a": text})))
    kept = accepted_bytes(whole, NAME)
    assert kept.count(b"\n") == len(committed_view(whole)) + 1
    assert parting(accepted(whole, NAME), beside(whole)) is None


IDS = st.text(st.sampled_from(["a", "1", "/", ".", "j", "%", ":", "é"]), min_size=1, max_size=6) | st.sampled_from(
    ["evaluations", "evaluations/x", "Evaluations/x", "%65valuations", "a/1.jsonl", "1.jsonl", "a/1.json%6C", "..", "con"]
)


@given(st.sets(IDS, min_size=2, max_size=2))
def test_two_scenarios_never_share_a_place_and_none_is_among_the_evaluations(scenarios: set[str]) -> None:
    one, other = (variant_file(scenario, 1).split("/") for scenario in sorted(scenarios))
    assert one != other
    assert one != other[: len(one)], "a file would be the folder of another"
    assert other != one[: len(other)], "a file would be the folder of another"
    assert EVALUATIONS not in (one[0].lower(), other[0].lower())
    assert not {"", ".", ".."} & {*one, *other}


def test_a_scenario_that_is_called_like_the_folder_of_the_evaluations_is_kept_elsewhere() -> None:
    assert variants_folder("evaluations/x") == "%65valuations/x"
    assert variants_folder("shop/evaluations") == "shop/evaluations"


# ---------------------------------------------------------------- what was accepted failing

OUTCOMES = st.sampled_from([one for one in Outcome if one not in (Outcome.PASS, Outcome.NOT_APPLICABLE)])
CHECKS = st.dictionaries(st.text(min_size=1, max_size=8), OUTCOMES, max_size=3)


def came(kept: Trajectory, checks: dict[str, Outcome]) -> RunSummary:
    """A run that did not pass these checks."""
    verdicts = tuple(Verdict(name, how, (Finding(name, "so", rule="conformance:9"),)) for name, how in checks.items())
    return dataclasses.replace(
        summarise(kept, verdicts, "a.jsonl"), outcome=outcome_of(verdicts) if verdicts else Outcome.PASS
    )


@given(trajectories(), CHECKS)
def test_a_variant_says_what_its_runs_came_to_and_behaves_as_they_do(
    trajectory: Trajectory, checks: dict[str, Outcome]
) -> None:
    run = came(trajectory, checks)
    kept = read_bytes(variant_bytes(accepted(trajectory, NAME), NAME, [run]), NAME)
    outcome, verdicts = came_to(kept)
    assert outcome is run.outcome
    assert {(one.check, one.outcome, *(finding.rule for finding in one.findings)) for one in verdicts} == {
        (name, how, "conformance:9") for name, how in checks.items()
    }
    assert parting(kept, beside(trajectory)) is None
    assert says(kept, [run])
    assert says(kept, [came(trajectory, {})]) is not bool(checks)
    assert [event.seq for event in kept] == list(range(len(kept)))
    assert variant_bytes(kept, NAME, ()) == accepted_bytes(trajectory, NAME), "the note goes, and all else stays"


@pytest.mark.parametrize("data", ["[]", "{}", '{"outcome":"GOOD","checks":[]}', '{"outcome":"FAIL","checks":[1]}', "{"])
def test_a_note_that_somebody_edited_is_no_note_of_a_pass(data: str) -> None:
    kept = accepted(refund_run(), NAME)
    noted = dataclasses.replace(
        kept, events=(*kept.events, Event(len(kept), Note(FAILING_NOTE, JsonText(data)), Origin.PROBE))
    )
    with pytest.raises(TrajectoryFormatError, match="baseline/failing"):
        came_to(noted)
