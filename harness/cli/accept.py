"""``--update``: what was observed becomes what is expected, in the scenario's own file."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Any

from harness.documents import dump_yaml
from harness.folds import text_of
from harness.store import replace_file
from harness.types.records import RunSummary
from harness.types.scenario import Scenario

_ASKED_OF_NEW = ("status", "steps", "calls")


def accept(scenario: Scenario, summary: RunSummary) -> str:
    """Rewrite the ``expect`` block of the scenario's file; the rest of it stays as it is.

    Gives the difference as a unified diff, "" when nothing changes. Only what the block asks already
    is brought up to date (a file without one gets status, steps and calls).
    """
    path = Path(scenario.source)
    if path.suffix == ".py" or not path.is_file():
        return ""
    old = path.read_text(encoding="utf-8")
    from harness.scenarios import to_document

    asked = dict(to_document(scenario).get("expect", {}))
    observed = _observed(summary)
    wanted = {**asked, **{key: observed[key] for key in (asked or _ASKED_OF_NEW) if key in observed}}
    if wanted == asked:
        return ""
    new = _with_block(old, dump_yaml({"expect": wanted}))
    replace_file(path, [new.encode("utf-8")])
    lines = difflib.unified_diff(old.splitlines(keepends=True), new.splitlines(keepends=True), str(path), str(path))
    return "".join(lines)


def _observed(summary: RunSummary) -> dict[str, Any]:
    found: dict[str, Any] = {
        "steps": summary.n_steps,
        "messages": summary.n_messages,
        "turns": summary.n_turns,
        "calls": [call.name for call in summary.calls],
        "results": [call.code or "NONE" for call in summary.calls],
    }
    if summary.status is not None:
        found["status"] = summary.status.value
    if summary.answer is not None:
        found["answer"] = text_of(summary.answer)
    return found


def _with_block(text: str, block: str) -> str:
    lines = text.split("\n")
    start = next((i for i, line in enumerate(lines) if line.startswith("expect:")), None)
    if start is None:
        return text.rstrip("\n") + "\n" + block
    end = start + 1
    while end < len(lines) and (not lines[end] or lines[end][0] in " \t#]}"):
        end += 1
    return "\n".join([*lines[:start], block.rstrip("\n"), *lines[end:]]) + ("" if end < len(lines) else "\n")
