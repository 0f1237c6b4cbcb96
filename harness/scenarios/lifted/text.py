"""The file that a lifted scenario is written to: YAML, with what could not be carried over in comments above."""

from __future__ import annotations

from collections.abc import Iterable

from harness.documents import dump_yaml
from harness.scenarios.document import to_document
from harness.types.scenario import Scenario

_WIDTH = 110


def scenario_text(scenario: Scenario, *, told: Iterable[str] = ()) -> str:
    """The YAML of a scenario without its id, which its place gives it; ``told`` are sentences for the comment."""
    document = {name: value for name, value in to_document(scenario).items() if name != "id"}
    lines = [f"# {line}".rstrip() for text in told for line in _wrapped(text)]
    return "\n".join([*lines, dump_yaml(document)])


def _wrapped(text: str) -> list[str]:
    lines, line = [], ""
    for word in text.replace("\n", " ").split(" "):
        if line and len(line) + 1 + len(word) > _WIDTH:
            lines.append(line)
            line = "  " + word
        else:
            line = f"{line} {word}" if line else word
    return [*lines, line]
