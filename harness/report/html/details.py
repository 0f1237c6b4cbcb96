"""A row in full: both runs block by block, aligned, with all that the model saw."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, Final

from harness.folds import is_interrupted, state_text, to_plain
from harness.report.html.apart import starts_of
from harness.report.html.blocks import Shown, block_plain
from harness.report.html.calls import Work, work_of
from harness.report.html.cutting import Cutter, Plain, Room, slim, windows
from harness.report.html.requests import Pools, SideRequests
from harness.report.unpassed import bad_verdicts
from harness.types.aligned import AlignedRuns, AlignedSide, BlockPair
from harness.types.codes import Outcome
from harness.types.exchange import ToolStart
from harness.types.lifecycle import CancelDelivered, CancelRequested, RunQuiescent
from harness.types.records import Divergence, RunSummary, ScenarioComparison, Verdict

_MOST_VERDICTS: Final = 40
_MOST_FINDINGS: Final = 20
_MOST_SEGMENTS: Final = 100


def detail_plain(row: ScenarioComparison, at: int, runs: AlignedRuns, room: Room) -> Plain:
    """The block ``detail-<n>`` of a row (``at``: its place in the overview), in so much room."""
    cutter = Cutter(room, starts_of(runs, room.text_chars))
    pools = Pools(cutter)
    words = Cutter(room, cutter.starts)  # what we say of the runs is not counted as left out of them
    found = row.explanation
    first = _place(runs, found.first if found else row.divergence)
    shown = _place(runs, found.shown if found else None)
    kept = windows(len(runs.pairs), [place for place in (first, shown) if place is not None], room.n_pairs)
    pairs = [runs.pairs[place] for place in kept]
    sides = {
        name: _Side(side, run, [place for pair in pairs if (place := getattr(pair, name)) is not None])
        for name, side, run in (("base", runs.base, row.base), ("candidate", runs.candidate, row.candidate))
        if side is not None and run is not None
    }
    made = {name: side.plain(pools, words) for name, side in sides.items()}
    return {
        "row": at,
        "messages": pools.messages.values,
        "systems": pools.systems.values,
        "tools": pools.tools.values,
        "parameters": pools.parameters.values,
        "parametersCut": pools.parameters_cut,
        "parametersCutBefore": [cutter.before(text) for text in pools.parameters.values],
        "base": made.get("base"),
        "candidate": made.get("candidate"),
        "pairs": [_pair(pair, sides) for pair in pairs],
        "first": _within(first, kept),
        "shown": _within(shown, kept),
        "segments": [_placed(to_plain(segment)) for segment in runs.segments[:_MOST_SEGMENTS]],
        "segmentsLeftOut": len(runs.segments[_MOST_SEGMENTS:]),
        "inputs": [_input(one, words) for one in found.inputs] if found else [],
        "explanation": _cut_all(_placed(to_plain(found)), words) if found else None,
        "verdicts": {name: _verdicts(bad_verdicts(side.run), words) for name, side in sides.items()},
        "judged": {name: _judged(side.run) for name, side in sides.items()},
        "verdictsLeftOut": {name: _n_verdicts_left_out(bad_verdicts(side.run)) for name, side in sides.items()},
        "cutText": cutter.n_left_out,
        "gaps": _gaps(kept, len(runs.pairs)),
    }


def _gaps(kept: Sequence[int], n_pairs: int) -> list[Plain]:
    """Where pairs are left out: ``n`` of them before the pair ``at`` (``at`` behind the last: after it)."""
    steps = enumerate(pairwise([-1, *kept, n_pairs]))
    return [{"at": at, "n": after - before - 1} for at, (before, after) in steps if after - before > 1]


class _Side:
    """One run of a pair, of which some blocks are shown."""

    def __init__(self, side: AlignedSide, run: RunSummary, places: Iterable[int]) -> None:
        self.side, self.run = side, run
        self.places = sorted(places)
        self.number = {place: number for number, place in enumerate(self.places)}

    def plain(self, pools: Pools, words: Cutter) -> Plain:
        """``base`` or ``candidate`` of a detail."""
        trajectory, blocks, cutter = self.side.trajectory, self.side.blocks, pools.cutter
        seqs = frozenset(event.seq for place in self.places for event in blocks[place].events)
        work: dict[int, list[Work]] = {}
        for one in work_of(trajectory):
            work.setdefault(one.at.seq, []).append(one)
        observed = dict(trajectory.header.observed)
        starts = not observed or ToolStart.TYPE in observed
        shown = Shown(SideRequests.of(trajectory, pools, seqs), work, cutter, sees_starts=starts)
        made = [
            {**block_plain(blocks[place], shown), **slim({"afterGap": at > 0 and self.places[at - 1] != place - 1})}
            for at, place in enumerate(self.places)
        ]
        return {
            **_told(self.run, words),
            **_setup(self.side, words),
            "blocks": made,
            "tapes": [tape.entries for tape in shown.requests.tapes],
            "cut": len(blocks) - len(made),
        }


def _told(run: RunSummary, cutter: Cutter) -> Plain:
    """What the summary of a run says."""
    return {
        "runId": cutter.text(run.run_id),
        "file": cutter.text(run.file),
        "subject": cutter.text(run.subject),
        "model": cutter.text(run.model),
        "arm": cutter.text(run.arm),
        "trial": run.trial,
        "status": str(run.status) if run.status else None,
        "reason": cutter.text(run.reason),
        "outcome": str(run.outcome),
        "durationMs": run.duration_ms,
        "nTurns": run.n_turns,
        "nSteps": run.n_steps,
        "nRequests": run.n_requests,
        "inputTokens": run.input_tokens,
        "outputTokens": run.output_tokens,
        "costMicroUsd": run.cost_micro_usd,
        "realTime": cutter.some(run.real_time),
    }


def _setup(side: AlignedSide, cutter: Cutter) -> Plain:
    """What the header and the last line of a run say, and where it was cancelled."""
    trajectory = side.trajectory
    header = trajectory.header
    last = next((event for event in reversed(trajectory.events) if isinstance(event.fact, RunQuiescent)), None)
    alive = last.fact.alive if last is not None and isinstance(last.fact, RunQuiescent) else ()
    cancels = [
        {
            "kind": "requested" if isinstance(event.fact, CancelRequested) else "delivered",
            "seq": event.seq,
            "timeMs": event.time,
            "by": str(event.fact.by),
            "scope": str(event.fact.scope),
            "reason": cutter.some(event.fact.reason),
        }
        for event in trajectory.events
        if isinstance(event.fact, CancelRequested | CancelDelivered)
    ]
    return {
        "clock": str(header.clock),
        "seed": header.seed,
        "limits": cutter.some(header.limits),
        "parent": _cut_all(to_plain(header.parent), cutter) if header.parent else None,
        "cancels": cancels,
        "quiescentMs": last.time if last is not None else None,
        "alive": [cutter.text(f"{one.kind} {one.name}") for one in alive],
        "interrupted": is_interrupted(trajectory),
        "state": cutter.text(state_text(trajectory.events)),
        "torn": trajectory.torn is not None,
    }


def _place(runs: AlignedRuns, found: Divergence | None) -> int | None:
    """The first pair that holds a difference; None where there is none, or it lies in no event (the setup)."""
    if found is None:
        return None
    sides = ((runs.base, found.base_seq), (runs.candidate, found.candidate_seq))
    base, candidate = (_block_of(side, seq) for side, seq in sides)
    for at, pair in enumerate(runs.pairs):
        if (base is not None and pair.base == base) or (candidate is not None and pair.candidate == candidate):
            return at
    return None


def _block_of(side: AlignedSide | None, seq: int | None) -> int | None:
    if side is None or seq is None:
        return None
    return next((at for at, block in enumerate(side.blocks) if any(e.seq == seq for e in block.events)), None)


def _within(place: int | None, kept: Sequence[int]) -> int | None:
    return kept.index(place) if place is not None and place in kept else None


def _pair(pair: BlockPair, sides: dict[str, _Side]) -> Plain:
    base, candidate = (
        sides[name].number[place] if place is not None and name in sides else None
        for name, place in (("base", pair.base), ("candidate", pair.candidate))
    )
    return {"kind": str(pair.kind), "base": base, "candidate": candidate}


def _placed(value: Any) -> Any:
    """A plain value without the numbers of its events: ``shown`` and ``first`` name the pairs that hold them."""
    if isinstance(value, dict):
        return {key: _placed(item) for key, item in value.items() if key not in ("baseSeq", "candidateSeq")}
    return [_placed(item) for item in value] if isinstance(value, list) else value


def _input(found: Divergence, cutter: Cutter) -> Plain:
    before = cutter.n_cut
    base, candidate = cutter.some(found.base), cutter.some(found.candidate)
    return cutter.counted({"path": cutter.text(found.path), "base": base, "candidate": candidate}, before)


def _judged(run: RunSummary) -> Plain:
    """How many checks judged a run, and how many of them it passed: those that did not apply are no pass."""
    return {"n": len(run.verdicts), "passed": sum(one.outcome is Outcome.PASS for one in run.verdicts)}


def _verdicts(verdicts: Sequence[Verdict], cutter: Cutter) -> list[Plain]:
    """Checks that did not pass, with the first of their findings; ``nFindings`` counts all."""
    shown = verdicts[:_MOST_VERDICTS]
    return [
        slim({
            "check": cutter.text(verdict.check),
            "outcome": str(verdict.outcome),
            "why": cutter.text(verdict.why),
            "nFindings": len(verdict.findings),
            "findings": [_cut_all(to_plain(found), cutter) for found in verdict.findings[:_MOST_FINDINGS]],
        })
        for verdict in shown
    ]  # fmt: skip


def _n_verdicts_left_out(verdicts: Sequence[Verdict]) -> int:
    return max(0, len(verdicts) - _MOST_VERDICTS)


def _cut_all(value: Any, cutter: Cutter) -> Any:
    """A plain value with each text in it cut."""
    if isinstance(value, str):
        return cutter.text(value)
    if isinstance(value, dict):
        return {key: _cut_all(item, cutter) for key, item in value.items()}
    if isinstance(value, list):
        return [_cut_all(item, cutter) for item in value]
    return value
