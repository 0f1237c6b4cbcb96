"""What must be so of a run that was killed and resumed, and that no check of one file alone can tell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from harness.folds import reason_text
from harness.runner.sweep_runs import Observed, run_end
from harness.types.codes import Code, Effect, Status
from harness.types.events import Event, Header, Trajectory
from harness.types.exchange import ToolResult, ToolStart
from harness.types.lifecycle import RunEnd, TurnEnd
from harness.types.messages import CallId
from harness.types.reasons import Failed, FinalAnswer
from harness.types.records import Finding
from harness.types.script import ScriptFollows

NOTHING_TWICE: Final = "resume_runs_nothing_twice"
"""Name of the finding on a body that began before the death and began again behind it (CONFORMANCE 138, 140)."""
TELLS_UNKNOWN: Final = "repair_tells_what_is_unknown"
"""Name of the finding on a call whose result is lost, and of which a repair says something else (131, 132)."""
GOES_ON: Final = "resume_comes_to_its_end"
"""Name of the finding on a resumed run that does not end as the undisturbed one does (19, 133)."""


def repair_owes(dead: Trajectory, whole: Trajectory) -> Iterator[Finding]:
    """Each call without a result is told as not started, or as of unknown outcome where its body had begun."""
    began = {event.fact.call_id for event in dead if isinstance(event.fact, ToolStart)}
    answered = {event.fact.call_id for event in dead if isinstance(event.fact, ToolResult)}
    for event in whole.events[len(dead.events) :]:
        fact = event.fact
        if not isinstance(fact, ToolResult):
            continue
        code = Code.TOOL_OUTCOME_UNKNOWN if fact.call_id in began else Code.TOOL_NOT_STARTED
        if fact.call_id in answered or fact.code is not code:
            text = f"call {fact.call_id!r} is told as {fact.code}, and it is {code}"
            yield Finding(TELLS_UNKNOWN, text, (event.seq,), "conformance:132")


def after_death(dead: Trajectory, run: Observed, reference: Observed) -> Iterator[Finding]:
    """What a resumed run did once more, and whether it came to its end."""
    yield from _began_again(dead, run.trajectory)
    if run.follows is ScriptFollows.HISTORY and _answered(reference.trajectory):
        yield from _more_work(run.trajectory, reference.trajectory)
    if _answered(reference.trajectory):
        yield from _ended(run, reference.trajectory)


def _answered(trajectory: Trajectory) -> bool:
    """Whether the model had the last word in every turn: else a resumed run asks it for more than the script has."""
    ends = [event.fact.reason for event in trajectory if isinstance(event.fact, TurnEnd) and not event.agent]
    return all(isinstance(reason, FinalAnswer) for reason in ends)


def _began_again(dead: Trajectory, run: Trajectory) -> Iterator[Finding]:
    began = {event.fact.call_id: event.seq for event in dead if isinstance(event.fact, ToolStart)}
    for event in run.events[len(dead.events) :]:
        call: CallId | None = event.fact.call_id if isinstance(event.fact, ToolStart) else None
        if call is not None and call in began:
            text = f"the body of call {call!r} began before the kill, and began again when the run was resumed"
            yield Finding(NOTHING_TWICE, text, (began[call], event.seq), "conformance:138")


def _more_work(run: Trajectory, reference: Trajectory) -> Iterator[Finding]:
    left = Counter(_work(event, run.header) for event in reference)
    for event in run:
        work = _work(event, run.header)
        left[work] -= 1
        if work is not None and left[work] < 0:
            text = f"the body of {work[0]!r} ran once more with {work[1]} because the run was killed and resumed"
            yield Finding(NOTHING_TWICE, text, (event.seq,), "conformance:140")


def _work(event: Event, header: Header) -> tuple[str, str] | None:
    """Name and arguments of a body with an effect that may not be repeated."""
    if not isinstance(event.fact, ToolStart) or event.agent:
        return None
    name = event.fact.name
    harmless = any(tool.name == name and (tool.idempotent or tool.effect is Effect.READ) for tool in header.tools)
    return None if harmless else (name, event.fact.arguments)


def _ended(run: Observed, reference: Trajectory) -> Iterator[Finding]:
    """Where the undisturbed run completed, so does the resumed one, unless its script had no answer."""
    end, wanted = run_end(run.trajectory), run_end(reference)
    if end is None or not isinstance(end.fact, RunEnd) or wanted is None or not isinstance(wanted.fact, RunEnd):
        return
    if wanted.fact.status is not Status.COMPLETED or end.fact.status is Status.COMPLETED:
        return
    reason = end.fact.reason
    if isinstance(reason, Failed) and reason.code is Code.SCRIPT_EXHAUSTED and run.follows is not ScriptFollows.HISTORY:
        return
    how = f"{end.fact.status} ({reason_text(reason)})"
    text = f"killed and resumed the run ended {how}, and undisturbed it is completed"
    yield Finding(GOES_ON, text, (end.seq,), "conformance:133")
