"""BFCL's items as an evaluation document: plain data, as ``format: harness-evaluation/1`` has it.

Two ways of grading. ``Grading.MATCHERS``: acceptable values become matchers, compared as in every evaluation.
``Grading.BFCL``: each case also carries what the benchmark's own rules need, and values are offered as it offers them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from os import PathLike
from pathlib import Path
from typing import Any

from harness.errors import ForeignFormatError
from harness.formats.bfcl import read_bfcl
from harness.formats.bfcl_expect import expected_call
from harness.formats.bfcl_schema import Offered, json_schema
from harness.types.bfcl import BfclFunction, BfclItem, BfclTurnsItem, Pairing, language_of, pairing_of
from harness.types.evaluation import EVALUATION_FORMAT, NO_CALL
from harness.types.messages import ChatAssistant, ChatMessage, ChatSystem, ChatUser

DEFECTIVE = "defective"
"""The tag of a case that no answer can pass by the benchmark's rules."""


class Grading(StrEnum):
    """By whose rules imported cases are graded."""

    MATCHERS = "matchers"
    BFCL = "bfcl"


@dataclass(frozen=True, slots=True)
class BfclImport:
    """An evaluation document, and what was changed or left out on the way."""

    document: dict[str, Any]
    notes: tuple[str, ...] = ()


def bfcl_document(
    paths: Iterable[str | PathLike[str]],
    grading: Grading = Grading.MATCHERS,
    defects: Callable[[BfclItem], tuple[str, ...]] | None = None,
) -> dict[str, Any]:
    """The evaluation document alone; see :func:`import_bfcl`."""
    return import_bfcl(paths, grading, defects).document


def import_bfcl(
    paths: Iterable[str | PathLike[str]],
    grading: Grading = Grading.MATCHERS,
    defects: Callable[[BfclItem], tuple[str, ...]] | None = None,
) -> BfclImport:
    """The items of these files as one evaluation: the union of their tools, each case narrowed to its own.

    A folder stands for the files in it. ``defects`` says why an item cannot be answered (``harness.evaluate``'s
    ``defects_of``); such cases get the tag "defective" and a note. Items of several turns are judged by simulated
    state, and are left out with a note. Raises ForeignFormatError for files that are none of the benchmark's, and
    where nothing is left.
    """
    found = [item for path in paths for file in _files(Path(path)) for item in read_bfcl(file)]
    items = [item for item in found if isinstance(item, BfclItem)]
    if not items:
        raise ForeignFormatError(
            "no item of a single turn is in these files, and only those can be judged by one decision"
        )
    categories = sorted({item.category.value for item in items})
    importing = _Importing(items, grading)
    cases = [importing.case(item, () if defects is None else defects(item)) for item in items]
    document = {
        "format": EVALUATION_FORMAT,
        "id": f"bfcl-{categories[0]}" if len(categories) == 1 else "bfcl",
        "title": f"BFCL v4: {', '.join(categories)}",
        **({"grading": grading.value} if grading is Grading.BFCL else {}),
        "tools": {"schemas": importing.tools()},
        "arms": {"now": {}},
        "cases": cases,
    }
    return BfclImport(document, (*_left_out(found), *importing.offered.notes, *importing.notes))


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    files = sorted(path.glob("*.json"))
    if not files:
        raise ForeignFormatError(f"{path}: no file in it ends in .json")
    return files


def _left_out(found: list[BfclItem | BfclTurnsItem]) -> list[str]:
    n_turns = sum(isinstance(item, BfclTurnsItem) for item in found)
    return [f"{n_turns} items of several turns are left out: they are judged by simulated state"] if n_turns else []


@dataclass
class _Importing:
    items: list[BfclItem]
    grading: Grading
    notes: list[str] = field(default_factory=list)
    offered: Offered = field(init=False)

    def __post_init__(self) -> None:
        pairs = ((function, self._schema(item, function)) for item in self.items for function in item.functions)
        self.offered = Offered(pairs)

    def tools(self) -> list[dict[str, Any]]:
        return [
            {"name": tool.name, "description": tool.description, "parameters": json.loads(tool.parameters)}
            for tool in self.offered.tools()
        ]

    def case(self, item: BfclItem, defects: tuple[str, ...]) -> dict[str, Any]:
        names = {function.name: self._name(item, function) for function in item.functions}
        self.notes += (f"case {item.id!r} cannot be passed by the benchmark's rules: {why}" for why in defects)
        system, history, ask = self._conversation(item)
        return {
            "id": item.id,
            "ask": ask,
            **({"system": system} if system else {}),
            **({"history": history} if history else {}),
            "tools": list(names.values()),
            "expect": _expect(item, names),
            "tags": [item.category.value, *([DEFECTIVE] if defects else [])],
            **({"bfcl": _record(item, names)} if self.grading is Grading.BFCL else {}),
        }

    def _name(self, item: BfclItem, function: BfclFunction) -> str:
        return self.offered.name_of(function, self._schema(item, function))

    def _schema(self, item: BfclItem, function: BfclFunction) -> dict[str, Any]:
        as_text = self.grading is Grading.BFCL
        return json_schema(json.loads(function.parameters), language_of(item.category), as_text=as_text)

    def _conversation(self, item: BfclItem) -> tuple[str, list[dict[str, str]], str]:
        *before, last = item.messages
        system = ""
        if before and isinstance(before[0], ChatSystem):
            system, before = str(before[0].content), before[1:]
        if not isinstance(last, ChatUser):
            raise ForeignFormatError(f"{item.source}:{item.line}: {item.id!r}: its last message is not the user's")
        return system, [_said(item, message) for message in before], str(last.content)


def _said(item: BfclItem, message: ChatMessage) -> dict[str, str]:
    if isinstance(message, ChatUser):
        return {"user": str(message.content)}
    if isinstance(message, ChatAssistant):
        return {"assistant": str(message.content)}
    raise ForeignFormatError(f"{item.source}:{item.line}: {item.id!r}: a system message stands behind others")


def _expect(item: BfclItem, names: dict[str, str]) -> Any:
    match pairing_of(item.category):
        case Pairing.NONE:
            return NO_CALL
        case Pairing.SOME:
            return {"any_of": [{"superset": [name]} for name in names.values()]}
        case _:
            calls = [{names[call.name]: expected_call(json.loads(call.answers))} for call in item.truth]
            return calls[0] if len(calls) == 1 else calls


def _record(item: BfclItem, names: dict[str, str]) -> dict[str, Any]:
    """What the benchmark's rules need, under the names that are offered."""
    return {
        "category": item.category.value,
        "functions": [
            {"name": names[function.name], "parameters": json.loads(function.parameters)} for function in item.functions
        ],
        "truth": [{names[call.name]: json.loads(call.answers)} for call in item.truth],
    }
