"""Lint of tool descriptions: what makes a model choose the wrong tool or fill it in wrongly (ARTICLES 39).

Nothing is asked of a model; two descriptions are near when they share their words. The same tools give the same
findings in the same order.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from harness.tools.lint_neighbours import neighbour_findings
from harness.tools.lint_schema import schema_findings
from harness.tools.lint_words import LintFinding, Looked, description_findings, name_findings
from harness.types.evaluation import ToolSnapshot

RULES: Final[dict[str, str]] = {
    "name-refused": "a provider refuses the name of a tool",
    "name-vague": "the name does not say what the tool does to what",
    "name-style": "the names of the tools are written in different styles",
    "description-empty": "a tool has no description",
    "description-short": "a description of fewer than four words",
    "description-is-the-name": "a description only repeats the name",
    "description-long": "a description of more than 1,500 characters",
    "description-no-when": "a description does not say when the tool is to be used",
    "description-contradicts": "a description contradicts the schema, or what is known of the effect",
    "neighbour-description": "two descriptions are nearly equal",
    "neighbour-name": "two names are nearly equal",
    "parameter-undocumented": "a parameter has no description, and its name does not say it all",
    "parameter-long": "a description of a parameter of more than 600 characters",
    "parameter-name": "a provider refuses the name of a parameter",
    "parameter-no-type": "a parameter has no type",
    "parameter-enum": "the description lists the values that a parameter takes, its schema does not",
    "parameter-open": "an object without properties, or a list without the type of its items",
    "parameters-many": "a tool has more than twelve parameters",
    "required-missing": "no parameter is required, although there are some",
    "required-unknown": "a parameter is required that does not exist",
    "required-default": "a required parameter has a default",
    "tools-many": "more than forty tools are offered at once",
}
"""Every rule and what it finds."""

_MOST_TOOLS: Final = 40
_PARTS: Final[tuple[Callable[[Looked], Iterator[LintFinding]], ...]] = (
    name_findings,
    description_findings,
    schema_findings,
)


def lint_tools(snapshot: ToolSnapshot) -> tuple[LintFinding, ...]:
    """What is wrong with the tools' names, descriptions and schemas, by tool, rule and path."""
    looked = [Looked(tool, json.loads(tool.parameters)) for tool in snapshot.tools]
    found = [finding for one in looked for part in _PARTS for finding in part(one)]
    found += [*neighbour_findings(looked), *_of_all(looked)]
    return tuple(sorted(set(found), key=lambda one: (one.tool, list(RULES).index(one.rule), one.path, one.message)))


def _of_all(looked: Sequence[Looked]) -> Iterator[LintFinding]:
    if len(looked) > _MOST_TOOLS:
        yield LintFinding(
            "tools-many",
            "",
            f"{len(looked)} tools are offered at once",
            "offer fewer ('only', or 'tools' of a case), and measure with the arm 'distractors' what the rest costs",
        )
    styles = {style: name for name, style in sorted((one.tool.name, _style(one.tool.name)) for one in looked) if style}
    if len(styles) > 1:
        shown = ", ".join(f"{name!r} ({style})" for style, name in sorted(styles.items()))
        yield LintFinding(
            "name-style", "", f"names are written in different styles: {shown}", "write them in one style"
        )


def _style(name: str) -> str:
    if "-" in name:
        return "words-with-dashes"
    if "_" in name.strip("_"):
        return "words_with_underscores"
    return "wordsInHumps" if name != name.lower() else ""


__all__ = ["RULES", "LintFinding", "lint_tools"]
