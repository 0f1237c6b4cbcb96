"""The package as text and trees: what the gates of the house read."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

REPO = Path(__file__).resolve().parents[2]
PACKAGE = REPO / "harness"

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


@cache
def _parsed(path: str, text: str) -> ast.Module:
    """Every gate reads every file; each is parsed once. Nobody changes a tree."""
    return ast.parse(text, filename=path)


@dataclass(frozen=True)
class Source:
    """One file: its path from the repository's root with forward slashes, and its text."""

    path: str
    text: str

    @property
    def tree(self) -> ast.Module:
        return _parsed(self.path, self.text)

    @property
    def n_lines(self) -> int:
        return self.text.count("\n")


@dataclass(frozen=True)
class Function:
    """A function or method by its dotted name inside the file; lines from `def` to its last line."""

    path: str
    name: str
    n_lines: int
    first_line: int = 1

    def encloses(self, line: int) -> bool:
        return self.first_line <= line < self.first_line + self.n_lines

    @property
    def key(self) -> str:
        return f"{self.path}:{self.name}"


def package_sources(root: Path = PACKAGE) -> tuple[Source, ...]:
    """Every Python file below the folder, in path order; paths are relative to the folder's parent."""
    files = sorted(root.rglob("*.py"))
    return tuple(Source(file.relative_to(root.parent).as_posix(), file.read_text("utf-8")) for file in files)


def functions_of(source: Source) -> tuple[Function, ...]:
    """All functions of a file, nested ones too, each counted with what it encloses."""
    return tuple(_walk(source.path, source.tree, ()))


def _walk(path: str, node: ast.AST, outer: tuple[str, ...]) -> Iterator[Function]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, FunctionNode):
            name = (*outer, child.name)
            n_lines = (child.end_lineno or child.lineno) - child.lineno + 1
            yield Function(path, ".".join(name), n_lines, child.lineno)
            yield from _walk(path, child, name)
        elif isinstance(child, ast.ClassDef):
            yield from _walk(path, child, (*outer, child.name))
        else:
            yield from _walk(path, child, outer)


def dotted(node: ast.expr) -> str:
    """`a.b.c` of an attribute chain; a call or subscript inside it is shown as `()`."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return "()"


def imported_names(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """(line, dotted name) of everything imported anywhere in a tree, functions included."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)


def calls(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """(line, dotted name) of every call."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield node.lineno, dotted(node.func)
