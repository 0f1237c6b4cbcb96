"""A model that answers as a recorded run was answered, and stops at the first request that differs."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NoReturn, TypeAlias

from harness.errors import ModelError, ReplayDiffers
from harness.folds import Exchange, answered_call
from harness.models.replayed_requests import first_difference, names_place
from harness.protocols import Clock, Emit, Signal
from harness.types.codes import Code, FinishReason, Outcome
from harness.types.doors import MAIN_ROLE, Answer, ModelCall
from harness.types.exchange import AssistantMessage, ModelFailed, ModelRequest
from harness.types.messages import Messages
from harness.types.records import Finding, Verdict
from harness.types.verdict_names import REPLAY_DIFFERS

CHECK: Final = "replay"
_Lane: TypeAlias = tuple[str, str]
"""Agent and role: whose requests come one after the other."""


@dataclass(frozen=True, slots=True)
class Parting:
    """Where a replayed run left the recorded one: the place in words, and both sides (short texts)."""

    place: str
    recorded: str
    now: str

    def __str__(self) -> str:
        return f"{self.place}: {self.recorded} was recorded, {self.now} now"


@dataclass(slots=True)
class _Seen:
    """What two requests of a lane were last found to share."""

    recorded: Messages | None = None
    sent: Messages | None = None


@dataclass(slots=True)
class _Queue:
    """The exchanges of one agent in one role that were not asked for yet."""

    left: deque[Exchange] = field(default_factory=deque)
    seen: _Seen = field(default_factory=_Seen)


class ReplayModel:
    """Answers from the exchanges of a recorded run, agent by agent and role by role, each once and in order.

    A request is compared with the recorded one in canonical form: ids of calls are renamed by first appearance,
    ``ignore`` names places that do not count (``messages[*].name``). Failures, chunks and, with ``timed``, delays come
    as they were; so do failures that were injected. The first request that differs raises ReplayDiffers, and so
    does every one after it. ``parting`` says where that was; ``n_followed`` of ``n_steps`` answers came before it.
    """

    name = "replay"

    def __init__(
        self,
        exchanges: Sequence[Exchange],
        *,
        clock: Clock,
        ignore: Sequence[str] = (),
        timed: bool = False,
    ) -> None:
        self._clock = clock
        self._ignore = tuple(ignore)
        self._timed = timed
        self._queues: dict[_Lane, _Queue] = {}
        self._renamed: dict[str, str] = {}
        for exchange in exchanges:
            self._queues.setdefault((exchange.agent, exchange.role), _Queue()).left.append(exchange)
        self.n_steps = sum(exchange.is_answered for exchange in exchanges)
        self.n_followed = 0
        self.n_asked = 0
        self.n_compared = 0
        self.parting: Parting | None = None
        self.ignored_nothing = list(self._ignore)
        """The places that no request so far had."""

    async def answer(self, call: ModelCall, *, signal: Signal, emit: Emit) -> Answer:
        """The recorded answer. Raises ReplayDiffers, and the recorded failure as a ModelError."""
        self.n_asked += 1
        if self.parting is not None:
            raise ReplayDiffers(str(self.parting))
        exchange = self._matching(call)
        for gap, chunk in exchange.chunks:
            await self._clock.sleep_ms((gap or 0) if self._timed else 0)
            emit(chunk)
        if self._timed and exchange.delay_ms:
            await self._clock.sleep_ms(exchange.delay_ms)
        if exchange.failure is not None:
            raise _failure(exchange.failure, exchange.retried_after_ms)
        if exchange.answer is None or exchange.answer.interrupted:
            await signal.wait()
            raise ModelError("a recorded request that was stopped was stopped again", code=Code.PROVIDER_ABORTED)
        self.n_followed += 1
        return _answer(exchange.answer, told=exchange.asked is not None)

    def part(self, place: str, recorded: str, now: str) -> None:
        """The run left the recorded one, as a tool or the runner saw it; the first to say so is heard."""
        self.parting = self.parting or Parting(place, recorded, now)

    # ------------------------------------------------------------ which exchange

    def _matching(self, call: ModelCall) -> Exchange:
        queue = self._queue(call)
        place = self._place(call)
        while queue.left and _was_stopped_unasked(queue.left[0], call) and len(queue.left) > 1:
            queue.left.popleft()
        if not queue.left:
            self._stop(place, "no further request", _summary(call))
        exchange = queue.left.popleft()
        asked = exchange.asked
        if asked is None or exchange.header is None or not isinstance(asked.fact, ModelRequest):
            return exchange
        self.n_compared += 1
        header, fact = exchange.header, asked.fact
        recorded = ModelCall(header.system, fact.messages, header.tools, header.parameters)
        start = _shared(queue.seen, recorded.messages, call.messages)
        found = first_difference(recorded, call, ignore=self._ignore, start=start)
        self.ignored_nothing = [one for one in self.ignored_nothing if not names_place(one, recorded, call)]
        if found is not None:
            self._stop(f"{place}: {found.where}", *found.texts)
        queue.seen.recorded, queue.seen.sent = recorded.messages, call.messages
        return exchange

    def _queue(self, call: ModelCall) -> _Queue:
        """The lane of the call's agent; a child under another path is the next child that nobody is yet."""
        agent = self._renamed.get(call.agent, call.agent)
        if (agent, call.role) not in self._queues and call.agent and call.role == MAIN_ROLE:
            taken = {*self._renamed.values()}
            free = [name for name, role in self._queues if name and role == call.role and name not in taken]
            agent = next(iter(free), agent)
        self._renamed[call.agent] = agent
        return self._queues.get((agent, call.role)) or _Queue()

    def _place(self, call: ModelCall) -> str:
        where = [f"agent {call.agent}"] if call.agent else []
        where += [f"{name} {value}" for name, value in (("turn", call.turn), ("step", call.step)) if value is not None]
        where += [f"attempt {call.attempt}"] if call.attempt > 1 else []
        where += [f"model of the role {call.role!r}"] if call.role != MAIN_ROLE else []
        return f"request {self.n_asked}" + (f" ({', '.join(where)})" if where else "")

    def _stop(self, place: str, recorded: str, now: str) -> NoReturn:
        self.part(place, recorded, now)
        raise ReplayDiffers(str(self.parting))

    # ------------------------------------------------------------ at the end

    def left_over(self) -> Iterator[Exchange]:
        """Recorded exchanges that were answered or failed and that nobody asked for, in order."""
        left = [one for queue in self._queues.values() for one in queue.left if one.answered is not None]
        yield from sorted(left, key=lambda one: one.answered.seq if one.answered else 0)

    def closing_verdicts(self) -> tuple[Verdict, ...]:
        """One verdict ``replay``: FAIL where the run left the recorded one or ended before it."""
        rest = next(self.left_over(), None)
        if rest is not None:
            place = f"after {self.n_followed} of {self.n_steps} steps"
            self.part(place, f"a further request ({_place_of(rest)})", "the run was over")
        steps = f"followed {self.n_followed} of {self.n_steps} steps"
        if self.parting is not None:
            finding = Finding(CHECK, f"{self.parting} ({steps})", rule=REPLAY_DIFFERS)
            return (Verdict(CHECK, Outcome.FAIL, (finding,), why="the run left the recorded one"),)
        return (Verdict(CHECK, Outcome.PASS, why=steps),)


