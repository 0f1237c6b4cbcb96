"""``harness dataset from`` and ``harness dataset import``: evaluations out of what is there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from harness.cli.options import ReadAs

if TYPE_CHECKING:
    from harness.types.events import Trajectory

_MOST_SHOWN: Final = 20
_BY: Final = "matchers: as in every evaluation; bfcl: by the benchmark's own rules."

app = typer.Typer(help="Evaluations out of public benchmarks.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    pass


Into = Annotated[
    Path, typer.Option("-o", "--out", help="File to write (.yaml); tools and cases may become files beside it.")
]
Force = Annotated[bool, typer.Option("--force", help="Write over files that are there.")]


@app.command("bfcl")
def bfcl(
    paths: Annotated[list[Path], typer.Argument(help="Files of the benchmark (BFCL v4), or folders of them.")],
    out: Into,
    graded: Annotated[str, typer.Option("--grading", help=_BY)] = "matchers",
    force: Force = False,
) -> None:
    """Make an evaluation of items of the Berkeley Function Calling Leaderboard."""
    from harness.cli.output import say
    from harness.errors import UsageError
    from harness.evaluate.bfcl_truth import defects_of
    from harness.formats.bfcl_cases import Grading, import_bfcl
    from harness.formats.bfcl_files import evaluation_files
    from harness.plugins import suggestion

    known = tuple(one.value for one in Grading)
    if graded not in known:
        raise UsageError(f"--grading: unknown value {graded!r}{suggestion(graded, known)}")
    _room(out, force=force)
    made = import_bfcl(paths, Grading(graded), defects_of)
    written = _written(evaluation_files(made.document, out.stem), out, force=force)
    _tell(made.notes)
    say(f"written  {', '.join(written)}: {counted(len(made.document['cases']), 'case')}")


def from_runs(
    runs: Annotated[
        list[Path], typer.Argument(help="Trajectories, or what `harness check` reads: folders of runs, other formats.")
    ],
    out: Into,
    decisions: Annotated[
        str,
        typer.Option(
            help="first: the first answer to each user input; every: also those behind tool results; "
            "turn: all calls of a turn, in order, for whole loops with stubs."
        ),
    ] = "first",
    form: ReadAs = None,
    force: Force = False,
) -> None:
    """Make an evaluation of recorded runs: each decision of the model becomes a case.

    What the runs did becomes what is expected: read it before you believe it.
    """
    from harness.cli.check import trajectories
    from harness.cli.output import say
    from harness.errors import UsageError
    from harness.plugins import suggestion
    from harness.scenarios.evaluation_lifted import lift_evaluation
    from harness.scenarios.evaluation_turns import Decisions

    known = tuple(one.value for one in Decisions)
    if decisions not in known:
        raise UsageError(f"--decisions: unknown value {decisions!r}{suggestion(decisions, known)}")
    _room(out, force=force)
    lifted = lift_evaluation(_readable(trajectories(runs, form)), Decisions(decisions))
    written = _written(_files(lifted.document, out.stem), out, force=force)
    _tell(f"not carried over, or to be looked at: {text}" for text in lifted.lost)
    n_groups = len({case.get("group", case["id"]) for case in lifted.document["cases"]})
    n_cases = len(lifted.document["cases"])
    say(f"written  {', '.join(written)}: {counted(n_cases, 'case')} in {counted(n_groups, 'unit')}")
    say(f"Next: read what is expected, then harness dataset check {out}")


def _readable(runs: Iterator[Trajectory]) -> Iterator[Trajectory]:
    """The runs, counted on a terminal."""
    from harness.cli.progress import Counter

    counter = Counter(None, "trajectories")
    for run in runs:
        yield run
        counter.step()
    counter.erase()


def _files(document: Mapping[str, object], stem: str) -> dict[str, bytes]:
    """One file where it is small; where it is not, cases and tools in files of their own beside it."""
    from harness.documents import MAX_BYTES, MAX_NODES, dump_yaml
    from harness.formats.bfcl_files import evaluation_files

    text = dump_yaml(document)
    fits = len(text.encode()) <= MAX_BYTES // 4 and _n_values(document) <= MAX_NODES // 4
    return {f"{stem}.yaml": text.encode()} if fits else evaluation_files(document, stem)


def _n_values(value: object) -> int:
    if isinstance(value, Mapping):
        return 1 + sum(1 + _n_values(part) for part in value.values())
    return 1 + sum(map(_n_values, value)) if isinstance(value, list) else 1


def _room(out: Path, *, force: bool) -> None:
    """Refuse a place that is none, before anything is read."""
    from harness.errors import ConfigurationError
    from harness.store import check_file

    check_file(out, "-o")
    if out.suffix not in (".yaml", ".yml"):
        raise ConfigurationError(f"-o {out}: name a .yaml file")
    if out.exists() and not force:
        raise ConfigurationError(f"{out} is there already: name another file with -o, or say --force")


def _written(files: Mapping[str, bytes], out: Path, *, force: bool) -> list[str]:
    """Write the files beside ``out``, those that others name first; their names."""
    from harness.errors import ConfigurationError
    from harness.store import replace_file

    paths = {(out if name.endswith(".yaml") else out.parent / name): data for name, data in files.items()}
    taken = next((path for path in paths if path.exists() and not force), None)
    if taken is not None:
        raise ConfigurationError(f"{taken} is there already: name another file with -o, or say --force")
    for path in sorted(paths, key=lambda path: path == out):
        replace_file(path, [paths[path]])
    return [str(path) for path in paths]


def counted(n: int, word: str) -> str:
    """``1 case``, ``2 cases``."""
    return f"{n} {word}" + ("" if n == 1 else "s")


def _tell(notes: Iterable[str]) -> None:
    from harness.cli.output import complain

    told = list(notes)
    for note in told[:_MOST_SHOWN]:
        complain(f"note: {note}")
    if len(told) > _MOST_SHOWN:
        complain(f"note: and {len(told) - _MOST_SHOWN} more")
