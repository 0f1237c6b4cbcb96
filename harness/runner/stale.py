"""Recordings that do not fit any more: why, told once for each cause, and what recording them again would take."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from harness.cassettes import read_cassette, recorded_usage
from harness.errors import CassetteError
from harness.folds.budget import cost_of
from harness.runner.seats import cassettes_of
from harness.runner.specs import RunSpec
from harness.types.limits import Prices
from harness.types.reasons import Usage
from harness.types.records import RunSummary, Verdict
from harness.types.verdict_names import OUT_OF_DATE

LEFT_OVER: Final = "recording-left-over"
_STALE: Final = frozenset({OUT_OF_DATE, LEFT_OVER})
_PER: Final = 1_000_000
_MISS: Final = "; nearest is"


@dataclass(frozen=True, slots=True)
class Asking:
    """What recording took the last time. ``micro_usd`` None: nobody says what these models cost."""

    n_requests: int = 0
    n_tokens: int = 0
    micro_usd: int | None = 0

    def plus(self, other: Asking) -> Asking:
        """Both together; the price of one unknown is unknown."""
        known = self.micro_usd is not None and other.micro_usd is not None
        money = (self.micro_usd or 0) + (other.micro_usd or 0) if known else None
        return Asking(self.n_requests + other.n_requests, self.n_tokens + other.n_tokens, money)


@dataclass(frozen=True, slots=True)
class Stale:
    """Runs whose recordings one change put out of date.

    ``example`` shows the change in one of them; ``followed`` are the steps that each still followed, by run.
    """

    cause: str
    example: str
    specs: tuple[RunSpec, ...]
    followed: tuple[int, ...]
    asking: Asking

    @property
    def scenarios(self) -> tuple[str, ...]:
        """Their scenarios, each once, by name."""
        return tuple(sorted({spec.scenario.id for spec in self.specs}))


def stale_recordings(
    specs: Sequence[RunSpec], summaries: Iterable[RunSummary], prices: Mapping[str, Prices] | None = None
) -> tuple[Stale, ...]:
    """The causes, that of most runs first; empty where every recording fits."""
    by_run = {spec.run_id: spec for spec in specs}
    groups: dict[str, list[tuple[RunSpec, RunSummary, Verdict]]] = {}
    for summary in summaries:
        for verdict in summary.verdicts:
            if summary.run_id in by_run and any(finding.rule in _STALE for finding in verdict.findings):
                groups.setdefault(_cause(verdict), []).append((by_run[summary.run_id], summary, verdict))
    made = [_stale(cause, runs, prices or {}) for cause, runs in groups.items()]
    return tuple(sorted(made, key=lambda one: (-len(one.specs), one.cause)))


def _cause(verdict: Verdict) -> str:
    out_of_date = any(finding.rule == OUT_OF_DATE for finding in verdict.findings)
    return verdict.why if out_of_date else "recording out of date: the run asks less than was recorded"


def _stale(cause: str, runs: Sequence[tuple[RunSpec, RunSummary, Verdict]], prices: Mapping[str, Prices]) -> Stale:
    asking = Asking()
    for spec, _, _ in runs:
        asking = asking.plus(asking_for(spec, prices))
    return Stale(
        cause,
        _example(runs[0][2]),
        tuple(spec for spec, _, _ in runs),
        tuple(summary.n_steps for _, summary, _ in runs),
        asking,
    )


def _example(verdict: Verdict) -> str:
    """Both texts of the first difference, where there are two."""
    text = verdict.findings[0].message.partition(_MISS)[0]
    return text.partition(": ")[2] if " was recorded, " in text else ""


def asking_for(spec: RunSpec, prices: Mapping[str, Prices]) -> Asking:
    """What the recordings of a run took; those that cannot be read count nothing."""
    found = Asking()
    for path in cassettes_of(spec):
        try:
            cassette = read_cassette(path)
        except CassetteError:
            continue
        model = cassette.about.model if cassette.about is not None else ""
        found = found.plus(_asking(len(cassette.exchanges), recorded_usage(cassette), prices.get(model)))
    return found


def _asking(n_requests: int, usage: Usage | None, prices: Prices | None) -> Asking:
    if usage is None:
        return Asking(n_requests, 0, None)
    n_tokens = (usage.input_tokens or 0) + (usage.output_tokens or 0)
    if usage.cost_micro_usd is None and prices is None:
        return Asking(n_requests, n_tokens, None)
    return Asking(n_requests, n_tokens, -(-cost_of(usage, prices) // _PER))
