"""Plans a run that goes on from a file: repaired, at a closed boundary, or with the answer to a parked call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from harness.errors import NothingLeftError, UnsupportedError, UsageError
from harness.folds import closed_boundaries, end_of, owes_an_answer, parked_at, pending_input, prefix_digest
from harness.protocols import Subject
from harness.runner.asking import answer_now
from harness.runner.continuation import Continuation
from harness.runner.specs import RunOptions, RunSpec, plan
from harness.runner.subjects import find_subject
from harness.store import read_trajectory, repair_file
from harness.types.codes import InboxQueue
from harness.types.events import Event, Header, Trajectory
from harness.types.going_on import GoingOnWhy
from harness.types.lifecycle import ApprovalAsked, InboxQueued, RunEnd, TurnEnd
from harness.types.messages import CallId, RunId
from harness.types.policy import ApprovalReply
from harness.types.reasons import Waiting
from harness.types.scenario import Scenario

_MOST_NAMED = 3


def plan_resume(
    path: Path,
    scenarios: Sequence[Scenario],
    options: RunOptions,
    *,
    answers: Mapping[str, ApprovalReply] | None = None,
    task: str | None = None,
    subject: Subject | None = None,
) -> RunSpec:
    """A run that goes on where ``path`` ended. A file without its end is repaired first, in place.

    What is sent: the tasks of the scenario that were not sent yet, then ``task``. ``answers`` are for the call
    that the run was parked at; without one the options' approver is asked now. ``subject`` overrides the one that the
    options name. Raises UsageError kin (among them NothingLeftError; no such question), TrajectoryFormatError,
    RecordingFailed (a live run).
    """
    check_parent(path)
    before = read_trajectory(path)
    _check_subject(before, subject or find_subject(options.subject), path)
    _check_whole(path, before)
    scenario = _scenario_of(before, scenarios, path)
    parent = repair_file(path).trajectory
    given = {CallId(call): reply for call, reply in (answers or {}).items()}
    asked = parked_at(parent)
    wanted = _unanswered(path, parent, asked, given)
    if wanted is not None and options.approver is None:
        raise UsageError(
            f"{path}: is parked at the question about call {wanted!r}: answer it with --answer {wanted}=allow or "
            f"--answer {wanted}=reject, or be asked with --approve terminal"
        )
    past = parent.events[: _last_closed(parent, path) + 1 if asked is None else asked.seq + 1]
    tasks = (*_unsent(scenario, past), *((task,) if task is not None else ()))
    if not (tasks or asked or owes_an_answer(past) or _wakes(past)):
        raise NothingLeftError(
            f"{path}: nothing is left to do (all tasks were sent, none is pending): say what is to be done with --task"
        )
    spec = _spec(path, parent, past, scenario, options, GoingOnWhy.RESUME, tasks, given)
    going_on = spec.going_on
    if going_on is not None:
        going_on.check_unclaimed()
        if wanted is not None and options.approver is not None:
            answered = answer_now(path, parent, wanted, options.approver)
            spec = replace(spec, going_on=replace(going_on, answers=(answered,)))
    return spec


def plan_fork(
    path: Path, scenarios: Sequence[Scenario], options: RunOptions, *, at: int, task: str | None = None
) -> RunSpec:
    """A run of its own that begins with the events of ``path`` up to and including ``at``, a closed boundary.

    What is sent: ``task``, else the tasks of the scenario that had not been sent by then. Input that was pending
    is not inherited, and the parent's file is not touched (CONFORMANCE 126, 135). Raises UsageError kin, which
    name the nearest boundaries.
    """
    check_parent(path)
    parent = read_trajectory(path)
    _check_subject(parent, find_subject(options.subject), path)
    allowed = closed_boundaries(parent.events)
    if at not in allowed:
        raise UsageError(f"{path}: event {at} is no closed boundary ({_why_not(parent, at)}). {_nearest(allowed, at)}")
    past = parent.events[: at + 1]
    scenario = _scenario_of(parent, scenarios, path)
    tasks = (task,) if task is not None else _unsent(scenario, past)
    if not (tasks or owes_an_answer(past)):
        raise UsageError(f"{path}: all tasks were sent by event {at}: say with --task what the fork is to do")
    return _spec(path, parent, past, scenario, options, GoingOnWhy.FORK, tasks, {})


def check_parent(path: Path) -> None:
    """Raise UsageError where there is no file to go on from."""
    if path.is_dir():
        raise UsageError(f"{path} is a folder: name one trajectory in it (trajectories/*.jsonl)")
    if not path.is_file():
        raise UsageError(f"{path}: there is no such file")


def _spec(
    path: Path,
    parent: Trajectory,
    past: tuple[Event, ...],
    scenario: Scenario,
    options: RunOptions,
    why: GoingOnWhy,
    tasks: tuple[str, ...],
    answers: Mapping[CallId, ApprovalReply],
) -> RunSpec:
    header = parent.header
    going_on = Continuation(
        why,
        path,
        header.run_id,
        past[-1].seq,
        prefix_digest(past),
        _next_run_id(header.run_id, why),
        tasks,
        tuple(sorted(answers.items())),
    )
    (spec,) = plan([scenario], replace(options, arm=header.arm, trials=1))
    return RunSpec(_expecting(spec.scenario, why), spec.options, header.trial, going_on)


def _expecting(scenario: Scenario, why: GoingOnWhy) -> Scenario:
    """The scenario with what is expected of a run that resumes another.

    That is ``expect_after``; without it what is expected of the run itself, but of one that was to wait only the rules.
    """
    if why is GoingOnWhy.FORK:
        return scenario
    after = scenario.expect_after
    if after is None:
        after = scenario.expect.rules() if scenario.expect.of_a_stop else scenario.expect
    return replace(scenario, expect=after)


def _next_run_id(parent: RunId, why: GoingOnWhy) -> RunId:
    """``x@default#1+resume``, then ``+resume2`` and so on; a fork says ``+fork``."""
    stem, found, count = parent.rpartition(f"+{why.value}")
    if found and (not count or count.isdigit()):
        return RunId(f"{stem}+{why.value}{int(count or 1) + 1}")
    return RunId(f"{parent}+{why.value}")


