"""Why no recording answers a request, in the model's terms: the prompt, a tool, a message."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any, Final

from harness.cassettes.bodies import MISSING, show_path
from harness.cassettes.call_ids import id_structure, is_call_id, with_ids_renamed
from harness.cassettes.index import Asked, Index
from harness.wire.differing import ORDER, Cause, Difference, body_differences

__all__ = ["Cause", "Difference", "Miss", "explain"]

_HISTORY: Final = ("messages", "input")
_MOST_PATHS: Final = 5


@dataclass(frozen=True, slots=True)
class Miss:
    """A request that no recording answers. ``number`` and ``nearest`` count from 1."""

    number: int
    cause: Cause
    nearest: int | None
    differences: tuple[Difference, ...] = ()

    @property
    def change(self) -> str:
        """What changed, as of the first difference: what many recordings may share."""
        return self.differences[0].change if self.differences else str(self.cause)

    def __str__(self) -> str:
        if not self.differences:
            return f"{self.cause} (recorded request {self.nearest})" if self.nearest else str(self.cause)
        first, *others = self.differences
        text = f"{first}; nearest is recorded request {self.nearest}"
        if others:
            paths = ", ".join(show_path(one.path) or "body" for one in others[:_MOST_PATHS])
            rest = len(others) - _MOST_PATHS
            text += f"; also differs in {paths}" + (f" and {rest} more places" if rest > 0 else "")
        return text


def explain(request: Asked, number: int, index: Index, hide: Callable[[str], str] = str) -> Miss:
    """Compare a request that was not found with the nearest recording; costs a look at each.

    ``hide`` takes secrets out of what is quoted, before it is cut to a length.
    """
    if index.was_recorded(request):
        same = next(at for at, one in enumerate(index.asked, 1) if one.key == request.key)
        return Miss(number, Cause.ASKED_MORE_OFTEN, same)
    unused = frozenset(index.unused())
    nearest = min(range(len(index.asked)), key=lambda at: (_distance(index.asked[at], request), at not in unused, at))
    found = sorted(
        (_hidden(one, hide) for one in _differences(index.asked[nearest], request)),
        key=lambda one: ORDER.index(one.cause),
    )
    return Miss(number, found[0].cause, nearest + 1, tuple(found))


# ---------------------------------------------------------------- nearest


def _distance(recorded: Asked, sent: Asked) -> tuple[bool, int]:
    elsewhere = (recorded.method, recorded.path) != (sent.method, sent.path)
    left, right = recorded.body.value, sent.body.value
    if not isinstance(left, dict) or not isinstance(right, dict):
        return elsewhere, 0 if recorded.body == sent.body else 1_000_000
    n_fields = sum(left.get(key, MISSING) != right.get(key, MISSING) for key in {*left, *right} - {*_HISTORY})
    return elsewhere, n_fields + sum(_n_other(left, right, field) for field in _HISTORY)


def _n_other(left: dict[str, Any], right: dict[str, Any], field: str) -> int:
    """Messages that differ, both as they stand and with the ids of calls renamed."""
    as_sent = zip_longest(_items(left, field), _items(right, field), fillvalue=MISSING)
    renamed = zip_longest(
        _items(with_ids_renamed(left), field), _items(with_ids_renamed(right), field), fillvalue=MISSING
    )
    return sum(
        one != other and named != named_other
        for (one, other), (named, named_other) in zip(as_sent, renamed, strict=True)
    )


def _items(body: dict[str, Any], field: str) -> list[Any]:
    items = body.get(field)
    return items if isinstance(items, list) else [items]


# ---------------------------------------------------------------- in the model's terms


def _differences(recorded: Asked, sent: Asked) -> Iterator[Difference]:
    for name, left, right in (("method", recorded.method, sent.method), ("path", recorded.path, sent.path)):
        if left != right:
            yield Difference(Cause.ADDRESS, f"the request's {name}", (name,), left, right)
    if recorded.body.value is None or sent.body.value is None:
        if recorded.body != sent.body:
            yield Difference(Cause.BODY, "the body", (), recorded.body.value, sent.body.value)
        return
    yield from _counting(recorded.body.value, sent.body.value)


def _counting(recorded: Any, sent: Any) -> list[Difference]:
    """The places that differ, without ids of calls where those differ in spelling alone."""
    found = list(body_differences(recorded, sent))
    if id_structure(recorded) != id_structure(sent):
        return found
    return [one for one in found if not is_call_id(one.path)] or found


def _hidden(one: Difference, hide: Callable[[str], str]) -> Difference:
    recorded, sent = _without_secrets(one.recorded, hide), _without_secrets(one.sent, hide)
    return replace(one, place=hide(one.place), recorded=recorded, sent=sent)


def _without_secrets(value: Any, hide: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return hide(value)
    if isinstance(value, dict):
        return {hide(key): _without_secrets(item, hide) for key, item in value.items()}
    return [_without_secrets(item, hide) for item in value] if isinstance(value, list) else value
