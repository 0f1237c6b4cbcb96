"""A review as one JSON document, ``harness-comparison/1``: all that any report says, and more."""

from __future__ import annotations

from typing import Any, Final

from harness.folds import EXIT_CODES, to_plain
from harness.types.jsontext import canonical_json
from harness.types.review import COMPARISON_FORMAT, Review

_FORMAT: Final = f'{{"format":"{COMPARISON_FORMAT}",'


def comparison_document(review: Review) -> dict[str, Any]:
    """The document as plain values: its format, the exit code, then the fields of a Review."""
    return {"format": COMPARISON_FORMAT, "exitCode": EXIT_CODES[review.outcome], **to_plain(review)}


def comparison_json(review: Review) -> str:
    """The document on one line, ``format`` first and all other keys sorted; whole numbers exact, no NaN.

    The schema is ``harness/store/comparison.schema.json``.
    """
    document = comparison_document(review)
    del document["format"]
    return _FORMAT + canonical_json(document)[1:]
