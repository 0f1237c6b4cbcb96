"""``harness dataset``: evaluation files made, looked through and checked. No tool is ever called."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harness.cli.dataset_making import app as importing
from harness.cli.dataset_making import counted, from_runs
from harness.cli.options import AsJson, EnvFile, environment, let_names_resolve

if TYPE_CHECKING:
    from harness.evaluate.dataset_problems import Problem
    from harness.types.evaluation import Evaluation, ToolSnapshot, ToolSource

app = typer.Typer(help="Make evaluation files, look through their tools, check them.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    pass


Mcp = Annotated[
    str | None, typer.Option("--mcp", help="Tools of an MCP server: the command that starts it, or its URL.")
]
McpEnv = Annotated[
    list[str] | None, typer.Option("--env", help="With --mcp: a variable that the server is given. May be repeated.")
]
OpenApi = Annotated[Path | None, typer.Option("--openapi", help="Tools of an OpenAPI document.")]
Registry = Annotated[str | None, typer.Option("--from", help="Tools of a registry: package.module:name.")]
Schemas = Annotated[Path | None, typer.Option("--schemas", help="Tools of a file of {name, description, parameters}.")]
Use = Annotated[list[str] | None, typer.Option("--use", help="A built-in tool of the harness. May be repeated.")]
OutFile = Annotated[Path, typer.Option("-o", "--out", help="File to write; one that is there stays.")]


@app.command("init")
def init(
    mcp: Mcp = None,
    env: McpEnv = None,
    openapi: OpenApi = None,
    registry: Registry = None,
    schemas: Schemas = None,
    use: Use = None,
    out: OutFile = Path("evaluation.yaml"),
    env_file: EnvFile = None,
) -> None:
    """Write an evaluation of your tools, with a case for each of them to fill in.

    Tools are listed, none is called.
    """
    from harness.cli.dataset_skeleton import skeleton_text
    from harness.cli.output import complain, say
    from harness.errors import ConfigurationError
    from harness.store import check_file, replace_file

    environ = dict(environment(env_file))
    let_names_resolve()
    check_file(out, "-o")
    if out.exists():
        raise ConfigurationError(f"{out} is there already: name another file with -o, or remove it")
    tools = tools_fields(mcp, env, openapi, registry, schemas, use)
    snapshot = listed(sources_of(tools), Path(), environ)
    text, n_cases = skeleton_text(tools, snapshot, out)
    replace_file(out, [text.encode("utf-8")])
    for note in snapshot.notes:
        complain(f"note: {note}")
    say(f"written  {out}: {counted(len(snapshot.tools), 'tool')}, {counted(n_cases, 'case')} to fill in")
    say(f"Next: write what stands behind FILL IN, then harness dataset check {out}")


@app.command("lint")
def lint(
    file: Annotated[Path | None, typer.Argument(help="An evaluation, whose tools are looked through.")] = None,
    mcp: Mcp = None,
    env: McpEnv = None,
    openapi: OpenApi = None,
    registry: Registry = None,
    schemas: Schemas = None,
    use: Use = None,
    env_file: EnvFile = None,
    as_json: AsJson = False,
) -> None:
    """Look through the descriptions of tools, as a model has to read them.

    Exit code 1 where something is wrong with one.
    """
    from harness.cli.output import say, say_json
    from harness.errors import UsageError
    from harness.folds import to_plain
    from harness.tools.lint import lint_tools

    environ = dict(environment(env_file))
    let_names_resolve()
    given = any((mcp, openapi, registry, schemas, use))
    if (file is not None) is given:
        raise UsageError("name an evaluation, or tools with --mcp, --openapi, --from, --schemas or --use")
    if file is not None:
        snapshot = loaded(file, environ)[1]
    else:
        snapshot = listed(sources_of(tools_fields(mcp, env, openapi, registry, schemas, use)), Path(), environ)
    found = lint_tools(snapshot)
    if as_json:
        say_json({"nTools": len(snapshot.tools), "findings": to_plain(found), "exitCode": int(bool(found))})
    else:
        for one in found:
            place = ".".join(part for part in (one.tool, one.path) if part) or "all tools"
            say(f"{place}: {one.message} [{one.rule}]\n    {one.advice}")
        count = "nothing is wrong" if not found else counted(len(found), "finding")
        say(f"{counted(len(snapshot.tools), 'tool')}: {count}")
    raise typer.Exit(int(bool(found)))


@app.command("check")
def check(
    file: Annotated[Path, typer.Argument(help="An evaluation.")],
    env_file: EnvFile = None,
    as_json: AsJson = False,
) -> None:
    """Load an evaluation, list its tools, and say what in it does not fit them.

    Nothing is asked and nothing called. Exit code 1 where something does not fit.
    """
    from harness.cli.dataset_refusals import refusals_of
    from harness.cli.output import say, say_json
    from harness.evaluate.dataset_problems import MOST_PROBLEMS, check_against

    environ = dict(environment(env_file))
    let_names_resolve()
    evaluation, snapshot, distractors = loaded(file, environ)
    problems = check_against(evaluation, snapshot, distractors)
    if not any(problem.is_fatal for problem in problems):
        problems = (*refusals_of(evaluation, snapshot, distractors), *problems)[:MOST_PROBLEMS]
    counts = _counts(evaluation, snapshot)
    if as_json:
        told = {"notes": list(snapshot.notes), "problems": [_row(one) for one in problems]}
        say_json({**counts, **told, "exitCode": int(bool(problems))})
    else:
        for note in snapshot.notes:
            say(f"note: {note}")
        for problem in problems:
            say(str(problem))
        more = f" (the first {MOST_PROBLEMS})" if len(problems) == MOST_PROBLEMS else ""
        verdict = f"{counted(len(problems), 'problem')}{more}" if problems else "everything fits"
        say(f"{', '.join(counted(int(counts[name]), _WORDS[name]) for name in _WORDS)}: {verdict}")
    raise typer.Exit(int(bool(problems)))


_WORDS = {"nCases": "case", "nUnits": "unit", "nArms": "arm", "nTools": "tool"}


def _row(problem: Problem) -> dict[str, Any]:
    place = {"place": problem.place, "field": problem.field}
    return {**place, "message": problem.message, "fatal": problem.is_fatal}


def _counts(evaluation: Evaluation, snapshot: ToolSnapshot) -> dict[str, int | str]:
    return {
        "nCases": len(evaluation.cases),
        "nUnits": len({case.unit for case in evaluation.cases}),
        "nArms": len(evaluation.arms),
        "nTools": len(snapshot.tools),
        "toolsDigest": snapshot.digest,
        "digest": evaluation.digest,
    }


@app.command("schema")
def schema() -> None:
    """Print the JSON Schema of evaluation files, for editors."""
    import json

    from harness.cli.output import say
    from harness.scenarios.evaluation_schema import evaluation_schema

    say(json.dumps(evaluation_schema(), indent=2, ensure_ascii=False))


app.command("from")(from_runs)
app.add_typer(importing, name="import")


# ---------------------------------------------------------------- tools


def tools_fields(
    mcp: str | None,
    env: list[str] | None,
    openapi: Path | None,
    registry: str | None,
    schemas: Path | None,
    use: list[str] | None,
) -> dict[str, object]:
    """The field ``tools`` that these options are. Raises UsageError where they name none."""
    from harness.errors import UsageError

    if env and mcp is None:
        raise UsageError("--env names what an MCP server is given; it goes with --mcp")
    fields = {
        "mcp": {"command": mcp, "env": env} if env else mcp,
        "openapi": None if openapi is None else str(openapi),
        "from": registry,
        "schemas": None if schemas is None else str(schemas),
        "use": use or None,
    }
    given: dict[str, object] = {name: value for name, value in fields.items() if value is not None}
    if not given:
        raise UsageError("name the tools: --mcp, --openapi, --from, --schemas or --use")
    return given


def sources_of(fields: dict[str, object]) -> tuple[ToolSource, ...]:
    """The sources that a field ``tools`` names. Raises ScenarioError."""
    from harness.scenarios.evaluation_loading import evaluation

    return evaluation(tools=fields, cases=[{"ask": "-", "expect": "no_call"}]).sources


def listed(sources: tuple[ToolSource, ...], base: Path, environ: dict[str, str]) -> ToolSnapshot:
    """The tools of these sources now. Raises UsageError kin, ToolSourceError."""
    from harness.clock import run_in_loop
    from harness.tools.snapshot import take_snapshot
    from harness.types.codes import ClockKind

    return run_in_loop(ClockKind.SYSTEM, lambda _: take_snapshot(sources, base=base, environ=environ))


def loaded(file: Path, environ: dict[str, str]) -> tuple[Evaluation, ToolSnapshot, ToolSnapshot | None]:
    """An evaluation with its tools, and the pool of its distractors."""
    from harness.scenarios.evaluation_loading import load_evaluation

    evaluation = load_evaluation(file)
    snapshot = listed(evaluation.sources, file.parent, environ)
    pool = evaluation.distractor_tools
    return evaluation, snapshot, listed(pool, file.parent, environ) if pool else None
