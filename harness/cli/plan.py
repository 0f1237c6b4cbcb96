"""``harness plan``: how many cases and trials a gate needs, and what they cost."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from harness.cli.options import AsJson

Share = float | None


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
