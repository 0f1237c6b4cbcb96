"""What of an event is behaviour, and what is bookkeeping beside it.

A first divergence is looked for in behaviour first. Only where two runs behave alike do token
counts, fingerprints and the spelling of JSON count as a difference, so that they never hide the
place where the runs really part.
"""

from __future__ import annotations

from typing import Any, Final

from harness.compare.plain import parsed
from harness.folds import Viewed
from harness.types.messages import JsonText
from harness.wire.responses_items import without_kept_items

_BOOKKEEPING: Final = frozenset({"raw_finish_reason", "model", "fingerprint", "usage", "wire_id", "type"})
_JSON_TEXTS: Final = frozenset({"tools", "parameters"})


def essence(viewed: Viewed) -> dict[str, Any]:
    """The fields of behaviour, with JSON texts as values."""
    fields = _essence(viewed.fields)
    if viewed.kind == "request/header":
        del fields["why"]
    return dict(fields)


def _essence(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _field(key, item) for key, item in value.items() if key not in _BOOKKEEPING}
    if isinstance(value, list):
        return [_essence(item) for item in value]
    return value


def _field(key: str, value: Any) -> Any:
    if key == "extra" and isinstance(value, str):
        return without_kept_items(JsonText(value))
    if key == "arguments":
        return parsed("{}" if value == "" else value)  # no text at all is how some models say: no arguments
    return parsed(value) if key in _JSON_TEXTS else _essence(value)
