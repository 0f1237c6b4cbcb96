"""``harness plan``: how many cases and trials a gate needs, and what they cost."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Final

import typer

from harness.cli.options import AsJson

Share = float | None
_SHARE: Final = "a share from 0 to 1"
_AMOUNT: Final = "an amount of at least 0"


def plan(
    target: Annotated[Path, typer.Argument(help="An evaluation's file, or the folder of one that was run: the pilot.")],
    pilot: Annotated[
        Path | None, typer.Option("--pilot", help="Folder of an earlier evaluation to learn from.")
    ] = None,
    pass_rate: Annotated[Share, typer.Option("--pass-rate", help="Without a pilot: how many trials pass.")] = None,
    correlation: Annotated[
        Share, typer.Option("--correlation", help="Without a pilot: how alike the trials of a case are, 0 to 1.")
    ] = None,
    changing: Annotated[
        Share, typer.Option("--changing", help="Without both arms: the share of the cases that change at all.")
    ] = None,
    margin: Annotated[Share, typer.Option("--margin", help="Another margin than the gate's.")] = None,
    looks: Annotated[int | None, typer.Option("--looks", help="Looks at whole blocks, the last at the end.")] = None,
    power: Annotated[float, typer.Option("--power", help="The wanted power.")] = 0.8,
    difference: Annotated[
        float, typer.Option("--difference", help="The true difference to plan for; 0: the candidate is as good.")
    ] = 0.0,
    cases: Annotated[list[int] | None, typer.Option("--cases", help="A number of cases. May be repeated.")] = None,
    trials: Annotated[list[int] | None, typer.Option("--trials", help="A number of trials. May be repeated.")] = None,
    tokens: Annotated[Share, typer.Option("--tokens-per-trial", help="Tokens of one trial.")] = None,
    usd: Annotated[Share, typer.Option("--usd-per-trial", help="Dollars of one trial.")] = None,
    as_json: AsJson = False,
) -> None:
    """Plan an evaluation: cases, trials, power, and what it costs.

    Nothing is asked of any model. The spread comes from an earlier evaluation, or from assumptions.
    """
    from harness.cli.output import say, say_json
    from harness.report.planning import plan_plain, plan_text
    from harness.runner.evaluation.planning import PlanOptions, plan_size

    _check_shares(pass_rate, correlation, changing, margin, power, difference)
    _check_amounts(tokens, usd)
    _check_sizes(looks, cases or (), trials or ())
    options = PlanOptions(
        pilot=pilot,
        pass_rate=pass_rate,
        correlation=correlation,
        changing=changing,
        margin=margin,
        looks=looks,
        power=power,
        difference=difference,
        cases=tuple(cases or ()),
        trials=tuple(trials or ()),
        tokens=tokens,
        cost_micro_usd=None if usd is None else usd * 1e6,
    )
    found = plan_size(target, options)
    if as_json:
        say_json({"title": found.title, **plan_plain(found.plan, believed=found.believed)})
    else:
        say(plan_text(found.plan, title=found.title, believed=found.believed))


def _check_shares(
    pass_rate: Share, correlation: Share, changing: Share, margin: Share, power: float, difference: float
) -> None:
    from harness.types.evaluation import LEAST_MARGIN

    for option, share in (("--pass-rate", pass_rate), ("--correlation", correlation), ("--changing", changing)):
        _check(option, share, share is None or 0 <= share <= 1, _SHARE)
    is_margin = margin is None or LEAST_MARGIN <= margin <= 1 - LEAST_MARGIN
    _check("--margin", margin, is_margin, "a share above 0 and below 1, such as 0.10")
    _check("--power", power, 0 < power < 1, "a share above 0 and below 1, such as 0.8")
    _check("--difference", difference, -1 < difference < 1, "a difference of two shares, above -1 and below 1")


def _check_amounts(tokens: Share, usd: Share) -> None:
    for option, amount in (("--tokens-per-trial", tokens), ("--usd-per-trial", usd)):
        _check(option, amount, amount is None or (math.isfinite(amount) and amount >= 0), _AMOUNT)


def _check_sizes(looks: int | None, cases: Iterable[int], trials: Iterable[int]) -> None:
    sizes = (*(("--looks", n) for n in (looks,) if n is not None), *(("--cases", n) for n in cases))
    for option, n in (*sizes, *(("--trials", n) for n in trials)):
        _check(option, n, n >= 1, "a whole number from 1")


def _check(option: str, value: float | None, is_right: bool, what: str) -> None:
    """Raises UsageError that names the option at fault, and no other."""
    from harness.errors import UsageError

    if not is_right:
        raise UsageError(f"{option} must be {what}; is {value}")
