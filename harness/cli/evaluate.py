"""``harness evaluate``: ask, keep, judge."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.cli.html_file import Html, check_html
from harness.cli.options import (
    Api,
    AsJson,
    Cassettes,
    EnvFile,
    ProfileName,
    Streamed,
    Verbose,
    environment,
    let_names_resolve,
)
from harness.errors import UsageError

if TYPE_CHECKING:
    from harness.runner.evaluation.plan import EvaluationOptions, EvaluationPlan
    from harness.runner.evaluation.preparing import Prepared

Named = Annotated[
    list[Path], typer.Argument(help="An evaluation's file; or the folder of one that was run, to judge it again.")
]
Into = Annotated[
    Path | None, typer.Option("--out", help="Folder for trials and reports (default: reports/evaluations/<id>).")
]
Arms = Annotated[list[str] | None, typer.Option("--arm", help="Only this arm. May be repeated.")]
TrialsOf = Annotated[int | None, typer.Option("--trials", help="Trials of each case and arm (else as the file says).")]
ShardOf = Annotated[str, typer.Option("--shard", help="Only this share of the cases: i/n, such as 2/4.")]
ModelOf = Annotated[
    str,
    typer.Option(
        "--model", help="auto (the file's function, else recordings), cassette, live, or package.module:name."
    ),
]
Record = Annotated[bool, typer.Option("--record", help="Ask live, and keep what is answered as recordings.")]
Workers = Annotated[
    int, typer.Option("-j", "--jobs", help="Worker processes, for a model that answers in this process.")
]
Backend = Annotated[str, typer.Option("--backend", help="Where it runs: local, or ray (a cluster that is there).")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would be asked and what that takes; ask nothing.")]
Regrade = Annotated[bool, typer.Option("--regrade", help="Judge the stored answers again, for nothing.")]
Merge = Annotated[bool, typer.Option("--merge", help="Judge the shards in these folders together, into --out.")]


def evaluate(
    named: Named,
    out: Into = None,
    arm: Arms = None,
    trials: TrialsOf = None,
    shard: ShardOf = "1/1",
    model: ModelOf = "auto",
    record: Record = False,
    jobs: Workers = 1,
    backend: Backend = "local",
    dry_run: DryRun = False,
    regrade: Regrade = False,
    merge: Merge = False,
    html: Html = None,
    cassettes: Cassettes = None,
    verbose: Verbose = False,
    as_json: AsJson = False,
    env_file: EnvFile = None,
    api: Api = None,
    stream: Streamed = None,
    profile: ProfileName = None,
) -> None:
    """Ask a model which tool it would call; say how sure that is.

    Nothing that a model calls is executed unless the file says so. What was answered is never asked again: run it
    once more, and it goes on where it ended. Exit code 0: the gate passed (without one, every trial);
    3: not decidable.
    """
    from harness.cli.evaluating import judge_again, judge_together, show_plan
    from harness.runner.evaluation.differing import refuse_another
    from harness.runner.evaluation.preparing import default_folder, prepare

    environ = environment(env_file, api=api, stream=stream, profile=profile)
    let_names_resolve()
    check_html(html)
    if html is not None and (dry_run or shard != "1/1"):
        raise UsageError(
            "--html tells what all trials came to; --dry-run asks none, and a --shard is judged with --merge"
        )
    if merge:
        raise typer.Exit(judge_together(named, out, html, verbose=verbose, as_json=as_json))
    if len(named) != 1:
        raise UsageError("name one evaluation; folders of shards are judged together with --merge")
    (path,) = named
    if path.is_dir():
        raise typer.Exit(judge_again(path, None, out, html, verbose=verbose, as_json=as_json))
    prepared = prepare(path, dict(environ))
    folder = out or default_folder(prepared.evaluation)
    if regrade:
        raise typer.Exit(judge_again(folder, prepared, out, html, verbose=verbose, as_json=as_json))
    refuse_another(prepared, folder)
    options = _options(
        folder, model=model, record=record, arms=arm, trials=trials, shard=shard, jobs=jobs, cassettes=cassettes,
        environ=environ,
    )  # fmt: skip
    plan = _planned(prepared, options)
    if dry_run:
        show_plan(plan, as_json=as_json)
        raise typer.Exit(0)
    raise typer.Exit(_run(prepared, plan, backend, html, verbose=verbose, as_json=as_json))


def _options(
    folder: Path,
    *,
    model: str,
    record: bool,
    arms: list[str] | None,
    trials: int | None,
    shard: str,
    jobs: int,
    cassettes: Path | None,
    environ: tuple[tuple[str, str], ...],
) -> EvaluationOptions:
    from harness.runner.evaluation.order import shard_named
    from harness.runner.evaluation.plan import EvaluationOptions
    from harness.runner.settings import settings
    from harness.runner.specs import ModelSource, source_of

    source, own = source_of(model)
    if record:
        if source not in (ModelSource.AUTO, ModelSource.LIVE):
            raise UsageError(f"--record keeps what a live model answers; it does not go with --model {model}")
        source = ModelSource.RECORD
    configured = settings()
    return EvaluationOptions(
        folder=folder,
        source=source,
        model=own,
        arms=tuple(arms or ()),
        trials=trials,
        shard=shard_named(shard),
        cassettes=cassettes or Path(configured.cassettes),
        jobs=jobs,
        prices=dict(configured.prices),
        environ=environ,
    )


def _planned(prepared: Prepared, options: EvaluationOptions) -> EvaluationPlan:
    from harness.cli.output import complain
    from harness.runner.evaluation.plan import plan_evaluation

    n_unmet, first = prepared.check()
    if n_unmet:
        complain(f"note: what is expected does not fit the tools ({n_unmet} times), as in {first}")
    return plan_evaluation(
        prepared.evaluation,
        prepared.snapshot,
        options,
        request_of=prepared.request_of,
        distractors=prepared.distractors,
    )


def _run(
    prepared: Prepared, plan: EvaluationPlan, backend: str, html: Path | None, *, verbose: bool, as_json: bool
) -> int:
    from harness.cli.evaluating import TrialsProgress, say_end
    from harness.runner.bases.revisions import revision_info
    from harness.runner.evaluation.backends import backend_named
    from harness.runner.evaluation.looking import run_with_looks
    from harness.runner.evaluation.preparing import freeze
    from harness.store import check_folder

    run = backend_named(backend)
    check_folder(plan.options.folder, "--out")
    freeze(prepared, plan.options.folder)
    revision = revision_info(Path())
    progress = TrialsProgress(quiet=as_json)
    try:
        ran = run_with_looks(plan, run, tell=progress.tell)
    finally:
        progress.close()
    ran.revision = revision
    return say_end(prepared, plan, ran, html, verbose=verbose, as_json=as_json)
