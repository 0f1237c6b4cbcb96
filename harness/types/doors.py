"""What passes through the two doors: a model call and its answer, a tool's reply."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from harness.types.codes import Code, FinishReason, ToolOutcome
from harness.types.making import quickly_made
from harness.types.messages import ChatDeveloper, ChatSystem, Content, JsonText, Messages
from harness.types.reasons import Usage

MAIN_ROLE: Final = "main"

Faults: TypeAlias = Callable[[int], Exception | None]
"""What a body raises instead of running, by the seq of its ``tool/start``; None: it runs."""
Gate: TypeAlias = Callable[[int], Awaitable[None]]
"""Waits until the body may be seen to end that began with the ``tool/start`` of this seq."""


def no_faults(_: int) -> None:
    """Every body runs."""


@quickly_made
@dataclass(frozen=True, slots=True)
class ModelCall:
    """One request to a model: what it is shown and what it is offered.

    ``tools`` and ``parameters`` are canonical JSON texts as in ``request/header``; ``role`` says which model of
    the run is asked.
    """

    system: tuple[ChatSystem | ChatDeveloper, ...]
    messages: Messages
    tools: JsonText
    parameters: JsonText
    agent: str = ""
    turn: int | None = None
    step: int | None = None
    attempt: int = 1
    role: str = MAIN_ROLE


@quickly_made
@dataclass(frozen=True, slots=True)
class AnsweredCall:
    """A call inside an answer as it arrived: nothing repaired. ``wire_id`` None: absent or null."""

    name: str | None
    arguments: str | None
    wire_id: str | None = None
    type: str | None = None


@quickly_made
@dataclass(frozen=True, slots=True)
class Answer:
    """A model's whole answer, normalised but not judged.

    ``finish_reason`` None: none came. ``no_finish_expected``: the provider's adapter profile
    declares that it never sends one, so its absence is no damage (CONFORMANCE 98). ``notes`` are
    remarks of the adapter that the door records (several choices came, ...). ``raw``: the response
    body that a script gave, for doors that hand it on verbatim. ``extra``: what the provider wants
    sent back beside the message (reasoning items), JSON text of an object.
    """

    content: Content | None = None
    calls: tuple[AnsweredCall, ...] = ()
    reasoning: str | None = None
    refusal: str | None = None
    finish_reason: FinishReason | None = None
    raw_finish_reason: str | None = None
    model: str | None = None
    fingerprint: str | None = None
    usage: Usage | None = None
    no_finish_expected: bool = False
    notes: tuple[str, ...] = ()
    raw: JsonText | None = None
    extra: JsonText | None = None


@quickly_made
@dataclass(frozen=True, slots=True)
class ToolReply:
    """What the door gives back: what the model is to be shown, and how the body ended.

    ``concludes``: the body asks for the end of the turn (CONFORMANCE 17). ``fails_run``: the host's policy ends
    the turn as failed because of it (ARTICLES 20). ``context``: texts that the model is to see as user messages,
    behind all results of the answer (55).
    """

    content: Content
    outcome: ToolOutcome
    is_error: bool = False
    code: Code | None = None
    message: str | None = None
    truncated: bool = False
    concludes: bool = False
    fails_run: bool = False
    context: tuple[str, ...] = ()
