"""The application, and the one place that turns errors into exit codes."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from harness.cli import check, compare, init, record, run, scenario, show
from harness.errors import HarnessError

_HELP = """Test agent loops: run scenarios, replay recordings, judge trajectories, compare runs.

Exit codes: 0 passed, 1 failed, 2 usage, 3 not decidable, 4 nothing was really checked, 5 our error or
the world's, 130 interrupted.
"""

app = typer.Typer(
    name="harness",
    help=_HELP,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command("init")(init.init)
app.command("run")(run.run)
app.command("record")(record.record)
app.command("check")(check.check)
app.command("show")(show.show)
app.command("compare")(compare.compare)
app.add_typer(scenario.app, name="scenario")


def _version(value: bool) -> None:
    if value:
        from harness.runner.version import VERSION

        typer.echo(f"agent-loop-harness {VERSION}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command line and exit with the code of the verdict table."""
    sys.exit(run_app(sys.argv[1:]))


def run_app(arguments: list[str]) -> int:
    """Run the command line and give its exit code; errors of ours are one message, never a traceback."""
    _speak_utf8()
    try:
        code = app(args=arguments, standalone_mode=False, prog_name="harness")
    except typer.TyperException as error:
        error.show()
        return int(getattr(error, "exit_code", 2))
    except (KeyboardInterrupt, typer.Abort):
        typer.echo("interrupted", err=True)
        return 130
    except HarnessError as error:
        typer.echo(f"error: {error}", err=True)
        return error.exit_code
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        if os.environ.get("HARNESS_DEBUG"):
            raise
        typer.echo(
            f"error: {type(error).__name__}: {error}. This is a fault of the harness; HARNESS_DEBUG=1 shows where.",
            err=True,
        )
        return 5
    return int(code or 0)


def _speak_utf8() -> None:
    """Whatever the locale says (case PB-048)."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding="utf-8", errors="replace")
