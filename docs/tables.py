"""Small generated pages: the kinds of event on disk, and the errors with their exit codes."""

import dataclasses
import inspect
import re
from collections.abc import Iterator
from typing import get_args

from harness import errors
from harness.store.ondisk import LINE_CLASSES
from harness.types import codes, facts
from harness.types.messages import camel


def _first_paragraph(value: type) -> str:
    return " ".join((inspect.getdoc(value) or "").partition("\n\n")[0].split())


def _spelled_as_on_disk(text: str) -> str:
    """Field names between backticks in camelCase, as they stand in the file."""
    return re.sub(r"``(\w+)``", lambda match: f"`{camel(match[1])}`", text)


def _written(annotation: str) -> str:
    """An annotation as a cell: a bar would end the cell."""
    return annotation.replace("|", "\\|")


def _fields(fact: type[facts.KnownFact]) -> str:
    """`name: type` of what stands on disk; what may be left out ends in `?`."""
    shown = []
    for field in dataclasses.fields(LINE_CLASSES[fact.TYPE]):
        has_default = field.default is not dataclasses.MISSING or field.default_factory is not dataclasses.MISSING
        shown.append(f"`{camel(field.name)}{'?' if has_default else ''}`: {_written(str(field.type))}")
    return "<br>".join(shown)


def events_page() -> str:
    """Every kind of event, in the order of the union of facts."""
    lines = [
        "# Kinds of event",
        "",
        "Made by `make docs` from the facts. One JSON object a line: `type`, the envelope (`seq`, `time`, `origin`,",
        "`agent`, `turn`, `step`), and these fields; nulls and defaults are left out. A field with `?` has a default.",
        "Kinds marked *ignorable* say so on their line, and a reader may skip them.",
        "[The trajectory file](../format.md) tells the rest.",
        "",
        "| type | fields | what it says |",
        "|---|---|---|",
    ]
    for fact in get_args(facts.KnownFact):
        ignorable = " *Ignorable.*" if getattr(fact, "IGNORABLE", False) else ""
        lines.append(f"| `{fact.TYPE}` | {_fields(fact)} | {_spelled_as_on_disk(_first_paragraph(fact))}{ignorable} |")
    return "\n".join(lines) + "\n"


def _tree(error: type[errors.HarnessError], depth: int = 0) -> Iterator[tuple[int, type[errors.HarnessError]]]:
    yield depth, error
    own = [child for child in error.__subclasses__() if child.__module__ == errors.__name__]
    for child in own:
        yield from _tree(child, depth + 1)


def errors_page() -> str:
    """The exception tree with exit codes, then the closed list of codes."""
    lines = [
        "# Errors and codes",
        "",
        "Made by `make docs`. A door turns an error into its exit code and shows its text, never a traceback.",
        "",
        "| error | exit code | what happened |",
        "|---|---|---|",
    ]
    for depth, error in _tree(errors.HarnessError):
        indent = "&nbsp;" * 4 * depth
        lines.append(f"| {indent}`{error.__name__}` | {error.exit_code} | {_first_paragraph(error)} |")
    lines += ["", "## Codes of tool results and model failures", "", "One closed list.", ""]
    lines += [f"- `{code.value}`" for code in codes.Code]
    return "\n".join(lines) + "\n"
