"""The place where two committed views part, and what was going on there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from harness.folds import Viewed

Views = tuple[Viewed, ...]
_ASKING: Final = ("request/header", "model/request", "assistant/message")
_BESIDE_STEPS: Final = ("run/", "turn/", "inbox/", "user/")
"""Kinds that belong to no step: a turn begins and ends, and input comes, between steps."""


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
        """The step of the file; in a file without any, answered requests of the agent so far, or one more."""
        view = self.left if self.base else self.right
        if any(viewed.step is not None or viewed.turn is not None for viewed in view):
            return self.some.step
        if self.some.kind.startswith(_BESIDE_STEPS):
            return None
        before = [viewed for viewed in view[: self.index] if viewed.agent == self.agent]
        n_answered = sum(viewed.kind == "assistant/message" and not viewed.fields["interrupted"] for viewed in before)
        waits = next((one.kind == "model/request" for one in reversed(before) if one.kind in _ASKING), False)
        return n_answered + (waits or self.some.kind in _ASKING) or None

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
