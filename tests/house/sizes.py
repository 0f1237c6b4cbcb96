"""Sizes of files and functions, and the ledger of those that may be larger for now."""

import statistics
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.house.source import Function, Source, functions_of

FILE_LINES = 300
FUNCTION_LINES = 60
COMMON_FUNCTION_LINES = 30
COMMON_SHARE_PERCENT = 90
MEDIAN_LINES = 10


@dataclass(frozen=True)
class Ledger:
    """Allowed lines of what is over a wall: files by path, functions by `path:Class.method`."""

    files: Mapping[str, int]
    functions: Mapping[str, int]


def read_ledger(path: Path) -> Ledger:
    data = tomllib.loads(path.read_text("utf-8"))
    return Ledger(files=data["files"], functions=data["functions"])


def over_the_walls(sources: Iterable[Source], ledger: Ledger) -> list[str]:
    """Files and functions over a wall that the ledger does not allow, and ledger entries that reality disproves."""
    sources = tuple(sources)
    functions = [function for source in sources for function in functions_of(source)]
    n_file_lines = {source.path: source.n_lines for source in sources}
    n_function_lines: dict[str, int] = {}
    for function in functions:  # overloads and properties share a name: the longest counts
        n_function_lines[function.key] = max(function.n_lines, n_function_lines.get(function.key, 0))
    return [
        *_compare("file", n_file_lines, FILE_LINES, ledger.files),
        *_compare("function", n_function_lines, FUNCTION_LINES, ledger.functions),
    ]


def _compare(kind: str, real: Mapping[str, int], wall: int, allowed: Mapping[str, int]) -> list[str]:
    findings = []
    for name, n_lines in real.items():
        if n_lines > max(wall, allowed.get(name, 0)):
            findings.append(f"{kind} {name!r} has {n_lines} lines, allowed are {max(wall, allowed.get(name, 0))}")
    for name, n_allowed in allowed.items():
        n_lines = real.get(name, 0)
        if n_lines <= wall:
            findings.append(f"ledger: {kind} {name!r} has {n_lines} lines and needs no entry any more; remove it")
        elif n_lines < n_allowed:
            findings.append(f"ledger: {kind} {name!r} shrank to {n_lines} lines; lower its entry from {n_allowed}")
    return sorted(findings)


def shape(functions: Iterable[Function]) -> list[str]:
    """Findings about all functions together: nine in ten are short, and half are very short."""
    lengths = [function.n_lines for function in functions]
    if not lengths:
        return ["there are no functions to measure"]
    n_common = sum(length < COMMON_FUNCTION_LINES for length in lengths)
    findings = []
    if n_common * 100 < COMMON_SHARE_PERCENT * len(lengths):
        findings.append(f"{n_common} of {len(lengths)} functions are under {COMMON_FUNCTION_LINES} lines: fewer than nine in ten")
    median = statistics.median(lengths)
    if median > MEDIAN_LINES:
        findings.append(f"the median function has {median} lines, allowed are {MEDIAN_LINES}")
    return findings
