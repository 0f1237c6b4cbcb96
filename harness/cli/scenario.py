"""``harness scenario``: about scenario files."""

from __future__ import annotations

import typer

from harness.cli import from_run, mutate

app = typer.Typer(help="About scenario files.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    pass


@app.command("schema")
def schema() -> None:
    """Print the JSON Schema of scenario files, for editors."""
    import json

    from harness.cli.output import say
    from harness.scenarios import scenario_schema

    say(json.dumps(scenario_schema(), indent=2, ensure_ascii=False))


app.command("mutate")(mutate.mutate)
app.command("from")(from_run.from_run)
