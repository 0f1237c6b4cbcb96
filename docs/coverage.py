"""Which tests, checks and scenarios carry which numbers of the catalogue.

Tests and scenarios are read as text, not run: the table is the same wherever it is made, also without the real data
beside the repository. Hence the numbers of a marker must be written literally. Checks tell their own rules.
"""

import ast
import importlib
import pkgutil
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.documents import load_document
from harness.errors import ScenarioError

REPO = Path(__file__).resolve().parents[1]
CATALOGUE = REPO / "docs" / "catalogue.toml"
DUE_NOW = frozenset({"house", "whole-loop", "real-responses", "tool-selection", "reports"})
# The marker of a test, the prefix of a check's rule and the key of a scenario's `covers`, by section of the catalogue.
SECTIONS = {"conformance": "conformance", "article": "articles", "public_case": "public_cases"}
TOLD = "told"
NASTIEST = "nastiest"


@dataclass(frozen=True, order=True)
class Carrier:
    """What proves a number: kind `test`, `check` or `scenario`, the file, and the name inside it (or empty)."""

    kind: str
    path: str
    name: str


@dataclass(frozen=True, order=True)
class Claim:
    """One carrier saying that it carries one number of one section."""

    section: str
    number: str
    carrier: Carrier


class CoverageError(Exception):
    """A claim that cannot be read: names the file and line."""


@dataclass(frozen=True)
class Catalogue:
    """Numbers by section, in order, each with its title, due work and whatever else the section tells."""

    works: Mapping[str, str]
    sections: Mapping[str, Mapping[str, Mapping[str, Any]]]


def read_catalogue(path: Path = CATALOGUE) -> Catalogue:
    data = tomllib.loads(path.read_text("utf-8"))
    return Catalogue(works=data.pop("works"), sections=data)


def section_of(marker: str, number: str) -> str:
    """The stories that articles tell (`A:answer-52`) and the nastiest scenarios (`N1`) have sections of their own."""
    if marker == "conformance" and number.startswith("N"):
        return NASTIEST
    return TOLD if marker == "article" and ":" in number else SECTIONS[marker]


# ---------------------------------------------------------------- tests and checks, by their trees


def _own_name(node: ast.AST) -> str | None:
    """How a node names what stands inside it: functions, classes, tables, and rows or rules with a name."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return node.name
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        return node.targets[0].id
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return node.target.id
    if isinstance(node, ast.Call):
        named = {keyword.arg: keyword.value for keyword in node.keywords}
        for key in ("id", "name"):
            value = named.get(key)
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                return f"[{value.value}]"
    return None


def _walk(node: ast.AST, names: tuple[str, ...]) -> Iterator[tuple[ast.AST, str]]:
    """Every node with the name of where it stands: `test_x`, `TABLE[row]`, `TestGroup.test_x`."""
    for child in ast.iter_child_nodes(node):
        own = _own_name(child)
        inner = (*names, own) if own is not None else names
        yield child, ".".join(inner).replace(".[", "[")
        yield from _walk(child, inner)


def _marker(call: ast.Call) -> str | None:
    """`conformance` of `pytest.mark.conformance(…)`, None of any other call."""
    function = call.func
    if not (isinstance(function, ast.Attribute) and function.attr in SECTIONS):
        return None
    return function.attr if isinstance(function.value, ast.Attribute) and function.value.attr == "mark" else None


def claims_of_tests(path: str, text: str) -> Iterator[Claim]:
    """Claims of one test file. Raises CoverageError for a number that is not written literally."""
    for node, name in _walk(ast.parse(text, filename=path), ()):
        if not isinstance(node, ast.Call) or (marker := _marker(node)) is None:
            continue
        for argument in node.args:
            if not (isinstance(argument, ast.Constant) and isinstance(argument.value, str)):
                raise CoverageError(f"{path}:{argument.lineno}: write the numbers of {marker!r} as literal strings")
            yield Claim(section_of(marker, argument.value), argument.value, Carrier("test", path, name))


def _rule(rule: str, carrier: Carrier) -> Claim:
    marker, _, number = rule.partition(":")
    if marker not in SECTIONS or not number:
        raise CoverageError(f"{carrier.path}: {carrier.name}: rule {rule!r} is no number like 'conformance:28'")
    return Claim(section_of(marker, number), number, carrier)


def claims_of_checks(package: str = "harness.checks") -> Iterator[Claim]:
    """Rules of every check that a module of the package holds, under the check's name and the file it judges in."""
    room = importlib.import_module(package)
    names = [package, *(info.name for info in pkgutil.walk_packages(room.__path__, f"{package}."))]
    for module in map(importlib.import_module, names):
        for value in vars(module).values():
            rules = getattr(value, "rules", None)
            if isinstance(rules, tuple) and isinstance(getattr(value, "name", None), str):
                home = getattr(getattr(value, "findings", None), "__module__", module.__name__)
                carrier = Carrier("check", f"{home.replace('.', '/')}.py", value.name)
                yield from (_rule(rule, carrier) for rule in rules)


