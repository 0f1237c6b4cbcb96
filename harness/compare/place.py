"""The place where two committed views part, and what was going on there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from harness.folds import Viewed

Views = tuple[Viewed, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """Both views and the index of the first event that differs; before it they are the same."""

    left: Views
    right: Views
    index: int

    @property
    def base(self) -> Viewed | None:
        """The base's event, None where its run is over."""
        return self.left[self.index] if self.index < len(self.left) else None

    @property
    def candidate(self) -> Viewed | None:
        """The candidate's event, None where its run is over."""
        return self.right[self.index] if self.index < len(self.right) else None

    @property
    def some(self) -> Viewed:
        """The base's event, else the candidate's; one of them is there."""
        found = self.base or self.candidate
        assert found is not None  # an index past both ends is no place of a difference
        return found

    @property
    def agent(self) -> str:
        """Whose event it is; empty for the root."""
        return self.some.agent

    @property
    def turn(self) -> int | None:
        """The turn as the file counts it."""
        return self.some.turn

    @property
    def step(self) -> int | None:
        """The step of the file; where it has none, requests (or answers) of the agent so far."""
        if self.some.step is not None or self.some.turn is not None:
            return self.some.step
        view = self.left if self.base else self.right
        kinds = [v.kind for v in view[: self.index + 1] if v.agent == self.agent]
        return kinds.count("model/request") or kinds.count("assistant/message") or None

    def call(self, label: str) -> tuple[int, Mapping[str, Any]] | None:
        """Position (from 1, in its answer) and fields of the newest call under that label before here."""
        for viewed in reversed(self.left[: self.index]):
            if viewed.kind == "assistant/message" and viewed.agent == self.agent:
                for n, call in enumerate(viewed.fields["tool_calls"], 1):
                    if call["id"] == label:
                        return n, call
        return None


def messages_shown(view: Views, index: int) -> list[Any]:
    """The whole messages of the request at ``index``, rebuilt from the view."""
    shown: list[Any] = []
    agent = view[index].agent
    for viewed in view[: index + 1]:
        if viewed.kind == "model/request" and viewed.agent == agent:
            shown = shown[: viewed.fields["keep"]] + viewed.fields["append"]
    return shown
