"""Items of several turns: functions come from the documents of the classes involved, the truth is Python text."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from harness.errors import ForeignFormatError
from harness.formats.bfcl_shape import Row
from harness.formats.values import read_document
from harness.types.bfcl import BfclCategory, BfclFunction, BfclTurnsItem, Language
from harness.types.jsontext import canonical_json

TURNS_REQUIRED: Final = {"id", "question", "initial_config", "path", "involved_classes"}
TURNS_OPTIONAL: Final = frozenset({"excluded_function", "missed_function"})
DOCUMENTS: Final = "multi_turn_func_doc"

_DOCUMENT_OF: Final = {
    "GorillaFileSystem": "gorilla_file_system",
    "MathAPI": "math_api",
    "MessageAPI": "message_api",
    "TicketAPI": "ticket_api",
    "TradingBot": "trading_bot",
    "TravelAPI": "travel_booking",
    "TwitterAPI": "posting_api",
    "VehicleControlAPI": "vehicle_control",
}


def turns_item(row: Row, answer: Row, category: BfclCategory) -> BfclTurnsItem:
    """The item of a row and of its answer. Raises ForeignFormatError."""
    fields = row.fields
    turns = [row.messages(turn, f"question[{i}]") for i, turn in enumerate(row.listed(fields["question"], "question"))]
    truth = [
        answer.texts(calls, f"ground_truth[{i}]")
        for i, calls in enumerate(answer.listed(answer.fields["ground_truth"], "ground_truth"))
    ]
    if len(turns) != len(truth):
        answer.refuse(f"ground_truth has {len(truth)} turns, the question has {len(turns)}")
    classes = row.texts(fields["involved_classes"], "involved_classes")
    excluded = row.texts(fields.get("excluded_function", []), "excluded_function")
    functions = _functions(row, classes)
    held_back = _missed(row, len(turns))
    known = {function.name for function in functions}
    if strange := [name for _, names in held_back for name in names if name not in known]:
        row.refuse(f"missed_function holds back {strange[0]!r}, which its classes do not have")
    return BfclTurnsItem(
        id=row.id,
        category=category,
        turns=tuple(turns),
        functions=tuple(function for function in functions if function.name not in excluded),
        classes=classes,
        initial_config=canonical_json(row.object(fields["initial_config"], "initial_config")),
        path=row.texts(fields["path"], "path"),
        truth=tuple(truth),
        excluded=excluded,
        missed=held_back,
        source=row.document.source,
        line=row.line,
    )


def _missed(row: Row, n_turns: int) -> tuple[tuple[int, tuple[str, ...]], ...]:
    held = []
    for turn, names in row.object(row.fields.get("missed_function", {}), "missed_function").items():
        if not turn.isdecimal() or int(turn) >= n_turns:
            row.refuse(f"missed_function names turn {turn!r}; its turns are 0 to {n_turns - 1}")
        held.append((int(turn), row.texts(names, f"missed_function.{turn}")))
    return tuple(sorted(held))


def _functions(row: Row, classes: tuple[str, ...]) -> list[BfclFunction]:
    found: list[BfclFunction] = []
    for name in classes:
        if name not in _DOCUMENT_OF:
            row.refuse(f"involved_classes has {name!r}; known are {', '.join(sorted(_DOCUMENT_OF))}")
        path = Path(row.document.source).parent / DOCUMENTS / f"{_DOCUMENT_OF[name]}.json"
        try:
            document = read_document(path)
        except ForeignFormatError as error:
            row.refuse(f"the functions of {name!r}: {error}")
        for line, value in document.values:
            described = Row(document, line, {"id": name, "function": value})
            holder = described.object(value, "function")
            found.append(described.function(holder, "function", Language.PYTHON))
    return found
