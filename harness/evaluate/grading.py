"""A case and a trial of it, made into a grade. No model judges anything: what is compared is JSON and names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from harness.evaluate.bfcl_grading import benchmark_misfits
from harness.evaluate.compared import nearest
from harness.evaluate.decision import Decision, Made, decision_of
from harness.evaluate.menu import Menu, menu_of
from harness.evaluate.severity import stage_of
from harness.evaluate.why import UNFINISHED, because, why_no_call
from harness.matching import match_value
from harness.types.codes import Code, Status
from harness.types.evaluation import Acceptable, Arm, Case, Evaluation, Execute, Grading, ToolSnapshot, Wanted
from harness.types.grades import Grade, Misfit, MisfitKind, Score, Stage, WhyNoCall
from harness.types.jsontext import parse_json
from harness.types.trials import Owner, Trial, TrialAnswer, TrialError

_FAILED_RUN: Final = frozenset(
    {Status.FAILED, Status.INCOMPLETE, Status.LIMIT_REACHED, Status.BLOCKED, Status.CANCELLED}
)
_GOOD_RESULTS: Final = frozenset({"OK", Code.EMPTY, Code.TRUNCATED, Code.SUMMARISED})
_PLACE: Final = re.compile(r"calls\[(\d+)\]")


def grade(
    case: Case,
    arm: Arm,
    trial: Trial | None,
    *,
    tools: ToolSnapshot,
    evaluation: Evaluation,
    distractors: ToolSnapshot | None = None,
) -> Grade:
    """What a trial of ``case`` under ``arm`` is worth; None: it was never asked, and counts as skipped.

    ``distractors`` is the snapshot of ``distractor_tools``, which an arm with distractors needs.
    Where the evaluation is graded by a benchmark's rules, those decide; cells and arguments are by the matchers still.
    The agent's errors count as failed, those of the provider and of the harness as errored (PB-040). Raises
    UsageError for an expectation that is no matcher, ConfigurationError for a tool whose schema is none and for
    what :func:`harness.evaluate.arms.offered` refuses.
    """
    if trial is None:
        return Grade(Score.SKIPPED)
    if trial.answer is not None:
        return _graded(case, trial.answer, menu_of(case, arm, tools, evaluation, distractors), evaluation)
    if trial.error is None or trial.error.owner is not Owner.AGENT:
        return Grade(Score.ERRORED)
    misfit = Misfit(MisfitKind.AGENT_ERROR, "answer", _error_text(trial.error))
    return Grade(Score.FAILED, (misfit,), _stage((misfit,), evaluation))


def _error_text(error: TrialError) -> str:
    return f"{error.code}: {error.message}" if error.message else str(error.code)


def _graded(case: Case, answer: TrialAnswer, menu: Menu, evaluation: Evaluation) -> Grade:
    decision = decision_of(answer, menu, evaluation.asking)
    acceptable, compared = nearest(case.accept, decision, evaluation.asking, _failed(answer, evaluation))
    why = None
    if not decision.calls and not decision.asked:
        why = why_no_call(answer, menu, _wanted_names(acceptable, evaluation))
    differences = compared.misfits
    if evaluation.grading is Grading.BFCL:
        differences = benchmark_misfits(case, decision)
    found = [*_forbidden(case, decision), *_explained(differences, why)]
    found += _unfinished(answer, evaluation, has_reason=bool(found) and why is not None)
    found += _outcome(case, answer, evaluation, compared.failed, decided_well=not found)
    misfits = tuple(sorted(found, key=_by_place))
    score = Score.FAILED if misfits else Score.PASSED
    return Grade(score, misfits, _stage(misfits, evaluation), compared.cells, compared.arguments, why)


def _stage(misfits: Sequence[Misfit], evaluation: Evaluation) -> Stage | None:
    """The earliest stage that went wrong. Where one decision is judged, no other than selection and arguments is."""
    stage = stage_of(misfits)
    if evaluation.execute is Execute.FIRST and stage in (Stage.EXECUTION, Stage.USE):
        return Stage.SELECTION
    return stage


def _wanted_names(acceptable: Acceptable, evaluation: Evaluation) -> tuple[str, ...]:
    if acceptable.wanted is Wanted.ASK_USER:
        return () if evaluation.asking.tool is None else (evaluation.asking.tool,)
    return tuple(call.name for call in acceptable.calls)


def _explained(differences: Sequence[Misfit], why: WhyNoCall | None) -> Iterator[Misfit]:
    """The differences; those that are a silence with its reason."""
    for misfit in differences:
        is_silence = misfit.kind in (MisfitKind.NO_CALL, MisfitKind.DID_NOT_ASK)
        yield misfit if why is None or not is_silence else because(why, misfit)


def _forbidden(case: Case, decision: Decision) -> Iterator[Misfit]:
    """Every call of a tool that is never to be called, whatever else is right (ARTICLES 34)."""
    for call in decision.calls:
        if call.name in case.never:
            yield Misfit(MisfitKind.FORBIDDEN, call.path, f"{call.name!r} is never to be called here{_hint(call)}")


def _hint(call: Made) -> str:
    return "" if call.offered else "; it is not even offered"


def _unfinished(answer: TrialAnswer, evaluation: Evaluation, *, has_reason: bool) -> Iterator[Misfit]:
    """An answer that did not come to its end shows no decision, and a run that did not, no result."""
    if evaluation.execute is not Execute.FIRST:
        if answer.status is None or answer.status in _FAILED_RUN:
            how = "does not say how it ended" if answer.status is None else f"ended as {answer.status}"
            yield Misfit(MisfitKind.AGENT_ERROR, "status", f"the run {how}")
    elif answer.finish_reason in UNFINISHED and not has_reason:
        text = f"the answer {UNFINISHED[answer.finish_reason]}: what would have followed cannot be told"
        yield Misfit(MisfitKind.AGENT_ERROR, "finish_reason", text)


def _failed(answer: TrialAnswer, evaluation: Evaluation) -> tuple[int, ...]:
    """The places (from 1) of the calls whose results were no good ones, where the whole loop ran."""
    codes = () if evaluation.execute is Execute.FIRST else answer.result_codes
    return tuple(place for place, code in enumerate(codes, start=1) if code not in _GOOD_RESULTS)


def _outcome(
    case: Case, answer: TrialAnswer, evaluation: Evaluation, failed: Sequence[int], *, decided_well: bool
) -> Iterator[Misfit]:
    """What became of the calls where the whole loop ran: the results that count, and the final text."""
    if evaluation.execute is Execute.FIRST:
        return
    wrong = () if case.answer is None else _wrong_answer(case.answer, answer.content)
    yield from wrong
    if decided_well and (case.answer is None or wrong):
        for place in failed:
            text = f"the result code was {answer.result_codes[place - 1]}"
            yield Misfit(MisfitKind.FAILED_CALL, f"calls[{place}].result", text)


def _wrong_answer(matcher: str, content: str | None) -> tuple[Misfit, ...]:
    if content is None:
        return (Misfit(MisfitKind.ANSWER, "content", "expected an answer, the run gave none"),)
    found = match_value(parse_json(matcher), content)
    return tuple(Misfit(MisfitKind.ANSWER, "content", mismatch.message) for mismatch in found)


def _by_place(misfit: Misfit) -> tuple[float, str, str, str]:
    """In the order of the calls; what belongs to none stands last."""
    place = _PLACE.match(misfit.path)
    return (int(place[1]) if place else float("inf"), misfit.path, misfit.kind, misfit.message)