def _check_subject(parent: Trajectory, subject: Subject, path: Path) -> None:
    if not parent.events:
        raise NothingLeftError(f"{path}: holds no event yet: run its scenario anew")
    if not getattr(subject, "goes_on", False):
        raise UnsupportedError(
            f"the subject {subject.name!r} cannot start from an existing log: only the built-in loop can"
        )
    if parent.header.subject != subject.name:
        raise UnsupportedError(f"{path}: is a run of {parent.header.subject!r}, and cannot go on with {subject.name!r}")


def _check_whole(path: Path, parent: Trajectory) -> None:
    """A run that died while it took over its parent's events has done nothing, and holds less than it should."""
    before = parent.header.parent
    if before is not None and len(parent.events) <= before.seq:
        raise UsageError(
            f"{path}: died while it took over the events of {before.run_id!r}, and did nothing: resume that one again"
        )


def _scenario_of(parent: Trajectory, scenarios: Sequence[Scenario], path: Path) -> Scenario:
    wanted = parent.header.scenario
    if wanted is None:
        raise UsageError(f"{path}: names no scenario, so nothing says which tools and model it had")
    found = next((scenario for scenario in scenarios if scenario.id == wanted.id), None)
    if found is None:
        raise UsageError(f"{path}: is a run of scenario {wanted.id!r}, which is not among those found: name its file")
    return found


def has_changed(parent: Header, scenario: Scenario) -> bool:
    """Whether the scenario is another one than when the run was made."""
    return parent.scenario is not None and parent.scenario.digest != scenario.digest


def _unanswered(
    path: Path, parent: Trajectory, asked: Event | None, given: Mapping[CallId, ApprovalReply]
) -> CallId | None:
    """The call that the run waits for, if it has no answer yet. Raises UsageError for answers to anything else."""
    wanted = asked.fact.call_id if asked is not None and isinstance(asked.fact, ApprovalAsked) else None
    end = end_of(parent)
    if wanted is None and end is not None and isinstance(end.reason, Waiting) and end.reason.call_id is not None:
        raise UsageError(f"{path}: waits for call {end.reason.call_id!r}, but holds no question about it")
    surplus = sorted(set(given) - {wanted})
    if surplus:
        parked = f"it is parked at call {wanted!r}" if wanted else "it is parked at no call"
        raise UsageError(f"{path}: nothing was asked about call {surplus[0]!r}; {parked}")
    return None if wanted in given else wanted


def _last_closed(parent: Trajectory, path: Path) -> int:
    allowed = closed_boundaries(parent.events)
    if not allowed:
        raise NothingLeftError(f"{path}: has no closed boundary to go on from: run its scenario anew")
    return allowed[-1]


def _nearest(allowed: Sequence[int], at: int) -> str:
    if not allowed:
        return "The file has none."
    near = sorted(sorted(allowed, key=lambda seq: (abs(seq - at), seq))[:_MOST_NAMED])
    return f"The nearest are {', '.join(map(str, near))}."


def _unsent(scenario: Scenario, past: Sequence[Event]) -> tuple[str, ...]:
    """The tasks behind those that were queued, in order, as follow-ups of the root."""
    n_sent = 0
    for event in past:
        fact = event.fact
        if not event.agent and isinstance(fact, InboxQueued) and fact.queue is InboxQueue.FOLLOWUP:
            for message in fact.messages:
                due = scenario.tasks[n_sent] if n_sent < len(scenario.tasks) else None
                n_sent += due is not None and message.message.content == due
    return scenario.tasks[n_sent:]


def _wakes(past: Sequence[Event]) -> bool:
    return any(fact.queue is not InboxQueue.INJECT for fact in pending_input(past))


def _why_not(parent: Trajectory, at: int) -> str:
    if not 0 <= at < len(parent.events):
        return f"the file has events 0 to {len(parent.events) - 1}"
    if any(isinstance(event.fact, RunEnd) and not event.agent for event in parent.events[: at + 1]):
        return "the run has ended there: take the last event before its end, or --resume it"
    waiting = (e for e in parent.events[: at + 1] if isinstance(e.fact, TurnEnd) and isinstance(e.fact.reason, Waiting))
    if next(waiting, None) is not None:
        return "a call waits there for a person: --resume it with --answer"
    return "a turn is open there, or the run has not begun"
