"""What stands between a call and its body: rules, questions to a person, and their answers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from harness.types.messages import CallId, Content, JsonText

ANY_TOOL: Final = "*"
"""The name under which the rules of all tools stand that are not named."""


class Ruling(StrEnum):
    """What a rule says of a call."""

    ALLOW = "allow"
    DENY = "deny"
    ASK = "ask"


class ApprovalReply(StrEnum):
    """What an approver says. PARK ends the run as waiting for the user: the answer comes in another run."""

    ALLOW = "allow"
    REJECT = "reject"
    UNAVAILABLE = "unavailable"
    PARK = "park"


class ScriptedReply(StrEnum):
    """What a scripted approver does: a reply, or it never answers, or it raises."""

    ALLOW = "allow"
    REJECT = "reject"
    UNAVAILABLE = "unavailable"
    PARK = "park"
    HANG = "hang"
    THROW = "throw"


@dataclass(frozen=True, slots=True)
class Rule:
    """What to do with calls of ``tool`` (a name, or ``*``) whose arguments fit ``when``.

    ``when`` is the JSON text of an object of matchers that the call's arguments must include; None fits
    every call. ``why`` is told to the model, or to the person who is asked.
    """

    tool: str
    then: Ruling
    when: JsonText | None = None
    why: str | None = None


@dataclass(frozen=True, slots=True)
class ScriptedApproval:
    """One scripted answer: to the first open question of this tool and this call (None: of any)."""

    reply: ScriptedReply
    tool: str | None = None
    call: str | None = None
    after_ms: int = 0


@dataclass(frozen=True, slots=True)
class PolicySpec:
    """What calls may do. ``read_only`` refuses every tool that writes, whatever the rules say.

    Of a tool's own rules the first that fits decides, else the first of ``*``; without any the call is
    allowed. ``approvals`` are answered in order, each once; without any left nobody is there to answer.
    """

    read_only: bool = False
    rules: tuple[Rule, ...] = ()
    approvals: tuple[ScriptedApproval, ...] = ()


NO_RULES: Final = PolicySpec()


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the policy says of one call, and why."""

    ruling: Ruling
    why: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """What a person is asked: may this call run? ``arguments`` are those that its body would get."""

    call_id: CallId
    tool: str
    arguments: str
    why: str = ""
    agent: str = ""


# ---------------------------------------------------------------- what hooks around a tool say


@dataclass(frozen=True, slots=True)
class Deny:
    """Before a call: it does not run; the model reads PERMISSION_DENIED and this message."""

    message: str


@dataclass(frozen=True, slots=True)
class Ask:
    """Before a call: a person is asked, unless the policy denies it."""

    why: str = ""


@dataclass(frozen=True, slots=True)
class Use:
    """Before a call: its body gets these arguments (JSON text), which are checked again (CONFORMANCE 54)."""

    arguments: str


@dataclass(frozen=True, slots=True)
class Show:
    """After a call whose body ran: what the model is shown in place of its content, and what it is told besides.

    There is no field for the call: which one it was cannot be changed (CONFORMANCE 53).
    """

    content: Content | None = None
    context: tuple[str, ...] = ()
