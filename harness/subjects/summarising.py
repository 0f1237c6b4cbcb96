"""The summariser of a run: a model of its own role, asked as an agent of its own with one turn of one step."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any

from harness.errors import ModelError
from harness.folds import CallIds, committed, text_of
from harness.loop import StrictAnswers, closing_reason, status_for
from harness.models import RecordingDoor
from harness.protocols import Log, ModelDoor, Signal, World
from harness.types.codes import CancelBy, Code, Origin
from harness.types.context import SUMMARISER, SUMMARY_REQUEST, CompactBy
from harness.types.doors import ModelCall
from harness.types.facts import Fact
from harness.types.lifecycle import StepEnd, StepStart, TurnEnd, TurnStart
from harness.types.messages import ChatUser, JsonText, Messages
from harness.types.reasons import Cancelled, Failed, FinalAnswer, Reason
from harness.types.scenario import NO_PARAMETERS
from harness.wire.failures import known_code

Summarise = Callable[[str, str, Signal], Coroutine[Any, Any, str]]


def summariser(door: ModelDoor, log: Log) -> Summarise:
    """Asks the model of the role ``summariser`` through ``door``; its events stand under the agent it is given.

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
            answer = await door.ask(_call(agent, text), signal=signal)
            message = committed(replace(answer, calls=()), CallIds(agent), turn=1, step=1, attempt=1)
            tell(message)
            reason = closing_reason(message) or reason
            if answer.calls or not isinstance(reason, FinalAnswer):
                what = "it asks for tools" if answer.calls else f"it ended with {reason.kind}"
                raise ModelError(f"the summariser gave no whole summary: {what}", code=Code.DAMAGED_RESPONSE)
            return f"Earlier, summed up: {text_of(message.content)}"
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
    others = {role: StrictAnswers(model) for role, model in world.models.items()}
    return summariser(RecordingDoor(None, world.log, redact=world.redact, others=others), world.log)


def _call(agent: str, text: str) -> ModelCall:
    messages = Messages.of((ChatUser(f"{SUMMARY_REQUEST}\n\n{text}"),))
    return ModelCall((), messages, JsonText("[]"), NO_PARAMETERS, agent, 1, 1, role=SUMMARISER)
