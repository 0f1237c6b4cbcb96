"""Gates that a linter of imports cannot hold. Each takes a file and gives findings as `path:line: what`."""

import ast
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType

from tests.house.source import REPO, Source, calls, dotted, functions_of, imported_names

Finder = Callable[[Source], Iterator[tuple[int, str]]]

NOTHING: Mapping[str, str] = MappingProxyType({})
MACHINE_MODULES = ("time", "random", "secrets", "uuid")
MACHINE_CALLS = (
    "os.urandom", "os.getrandom", "datetime.now", "datetime.utcnow", "datetime.today", "date.today",
    "datetime.datetime.now", "datetime.datetime.utcnow", "datetime.datetime.today", "datetime.date.today",
)  # fmt: skip
TASK_STARTERS = (
    "create_task", "ensure_future", "gather", "TaskGroup", "as_completed", "to_thread", "run_in_executor",
    "create_task_group", "Thread", "Timer", "start_new_thread", "ThreadPoolExecutor", "ProcessPoolExecutor",
    "run_coroutine_threadsafe", "Process", "Pool",
)  # fmt: skip
PRINTERS = ("print", "sys.stdout.write", "sys.stderr.write", "typer.echo", "typer.secho", "pprint", "pprint.pprint")
UNFINISHED = ("TODO", "FIXME", "XXX", "NotImplementedError")


def asks_the_machine(source: Source) -> Iterator[tuple[int, str]]:
    """Time, ids and chance: imports of their modules, and calls of the clocks of `datetime` and `os`."""
    for line, name in imported_names(source.tree):
        if name.split(".")[0] in MACHINE_MODULES or name in MACHINE_CALLS:
            yield line, f"imports {name!r}; take a clock, ids or a seeded source as an argument"
    for line, name in calls(source.tree):
        if name in MACHINE_CALLS:
            yield line, f"calls {name!r}; take a clock as an argument"


def starts_tasks(source: Source) -> Iterator[tuple[int, str]]:
    """Tasks, threads and pools, by the last part of the called name."""
    for line, name in calls(source.tree):
        if name.split(".")[-1] in TASK_STARTERS:
            yield line, f"calls {name!r}; hand the work to the scheduler, the pool or the server"


def prints(source: Source) -> Iterator[tuple[int, str]]:
    """Anything written to the terminal."""
    for line, name in calls(source.tree):
        if name in PRINTERS:
            yield line, f"calls {name!r}; return the text to a door"


def leaves_the_standard_library(source: Source) -> Iterator[tuple[int, str]]:
    """Imports of anything but the standard library and the ground itself."""
    for line, name in imported_names(source.tree):
        root = name.split(".")[0]
        ground = name.startswith(("harness.types", "harness.errors"))
        if not ground and root not in sys.stdlib_module_names:
            yield line, f"imports {name!r}; the ground is the standard library only"


def uses_the_surface(source: Source) -> Iterator[tuple[int, str]]:
    """`import harness` and `from harness import …` inside the package, which would load rooms by the back door."""
    for line, name in imported_names(source.tree):
        parts = name.split(".")
        if parts[0] == "harness" and (len(parts) == 1 or (len(parts) == 2 and parts[1] not in rooms())):
            yield line, f"imports {name!r} from the public surface; import it from its room"


