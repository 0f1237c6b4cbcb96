"""A run goes on where another ended: nothing is lost, done twice or numbered anew."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.errors import RecordingFailed, TrajectoryFormatError, UnsupportedError, UsageError
from harness.folds import end_of, history_of, prefix_digest, requests_of
from harness.runner import RunOptions, judge, plan_resume
from harness.store import dump_trajectory, open_sink, read_trajectory
from harness.testing import scenario, subject
from harness.types.codes import CancelScope, HeaderWhy, Outcome, QueueDisposition, Status
from harness.types.events import Trajectory
from harness.types.exchange import RequestHeader, ToolStart
from harness.types.lifecycle import InboxQueued, TurnStart
from harness.types.messages import ChatUser
from tests.resume.lab import (
    CALL,
    asking,
    codes,
    complaints,
    cut,
    deaths,
    died,
    kinds,
    last_shown,
    parked,
    two_turns,
    written,
)

WHOLE = two_turns().run().trajectory
NOTHING_LEFT = "nothing is left to do"
LAST_ANSWER = max(event.seq for event in WHOLE.events if event.fact.TYPE == "assistant/message")


@pytest.mark.conformance("8", "29", "123", "137")
@pytest.mark.parametrize("n_events", range(1, WHOLE.events[-3].seq + 1))
def test_a_run_that_died_anywhere_goes_on_to_its_end_in_good_order(n_events: int, tmp_path: Path) -> None:
    path = written(cut(WHOLE, n_events), tmp_path)
    if n_events > LAST_ANSWER:
        with pytest.raises(UsageError, match=NOTHING_LEFT):
            two_turns().resume(path)
        return
    run = two_turns().resume(path, folder=tmp_path / "out")
    assert complaints(run) == []
    assert run.status is Status.COMPLETED
    assert run.answer == "Nothing more."
    parent, child = read_trajectory(path), run.trajectory
    origin = child.header.parent
    assert origin is not None
    assert child.events[: origin.seq + 1] == parent.events[: origin.seq + 1]
    assert [event.seq for event in child.events] == list(range(len(child.events)))
    turns = [event.turn for event in child.events if isinstance(event.fact, TurnStart)]
    assert turns == list(range(1, len(turns) + 1))
    assert run.path is not None
    assert read_trajectory(run.path).events == child.events


def test_the_new_file_begins_with_the_parent_s_lines_byte_for_byte(tmp_path: Path) -> None:
    path = died(two_turns(), tmp_path, "tool/start")
    run = two_turns().resume(path, folder=tmp_path / "out")
    assert run.path is not None
    old, new = path.read_bytes().splitlines(), run.path.read_bytes().splitlines()
    origin = run.trajectory.header.parent
    assert origin is not None
    assert new[1 : origin.seq + 2] == old[1 : origin.seq + 2]
    assert (origin.run_id, origin.why) == ("resume/two-turns@default#1", "resume")
    assert run.trajectory.header.run_id == "resume/two-turns@default#1+resume"
    assert origin.digest == prefix_digest(read_trajectory(path).events[: origin.seq + 1])


@pytest.mark.conformance("8", "123")
def test_every_request_behind_the_past_equals_the_one_rebuilt_from_the_file(tmp_path: Path) -> None:
    for number, one in enumerate(deaths(WHOLE)):
        path = written(one, tmp_path, f"{number}.jsonl")
        try:
            run = two_turns().resume(path, folder=tmp_path / str(number))
        except UsageError:
            continue
        assert run.path is not None
        for trace in requests_of(read_trajectory(run.path)):
            before = Trajectory(run.trajectory.header, run.trajectory.events[: trace.event.seq])
            assert list(trace.messages) == list(history_of(before)), (number, trace.event.seq)


@pytest.mark.conformance("132", "140")
def test_the_model_is_told_what_became_of_its_calls_and_none_runs_again(tmp_path: Path) -> None:
    run = two_turns().resume(died(two_turns(), tmp_path, "tool/start"))
    assert codes(run.trajectory) == ["TOOL_OUTCOME_UNKNOWN", "TOOL_NOT_STARTED"]
    assert sum(isinstance(event.fact, ToolStart) for event in run.trajectory.events) == 1
    first = next(trace for trace in requests_of(run.trajectory) if trace.event.turn == 2)
    assert [message.role for message in first.messages] == ["user", "assistant", "tool", "tool"]


@pytest.mark.conformance("19")
def test_an_interrupted_turn_is_taken_up_without_input_and_an_answered_one_is_not(tmp_path: Path) -> None:
    asked = two_turns().resume(died(two_turns(), tmp_path, "model/request"))
    behind = kinds(asked.trajectory)[asked.trajectory.header.parent.seq + 1 :]  # type: ignore[union-attr]
    assert behind[:3] == ["turn/start", "step/start", "request/header"]
    single = two_turns(tasks=["Add up."], script=[{"say": "Two."}])
    with pytest.raises(UsageError, match=NOTHING_LEFT):
        single.resume(died(single, tmp_path, "assistant/message"))


def test_a_header_behind_the_past_says_resume(tmp_path: Path) -> None:
    run = two_turns().resume(died(two_turns(), tmp_path, "step/end"))
    whys = [event.fact.why for event in run.trajectory.events if isinstance(event.fact, RequestHeader)]
    assert whys == [HeaderWhy.INITIAL, HeaderWhy.RESUME]


@pytest.mark.conformance("118", "137")
def test_pending_input_survives_and_ids_are_not_given_twice(tmp_path: Path) -> None:
    steered = two_turns(
        inject=[
            {"at": {"kind": "tool/start"}, "do": {"send": {"queue": "steer", "text": "Also three."}}},
            {"at": {"kind": "tool/start"}, "do": {"send": {"queue": "followup", "text": "And four."}}},
        ],
        script=[TWO_CALLS, {"say": "Two and four."}, {"say": "a"}, {"say": "b"}, {"say": "c"}],
    )
    whole = steered.run().trajectory
    queued = [event for event in whole.events if isinstance(event.fact, InboxQueued)]
    path = written(cut(whole, queued[2].seq + 1), tmp_path)
    run = steered.resume(path)
    assert complaints(run) == []
    messages = [m for e in run.trajectory.events if isinstance(e.fact, InboxQueued) for m in e.fact.messages]
    assert [message.id for message in messages] == ["m1", "m2", "m3", "m4"]
    texts = [line for line in last_shown(run) if line.startswith("user")]
    assert texts == ["user: Add up.", "user: Also three.", "user: And four.", "user: And now?"]


TWO_CALLS = {"calls": [{"calculator": {"expression": "1+1"}}, {"calculator": {"expression": "2+2"}}]}


def test_injections_of_the_past_are_not_carried_out_again(tmp_path: Path) -> None:
    once = two_turns(inject=[{"at": {"kind": "turn/end"}, "do": {"send": {"queue": "inject", "text": "By the way."}}}])
    run = once.resume(died(once, tmp_path, "turn/end"))
    assert sum("By the way." in line for line in last_shown(run)) <= 1
    assert not [name for name, _ in complaints(run) if name == "inject"]


def test_a_scripted_model_goes_on_behind_the_replies_that_were_used(tmp_path: Path) -> None:
    script = [{"fail": {"code": "SERVER", "message": "down"}}, {"say": "Second."}, {"say": "Third."}]
    failing = scenario(tasks=["one", "two", "three"], script=script)
    whole = failing.run().trajectory
    path = written(cut(whole, next(e.seq for e in whole.events if e.fact.TYPE == "turn/end") + 1), tmp_path)
    run = failing.resume(path)
    assert [line for line in last_shown(run) if line.startswith("assistant")] == ["assistant: Second."]
    assert run.answer == "Third."
    assert complaints(run) == []


def test_a_request_that_was_under_way_is_asked_again_and_has_used_no_reply(tmp_path: Path) -> None:
    run = two_turns().resume(died(two_turns(), tmp_path, "model/request"))
    assert codes(run.trajectory) == [None, None]
    assert run.answer == "Nothing more."


def test_a_cassette_goes_on_behind_the_recordings_that_were_used(tmp_path: Path) -> None:
    recorded = scenario("scenarios/recorded/remember_then_recall.yaml")
    whole = recorded.run().trajectory
    for nth, event in enumerate(e for e in whole.events if e.fact.TYPE in ("turn/end", "tool/result")):
        run_path = written(cut(whole, event.seq + 1), tmp_path, f"{nth}.jsonl")
        try:
            run = recorded.resume(run_path, workspace=tmp_path)
        except UsageError:
            continue
        assert not [one for one in complaints(run) if one[0] == "recording" and "unused" in one[1]]


def test_more_is_asked_with_a_task(tmp_path: Path) -> None:
    path = written(two_turns().run().trajectory, tmp_path)
    with pytest.raises(UsageError, match="--task"):
        two_turns().resume(path)
    longer = two_turns(script=[TWO_CALLS, {"say": "a"}, {"say": "b"}, {"say": "Ten."}])
    run = longer.resume(written(longer.run().trajectory, tmp_path), task="Ten?")
    assert run.answer == "Ten."
    assert last_shown(run)[-1] == "user: Ten?"
    assert complaints(run) == []


@pytest.mark.conformance("114", "110")
def test_parked_input_stays_parked_until_something_wakes(tmp_path: Path) -> None:
    kept = two_turns(
        tasks=["Add up."],
        inject=[
            {"at": {"kind": "tool/start"}, "do": {"send": {"queue": "followup", "text": "Later."}}},
            {
                "at": {"kind": "tool/start"},
                "do": {"cancel": {"scope": CancelScope.RUN, "queue": QueueDisposition.KEEP}},
            },
        ],
    )
    path = written(kept.run().trajectory, tmp_path)
    run = kept.resume(path, task="Now.")
    assert complaints(run) == []
    assert [line for line in last_shown(run) if line.startswith("user")] == [
        "user: Add up.",
        "user: Later.",
        "user: Now.",
    ]


# ---------------------------------------------------------------- parked calls


@pytest.mark.article("28")
@pytest.mark.conformance("140")
@pytest.mark.parametrize(
    ("reply", "told", "n_starts"),
    [pytest.param("allow", None, 1, id="allowed"), pytest.param("reject", "REJECTED", 0, id="rejected")],
)
def test_a_parked_call_goes_on_exactly_once_with_its_answer(
    reply: str, told: str | None, n_starts: int, tmp_path: Path
) -> None:
    one_call = asking()
    path = parked(one_call, tmp_path)
    before = path.read_bytes()
    call = waits_for(read_trajectory(path))
    run = one_call.resume(path, answers={call: reply})
    assert complaints(run) == []
    assert codes(run.trajectory) == [told]
    assert sum(isinstance(event.fact, ToolStart) for event in run.trajectory.events) == n_starts
    assert kinds(run.trajectory).count("turn/start") == 2, "the parked turn goes on as the turn it is"
    assert run.answer == "And that."
    assert path.read_bytes() == before
    with pytest.raises(UsageError, match="was resumed before"):
        one_call.resume(path, answers={call: reply})


def waits_for(trajectory: Trajectory) -> str:
    end = end_of(trajectory)
    assert end is not None
    return str(getattr(end.reason, "call_id", None))


@pytest.mark.article("28")
@pytest.mark.conformance("140")
def test_calls_behind_the_parked_one_run_behind_it_or_park_anew(tmp_path: Path) -> None:
    policy = {"tools": {"calculator": "ask"}, "approvals": [{"answer": "park"}, {"answer": "park", "after_ms": 20}]}
    two_calls = asking(script=[TWO_CALLS, {"say": "Done."}, {"say": "And that."}], policy=policy)
    path = parked(two_calls, tmp_path)
    second = two_calls.resume(path, answers={waits_for(read_trajectory(path)): "allow"}, folder=tmp_path / "second")
    assert second.status is Status.WAITING_FOR_USER
    assert codes(second.trajectory) == [None]
    assert second.path is not None
    third = two_calls.resume(second.path, answers={waits_for(second.trajectory): "reject"})
    assert complaints(third) == []
    assert codes(third.trajectory) == [None, "REJECTED"]
    assert sum(isinstance(event.fact, ToolStart) for event in third.trajectory.events) == 1
    assert third.answer == "And that."


@pytest.mark.article("28")
@pytest.mark.conformance("133", "140")
@pytest.mark.parametrize("n_more", range(3))
def test_a_run_that_died_at_the_question_or_while_it_was_parked_waits_there(n_more: int, tmp_path: Path) -> None:
    whole = read_trajectory(parked(asking(), tmp_path))
    asked = next(event.seq for event in whole.events if event.fact.TYPE == "approval/asked")
    path = written(cut(whole, asked + 1 + n_more), tmp_path, "died.jsonl")
    with pytest.raises(UsageError, match="answer it with --answer"):
        asking().resume(path)
    assert kinds(read_trajectory(path)) == [one for one in kinds(whole) if one != "note"]
    run = asking().resume(path, answers={waits_for(whole): "allow"})
    assert complaints(run) == []
    assert codes(run.trajectory) == [None]


@pytest.mark.article("28")
def test_what_was_pending_when_it_parked_is_pending_again(tmp_path: Path) -> None:
    send = {"at": {"kind": "tool/call"}, "do": {"send": {"queue": "followup", "text": "One more thing."}}}
    busy = asking(inject=[send], script=[CALL, {"say": "Done."}, {"say": "And that."}, {"say": "And this."}])
    path = parked(busy, tmp_path)
    assert "inbox/discarded" in kinds(read_trajectory(path))
    run = busy.resume(path, answers={waits_for(read_trajectory(path)): "allow"})
    assert complaints(run) == []
    assert [line for line in last_shown(run) if line.startswith("user")] == ["user: Add up.", "user: One more thing.", "user: And now?"]


@pytest.mark.article("28")
@pytest.mark.parametrize(
    ("answers", "words"),
    [
        pytest.param({}, "answer it with --answer", id="none"),
        pytest.param({"ghost": "allow"}, "nothing was asked about call 'ghost'", id="another-call"),
    ],
)
def test_a_parked_run_needs_the_answer_to_its_own_question(answers: dict[str, str], words: str, tmp_path: Path) -> None:
    one_call = asking()
    with pytest.raises(UsageError, match=words):
        one_call.resume(parked(one_call, tmp_path), answers=answers)


def test_an_answer_that_nobody_waits_for_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="parked at no call"):
        two_turns().resume(died(two_turns(), tmp_path, "tool/start"), answers={"c1": "allow"})


# ---------------------------------------------------------------- refusals


def test_a_file_is_resumed_once_and_a_new_run_of_the_same_name_anew(tmp_path: Path) -> None:
    path = died(two_turns(), tmp_path, "tool/start")
    two_turns().resume(path)
    with pytest.raises(UsageError, match=r"resumed before, as 'resume/two-turns@default#1\+resume'"):
        two_turns().resume(path)
    whole = read_trajectory(path)
    later = replace(whole.header, volatile=replace(whole.header.volatile, started_at="2031-01-01T00:00:00Z"))
    written(replace(whole, header=later), tmp_path)
    assert two_turns().resume(path).status is Status.COMPLETED


def test_a_resumed_run_that_died_is_resumed_in_its_turn(tmp_path: Path) -> None:
    first = two_turns().resume(died(two_turns(), tmp_path, "tool/start"), folder=tmp_path / "one")
    origin = first.trajectory.header.parent
    assert origin is not None
    path = written(cut(first.trajectory, origin.seq + 6), tmp_path, "second.jsonl")
    second = two_turns().resume(path)
    assert complaints(second) == []
    assert second.trajectory.header.run_id == "resume/two-turns@default#1+resume2"
    assert second.status is Status.COMPLETED


def test_a_file_that_died_while_it_took_over_its_past_is_refused_and_stays(tmp_path: Path) -> None:
    first = two_turns().resume(died(two_turns(), tmp_path, "tool/start"))
    path = written(cut(first.trajectory, 4), tmp_path, "second.jsonl")
    before = path.read_bytes()
    with pytest.raises(UsageError, match="did nothing: resume that one again"):
        two_turns().resume(path)
    assert path.read_bytes() == before


def test_a_run_that_never_began_gives_its_right_back(tmp_path: Path) -> None:
    recorded = scenario("scenarios/recorded/banana.yaml")
    path = written(cut(recorded.run().trajectory, 8), tmp_path)
    with pytest.raises(Exception, match="assette"):
        recorded.resume(path, cassettes=tmp_path / "none")
    assert not complaints(recorded.resume(path))


@pytest.mark.conformance("136")
def test_a_live_run_is_not_resumed(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with open_sink(path, WHOLE.header) as sink:
        for event in WHOLE.events[:12]:
            sink.append(event)
        sink.commit()
        with pytest.raises(RecordingFailed, match="a live run is writing it"):
            two_turns().resume(path)
    assert path.read_bytes() == dump_trajectory(cut(WHOLE, 12))


def test_what_cannot_go_on_is_said(tmp_path: Path) -> None:
    path = died(two_turns(), tmp_path, "tool/start")
    with pytest.raises(UsageError, match=r"'resume/two-turns', which is not among those found"):
        scenario(id="other", task="x", script=[{"say": "y"}]).resume(path)
    empty = written(cut(WHOLE, 0), tmp_path, "empty.jsonl")
    with pytest.raises(UsageError, match="holds no event yet"):
        two_turns().resume(empty)
    foreign = written(replace(WHOLE, header=replace(WHOLE.header, subject="mine")), tmp_path, "foreign.jsonl")
    with pytest.raises(UnsupportedError, match="is a run of 'mine'"):
        two_turns().resume(foreign)
    with pytest.raises(UnsupportedError, match="cannot start from an existing log"):
        plan_resume(path, [two_turns().scenario], RunOptions(subject="tests.resume.test_resuming:NO_LOOP"))


NO_LOOP = subject(lambda env: env.openai().chat.completions.create(model="m", messages=[]))


def test_a_parent_that_changed_meanwhile_is_refused(tmp_path: Path) -> None:
    path = died(two_turns(), tmp_path, "tool/start")
    spec = plan_resume(path, [two_turns().scenario], RunOptions())
    assert spec.going_on is not None
    said = next(event for event in read_trajectory(path).events if event.fact.TYPE == "user/message")
    changed = list(read_trajectory(path).events)
    changed[said.seq] = replace(said, fact=replace(said.fact, message=ChatUser("else")))  # type: ignore[arg-type,call-arg]
    written(replace(read_trajectory(path), events=tuple(changed)), tmp_path)
    with pytest.raises(TrajectoryFormatError, match="has changed since"):
        spec.going_on.going_on()


PARKED = {"status": "waiting_for_user", "steps": 1, "turns": 1}


@pytest.mark.article("28")
@pytest.mark.parametrize(
    ("expect", "after", "wrong"),
    [
        pytest.param(PARKED, None, [], id="of-the-parked-run-alone"),
        pytest.param({**PARKED, "never": ["calculator"]}, None, ["tool_order"], id="rules-hold-on"),
        pytest.param({**PARKED, "effects": {"calculator": {"at_most": 0}}}, None, ["effects"], id="effects-hold-on"),
        pytest.param({"reason": "waiting", "answer": "nothing"}, None, [], id="told-by-its-reason"),
        pytest.param(PARKED, {"status": "completed", "steps": 3, "turns": 2, "answer": "And that."}, [], id="after-it"),
        pytest.param(PARKED, {"steps": 9}, ["expected_counts"], id="not-as-expected-after-it"),
        pytest.param({"turns": 1}, None, ["expected_counts"], id="of-the-whole"),
    ],
)
def test_a_run_that_goes_on_from_a_question_is_held_to_what_is_expected_after_it(
    expect: dict[str, Any], after: dict[str, Any] | None, wrong: list[str], tmp_path: Path
) -> None:
    bound = asking(expect=expect, **({} if after is None else {"expect_after": after}))
    run = bound.resume(parked(bound, tmp_path), answers={"call_1_0": "allow"}, folder=tmp_path / "on")
    assert [one.check for one in run.verdicts if one.outcome is Outcome.FAIL] == wrong
    assert run.path is not None
    again = judge(read_trajectory(run.path))
    assert [one.check for one in again if one.outcome is Outcome.FAIL] == wrong


def test_a_resumed_run_that_fails_is_no_pass_although_nothing_is_expected_after_it(tmp_path: Path) -> None:
    bound = asking(expect=PARKED, script=[CALL, {"say": "Done."}, {"fail": "AUTH"}])
    run = bound.resume(parked(bound, tmp_path), answers={"call_1_0": "allow"})
    assert [one.check for one in run.verdicts if one.outcome is Outcome.FAIL] == ["expected_end"]


@pytest.mark.article("28")
def test_scripted_answers_go_on_behind_those_that_were_given(tmp_path: Path) -> None:
    policy = {"tools": {"calculator": "ask"}, "approvals": [{"answer": "park"}, {"answer": "reject"}]}
    bound = asking(policy=policy, script=[CALL, CALL, {"say": "Done."}, {"say": "And that."}])
    run = bound.resume(parked(bound, tmp_path), answers={"call_1_0": "allow"}, folder=tmp_path / "on")
    assert codes(run.trajectory) == [None, "REJECTED"]
    assert [verdict for verdict in run.verdicts if verdict.check == "approvals"] == []
    assert complaints(run) == []
