"""What a call must pass before its body begins: the door's own refusal, hooks, rules, a person's word.

Pure steps, each given how to run what may take its time; who calls them records what comes of it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias, assert_never

from harness.protocols import Approver, Signal
from harness.types.codes import ApprovalOutcome, Code, ToolOutcome
from harness.types.doors import ToolReply
from harness.types.jsontext import clean_text, described
from harness.types.policy import ApprovalReply, Ask, Deny, Judgement, Question, Ruling, Show, Use
from harness.types.reasons import EmittedCall

Rules: TypeAlias = Callable[[str, str], Judgement]
"""What the policy says of a tool's name and its arguments (JSON text)."""
Refuse: TypeAlias = Callable[[str, str], ToolReply | None]
Run: TypeAlias = Callable[[Coroutine[Any, Any, Any], str], Awaitable[Any]]
"""Runs what a host gave, under a name, in a task that a stop ends."""
PreTool: TypeAlias = Callable[[EmittedCall], Coroutine[Any, Any, Deny | Ask | Use | None]]
"""Called with each call that may run, in model order, with the arguments as hooks before it left them."""
PostTool: TypeAlias = Callable[[EmittedCall, ToolReply], Coroutine[Any, Any, Show | None]]
"""Called with each call whose body ran, in model order, right before its result is committed."""

_NEXT: Final = "do without it, or ask for something else"


class Stopped(Exception):
    """The turn was stopped before there was an answer: nothing said from here on counts."""


class HookFailed(Exception):
    """A hook around a tool raised: the run fails, HOOK_FAILED; started bodies are settled first."""


@dataclass(frozen=True, slots=True)
class Guard:
    """What calls may do: the rules (None: everything), and who is asked (None: nobody is there)."""

    rules: Rules | None = None
    approver: Approver | None = None


NO_GUARD: Final = Guard()
_ALLOWED: Final = Judgement(Ruling.ALLOW)


async def looked_at(
    call: EmittedCall, *, refuse: Refuse, hooks: Sequence[PreTool], rules: Rules | None, run: Run
) -> tuple[EmittedCall, str | None] | ToolReply:
    """The call as its body would get it, with why a person is to be asked (None: nobody is); or the refusal.

    The door refuses what it does not know or cannot read; each hook sees what the one before left, and the first
    denial stands; changed arguments are checked again (CONFORMANCE 54); the rules have the last word. Raises
    HookFailed.
    """
    refusal, used, why = refuse(call.name, call.arguments), call, None
    if refusal is not None:
        return refusal
    for hook in hooks:
        match await _asked(hook(used), "pre_tool", run):
            case Deny(message=message):
                return refused(call.name, Code.PERMISSION_DENIED, message)
            case Ask(why=reason):
                why = reason
            case Use(arguments=arguments):
                used = replace(used, arguments=arguments)
            case None:
                pass
            case other:
                raise HookFailed(f"a pre_tool hook gave {other!r:.80}; allowed: Deny, Ask, Use, None")
    if used.arguments != call.arguments and (refusal := refuse(used.name, used.arguments)) is not None:
        return refusal
    ruled = rules(used.name, used.arguments) if rules is not None else _ALLOWED
    if ruled.ruling is Ruling.DENY:
        return refused(call.name, Code.PERMISSION_DENIED, ruled.why)
    return used, ruled.why if ruled.ruling is Ruling.ASK and why is None else why


async def shown(call: EmittedCall, reply: ToolReply, *, hooks: Sequence[PostTool], run: Run) -> ToolReply:
    """A body's reply as the hooks leave it: its content, and what is told besides. Raises HookFailed."""
    for hook in hooks:
        said = await _asked(hook(call, reply), "post_tool", run)
        if isinstance(said, Show):
            content = reply.content if said.content is None else said.content
            content = clean_text(content) if isinstance(content, str) else content
            reply = replace(reply, content=content, context=(*reply.context, *map(clean_text, said.context)))
        elif said is not None:
            raise HookFailed(f"a post_tool hook gave {said!r:.80}; allowed: Show, None")
    return reply


async def _asked(hook: Coroutine[Any, Any, Any], kind: str, run: Run) -> Any:
    try:
        return await run(hook, f"{kind} hook")
    except Stopped:
        raise
    except Exception as error:  # a hook's fault ends its turn, never the process (CONFORMANCE 12)
        raise HookFailed(f"a {kind} hook raised {described(error)}") from error


async def answer_of(
    question: Question, approver: Approver | None, *, signal: Signal, run: Run
) -> tuple[ApprovalReply, str, str]:
    """The reply, who gave it, and what went wrong. Nobody there, or one who raises: unavailable (CONFORMANCE 57)."""
    if signal.is_set:
        raise Stopped
    if approver is None:
        return ApprovalReply.UNAVAILABLE, "nobody", "nobody is there to ask"
    try:
        reply = ApprovalReply(await run(approver.ask(question, signal=signal), "approval"))
    except Stopped:
        raise
    except Exception as error:  # it could not say anything, which is no rejection
        return ApprovalReply.UNAVAILABLE, approver.name, f"whoever is asked cannot answer: {described(error)}"
    return reply, approver.name, ""


def told(
    tool: str, reply: ApprovalReply, by: str, fault: str = ""
) -> tuple[ApprovalOutcome | None, str, ToolReply | None]:
    """What a reply comes to (None: parked), who gave it, and the refusal that follows."""
    match reply:
        case ApprovalReply.ALLOW:
            return ApprovalOutcome.ALLOWED, by, None
        case ApprovalReply.REJECT:
            return ApprovalOutcome.REJECTED, by, refused(tool, Code.REJECTED, f"{by} rejected it")
        case ApprovalReply.UNAVAILABLE:
            return ApprovalOutcome.UNAVAILABLE, by, refused(tool, Code.APPROVAL_UNAVAILABLE, fault or "nobody answered")
        case ApprovalReply.PARK:
            return None, by, None
        case _:
            assert_never(reply)


def refused(tool: str, code: Code, why: str) -> ToolReply:
    """The error result of a call that was kept from running."""
    text = f"tool {tool!r} did not run: {clean_text(why).rstrip('.') or 'it is not allowed'}; {_NEXT}."
    return ToolReply(f"Error ({code}): {text}", ToolOutcome.ERROR, is_error=True, code=code, message=text)
