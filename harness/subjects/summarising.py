"""The summariser of a run: a model of its own role, asked as an agent of its own with one turn of one step."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any

from harness.errors import ModelError, UsageError
from harness.folds import Budget, CallIds, committed, reason_text, status_for, text_of
from harness.loop import StopSignal, closing_reason
from harness.models import RecordingDoor
from harness.models.strict import StrictAnswers
from harness.protocols import Log, ModelDoor, Signal, World
from harness.tools import Shorten
from harness.types.codes import CancelBy, Code, Origin
from harness.types.context import RESULT_REQUEST, SUMMARISER, SUMMARY_REQUEST, CompactBy, summariser_path
from harness.types.doors import ModelCall
from harness.types.facts import Fact
from harness.types.lifecycle import StepEnd, StepStart, TurnEnd, TurnStart
from harness.types.limits import Limits
from harness.types.messages import ChatUser, JsonText, Messages
from harness.types.reasons import Cancelled, Failed, FinalAnswer, Reason
from harness.types.scenario import NO_PARAMETERS
from harness.wire.failures import known_code

Summarise = Callable[[str, str, Signal], Coroutine[Any, Any, str]]


def summariser(door: ModelDoor, log: Log, request: str = SUMMARY_REQUEST) -> Summarise:
    """Asks the model of the role ``summariser`` through ``door``; its events stand under the agent it is given.

    ``request`` stands before the text that is to be summed up.

    What is given back raises ModelError where no whole text came, and lets cancellation through, told as
    cancelled by the parent.
    """

    async def summarise(agent: str, text: str, signal: Signal) -> str:
        def tell(fact: Fact, step: int | None = 1) -> None:
            log.record(fact, origin=Origin.SUBJECT, agent=agent, turn=1, step=step)

        reason: Reason = Failed(Code.INTERNAL, "no summary came")
        tell(TurnStart(), None)
        tell(StepStart())
        try:
            answer = await door.ask(_call(agent, f"{request}\n\n{text}"), signal=signal)
            message = committed(replace(answer, calls=()), CallIds(agent), turn=1, step=1, attempt=1)
            tell(message)
            reason = closing_reason(message) or reason
            if answer.calls or not isinstance(reason, FinalAnswer):
                what = "it asks for tools" if answer.calls else f"it ended with {reason.kind}"
                raise ModelError(f"the summariser gave no whole summary: {what}", code=Code.DAMAGED_RESPONSE)
            return text_of(message.content)
        except ModelError as error:
            reason = Failed(known_code(error.code), str(error))
            raise
        except asyncio.CancelledError:
            reason = Cancelled(CancelBy.PARENT)
            raise
        finally:
            tell(StepEnd())
            tell(TurnEnd(status_for(reason), reason), None)

    return summarise


def summarise_of(world: World) -> Summarise | None:
    """The summariser that a run's context policy asks for; None where older history is folded by rule."""
    compact = world.scenario.context.compact
    if compact is None or compact.by is not CompactBy.SUMMARISER:
        return None
    ask = summariser(_door(world), world.log)

    async def earlier(agent: str, text: str, signal: Signal) -> str:
        return f"Earlier, summed up: {await ask(agent, text, signal)}"

    return earlier


def shorten_of(world: World, limits: Limits, agent: str) -> Shorten | None:
    """What sums up long results of an agent's tools; None where the tool policy asks for none.

    It asks under the agent's path, the role and the call, and for nothing more once the agent's tokens or money are
    used up (UsageError). A stop ends it at once.
    """
    if not world.scenario.tool_policy.summarises:
        return None
    ask = summariser(_door(world), world.log, RESULT_REQUEST)
    budget = Budget(limits, agent)

    async def shorten(call_id: str, text: str, signal: Signal) -> str:
        spent = budget.catch_up(world.log.events).spent()
        if spent is not None:
            raise UsageError(f"the limit is reached: {reason_text(spent)}")
        cancel = _canceller(asyncio.current_task())
        if isinstance(signal, StopSignal):
            signal.on_set(cancel)
        try:
            return await ask(summariser_path(agent, call_id), text, signal)
        finally:
            if isinstance(signal, StopSignal):
                signal.forget(cancel)

    return shorten


def _canceller(task: asyncio.Task[Any] | None) -> Callable[[], None]:
    def cancel() -> None:  # at once; what the task itself says may stop it too, and the door then looks at the signal
        if task is not None and task is not asyncio.current_task():
            task.cancel()

    return cancel


def _door(world: World) -> ModelDoor:
    others = {role: StrictAnswers(model) for role, model in world.models.items()}
    return RecordingDoor(None, world.log, redact=world.redact, others=others)


def _call(agent: str, text: str) -> ModelCall:
    messages = Messages.of((ChatUser(text),))
    return ModelCall((), messages, JsonText("[]"), NO_PARAMETERS, agent, 1, 1, role=SUMMARISER)
