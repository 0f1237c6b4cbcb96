"""The files of the Berkeley Function Calling Leaderboard (BFCL v4): items with what is right, strictly read.

A file holds JSON lines whatever its suffix says. The right answers stand beside it, in ``possible_answer/`` under the
same name, by id. The category is what the ids begin with.
"""

from __future__ import annotations

from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import Any, Final

from harness.formats.bfcl_shape import Row
from harness.formats.bfcl_turns import TURNS_OPTIONAL, TURNS_REQUIRED, turns_item
from harness.formats.values import Document, read_document
from harness.types.bfcl import (
    BfclCall,
    BfclCategory,
    BfclFunction,
    BfclItem,
    BfclTurnsItem,
    Pairing,
    language_of,
    pairing_of,
)
from harness.types.jsontext import canonical_json

ANSWERS: Final = "possible_answer"
_UNANSWERED: Final = frozenset({Pairing.NONE, Pairing.SOME})
_LONGEST_FIRST: Final = sorted(BfclCategory, key=len, reverse=True)


def read_bfcl(path: str | PathLike[str]) -> Iterator[BfclItem | BfclTurnsItem]:
    """The items of one file in its order, each with its ground truth.

    Raises ForeignFormatError for a file that is damaged or torn, a field that is missing, unknown or of another
    shape, an id that is there twice, an answer without its item or an item without its answer.
    """
    document = _whole(Path(path))
    rows = [Row(document, line, value) for line, value in document.values]
    seen: set[str] = set()
    for row in rows:
        if row.id in seen:
            row.refuse("this id is there twice")
        seen.add(row.id)
    answers = _answers(Path(path), rows)
    for row in rows:
        yield _item(row, answers.get(row.id))
    if left := sorted(set(answers) - seen):
        answers[left[0]].refuse(f"answers no item of {path}")


def category_of(identity: str) -> BfclCategory | None:
    """The category that an id begins with (``live_parallel_multiple_0-0-0``); None for none of ours."""
    for category in _LONGEST_FIRST:
        number = identity.removeprefix(f"{category}_")
        if number != identity and number[:1].isdigit():
            return category
    return None


def _whole(path: Path) -> Document:
    document = read_document(path)
    if document.torn is not None:
        document.refuse("the last line was never finished", document.torn.line)
    return document


def _answers(path: Path, rows: list[Row]) -> dict[str, Row]:
    categories = {category_of(row.id) for row in rows}
    if all(category is not None and pairing_of(category) in _UNANSWERED for category in categories):
        return {}
    document = _whole(path.parent / ANSWERS / path.name)
    found: dict[str, Row] = {}
    for line, value in document.values:
        row = Row(document, line, value)
        row.known({"id", "ground_truth"})
        if row.id in found:
            row.refuse("this id is there twice")
        found[row.id] = row
    return found


def _item(row: Row, answer: Row | None) -> BfclItem | BfclTurnsItem:
    category = category_of(row.id)
    if category is None:
        row.refuse("its id begins with no category that is read here: " + ", ".join(sorted(BfclCategory)))
    pairing = pairing_of(category)
    if answer is None and pairing not in _UNANSWERED:
        row.refuse(f"no line of {ANSWERS}/ has this id")
    if answer is not None and pairing is Pairing.TURNS:
        row.known(TURNS_REQUIRED, TURNS_OPTIONAL)
        return turns_item(row, answer, category)
    row.known({"id", "question", "function"})
    turns = row.listed(row.fields["question"], "question")
    if len(turns) != 1:
        row.refuse(f"question must have one turn, has {len(turns)}")
    functions = row.functions(row.fields["function"], "function", language_of(category))
    return BfclItem(
        id=row.id,
        category=category,
        messages=row.messages(turns[0], "question[0]"),
        functions=functions,
        truth=() if answer is None else _truth(answer, functions, pairing),
        source=row.document.source,
        line=row.line,
    )


def _truth(row: Row, functions: tuple[BfclFunction, ...], pairing: Pairing) -> tuple[BfclCall, ...]:
    known = {function.name for function in functions}
    calls = []
    for i, value in enumerate(row.listed(row.fields["ground_truth"], "ground_truth")):
        call = row.object(value, f"ground_truth[{i}]")
        if len(call) != 1:
            row.refuse(f"ground_truth[{i}] must have one name, has {len(call)}")
        [(name, answers)] = call.items()
        if name not in known:
            row.refuse(f"ground_truth[{i}] calls {name!r}, which is not offered")
        calls.append(BfclCall(name, canonical_json(_acceptable(row, answers, f"ground_truth[{i}].{name}"))))
    if pairing is not Pairing.GREEDY and (len(calls) != 1 or (pairing is Pairing.ONE and len(functions) != 1)):
        row.refuse(f"expected one call, of {'the only' if pairing is Pairing.ONE else 'a'} function, has {len(calls)}")
    return tuple(calls)


def _acceptable(row: Row, value: Any, path: str) -> dict[str, Any]:
    answers = row.object(value, path)
    for name, choices in answers.items():
        row.listed(choices, f"{path}.{name}")
    return answers
