"""The facts of a run: frozen, standard-library dataclasses, one for each kind of event (**wire**).

A fact says what happened; the recorder wraps it into an :class:`~harness.types.events.Event`. The
``TYPE`` of a class is its name on disk; fields are spelled in camelCase there and nulls are left
out. ``IGNORABLE`` kinds carry ``"ignorable": true`` on disk, so that older readers may skip them.
"""

from __future__ import annotations

from typing import Final, TypeAlias, get_args

from harness.types.exchange import (
    AssistantChunk,
    AssistantMessage,
    ContextReplaced,
    ModelFailed,
    ModelRequest,
    ModelRetry,
    RequestHeader,
    ToolCall,
    ToolEnd,
    ToolResult,
    ToolStart,
    UserMessage,
)
from harness.types.lifecycle import (
    ApprovalAnswered,
    ApprovalAsked,
    CancelDelivered,
    CancelRequested,
    InboxClaimed,
    InboxDiscarded,
    InboxQueued,
    Note,
    RunEnd,
    RunQuiescent,
    RunStart,
    StepEnd,
    StepStart,
    TurnEnd,
    TurnStart,
    UnknownFact,
)

KnownFact: TypeAlias = (
    RunStart
    | RunEnd
    | RunQuiescent
    | InboxQueued
    | InboxClaimed
    | InboxDiscarded
    | TurnStart
    | TurnEnd
    | StepStart
    | StepEnd
    | UserMessage
    | RequestHeader
    | ModelRequest
    | AssistantChunk
    | AssistantMessage
    | ModelFailed
    | ModelRetry
    | ToolCall
    | ToolStart
    | ToolEnd
    | ToolResult
    | ApprovalAsked
    | ApprovalAnswered
    | ContextReplaced
    | CancelRequested
    | CancelDelivered
    | Note
)
Fact: TypeAlias = KnownFact | UnknownFact

FACT_TYPES: Final[dict[str, type[KnownFact]]] = {fact.TYPE: fact for fact in get_args(KnownFact)}
"""Every kind that this version writes, by its name on disk, in the order of the format's table."""

PROBED: Final = (
    "request/header",
    "model/request",
    "assistant/chunk",
    "model/error",
    "tool/start",
    "tool/end",
    "cancel/requested",
    "cancel/delivered",
    "run/quiescent",
)
"""Kinds of a run of the built-in loop that the harness sees itself, at the doors to model and tools."""

TOLD: Final = (
    "run/start",
    "run/end",
    "inbox/queued",
    "inbox/claimed",
    "inbox/discarded",
    "model/retry",
    "turn/start",
    "turn/end",
    "step/start",
    "step/end",
    "user/message",
    "assistant/message",
    "context/replaced",
    "tool/call",
    "tool/result",
    "approval/asked",
    "approval/answered",
)
"""Kinds of such a run that the loop tells of itself; who writes a kind never changes within a file."""

EFFECTS: Final = (ModelRequest, ToolStart)
"""Facts recorded before something happens outside: they are in the file before it begins."""


def is_ignorable(fact: Fact) -> bool:
    """True for kinds that a reader may skip without losing meaning."""
    return bool(getattr(fact, "IGNORABLE", False))
