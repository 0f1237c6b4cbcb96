"""Verdicts that a folder gave before: a look that nobody planned is not hidden by the one that follows it.

Where more trials are asked behind a verdict, or the rule or the expectations change, the levels of the new plan know
nothing of it. So the folder keeps each judgement of whole numbers of trials, beside the trials and apart from
``summary.json``, which follows from the trials alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from harness.errors import ConfigurationError
from harness.store import replace_file
from harness.types.evaluation_summary import EvaluationSummary

JUDGEMENTS: Final = "judgements.jsonl"
_MOST_TOLD: Final = 5


@dataclass(frozen=True, slots=True)
class Judgement:
    """One verdict: behind ``blocks`` of ``trials`` planned trials a case, by a rule, of the cases of a digest."""

    trials: int
    blocks: int
    rule: str
    digest: str
    verdict: str

    def same_look(self, other: Judgement) -> bool:
        """Whether both are of the same plan at the same place, so that the later one is the earlier one again."""
        keys = ("trials", "blocks", "rule", "digest")
        return all(getattr(self, key) == getattr(other, key) for key in keys)


def judgement_of(summary: EvaluationSummary) -> Judgement | None:
    """The judgement that a summary is; None without a gate, and where trials of the plan are still to be asked."""
    compared = summary.comparison
    if compared is None or any(summary.arm(name).counts.skipped for name in (compared.base, compared.candidate)):
        return None
    return Judgement(summary.n_trials, compared.look.blocks, summary.rule, summary.digest, summary.verdict)


def keep_judgement(summary: EvaluationSummary, folders: Iterable[Path], into: Path) -> tuple[str, ...]:
    """Add a judgement to those of ``into``, and say what was judged before it, there and in these folders.

    Raises ConfigurationError where a file of judgements cannot be read, RecordingFailed where it cannot be written.
    """
    known: list[Judgement] = []
    for folder in dict.fromkeys((*folders, into)):
        known += [one for one in _read(folder / JUDGEMENTS) if one not in known]
    now = judgement_of(summary)
    others = [one for one in known if now is None or not one.same_look(now)]
    kept = [*others, now] if now is not None else known
    if kept:
        lines = (json.dumps(asdict(one), ensure_ascii=False).encode("utf-8", "replace") + b"\n" for one in kept)
        replace_file(into / JUDGEMENTS, lines)
    return tuple(_told(others, summary))


def _read(path: Path) -> Iterator[Judgement]:
    if not path.exists():
        return
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        try:
            yield Judgement(**json.loads(line))
        except (ValueError, TypeError) as error:
            raise ConfigurationError(
                f"{path}, line {number}: no judgement of an earlier run ({error}); put the file back as it was written"
            ) from error


def _told(others: Sequence[Judgement], summary: EvaluationSummary) -> Iterator[str]:
    for one in others[-_MOST_TOLD:]:
        other = [f"by another rule ({one.rule})"] if one.rule != summary.rule else []
        other += ["by other expectations"] if one.digest != summary.digest else []
        how = f", {' and '.join(other)}" if other else ""
        yield f"judged at {one.blocks} of {one.trials} trials{how}: {one.verdict}; a look that was not planned"
    if len(others) > _MOST_TOLD:
        yield f"and {len(others) - _MOST_TOLD} earlier verdicts more, in {JUDGEMENTS}"
