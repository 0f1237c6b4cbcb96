"""Did anything but the change differ between two arms: another build, another day, recordings beside live answers?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Final

from harness.evaluate.tally import Source, Tally
from harness.types.evaluation import Arm, Evaluation, GateSpec
from harness.types.evaluation_summary import AnsweredBy, ProvenanceSummary
from harness.types.trials import AnswerOrigin

TOLERATED: Final = 0.2
"""How large a share of an arm's answers may come from elsewhere: builds rotate within one session, arms are mixed."""
SOURCES_KEPT: Final = 20
OTHERS: Final = "(others)"
_FACETS: Final = (("model", 1), ("fingerprint", 2), ("server build", 3))
_DAY, _ORIGIN = 4, 0


def drift(tally: Tally, gate: GateSpec, blocks: int | None = None) -> tuple[str, ...]:
    """What differed between the answers of a gate's arms beside what the arms change, in words; empty: nothing.

    Counted are the answers that are compared: over the gate's split, of the first ``blocks`` trials or all. A facet
    differs where the arms share no value of it, or where more than TOLERATED of one arm's answers would need another
    value to have the other arm's shares. Where the arms name different models, other builds are the change itself.
    Scripted answers have no day.
    """
    base, candidate = gate.base, gate.candidate
    before, after = (tally.arms[tally.arm_number[name]].answered_by(gate.split, blocks) for name in (base, candidate))
    if not before or not after:
        return ()
    facets = [("live or recorded", _ORIGIN), ("day", _DAY)]
    if _same_model(tally.evaluation, base, candidate):
        facets[1:1] = _FACETS
    said = []
    for name, place in facets:
        ours, theirs = _shares(before, place), _shares(after, place)
        if not set(ours) & set(theirs) or _apart(ours, theirs) > TOLERATED:
            said.append(f"{name}: {base} {_values(ours)}, {candidate} {_values(theirs)}")
    return tuple(said)


def _same_model(evaluation: Evaluation, base: str, candidate: str) -> bool:
    def named(name: str) -> Arm:
        return next(arm for arm in evaluation.arms if arm.name == name)

    def model(arm: Arm) -> str | None:
        spec = arm.model or evaluation.model
        return None if spec is None else spec.name

    return model(named(base)) == model(named(candidate))


def _shares(sources: Mapping[Source, int], place: int) -> dict[str, float]:
    counts: Counter[str] = Counter()
    for source, n in sources.items():
        counts[source[place]] += n
    total = counts.total()
    return {value: n / total for value, n in sorted(counts.items())}


def _apart(ours: Mapping[str, float], theirs: Mapping[str, float]) -> float:
    """Total variation: the share that would have to change hands."""
    return sum(abs(ours.get(value, 0) - theirs.get(value, 0)) for value in sorted({*ours, *theirs})) / 2


def _values(shares: Mapping[str, float], shown: int = 3) -> str:
    most = sorted(shares.items(), key=lambda item: (-item[1], item[0]))
    said = [f"{value or 'not told'} ({share:.0%})" if len(shares) > 1 else value or "not told" for value, share in most]
    return ", ".join(said[:shown]) + (" and others" if len(said) > shown else "")


def provenance(tally: Tally) -> ProvenanceSummary | None:
    """Who answered, where that was no script; None where all was scripted. The most frequent sources of each arm."""
    lines: list[AnsweredBy] = []
    for arm, counted in zip(tally.evaluation.arms, tally.arms, strict=True):
        real = [(n, source) for source, n in counted.answered_by().items() if source.origin != AnswerOrigin.SCRIPTED]
        real.sort(key=lambda item: (-item[0], item[1]))
        shown, others = real[:SOURCES_KEPT], real[SOURCES_KEPT:]
        lines += (AnsweredBy(arm.name, one.origin, n, *(value or None for value in one[1:])) for n, one in shown)
        if others:
            lines.append(AnsweredBy(arm.name, OTHERS, sum(n for n, _ in others)))
    return ProvenanceSummary(tuple(lines), _old_sample(tally)) if lines else None


def _old_sample(tally: Tally) -> str:
    sources: Counter[Source] = Counter()
    for arm in tally.arms:
        sources.update(arm.answered_by())
    recorded = [source for source in sources if source.origin == AnswerOrigin.RECORDED]
    if not recorded:
        return ""
    days = sorted({source.day for source in recorded if source.day})
    when = f" of {days[0]}" if len(days) == 1 else f" of {days[0]} to {days[-1]}" if days else ""
    return (
        f"{sum(sources[source] for source in recorded)} of {sources.total()} answers come from a recording{when}: one "
        f"old sample, which replaying does not make larger or younger; it says what the model did then, not what it "
        f"does now"
    )
