"""Why no recording answers a request, in the model's terms: the prompt, a tool, a message."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, Final

from harness.cassettes.bodies import MISSING, show_path
from harness.cassettes.index import Asked, Index
from harness.wire.differing import ORDER, Cause, Difference, body_differences

__all__ = ["Cause", "Difference", "Miss", "explain"]

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


def explain(request: Asked, number: int, index: Index) -> Miss:
    """Compare a request that was not found with the nearest recording; costs a look at each."""
    if index.was_recorded(request):
        same = next(at for at, one in enumerate(index.asked, 1) if one.key == request.key)
        return Miss(number, Cause.ASKED_MORE_OFTEN, same)
    unused = frozenset(index.unused())
    nearest = min(range(len(index.asked)), key=lambda at: (_distance(index.asked[at], request), at not in unused, at))
    found = sorted(_differences(index.asked[nearest], request), key=lambda one: ORDER.index(one.cause))
    return Miss(number, found[0].cause, nearest + 1, tuple(found))


# ---------------------------------------------------------------- nearest


def _distance(recorded: Asked, sent: Asked) -> tuple[bool, int]:
    elsewhere = (recorded.method, recorded.path) != (sent.method, sent.path)
    left, right = recorded.body.value, sent.body.value
    if not isinstance(left, dict) or not isinstance(right, dict):
        return elsewhere, 0 if recorded.body == sent.body else 1_000_000
    n_fields = sum(left.get(key, MISSING) != right.get(key, MISSING) for key in {*left, *right} - {"messages"})
    pairs = zip_longest(_messages(left), _messages(right), fillvalue=MISSING)
    return elsewhere, n_fields + sum(one != other for one, other in pairs)


def _messages(body: dict[str, Any]) -> list[Any]:
    messages = body.get("messages")
    return messages if isinstance(messages, list) else [messages]


# ---------------------------------------------------------------- in the model's terms


def _differences(recorded: Asked, sent: Asked) -> Iterator[Difference]:
    for name, left, right in (("method", recorded.method, sent.method), ("path", recorded.path, sent.path)):
        if left != right:
            yield Difference(Cause.ADDRESS, f"the request's {name}", (name,), left, right)
    if recorded.body.value is None or sent.body.value is None:
        if recorded.body != sent.body:
            yield Difference(Cause.BODY, "the body", (), recorded.body.value, sent.body.value)
        return
    yield from body_differences(recorded.body.value, sent.body.value)
