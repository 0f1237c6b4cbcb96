"""One run in one record, and how verdicts add up to an outcome and an exit code."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from harness.folds.counts import (
    answer_of,
    calls_of,
    end_of,
    is_interrupted,
    n_messages,
    n_requests,
    n_steps,
    n_turns,
    reason_text,
    status_of,
)
from harness.folds.usages import told_usages
from harness.types.codes import Outcome
from harness.types.events import Trajectory
from harness.types.exchange import ToolResult
from harness.types.jsontext import Refusal, canonical_json, parse_json
from harness.types.lifecycle import REAL_TIME_NOTE, Note
from harness.types.messages import JsonText
from harness.types.records import CallSummary, RunSummary, Verdict

EXIT_CODES: Final[dict[Outcome, int]] = {
    Outcome.PASS: 0,
    Outcome.NOT_APPLICABLE: 0,
    Outcome.FAIL: 1,
    Outcome.INCONCLUSIVE: 3,
    Outcome.INVALID: 4,
    Outcome.ERROR: 5,
}
"""The exit code of each outcome (design page, Verdicts)."""

_EARLY: Final = 3
"""Among so many first events a note on the run itself stands."""
_WORST_FIRST: Final = (Outcome.FAIL, Outcome.ERROR, Outcome.INVALID, Outcome.INCONCLUSIVE, Outcome.PASS)


def worst_outcome(outcomes: Iterable[Outcome]) -> Outcome:
    """FAIL before ERROR before INVALID before INCONCLUSIVE before PASS; INVALID when none decided."""
    seen = set(outcomes)
    return next((outcome for outcome in _WORST_FIRST if outcome in seen), Outcome.INVALID)


def outcome_of(verdicts: Iterable[Verdict]) -> Outcome:
    """What a run came to by its verdicts; NOT_APPLICABLE ones do not count."""
    return worst_outcome(verdict.outcome for verdict in verdicts)


def summarise(trajectory: Trajectory, verdicts: tuple[Verdict, ...], file: str) -> RunSummary:
    """The summary of one trajectory; ``file`` is its path relative to the folder of runs."""
    header = trajectory.header
    end = end_of(trajectory)
    usages = tuple(told_usages(trajectory))
    return RunSummary(
        run_id=header.run_id,
        scenario=header.scenario.id if header.scenario else "",
        arm=header.arm,
        trial=header.trial,
        subject=header.subject,
        model=", ".join(name for _, name in header.models),
        file=file,
        outcome=outcome_of(verdicts),
        status=status_of(trajectory),
        reason=reason_text(end.reason) if end else ("interrupted" if is_interrupted(trajectory) else "no end is told"),
        answer=answer_of(trajectory),
        n_turns=n_turns(trajectory),
        n_steps=n_steps(trajectory),
        n_requests=n_requests(trajectory),
        n_messages=n_messages(trajectory),
        calls=tuple(_call_summaries(trajectory)),
        input_tokens=known_sum(usage.input_tokens for usage in usages),
        output_tokens=known_sum(usage.output_tokens for usage in usages),
        cost_micro_usd=known_sum(usage.cost_micro_usd for usage in usages),
        duration_ms=trajectory.events[-1].time if trajectory.events else None,
        verdicts=verdicts,
        real_time=real_time_of(trajectory),
    )


def real_time_of(trajectory: Trajectory) -> str | None:
    """Why the loop was run against the server on loopback, in real time; None where it was not."""
    early = (event.fact for event in trajectory.events[:_EARLY])
    note = next((fact for fact in early if isinstance(fact, Note) and fact.name == REAL_TIME_NOTE), None)
    said = None if note is None or note.data is None else parse_json(note.data)
    return said if isinstance(said, str) else None


def known_sum(numbers: Iterable[int | None]) -> int | None:
    """The sum; None for no numbers, and where one is not known: half a sum would pass for the whole."""
    known = tuple(numbers)
    return sum(number for number in known if number is not None) if known and None not in known else None


def _call_summaries(trajectory: Trajectory) -> Iterable[CallSummary]:
    for trace in calls_of(trajectory):
        fact = trace.result.fact if trace.result else None
        code = (fact.code or "OK") if isinstance(fact, ToolResult) else None
        yield CallSummary(trace.call.name, _canonical_arguments(trace.call.arguments), code)


def _canonical_arguments(text: str) -> JsonText:
    value = parse_json(text)
    return JsonText(text) if isinstance(value, Refusal) else canonical_json(value)


def tokens_of(run: RunSummary) -> int | None:
    """Of requests and answers together; None where either is not known."""
    return known_sum((run.input_tokens, run.output_tokens))
