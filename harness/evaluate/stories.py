"""The cases that fail most, told trial by trial: what was asked, what was right, what was chosen instead."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from heapq import nsmallest
from typing import Final

from harness.evaluate.grading import grade as graded_trial
from harness.evaluate.insight import expected_text
from harness.evaluate.summary import settle, tallied
from harness.evaluate.tally import Tally
from harness.types.evaluation import Case, Evaluation, ToolSnapshot
from harness.types.evaluation_stories import ArmStory, CaseStories, CaseStory, MisfitStory, TrialStory
from harness.types.grades import Grade, Score
from harness.types.trials import Trial

MOST_CASES: Final = 200
MOST_TRIALS: Final = 6
_TEXT_CHARS: Final = 2_000
_MOST_MISFITS: Final = 10
_ORDER: Final = (Score.FAILED, Score.ERRORED, Score.PASSED, Score.SKIPPED)


def stories(
    evaluation: Evaluation,
    snapshot: ToolSnapshot,
    trials: Callable[[], Iterable[Trial]],
    distractors: ToolSnapshot | None = None,
    *,
    most: int = MOST_CASES,
) -> CaseStories:
    """At most so many cases, those with the most trials that did not pass first; ``trials`` are read twice.

    Of a case under an arm MOST_TRIALS trials are told. Raises like ``summarise``.
    """
    tally = tallied(evaluation, snapshot, trials(), distractors)
    settle(tally)
    failing = [(-n, number) for number in range(len(tally.index)) if (n := _n_not_passed(tally, number))]
    chosen = [number for _, number in nsmallest(most, failing)]
    told: dict[tuple[int, int], list[TrialStory]] = {
        (number, arm): [] for number in chosen for arm in range(len(evaluation.arms))
    }
    for trial in trials():
        number, arm = tally.index.number(trial.case), tally.arm_number[trial.arm]
        if number is None or (number, arm) not in told or trial.trial > tally.n_judged:
            continue
        found = graded_trial(
            tally.index.cases[number], evaluation.arms[arm], trial, tools=snapshot, evaluation=evaluation,
            distractors=distractors,
        )  # fmt: skip
        told[number, arm].append(_trial(trial, found))
    cases = tuple(_case(tally, number, told) for number in chosen)
    return CaseStories(cases, len(failing) - len(cases))


def _n_not_passed(tally: Tally, case: int) -> int:
    """Failed or errored, under all arms; one that was never asked says nothing of its case."""
    counts = [tally.counts(case, arm) for arm in range(len(tally.arms))]
    return sum(one.failed + one.errored for one in counts)


def _case(tally: Tally, number: int, told: dict[tuple[int, int], list[TrialStory]]) -> CaseStory:
    case = tally.index.cases[number]
    arms = tuple(_arm(tally, number, arm, told[number, arm]) for arm in range(len(tally.arms)))
    return CaseStory(case.id, case.unit, case.tags, len(case.history), cut(_asked(case)), expected_text(case), arms)


def _asked(case: Case) -> str:
    """The question; of a case whose history holds it, the last message there."""
    if case.ask or not case.history:
        return case.ask
    content = case.history[-1].content
    return content if isinstance(content, str) else ""


def _arm(tally: Tally, number: int, arm: int, trials: list[TrialStory]) -> ArmStory:
    counts = tally.counts(number, arm)
    trials.sort(key=lambda one: (_ORDER.index(one.score), one.trial))
    kept = tuple(trials[:MOST_TRIALS])
    name = tally.evaluation.arms[arm].name
    return ArmStory(name, counts.passed, counts.planned, kept, len(trials) - len(kept))


def _trial(trial: Trial, found: Grade) -> TrialStory:
    misfits = tuple(MisfitStory(one.kind, cut(one.path), cut(one.message)) for one in found.misfits[:_MOST_MISFITS])
    return TrialStory(trial.trial, found.score, cut(_chosen(trial)), found.stage, misfits)


def _chosen(trial: Trial) -> str:
    """``get_order({"id":7}) and lookup({})``, else the text of the answer, else why there is none."""
    if trial.answer is None:
        error = trial.error
        return "" if error is None else f"{error.owner} {error.code}: {error.message}"
    calls = [f"{call.name}({call.arguments})" for call in trial.answer.calls]
    text = trial.answer.content if trial.answer.refusal is None else trial.answer.refusal
    return " and ".join(calls) or text or ""


def cut(text: str) -> str:
    """The beginning of a text, as much as a page shows."""
    return text if len(text) <= _TEXT_CHARS else text[: _TEXT_CHARS - 1] + "…"