@cache
def rooms() -> frozenset[str]:
    """Names of all rooms, as the floors in pyproject.toml list them."""
    contracts = tomllib.loads((REPO / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    floors = next(contract["layers"] for contract in contracts if contract["id"] == "floors")
    return frozenset(name.strip(" ()") for floor in floors for name in floor.split("|"))


def declares_a_foreign_option(source: Source) -> Iterator[tuple[int, str]]:
    """pytest options that could clash with other plugins, and ini keys, which break where the plugin is blocked."""
    for node in ast.walk(source.tree):
        if not isinstance(node, ast.Call):
            continue
        called = dotted(node.func).split(".")[-1]
        if called == "addini":
            yield node.lineno, "declares an ini key; configuration stands in [tool.harness] only"
        elif called == "addoption":
            names = [arg.value for arg in node.args if isinstance(arg, ast.Constant)]
            yield from (
                (node.lineno, f"declares {name!r}; options of pytest are called --harness-…")
                for name in names
                if not str(name).startswith("--harness-")
            )


def absorbs_a_cancel(source: Source) -> Iterator[tuple[int, str]]:
    """Handlers that catch cancellation and do not raise anything."""
    for node in ast.walk(source.tree):
        if not isinstance(node, ast.ExceptHandler):
            continue
        caught = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
        names = {dotted(kind).split(".")[-1] if kind is not None else "everything" for kind in caught}
        raises = any(isinstance(inner, ast.Raise) for statement in node.body for inner in ast.walk(statement))
        if names & {"BaseException", "CancelledError", "everything"} and not raises:
            yield node.lineno, "catches a cancel and lets it end here; clean up, then raise"


def is_unfinished(source: Source) -> Iterator[tuple[int, str]]:
    """Words that say that something is not done."""
    for number, line in enumerate(source.text.split("\n"), start=1):
        for word in UNFINISHED:
            if word in line:
                yield number, f"{word}: a verb exists only once it does its whole work"


@dataclass(frozen=True)
class Gate:
    """A finder and the files where it does not apply (`folder/` for all below) or, with `only`, does."""

    finder: Finder
    but_in: tuple[str, ...] = ()
    only: tuple[str, ...] = ("harness/",)

    def applies(self, path: str) -> bool:
        return _within(path, self.only) and not _within(path, self.but_in)

    def findings(self, sources: Iterable[Source], allowed: Mapping[str, str] = NOTHING) -> list[str]:
        """What the finder sees outside the allowed functions (`path:Class.method`), and allowances of no use."""
        found, used = [], set()
        for source in sources:
            if not self.applies(source.path):
                continue
            functions = [function for function in functions_of(source) if function.key in allowed]
            for line, text in self.finder(source):
                excused = {function.key for function in functions if function.encloses(line)}
                used |= excused
                if not excused:
                    found.append(f"{source.path}:{line}: {text}")
        return found + [f"ledger: {key!r} needs no allowance any more; remove it" for key in sorted(set(allowed) - used)]


def read_allowances(path: Path) -> dict[str, dict[str, str]]:
    """For each gate, the functions that may do what it forbids, each with the reason."""
    allowances: dict[str, dict[str, str]] = tomllib.loads(path.read_text("utf-8"))["allowed"]
    return allowances


def _within(path: str, places: tuple[str, ...]) -> bool:
    return any(path == place or (place.endswith("/") and path.startswith(place)) for place in places)


DOORS = ("harness/cli.py", "harness/cli/", "harness/__main__.py")
BROKEN_LOOPS = "harness/mutants/plain/"  # stands for other people\'s loops, sane and broken
OWNERS = ("harness/loop/scheduler.py", "harness/runner/pool.py", "harness/server/")
GATES = {
    "only-clock-asks-the-machine": Gate(asks_the_machine, but_in=("harness/clock.py", "harness/clock/")),
    "tasks-have-owners": Gate(starts_tasks, but_in=(*OWNERS, BROKEN_LOOPS)),
    "cancellation-passes-through": Gate(absorbs_a_cancel, but_in=(*OWNERS, BROKEN_LOOPS)),
    "options-have-our-prefix": Gate(declares_a_foreign_option),
    "only-doors-print": Gate(
        prints,
        but_in=(*DOORS, "harness/pytest_plugin.py", "harness/pytest_plugin/", "harness/report/console.py"),
    ),
    "ground-is-standard-library": Gate(
        leaves_the_standard_library, only=("harness/types/", "harness/errors.py")
    ),
    "no-back-door": Gate(uses_the_surface, but_in=("harness/__init__.py",)),
    "nothing-unfinished": Gate(is_unfinished),
}
