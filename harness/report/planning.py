"""What a plan says: a table of sizes, and in words what is too small."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

from harness.folds import to_plain
from harness.report.text import counted
from harness.statistics.planning import Plan, PlanRow
from harness.statistics.rates import MIN_UNITS
from harness.types.evaluation import Metric

_HEAD: Final = ("cases", "trials", "requests", "power", "margin", "tokens", "money")


def plan_text(plan: Plan, *, title: str, believed: Sequence[str]) -> str:
    """The table and the sentences. ``believed`` tells where the spread and the prices come from."""
    lines = [title, *believed, "", *_table(plan), "", *plan_words(plan)]
    return "\n".join(lines)


def plan_plain(plan: Plan, *, believed: Sequence[str]) -> dict[str, Any]:
    """A plan as plain values; what is infinite is left out, power and margins have four digits."""
    return {
        "gate": to_plain(plan.gate),
        "power": plan.wanted,
        "difference": plan.difference,
        "spread": {key: _rounded(value) for key, value in to_plain(plan.spread).items()},
        "declared": _row_plain(plan.declared),
        "rows": [_row_plain(row) for row in plan.rows],
        "needed": [{"trials": trials, **({} if row is None else _row_plain(row))} for trials, row in plan.needed],
        "looks": list(plan.looks.blocks),
        "words": plan_words(plan),
        "believed": list(believed),
    }


def _row_plain(row: PlanRow) -> dict[str, Any]:
    return {key: _rounded(value) for key, value in to_plain(row).items() if value is not None and math.isfinite(value)}


def _rounded(value: float) -> float:
    return value if isinstance(value, int) else round(value, 4)


# ---------------------------------------------------------------- the table


def _table(plan: Plan) -> list[str]:
    cells = [_cells(row) for row in plan.rows]
    kept = [place for place, _ in enumerate(_HEAD) if any(row[place] for row in cells)]
    rows = [[row[place] for place in kept] for row in (_HEAD, *cells)]
    widths = [max(len(row[place]) for row in rows) for place in range(len(kept))]
    lines = ["  ".join(text.rjust(width) for text, width in zip(row, widths, strict=True)) for row in rows]
    marks = [" ", *("*" if _is_declared(row, plan) else " " for row in plan.rows)]
    return [*(f"{mark} {line}" for mark, line in zip(marks, lines, strict=True)), *_legend(plan)]


def _legend(plan: Plan) -> list[str]:
    return [
        f"  power: how likely {_candidate(plan)} passes.",
        f"  margin: the smallest that is passed with a power of {plan.wanted:.2g}. *: as declared.",
    ]


def _is_declared(row: PlanRow, plan: Plan) -> bool:
    return (row.n_cases, row.trials) == (plan.declared.n_cases, plan.declared.trials)


def _cells(row: PlanRow) -> tuple[str, ...]:
    tokens = "" if row.tokens is None else f"{row.tokens:,}"
    return (
        f"{row.n_cases:,}",
        str(row.trials),
        f"{row.n_requests:,}",
        _share(row.power),
        f"{row.smallest_margin:.3f}" if row.smallest_margin < 1 else "none",
        tokens,
        "" if row.cost_micro_usd is None else _money(row.cost_micro_usd),
    )


def _share(power: float) -> str:
    return "> 0.99" if power > 0.99 else f"{power:.2f}" if power >= 0.01 else "< 0.01"


def _money(micro_usd: int) -> str:
    return f"${micro_usd / 1e6:,.2f}" if micro_usd >= 10_000 else f"${micro_usd / 1e6:.4f}"


# ---------------------------------------------------------------- in words


def plan_words(plan: Plan) -> list[str]:
    """What the declared size can show, what it cannot, and what would."""
    return [*_declared(plan), *_too_small(plan), *_enough(plan), *_doubtful(plan), *_looked_at(plan)]


def _size(row: PlanRow) -> str:
    return f"{counted(row.n_cases, 'case')} at {counted(row.trials, 'trial')}"


def _candidate(plan: Plan) -> str:
    if plan.difference == 0:
        return "a candidate that is as good as the base"
    better = "better" if plan.difference > 0 else "worse"
    of = " in the share of trials that pass" if plan.gate.metric is Metric.PASS_HAT_K else ""
    return f"a candidate that is {abs(plan.difference):.3g} {better} than the base{of}"


def _declared(plan: Plan) -> list[str]:
    row, margin = plan.declared, f"{plan.gate.margin:.3g}"
    chance = f"with a probability of {_share(row.power)}"
    return [f"As declared, {_size(row)}: {_candidate(plan)} passes (margin {margin}) {chance}."]


def _too_small(plan: Plan) -> list[str]:
    row, lines = plan.declared, []
    if row.power >= plan.wanted:
        return []
    if row.smallest_margin < 1:
        lines.append(
            f"Too small: with {_size(row)} no margin below {_up(row.smallest_margin)} can be shown "
            f"with a power of {plan.wanted:.2g}."
        )
    else:
        lines.append(f"Too small: {_size(row)} can show no margin at all.")
    if plan.gate.metric is Metric.CASE_PASS_RATE and row.smallest_margin < 1:
        lines.append(
            f"However many trials: with {counted(row.n_cases, 'case')} none below {_up(plan.limit_margin)}."
            if plan.limit_margin >= plan.gate.margin
            else f"More trials of the same {counted(row.n_cases, 'case')} would do."
        )
    if row.n_cases < MIN_UNITS:
        lines.append(f"Under {MIN_UNITS} cases rates are shown as counts, without an interval.")
    return lines


def _up(margin: float) -> str:
    """Rounded up, so that what is said to be out of reach is."""
    return f"{math.ceil(margin * 1000 - 1e-6) / 1000:.3f}"


def _enough(plan: Plan) -> list[str]:
    reachable = [row for _, row in plan.needed if row is not None]
    if not reachable:
        return [f"No number of cases shows a margin of {plan.gate.margin:.3g} with a power of {plan.wanted:.2g}."]
    fewest = min(reachable, key=lambda row: (row.n_cases, row.trials))
    cheapest = min(reachable, key=lambda row: (row.n_requests, row.n_cases))
    lines = [f"Fewest cases for a power of {plan.wanted:.2g}: {_size(fewest)}, {_price(fewest)}."]
    if cheapest != fewest:
        lines.append(f"Fewest requests: {_size(cheapest)}, {_price(cheapest)}.")
    return lines


def _price(row: PlanRow) -> str:
    parts = [f"{row.n_requests:,} requests"]
    parts += [] if row.tokens is None else [f"{row.tokens:,} tokens"]
    parts += [] if row.cost_micro_usd is None else [_money(row.cost_micro_usd)]
    return ", ".join(parts)


def _doubtful(plan: Plan) -> list[str]:
    if plan.doubt <= 1 or plan.declared.power < plan.wanted:
        return []
    known = f"The pilot's {counted(plan.spread.n_units, 'unit')} know the spread only roughly"
    larger = f"it may be up to {plan.doubt:.2g} times as large (one-sided 80 %)"
    return [f"{known}: {larger}, and the power then {_share(plan.doubtful_power)}."]


def _looked_at(plan: Plan) -> list[str]:
    looks = plan.looks
    if len(looks.blocks) == 1:
        return []
    told = ", ".join(
        f"{block} (at {level * 100:.4g} %)" if level < 1 else f"{block} (nothing can be decided yet)"
        for block, level in zip(looks.blocks, looks.levels, strict=True)
    )
    return [f"Looked at after whole blocks {told}, {looks.spending} spending. Power is that of the last look alone."]
