"""The coverage table as a page of the docs and as lines for the terminal."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from docs.coverage import Carrier, Coverage, totals

TITLES = {
    "conformance": "What a sane loop does",
    "nastiest": "The nastiest thirteen, each a shipped scenario",
    "articles": "What the articles ask",
    "told": "Scenarios that the articles tell",
    "public_cases": "Public bug reports",
}
KINDS = ("test", "check", "scenario")


def _traits(entry: Mapping[str, Any]) -> str:
    """What a section tells of a number beside its title: the kind, the articles that ask, the theme."""
    return str(entry.get("kind") or entry.get("theme") or " ".join(entry.get("articles", "")))


def _carriers(carriers: Iterable[Carrier]) -> str:
    """`file`: names; one line a file, tests before checks before scenarios."""
    by_file: dict[tuple[int, str], list[str]] = {}
    for carrier in carriers:
        by_file.setdefault((KINDS.index(carrier.kind), carrier.path), []).append(carrier.name)
    lines = []
    for (_, path), names in sorted(by_file.items()):
        shown = ", ".join(f"`{name}`" for name in sorted(names) if name)
        lines.append(f"{path}: {shown}" if shown else path)
    return "<br>".join(lines)


def _rows(coverage: Coverage, section: str) -> Iterator[str]:
    for number, entry in coverage.catalogue.sections[section].items():
        carried = _carriers(coverage.of(section, number))
        open_word = f"*open: {coverage.catalogue.works[entry['due']]}*"
        yield f"| {number} | {_traits(entry)} | {entry['title']} | {carried or open_word} |"


def page(coverage: Coverage) -> str:
    """The whole page, ending in one newline."""
    lines = [
        "# Coverage of the catalogue",
        "",
        "Made by `make docs` from the tests' markers, the checks' rules and the scenarios' `covers`.",
        "In the first table M must hold of any sane loop, D is a declared design choice, R matters to recovery;",
        "*open* names the piece of work that owes a number its carrier.",
    ]
    for section, title in TITLES.items():
        lines += ["", f"## {title}", "", f"{totals(coverage, section)}.", ""]
        lines += ["| number | | what | carried by |", "|---|---|---|---|", *_rows(coverage, section)]
    return "\n".join(lines) + "\n"


def terminal(coverage: Coverage) -> str:
    """One line a number with its carriers counted, then the totals, then what is wrong."""
    lines = []
    for section, title in TITLES.items():
        lines += ["", title, f"{'number':<24} {'tests':>5} {'checks':>6} {'scenarios':>9}  what"]
        for number, entry in coverage.catalogue.sections[section].items():
            found = coverage.of(section, number)
            n_tests, n_checks, n_scenarios = (sum(c.kind == kind for c in found) for kind in KINDS)
            late = "" if found else f"  [{entry['due']}]"
            lines.append(f"{number:<24} {n_tests:>5} {n_checks:>6} {n_scenarios:>9}  {entry['title']}{late}")
    lines += ["", "Totals", *(f"{TITLES[section]}: {totals(coverage, section)}" for section in TITLES)]
    lines += [f"due now, but nothing carries it: {section} {number}" for section, number in coverage.missing]
    lines += [
        f"{claim.carrier.path}: {claim.carrier.name or 'covers'}: {claim.section} has no number {claim.number!r}"
        for claim in coverage.unknown
    ]
    return "\n".join(lines[1:]) + "\n"
