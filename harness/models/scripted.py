"""A model that says what its script says, keeps what it was asked, and errs when they do not fit."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, NoReturn, TypeAlias, cast

from harness.errors import InvalidValueError, ModelError, ScriptExhausted
from harness.models.replies import answer_of
from harness.models.script import Cursor, Position, counted
from harness.models.streaming import streamed
from harness.protocols import Clock, Emit, Signal
from harness.types.codes import Code, Outcome
from harness.types.doors import Answer, ModelCall
from harness.types.records import Finding, Verdict
from harness.types.script import ScriptBranch, ScriptFollows, ScriptReply

CHECK: Final = "script"
_RULE: Final = "conformance:157"
_NOT_ASKED: Final = "A loop of your own asks its model through env.openai()."

Reply: TypeAlias = ScriptReply | Answer | ModelError | str | Callable[[ModelCall], Any]
"""What a Python script may hold: a reply, an answer, a failure, a text, a function of the request.

A function (plain or async) gives one of these again.
"""


class ScriptedModel:
    """Answers from a script, one entry a request; a failed attempt uses up its own entry only.

    ``script`` holds entries of a scenario and Python values (:data:`Reply`). ``scenario`` is its
    name in messages, ``resolve`` finds functions by ``package.module:name``, ``clock`` lets delays
    pass, ``unasked`` says what to do about a script that nobody asked. ``asked`` keeps every call, in
    order. Raises ScriptExhausted on a request beyond the script, which also fails the closing verdict,
    whatever the subject makes of it (CONFORMANCE 157).
    """

    def __init__(
        self,
        script: Sequence[Reply | ScriptBranch],
        *,
        scenario: str,
        clock: Clock,
        resolve: Callable[[str], Any],
        follows: ScriptFollows = ScriptFollows.ORDER,
        allow_leftovers: bool = False,
        unasked: str | None = None,
    ) -> None:
        self.asked: list[ModelCall] = []
        self.exhausted: str | None = None
        self._cursor = Cursor(script, resolve, follows)
        self._scenario = scenario
        self._clock = clock
        self._resolve = resolve
        self._allow_leftovers = allow_leftovers
        self._unasked = unasked or _NOT_ASKED

    def skip(self, calls: Iterable[ModelCall]) -> None:
        """Pass over the replies that an earlier run used up for these requests; none of them is played."""
        for call in calls:
            self.asked.append(call)
            self._cursor.next(call)

    @property
    def name(self) -> str:
        """The name in the header."""
        return "scripted"

    @property
    def n_left(self) -> int:
        """Replies not used so far; an unreached branch counts as one."""
        return self._cursor.n_left

    async def answer(self, call: ModelCall, *, signal: Signal, emit: Emit) -> Answer:
        """The next reply. Raises ModelError as scripted, and ScriptExhausted."""
        self.asked.append(call)
        position = self._cursor.next(call)
        if position is None:
            self._exhaust(call)
        return await self._play(position.entry, position, call, signal, emit)

    async def _play(self, entry: object, position: Position, call: ModelCall, signal: Signal, emit: Emit) -> Answer:
        match entry:
            case ScriptReply():
                return await self._reply(entry, position, call, signal, emit)
            case Answer():
                return entry
            case str():
                return answer_of(ScriptReply(say=entry), position.number)
            case ModelError():
                raise entry
            case _ if callable(entry):
                return await self._play(await _called(entry, call), position, call, signal, emit)
            case _:
                raise InvalidValueError(
                    f"{self._scenario!r}, reply {position.number}: {type(entry).__name__} is no reply; "
                    "allowed are ScriptReply, Answer, ModelError, str, or a function that gives one"
                )

    async def _reply(
        self, reply: ScriptReply, position: Position, call: ModelCall, signal: Signal, emit: Emit
    ) -> Answer:
        if reply.delay_ms:
            await self._clock.sleep_ms(reply.delay_ms)
        if reply.hang:
            await signal.wait()
            raise ModelError("a scripted request that hangs was cancelled", code=Code.PROVIDER_ABORTED)
        if reply.fail is not None:
            raise ModelError(reply.fail.message, code=reply.fail.code, retry_after_ms=reply.fail.retry_after_ms)
        if reply.function is not None:
            return await self._play(self._resolve(reply.function), position, call, signal, emit)
        if reply.chunks is not None:
            return await streamed(reply, reply.chunks, position.number, clock=self._clock, emit=emit)
        return answer_of(reply, position.number)

    def _exhaust(self, call: ModelCall) -> NoReturn:
        number, n_replies = len(self.asked), self._cursor.n_taken
        place = [f"turn {call.turn}"] if call.turn is not None else []
        place += [f"step {call.step}"] if call.step is not None else []
        if self._cursor.behind:
            where = f" ({', '.join(place)})" if place else ""
            self.exhausted = f"{self._scenario!r}: {self._cursor.behind}{where}. Add a reply to the script."
            raise ScriptExhausted(self.exhausted)
        place.append(f"reply {n_replies + 1}")
        dry = self._cursor.unmatched or f"its script has {counted(n_replies, 'reply', 'replies')}"
        self.exhausted = (
            f"{self._scenario!r} asked for request {number} but {dry} ({', '.join(place)}). "
            "Add a reply to the script, or lower limits.steps."
        )
        raise ScriptExhausted(self.exhausted)

    def closing_verdicts(self) -> tuple[Verdict, ...]:
        """One verdict ``script``: FAIL when the script ran dry or has replies left, else PASS."""
        messages = [] if self.exhausted is None else [self.exhausted]
        n_left = self._cursor.n_left
        if n_left and not self._allow_leftovers:
            messages.append(
                f"{self._scenario!r}: {counted(n_left, 'reply', 'replies')} unused after "
                f"{counted(len(self.asked), 'request', 'requests')}. "
                + ("Remove them from the script, or say allow_leftovers." if self.asked else self._unasked)
            )
        findings = tuple(Finding(CHECK, message, rule=_RULE) for message in messages)
        if findings:
            return (Verdict(CHECK, Outcome.FAIL, findings),)
        return (Verdict(CHECK, Outcome.PASS, why=f"{counted(n_left, 'reply', 'replies')} unused"),)


async def _called(function: object, call: ModelCall) -> object:
    result = cast(Callable[[ModelCall], Any], function)(call)
    return await result if inspect.isawaitable(result) else result
