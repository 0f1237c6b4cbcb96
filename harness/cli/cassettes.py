"""``harness cassettes``: what lies in a folder of recordings, and other people's recordings made ours."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from harness.cli.options import AsJson, Cassettes, Verbose, collected, environment, let_names_resolve

if TYPE_CHECKING:
    from harness.cassettes.library import Held
    from harness.runner.cassettes import Users

app = typer.Typer(help="About recordings: list, audit, prune, import.", no_args_is_help=True)
DEFAULT_IMPORTED: Final = Path("reports/imported")
Scenarios = Annotated[
    list[Path] | None,
    typer.Option(
        "--scenarios", help="Scenarios that count as users (default: those of [tool.harness], else scenarios)."
    ),
]


@app.callback()
def _group() -> None:
    pass


@app.command("list")
def list_cassettes(cassettes: Cassettes = None, scenarios: Scenarios = None, as_json: AsJson = False) -> None:
    """List cassettes: scenario, model, server, date, exchanges, size, and whether a scenario replays it."""
    from harness.cli.cassette_text import list_text, list_value
    from harness.cli.output import say, say_json

    root, held, _ = _folder(cassettes, scenarios)
    if as_json:
        say_json(list_value(held))
    else:
        say(list_text(held, root))


@app.command("audit")
def audit(cassettes: Cassettes = None, scenarios: Scenarios = None, as_json: AsJson = False) -> None:
    """Look for damage, secrets, cassettes that no scenario replays, duplicates, and missing headers.

    Exit code 0: nothing found; 1: something is; 4: nothing but damage, or no cassettes at all.
    """
    from harness.cassettes.library import Trouble
    from harness.cassettes.library import audit as found_in
    from harness.cli.cassette_text import audit_text, audit_value
    from harness.cli.output import say, say_json
    from harness.redaction import known_secrets

    _, held, users = _folder(cassettes, scenarios)
    findings = found_in(held, users.ids if users else None, known_secrets(dict(environment())))
    if as_json:
        say_json(audit_value(findings, len(held)))
    else:
        say(audit_text(findings, len(held), scenarios_known=users is not None))
    if findings:
        raise typer.Exit(4 if all(one.trouble is Trouble.DAMAGED for one in findings) else 1)


@app.command("prune")
def prune(
    cassettes: Cassettes = None,
    scenarios: Scenarios = None,
    yes: Annotated[bool, typer.Option("--yes", help="Delete them; without it they are only named.")] = False,
    as_json: AsJson = False,
) -> None:
    """Remove cassettes that no scenario replays. Without --yes nothing is removed.

    All scenarios must load. Damaged files stay: the audit names them.
    """
    from harness.cassettes.library import remove, unused
    from harness.cli.output import say, say_json
    from harness.errors import ConfigurationError
    from harness.report.text import counted

    root, held, users = _folder(cassettes, scenarios)
    if users is None:
        raise ConfigurationError(
            "there are no scenarios here, so no cassette is known to be in use: name them with --scenarios"
        )
    going = unused(held)
    if yes:
        remove(going, root)
    if as_json:
        say_json({"unused": [one.path.as_posix() for one in going], "removed": yes})
        return
    lines = [f"{'removed' if yes else 'unused'}  {one.path}" for one in going]
    what = f"{counted(len(going), 'cassette')} of {len(held)} {'removed' if yes else 'unused'}"
    say("\n".join([*lines, what + ("" if yes or not going else "; nothing was removed: --yes does it")]))


@app.command("import")
def import_cassettes(
    paths: Annotated[list[Path], typer.Argument(help="Files of vcrpy (YAML or JSON), or folders of them.")],
    out: Annotated[
        Path, typer.Option("-o", "--out", help="Folder for the cassettes; nothing in it is overwritten.")
    ] = DEFAULT_IMPORTED,
    verbose: Verbose = False,
    as_json: AsJson = False,
) -> None:
    """Make cassettes of other people's recordings; tell what replays, and why the rest does not.

    Read are files of vcrpy, also with compressed bodies or bodies kept as trees (parsed_body). Exit code 4: a file
    cannot be read, or nothing replays.
    """
    from harness.cli.cassette_text import import_text, import_value
    from harness.cli.output import say, say_json
    from harness.redaction import known_secrets
    from harness.runner import import_recordings
    from harness.store import check_folder

    check_folder(out, "-o")
    done = import_recordings(paths, out, known_secrets(dict(environment())))
    if as_json:
        say_json(import_value(done))
    else:
        say(import_text(done, out, verbose=verbose))
    if any(one.error for one in done) or not any(one.target for one in done):
        raise typer.Exit(4)


def _folder(cassettes: Path | None, scenarios: list[Path] | None) -> tuple[Path, tuple[Held, ...], Users | None]:
    """The folder, what is in it, and who uses it (None where there are no scenarios to ask)."""
    from harness.cassettes.library import read_folder
    from harness.cli.options import DEFAULT_SCENARIOS
    from harness.runner import cassette_users
    from harness.runner.settings import settings

    let_names_resolve()
    configured = settings()
    root = cassettes or Path(configured.cassettes)
    users = None
    if scenarios or configured.scenarios or Path(*DEFAULT_SCENARIOS).exists():
        users = cassette_users(collected(scenarios, configured.scenarios, ""), root)
    return root, read_folder(root, users.by_path if users else None), users
