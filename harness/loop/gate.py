"""What stands between a call and its body: the tools' own refusal, hooks, the policy, a person."""

from __future__ import annotations

from collections.abc import Coroutine, Mapping
from dataclasses import replace
from typing import Any

from harness.loop.scheduler import Stopped
from harness.loop.turn import Desk, Turn
from harness.types.codes import ApprovalOutcome, Code, ToolOutcome
from harness.types.doors import ToolReply
from harness.types.jsontext import canonical_json, clean_text, described
from harness.types.lifecycle import CHANGED_ARGUMENTS_NOTE, ApprovalAnswered, ApprovalAsked, Note
from harness.types.messages import CallId
from harness.types.policy import ApprovalReply, Ask, Deny, Judgement, Question, Ruling, Use
from harness.types.reasons import EmittedCall, Waiting

_OUTCOMES = {ApprovalReply.ALLOW: ApprovalOutcome.ALLOWED, ApprovalReply.REJECT: ApprovalOutcome.REJECTED}
_NEXT = "do without it, or ask for something else"


class HookFailed(Exception):
    """A hook around a tool raised: the run fails, HOOK_FAILED; started bodies are settled first."""


class Gate:
    """The gate of one answer's calls, which pass one after the other, in model order (CONFORMANCE 51).

    ``answers`` were given to questions of an earlier run, by call.
    """

    def __init__(self, desk: Desk, turn: Turn, answers: Mapping[CallId, ApprovalReply]) -> None:
        self._desk, self._turn, self._answers = desk, turn, answers
        self._call: EmittedCall | None = None
        self._verdict: EmittedCall | ToolReply | Question | None = None

    async def admit(self, call: EmittedCall, *, alone: bool) -> EmittedCall | ToolReply | None:
        """The call as its body gets it, or why it does not run; None: not now, or the turn is stopped or parked.

        A question is a barrier: it is put once all calls before it have their results. Raises HookFailed, Stopped.
        """
        if self._call is not call:
            self._call, self._verdict = call, await self._judged(call)
        if isinstance(self._verdict, Question):
            if not alone:
                return None
            self._verdict = await self._answered(self._verdict, call)
        return self._verdict

    async def shown(self, call: EmittedCall, reply: ToolReply) -> ToolReply:
        """A body's reply as the ``post_tool`` hooks leave it. Raises HookFailed, Stopped."""
        for hook in self._desk.hooks.post_tool:
            said = await self._hook(hook(call, reply), "post_tool")
            if said is not None:
                content = reply.content if said.content is None else said.content
                content = clean_text(content) if isinstance(content, str) else content
                reply = replace(reply, content=content, context=(*reply.context, *said.context))
        return reply

    async def _judged(self, call: EmittedCall) -> EmittedCall | ToolReply | Question:
        refusal, used, why = self._desk.tools.refuse(call.name, call.arguments), call, None
        for hook in self._desk.hooks.pre_tool if refusal is None else ():
            said = await self._hook(hook(used), "pre_tool")
            match said:
                case Deny(message=message):
                    return _refused(call, Code.PERMISSION_DENIED, message)
                case Ask():
                    why = said.why
                case Use():
                    used = replace(used, arguments=said.arguments)
        if used.arguments != call.arguments:
            refusal = self._desk.tools.refuse(used.name, used.arguments)
        if refusal is not None:
            return refusal
        rules = self._desk.policies.guard.rules
        ruled = rules(used.name, used.arguments) if rules is not None else Judgement(Ruling.ALLOW)
        if ruled.ruling is Ruling.DENY:
            return _refused(call, Code.PERMISSION_DENIED, ruled.why)
        if used.arguments != call.arguments:
            data = canonical_json({"call": call.id, "arguments": used.arguments})
            self._desk.say(Note(CHANGED_ARGUMENTS_NOTE, data), self._turn)
        if ruled.ruling is Ruling.ASK or why is not None or call.id in self._answers:
            return Question(call.id, call.name, used.arguments, why or ruled.why, self._desk.agent)
        return used

    async def _hook(self, hook: Coroutine[Any, Any, Any], name: str) -> Any:
        try:
            return await self._desk.scheduler.run_request(hook, self._turn.stop, name=f"{name} hook")
        except Stopped:
            raise
        except Exception as error:  # a hook's fault ends its turn, never the process (CONFORMANCE 12)
            raise HookFailed(f"a {name} hook raised {described(error)}") from error

    async def _answered(self, question: Question, call: EmittedCall) -> EmittedCall | ToolReply | None:
        reply, by, fault = self._answers.get(call.id), "user", ""
        if reply is None:
            if self._turn.stop.is_set:
                return None
            self._desk.say(ApprovalAsked(call.id), self._turn)
            reply, by, fault = await self._ask(question)
        if reply is ApprovalReply.PARK:
            self._turn.stop.set(Waiting(call.id))
            return None
        stopped = reply is None
        outcome = ApprovalOutcome.CANCELLED if stopped else _OUTCOMES.get(reply, ApprovalOutcome.UNAVAILABLE)
        self._desk.say(ApprovalAnswered(call.id, outcome, by), self._turn)
        if outcome is ApprovalOutcome.REJECTED:
            return _refused(call, Code.REJECTED, f"{by} said no")
        if outcome is ApprovalOutcome.UNAVAILABLE:
            return _refused(call, Code.APPROVAL_UNAVAILABLE, fault or "nobody answered")
        return None if stopped else replace(call, arguments=question.arguments)

    async def _ask(self, question: Question) -> tuple[ApprovalReply | None, str, str]:
        """The reply (None: stopped meanwhile, whatever was said), who gave it, and what went wrong."""
        approver, stop = self._desk.policies.guard.approver, self._turn.stop
        if approver is None:
            return ApprovalReply.UNAVAILABLE, "nobody", "there is nobody to ask"
        try:
            asked = approver.ask(question, signal=stop)
            return ApprovalReply(await self._desk.scheduler.run_request(asked, stop, name="approval")), approver.name, ""
        except Stopped:
            return None, stop.by or "limit", ""
        except Exception as error:  # it could not say anything: that is no rejection (CONFORMANCE 57)
            return ApprovalReply.UNAVAILABLE, approver.name, f"whoever is asked cannot answer: {described(error)}"


def _refused(call: EmittedCall, code: Code, why: str) -> ToolReply:
    text = f"tool {call.name!r} did not run: {clean_text(why).rstrip('.')}; {_NEXT}."
    return ToolReply(f"Error ({code}): {text}", ToolOutcome.ERROR, is_error=True, code=code, message=text)
