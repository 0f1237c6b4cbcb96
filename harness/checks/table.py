"""The checks as a Markdown table, for the docs."""

from __future__ import annotations

from collections.abc import Sequence

from harness.checks.base import BuiltCheck
from harness.checks.judging import BUILT_IN


def checks_table(checks: Sequence[BuiltCheck] = BUILT_IN) -> str:
    """Name, what it says, what it needs and which catalogue numbers it carries, one check a row."""
    rows = [
        "| check | what it says | needs | numbers |",
        "|---|---|---|---|",
        *(f"| `{check.name}` | {check.about} | {_needs(check)} | {_rules(check)} |" for check in checks),
    ]
    return "\n".join(rows) + "\n"


def _needs(check: BuiltCheck) -> str:
    needs = [f"`{kind}`" + (f" ({origin})" if origin else "") for kind, origin in check.needs]
    return ", ".join(needs) or "nothing"


def _rules(check: BuiltCheck) -> str:
    return ", ".join(rule.replace("conformance:", "").replace("article:", "article ") for rule in check.rules) or "–"