def claims_of_check_makers(path: str, text: str) -> Iterator[Claim]:
    """Rules of checks that a function makes from a scenario's expectations: literals after `rules=`."""
    for node, name in _walk(ast.parse(text, filename=path), ()):
        if not isinstance(node, ast.Call) or name.partition("[")[0].isupper():
            continue  # a check in a constant is seen by name
        for rules in (keyword.value for keyword in node.keywords if keyword.arg == "rules"):
            literals = [part.value for part in ast.walk(rules) if isinstance(part, ast.Constant)]
            texts = [rule for rule in literals if isinstance(rule, str) and ":" in rule]
            yield from (_rule(rule, Carrier("check", path, name)) for rule in texts)


def claims_of_scenario(path: str, text: str) -> Iterator[Claim]:
    """Claims of one scenario: `covers: {conformance: [28, 96a], articles: [7, "A:answer-52"], public_cases: […]}`."""
    try:
        data = load_document(text, path).value
    except ScenarioError as error:
        raise CoverageError(str(error)) from error
    covers = data.get("covers", {}) if isinstance(data, dict) else {}
    markers = {section: marker for marker, section in SECTIONS.items()}
    for key, numbers in covers.items():
        if key not in markers or not isinstance(numbers, list):
            raise CoverageError(f"{path}: covers: {key!r} is no list under one of {sorted(markers)}")
        for number in map(str, numbers):
            yield Claim(section_of(markers[key], number), number, Carrier("scenario", path, ""))


def all_claims(root: Path = REPO) -> tuple[Claim, ...]:
    """Every claim of the repository, sorted, without repetition."""
    readers = (
        ("tests", "test_*.py", claims_of_tests),
        ("harness/checks", "*.py", claims_of_check_makers),
        ("scenarios", "*.yaml", claims_of_scenario),
    )
    found: set[Claim] = set(claims_of_checks())
    for folder, pattern, read in readers:
        for file in sorted((root / folder).rglob(pattern)):
            found.update(read(file.relative_to(root).as_posix(), file.read_text("utf-8")))
    return tuple(sorted(found))


# ---------------------------------------------------------------- the table


@dataclass(frozen=True)
class Coverage:
    """The catalogue with its carriers, and what is wrong with them."""

    catalogue: Catalogue
    carriers: Mapping[tuple[str, str], tuple[Carrier, ...]]
    unknown: tuple[Claim, ...]

    def of(self, section: str, number: str) -> tuple[Carrier, ...]:
        return self.carriers.get((section, number), ())

    def _is_carried(self, section: str, number: str) -> bool:
        """By anything; what is told as a scenario, by one that ships."""
        found = self.of(section, number)
        return any(carrier.kind == "scenario" for carrier in found) if section == NASTIEST else bool(found)

    @property
    def missing(self) -> tuple[tuple[str, str], ...]:
        """(section, number) of what is due now and carried by nothing, in the order of the catalogue."""
        return tuple(
            (section, number)
            for section, entries in self.catalogue.sections.items()
            for number, entry in entries.items()
            if entry["due"] in DUE_NOW and not self._is_carried(section, number)
        )


def cover(catalogue: Catalogue, claims: Iterable[Claim]) -> Coverage:
    carriers: defaultdict[tuple[str, str], list[Carrier]] = defaultdict(list)
    unknown = []
    for claim in claims:
        if claim.number in catalogue.sections[claim.section]:
            carriers[claim.section, claim.number].append(claim.carrier)
        else:
            unknown.append(claim)
    return Coverage(catalogue, {key: tuple(value) for key, value in carriers.items()}, tuple(unknown))


def totals(coverage: Coverage, section: str) -> str:
    entries = coverage.catalogue.sections[section]
    n_carried = sum(bool(coverage.of(section, number)) for number in entries)
    due = [number for number, entry in entries.items() if entry["due"] in DUE_NOW]
    n_due_carried = sum(bool(coverage.of(section, number)) for number in due)
    return f"{n_carried} of {len(entries)} carried; due now: {n_due_carried} of {len(due)}"
