"""How a run ended, as plain JSON and back: what a format without an end keeps in a field of ours."""

from __future__ import annotations

from typing import Any, Final, get_args

from harness.errors import InvalidValueError
from harness.folds import from_plain, to_plain
from harness.types.codes import Status
from harness.types.reasons import Reason

_REASONS: Final[dict[str, type[Any]]] = {kind.__dataclass_fields__["kind"].default: kind for kind in get_args(Reason)}


def end_to_plain(status: Status, reason: Reason) -> dict[str, Any]:
    """``{status, reason: {kind, ...}}``."""
    return {"status": status.value, "reason": {"kind": reason.kind, **to_plain(reason)}}


def end_from_plain(value: Any) -> tuple[Status, Reason] | None:
    """The end that was kept; None for none. Raises InvalidValueError for what is none."""
    if value is None:
        return None
    reason = value.get("reason") if isinstance(value, dict) else None
    if not isinstance(reason, dict) or value.get("status") not in tuple(Status):
        raise InvalidValueError("a kept end has a status and a reason")
    kind = _REASONS.get(str(reason.get("kind")))
    if kind is None:
        raise InvalidValueError(f"a kept end has the unknown reason {reason.get('kind')!r}")
    revived: Reason = from_plain(kind, {key: item for key, item in reason.items() if key != "kind"})
    return Status(value["status"]), revived
