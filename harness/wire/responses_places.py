"""Which output item an event of a streamed response is about: by its index, or by an id where servers send none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from harness.wire.shape import bad_shape

NO_INDEX: Final = "events without an output_index were placed by their ids"


class ItemPlaces:
    """Gives each event the place of its item, counted from 0. ``by_id`` is true once an event had no index.

    Without an index an event belongs to the item that showed its id (an item's own, or that of its call), a new id
    begins a new item, and an event with neither belongs to the item of the event before.
    """

    def __init__(self) -> None:
        self._by_id: dict[str, int] = {}
        self._n_items = 0
        self._last = 0
        self.by_id = False

    def of_event(self, value: Mapping[str, Any]) -> int:
        """The place of the item that an event is about. Raises ModelError for an index that is none."""
        index, ids = value.get("output_index"), list(_ids(value))
        if index is None:
            self.by_id = True
            place = self._known(ids, self._n_items if ids or "item" in value else self._last)
        elif isinstance(index, int) and not isinstance(index, bool) and index >= 0:
            place = index
        else:
            bad_shape("output_index", f"is {index!r}")
        self._by_id |= {one: place for one in ids if one not in self._by_id}
        self._n_items, self._last = max(self._n_items, place + 1), place
        return place

    def of_closing(self, position: int, item: Mapping[str, Any]) -> int:
        """The place of an item of the closing response, which stands at that position of its output."""
        return self._known(list(_ids({"item": item})), position) if self.by_id else position

    def _known(self, ids: list[str], other: int) -> int:
        return next((self._by_id[one] for one in ids if one in self._by_id), other)


def _ids(value: Mapping[str, Any]) -> Iterator[str]:
    item = value.get("item")
    found = [value.get("item_id")]
    if isinstance(item, Mapping):
        found += [item.get("id"), item.get("call_id")]
    yield from (one for one in found if isinstance(one, str) and one)