def _shared(seen: _Seen, recorded: Messages, sent: Messages) -> int:
    """How many first messages were found equal already: requests that only grow are looked at once."""
    if seen.recorded is None or seen.sent is None:
        return 0
    grows = recorded.extends(seen.recorded) and sent.extends(seen.sent)
    return min(len(seen.recorded), len(seen.sent)) if grows else 0


def _was_stopped_unasked(exchange: Exchange, call: ModelCall) -> bool:
    """A recorded request that a cancel stopped before its model was asked, and that is not this one."""
    asked = exchange.asked
    if exchange.answered is not None or exchange.chunks or asked is None:
        return False
    return (asked.turn, asked.step) != (call.turn, call.step)


def _place_of(exchange: Exchange) -> str:
    event = exchange.asked or exchange.answered
    if event is None:
        return "unknown"
    parts = [f"agent {event.agent}"] if event.agent else []
    parts += [f"{name} {value}" for name, value in (("turn", event.turn), ("step", event.step)) if value is not None]
    return ", ".join([*parts, f"event {event.seq}"])


def _summary(call: ModelCall) -> str:
    n = len(call.messages)
    last: Any = call.messages[-1] if n else None
    text = json.dumps(getattr(last, "content", None), ensure_ascii=False, default=str)
    return f"one of {n} message{'' if n == 1 else 's'}, the last {text[:80]}"


def _failure(failed: ModelFailed, retry_after_ms: int | None) -> ModelError:
    error = ModelError(failed.message, code=failed.code.value, retry_after_ms=retry_after_ms)
    error.usage = failed.usage
    return error


def _answer(message: AssistantMessage, *, told: bool) -> Answer:
    """The answer as the model gave it; an answer that the loop took without a finish reason needs none.

    An import that tells no request tells no finish reason either (not ``told``): the usual one of such an answer
    stands in.
    """
    finish = message.finish_reason
    if finish is None and not told:
        finish = FinishReason.TOOL_CALLS if message.tool_calls else FinishReason.STOP
    return Answer(
        content=message.content,
        calls=tuple(answered_call(call) for call in message.tool_calls),
        reasoning=message.reasoning,
        refusal=message.refusal,
        finish_reason=finish,
        raw_finish_reason=message.raw_finish_reason,
        model=message.model,
        fingerprint=message.fingerprint,
        usage=message.usage,
        no_finish_expected=finish is None,
    )
