"""The application, and the one place that turns errors into exit codes."""

from __future__ import annotations

import os
import sys
from contextlib import nullcontext
from typing import Annotated, TextIO

import typer

from harness.cli import (
    baseline,
    cassettes,
    check,
    compare,
    dataset,
    doctor,
    evaluate,
    history,
    init,
    plan,
    record,
    replay,
    run,
    scenario,
    serve,
    show,
    sweep,
)
from harness.cli.output import complain, forget_secrets, hidden, kept_for_reports, on_one_line, say_json
from harness.cli.session import INTERRUPTED
from harness.errors import HarnessError, UsageError

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
app.command("sweep")(sweep.sweep)
app.command("evaluate")(evaluate.evaluate)
app.command("compare")(compare.compare)
app.command("replay")(replay.replay)
app.command("serve")(serve.serve)
app.add_typer(baseline.app, name="baseline")
app.add_typer(scenario.app, name="scenario")
app.add_typer(dataset.app, name="dataset")
app.command("plan")(plan.plan)
app.command("history")(history.history)
app.command("doctor")(doctor.doctor)
app.add_typer(cassettes.app, name="cassettes")


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
    _in_utf8()
    sys.exit(run_app(sys.argv[1:]))


def _in_utf8() -> None:
    """Begin again in UTF-8 mode where the locale's encoding is another one (case PB-048).

    Python decides at its start how names of files become text; a locale without the characters of a
    scenario's name could not name its files.
    """
    other = sys.getfilesystemencoding() != "utf-8" and os.environ.get("PYTHONUTF8") != "1"
    if other and os.name == "posix" and sys.executable:
        os.execve(sys.executable, sys.orig_argv, {**os.environ, "PYTHONUTF8": "1"})


def run_app(arguments: list[str]) -> int:
    """Run the command line and give its exit code; errors of ours are one message, never a traceback.

    With ``--json``, standard output is one JSON object, whatever a loop or a tool prints.
    """
    _speak_utf8()
    forget_secrets()
    with kept_for_reports() if "--json" in arguments else nullcontext():
        return _run_app(arguments)


def _run_app(arguments: list[str]) -> int:
    try:
        code = int(app(args=arguments, standalone_mode=False, prog_name="harness") or 0)
    except (typer.TyperException, HarnessError, typer.Abort, OSError, RecursionError) as error:
        return _refused(error, arguments)
    except Exception as error:
        if os.environ.get("HARNESS_DEBUG"):
            raise
        what = f"{type(error).__name__}: {error}. This is a fault of the harness; HARNESS_DEBUG=1 shows where."
        return _said(what, 5, arguments)
    if code == INTERRUPTED:
        complain("interrupted")
    return code


def _refused(error: BaseException, arguments: list[str]) -> int:
    """Say what is wrong, give the exit code."""
    match error:
        case UsageError():  # these may list what is wrong on lines of their own
            return _said(str(error), error.exit_code, arguments)
        case HarnessError():
            return _said(str(error), error.exit_code, arguments, one_line=True)
        case typer.TyperException():
            return _usage(error, arguments)
        case OSError():
            place = f"{error.filename}: " if error.filename else ""
            return _said(f"{place}{error.strerror or error}", 5, arguments, one_line=True)
        case _:
            return _said("interrupted" if isinstance(error, typer.Abort) else "nested too deep", 5, arguments)


def _usage(error: typer.TyperException, arguments: list[str]) -> int:
    """What the parser of the command line refuses; no command at all shows the help."""
    context = getattr(error, "ctx", None)
    if type(error).__name__ == "NoArgsIsHelpError":
        complain(error.format_message())
        return 2
    hint = f"\nTry '{context.command_path} --help'." if context is not None else ""
    return _said(error.format_message().replace("Value error, ", "") + hint, 2, arguments)


def _said(message: str, code: int, arguments: list[str], *, one_line: bool = False) -> int:
    # What somebody else's module says when it is imported may hold anything (RELIABILITY P5).
    message = hidden(message)
    complain(f"error: {on_one_line(message) if one_line else message}")
    if "--json" in arguments:
        say_json({"error": message, "exitCode": code})
    return code


def _speak_utf8() -> None:
    """Whatever the locale says (case PB-048)."""
    sys.stdout = sys.stdout or _nowhere()
    sys.stderr = sys.stderr or _nowhere()
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding="utf-8", errors="replace")


def _nowhere() -> TextIO:
    """What a closed stream (``>&-``) is for us; no file that is opened later gets its descriptor."""
    return open(os.devnull, "w", encoding="utf-8")  # open as long as the process
