"""What of an event is behaviour, and what is bookkeeping beside it.

A first divergence is looked for in behaviour first. Only where two runs behave alike do token
counts, fingerprints and the spelling of JSON count as a difference, so that they never hide the
place where the runs really part.
"""

from __future__ import annotations

from typing import Any, Final

from harness.compare.plain import parsed
from harness.folds import Viewed
from harness.wire.responses_items import KEPT_ITEMS

_BOOKKEEPING: Final = frozenset({"raw_finish_reason", "model", "fingerprint", "usage", "wire_id", "type"})
_JSON_TEXTS: Final = frozenset({"arguments", "tools", "parameters"})


def essence(viewed: Viewed) -> dict[str, Any]:
    """The fields of behaviour, with JSON texts as values."""
    fields = _essence(viewed.fields)
    if viewed.kind == "request/header":
        del fields["why"]
    return dict(fields)


def _is_kept_items(key: str, value: Any) -> bool:
    """What a provider wants sent back beside a message: its own ids and cyphers, new in each run."""
    return key == "extra" and isinstance(value, str) and value.startswith(f'{{"{KEPT_ITEMS}":')


def _essence(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key: parsed(item) if key in _JSON_TEXTS else _essence(item)
            for key, item in value.items()
            if key not in _BOOKKEEPING and not _is_kept_items(key, item)
        }
    if isinstance(value, list):
        return [_essence(item) for item in value]
    return value
