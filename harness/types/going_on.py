"""A run that goes on from another one's events."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from harness.types.events import Event
from harness.types.messages import CallId
from harness.types.policy import ApprovalReply


class GoingOnWhy(StrEnum):
    """Why a run goes on from another one: the same conversation further, or a branch of its own."""

    RESUME = "resume"
    FORK = "fork"


@dataclass(frozen=True, slots=True)
class GoingOn:
    """What a run begins with besides its scenario.

    ``past``: the parent's events up to the boundary, which the log holds already. ``tasks``: what is still to
    be sent, in order. ``answers``: to the question at which the past ends, by call id.
    """

    why: GoingOnWhy
    past: tuple[Event, ...]
    tasks: tuple[str, ...] = ()
    answers: tuple[tuple[CallId, ApprovalReply], ...] = ()
