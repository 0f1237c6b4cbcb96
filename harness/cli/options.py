"""Options that several commands share."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, TypeAlias

import typer

from harness.cli.env_file import read_env_file
from harness.cli.output import keep_secret

if TYPE_CHECKING:
    from harness.types.scenario import Scenario

DEFAULT_SCENARIOS: Final = ("scenarios",)

Paths: TypeAlias = Annotated[
    list[Path] | None,
    typer.Argument(help="Scenario files or folders (default: those of [tool.harness], else scenarios)."),
]
Match: TypeAlias = Annotated[
    str, typer.Option("-k", help="Only scenarios whose id or tags fit, such as 'refund and not slow'.")
]
Jobs: TypeAlias = Annotated[int, typer.Option("-j", "--jobs", help="Runs at once, each in a process of its own.")]
Verbose: TypeAlias = Annotated[
    bool, typer.Option("-v", "--verbose", help="Every step, tool, arguments, a piece of each result, the whole answer.")
]
FORMAT_NAMES: Final = "agentdojo, article, atif, chat, dsh, inspect, mini, nemo, otel, responses or swe"
READ_AS: Final = f"Read as this format instead of looking: {FORMAT_NAMES}."
ReadAs: TypeAlias = Annotated[str | None, typer.Option("--format", help=READ_AS)]
AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]
Checks: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--check", help="Judge by this check only: built-in, an entry point, or package.module:name. May be repeated."
    ),
]
OfSubject: TypeAlias = Annotated[
    str | None, typer.Option("--subject", help="Loop under test: built-in, an entry point, or package.module:name.")
]
Cassettes: TypeAlias = Annotated[
    Path | None, typer.Option("--cassettes", help="Folder of recordings (default: cassettes).")
]
Out = Annotated[
    Path | None, typer.Option("--out", help="Folder for trajectories and summaries (default: reports/latest).")
]
ModelName = Annotated[
    str,
    typer.Option("--model", help="auto (script, else cassette), scripted, cassette, live, or your own's name."),
]
Trials = Annotated[int, typer.Option("--trials", help="Runs of each scenario.")]
Approve = Annotated[
    str | None, typer.Option("--approve", help="Who is asked about calls: terminal, or your own's name.")
]
Resume = Annotated[
    Path | None, typer.Option("--resume", help="Go on where this trajectory ended, repaired where its run died.")
]
Answers = Annotated[
    list[str] | None, typer.Option("--answer", help="With --resume: CALL=allow or CALL=reject, for a parked call.")
]
Fork = Annotated[
    Path | None, typer.Option("--fork", help="Begin with this trajectory up to --at, then go another way.")
]
At = Annotated[int | None, typer.Option("--at", help="With --fork: the last event taken over.")]
NextTask = Annotated[str | None, typer.Option("--task", help="With --resume or --fork: what is to be done next.")]
Workspace = Annotated[
    Path | None, typer.Option("--workspace", help="Folder for file and memory tools (default: a fresh one).")
]
Update = Annotated[
    bool, typer.Option("--update", help="Where an expectation is not met, write down what was observed.")
]


EnvFile = Annotated[
    Path | None,
    typer.Option("--env-file", help="A file of KEY=value lines; what is set already stays."),
]


Api = Annotated[
    str | None, typer.Option("--api", help="Where nothing is scripted: chat or responses (else HARNESS_API, scenario).")
]
Streamed = Annotated[
    bool | None, typer.Option("--stream/--no-stream", help="Ask the model for streams (else HARNESS_STREAM, scenario).")
]
ProfileName = Annotated[
    str | None,
    typer.Option("--profile", help="Rules of the model's provider by name (else HARNESS_PROFILE, scenario)."),
]


def environment(
    file: Path | None = None, *, api: str | None = None, stream: bool | None = None, profile: str | None = None
) -> tuple[tuple[str, str], ...]:
    """The environment as an argument; what ``file`` says stands below it, what options say of models above it.

    No file is read that was not asked for. Raises ConfigurationError.
    """
    said = {"HARNESS_API": api, "HARNESS_STREAM": None if stream is None else str(stream).lower()}
    said["HARNESS_PROFILE"] = profile
    given = {name: value for name, value in said.items() if value is not None}
    of_file = {} if file is None else read_env_file(file)
    keep_secret(of_file)
    return tuple(sorted({**of_file, **os.environ, **given}.items()))


def let_names_resolve() -> None:
    """Names such as ``myapp:registry`` are looked up from the current folder too."""
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)


def collected(paths: list[Path] | None, configured: tuple[str, ...], match: str) -> tuple[Scenario, ...]:
    """The scenarios that were asked for. Raises ScenarioError, UsageError, NothingToRunError."""
    from harness.errors import ConfigurationError
    from harness.scenarios import collect

    if not paths and not configured and not Path(*DEFAULT_SCENARIOS).exists():
        raise ConfigurationError(
            "there is no folder 'scenarios' here: name files or folders of scenarios, say in pyproject.toml where "
            "they are ([tool.harness] scenarios), or write a first one with 'harness init'"
        )
    wanted = paths or [Path(path) for path in configured or DEFAULT_SCENARIOS]
    return collect(wanted, match=_as_text(match) or None, configured=configured)


def _as_text(argument: str) -> str:
    """An argument as UTF-8, whatever the locale took it for (case PB-048)."""
    return os.fsencode(argument).decode("utf-8", "replace")
