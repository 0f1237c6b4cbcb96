"""What stands between the calls of one answer and their bodies, with the facts of each question and answer."""

from __future__ import annotations

from collections.abc import Mapping

from harness.guarding import Run, Stopped, answer_of, looked_at, shown, told
from harness.loop.limits import before_body
from harness.loop.turn import Desk, Turn
from harness.types.codes import ApprovalOutcome
from harness.types.doors import ToolReply
from harness.types.jsontext import canonical_json
from harness.types.lifecycle import CHANGED_ARGUMENTS_NOTE, CHANGED_RESULT_NOTE, ApprovalAnswered, ApprovalAsked, Note
from harness.types.messages import CallId
from harness.types.policy import ApprovalReply, Question
from harness.types.reasons import EmittedCall, Waiting


class Gate:
    """Calls pass one after the other, in model order (CONFORMANCE 51). ``answers`` were given to an earlier run."""

    def __init__(self, desk: Desk, turn: Turn, answers: Mapping[CallId, ApprovalReply]) -> None:
        self._desk, self._turn, self._answers = desk, turn, answers
        self._run: Run = lambda said, name: desk.scheduler.run_request(said, turn.stop, name=name)
        self._seen: EmittedCall | None = None
        self._verdict: tuple[EmittedCall, str | None] | ToolReply | None = None

    @property
    def shows(self) -> bool:
        """Whether anything stands between a body's reply and its result."""
        return bool(self._desk.hooks.post_tool)

    async def admit(self, call: EmittedCall, *, alone: bool) -> EmittedCall | ToolReply | None:
        """The call as its body gets it, or its refusal; None: not now, or the turn is stopped, or parked by it.

        A question is a barrier: it is put when all calls before it have their results.
        """
        if self._seen is not call:
            desk, rules, self._seen = self._desk, self._desk.policies.guard.rules, call
            self._verdict = await looked_at(
                call, refuse=desk.tools.refuse, hooks=desk.hooks.pre_tool, rules=rules, run=self._run
            )
            if not isinstance(self._verdict, ToolReply) and self._verdict[0].arguments != call.arguments:
                data = canonical_json({"call": call.id, "arguments": self._verdict[0].arguments})
                desk.say(Note(CHANGED_ARGUMENTS_NOTE, data), self._turn)
        if self._verdict is None or isinstance(self._verdict, ToolReply):
            return self._verdict
        used, why = self._verdict
        if why is None and call.id not in self._answers:
            return used
        return await self._asked(used, why or "") if alone else None

    async def shown(self, call: EmittedCall, reply: ToolReply) -> ToolReply:
        """A body's reply as it is committed."""
        left = await shown(call, reply, hooks=self._desk.hooks.post_tool, run=self._run)
        if left.content != reply.content:
            self._desk.say(Note(CHANGED_RESULT_NOTE, canonical_json({"call": call.id})), self._turn)
        return left

    async def _asked(self, used: EmittedCall, why: str) -> EmittedCall | ToolReply | None:
        desk, turn, given = self._desk, self._turn, self._answers.get(used.id)
        if given is None and turn.stop.is_set:
            return None  # what is asked after a cancel is never shown (CONFORMANCE 58)
        if given is None and (late := before_body(desk, turn, used)) is not None:
            return late  # nobody is asked about a call that may not start any more (100)
        try:
            if given is None:
                desk.say(ApprovalAsked(used.id), turn)
                question = Question(used.id, used.name, used.arguments, why, desk.agent)
                asked = answer_of(question, desk.policies.guard.approver, signal=turn.stop, run=self._run)
                outcome, by, refusal = told(used.name, *await asked)
            else:
                outcome, by, refusal = told(used.name, given, "user")
        except Stopped:  # whatever was said: a cancel is no rejection (58, 85)
            outcome, by, refusal = ApprovalOutcome.CANCELLED, turn.stop.by or "limit", None
        if outcome is None and desk.agent:  # only the main agent's calls can wait: nobody could go on with a child
            outcome, by, refusal = told(used.name, ApprovalReply.UNAVAILABLE, by, "an answer later is too late for it")
        if outcome is None:
            turn.stop.set(Waiting(used.id))  # parked: nothing more happens here, and no cancel changes that
            return None
        desk.say(ApprovalAnswered(used.id, outcome, by), turn)
        return refusal or (used if outcome is ApprovalOutcome.ALLOWED else None)
