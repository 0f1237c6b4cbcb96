"""How a final answer is judged: what it came to."""

from __future__ import annotations

from dataclasses import dataclass

from harness.types.codes import Status


@dataclass(frozen=True, slots=True)
class OutcomeRules:
    """Who says of a final answer that it is completed, waiting_for_user or incomplete; first come, first heard.

    A field of an answer is a key of the JSON object that it is, or a line ``name: text`` of it. ``status``
    names the field in which the model says one of the three; ``fields`` must be there and not empty;
    ``verifier`` is ``package.module:function`` of (answer text, messages) that gives one of the three, or a
    pair of it and why. Nothing that is not completed by one is completed by the next.
    """

    status: str | None = None
    fields: tuple[str, ...] = ()
    verifier: str | None = None


@dataclass(frozen=True, slots=True)
class Judged:
    """What a final answer came to: COMPLETED, WAITING_FOR_USER or INCOMPLETE, and why."""

    status: Status
    why: str | None = None
