"""One trial, first decision: the request of a case under an arm goes out, and what comes back is kept. No tool runs."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final, Protocol

from harness.cassettes import Passing, passing
from harness.errors import CassetteMiss, HarnessError, ModelError, RecordingFailed
from harness.models.strict import damage_of
from harness.protocols import Clock, Model
from harness.runner.evaluation.pace import Pace
from harness.types.codes import CancelBy, Code, FinishReason
from harness.types.doors import Answer, ModelCall
from harness.types.jsontext import canonical_json, clean_text
from harness.types.messages import Content, JsonText, TextPart
from harness.types.model_spec import NO_PARAMETERS
from harness.types.reasons import Usage
from harness.types.retrying import RetryPolicy
from harness.types.trials import (
    AnswerOrigin,
    Owner,
    Provenance,
    Trial,
    TrialAnswer,
    TrialCall,
    TrialError,
    TrialKey,
)
from harness.wire.failures import is_no_answer
from harness.wire.requestlog import as_model_error
from harness.wire.requests import render_request, with_parameters

OF_THE_PROVIDER: Final = frozenset(
    {Code.RATE_LIMIT, Code.SERVER, Code.TIMEOUT, Code.TRANSPORT, Code.PROVIDER_ABORTED, Code.UNKNOWN}
)
"""What the endpoint did or did not do; the same trial is asked again, and says nothing about the model."""
OF_THE_MODEL: Final = frozenset(
    {Code.DAMAGED_RESPONSE, Code.NO_FINISH_REASON, Code.EMPTY_RESPONSE, Code.CONTEXT_OVERFLOW}
)
"""What came back is no decision; that counts against the agent."""
RETRIED: Final = (Code.RATE_LIMIT, Code.SERVER, Code.TIMEOUT, Code.TRANSPORT, Code.PROVIDER_ABORTED)


class EvaluationStopped(HarnessError):
    """Nothing more is asked: what went wrong would go wrong with every trial. What was answered is kept."""


class Never:
    """A signal that nobody sets: whoever stops an evaluation cancels its tasks."""

    is_set = False
    by: CancelBy | None = None

    async def wait(self) -> None:
        """Wait for ever."""
        await asyncio.get_running_loop().create_future()


NEVER: Final = Never()


def no_chunk(_: JsonText) -> None:
    """Pieces of a stream are not kept: the answer that they make is."""


class Keeper(Protocol):
    """Keeps the exchange of an answered trial before the trial is acknowledged."""

    def keep(self, passed: Passing) -> None: ...


@dataclass(frozen=True, slots=True)
class Seat:
    """Who answers the trials of one arm and number, and where that comes from."""

    model: Model
    origin: AnswerOrigin
    keeper: Keeper | None = None


@dataclass(frozen=True, slots=True)
class Desk:
    """What asking needs beside who is asked. ``now`` gives date and time for the record of live answers."""

    clock: Clock
    pace: Pace
    retry: RetryPolicy
    now: Callable[[], str]
    redact: Callable[[str], str]


def request_digest(call: ModelCall, model: Model) -> str:
    """The sha256 of what is asked: the request's body in canonical form."""
    return digest_of(with_parameters(call, getattr(model, "parameters", NO_PARAMETERS)), model.name)


def digest_of(call: ModelCall, model: str = "") -> str:
    """The sha256 of a request's body in canonical form; ``model`` where the call does not name one."""
    return hashlib.sha256(canonical_json(render_request(call, model)).encode("utf-8")).hexdigest()


def retries(n: int) -> RetryPolicy:
    """The policy that asks again ``n`` times where the provider failed."""
    return RetryPolicy(attempts=1 + n, codes=RETRIED)


async def ask(key: TrialKey, call: ModelCall, seat: Seat, desk: Desk) -> Trial:
    """The trial's record. Raises CassetteMiss, RecordingFailed, SecretFoundError, and EvaluationStopped.

    A ModelError that is nobody's for sure (INVALID_REQUEST) is a record of the harness's; who runs the trials
    decides whether all are refused alike.
    """
    made = Trial(key.case, key.arm, key.trial, request_digest(call, seat.model))
    failed: Usage | None = None
    attempt = 0
    while True:
        attempt += 1
        await desk.pace.wait()
        began_ms = desk.clock.now_ms()
        with passing(key.case) as passed:
            found = await _attempt(call, seat, desk)
        took_ms = desk.clock.now_ms() - began_ms
        desk.pace.used(found.usage)
        if isinstance(found, ModelError):
            failed = _sum(failed, found.usage)
            delay_ms = desk.retry.delay_ms(attempt, _code(found), found.retry_after_ms)
            if delay_ms is not None:
                await desk.clock.sleep_ms(delay_ms)
                continue
        trial = _with_outcome(replace(made, n_retries=attempt - 1), found, failed)
        if seat.keeper is not None and not is_provider_error(trial):
            seat.keeper.keep(passed)
        took = None if seat.origin is AnswerOrigin.SCRIPTED else took_ms
        return replace(trial, duration_ms=took, by=_provenance(seat, found, passed, desk))


def is_provider_error(trial: Trial) -> bool:
    """Whether the provider failed this trial: it may be asked again."""
    return trial.error is not None and trial.error.owner is Owner.PROVIDER


async def _attempt(call: ModelCall, seat: Seat, desk: Desk) -> Answer | ModelError:
    try:
        answer = await seat.model.answer(call, signal=NEVER, emit=no_chunk)
    except (CassetteMiss, RecordingFailed):
        raise
    except Exception as error:  # somebody else's model may raise anything
        failure = as_model_error(error, desk.redact)
        code = _code(failure)
        if code in (Code.AUTH, Code.QUOTA):
            raise EvaluationStopped(f"the endpoint refuses every request ({code}): {failure}") from error
        if code not in (*OF_THE_PROVIDER, *OF_THE_MODEL, Code.INVALID_REQUEST):
            raise EvaluationStopped(f"the model {seat.model.name!r} failed ({code}): {failure}") from error
        return failure
    damage = damage_of(answer)
    if damage is None:
        return answer
    damage.usage = answer.usage
    return damage


def _code(error: ModelError) -> Code:
    try:
        return Code(error.code)
    except ValueError:
        return Code.UNKNOWN


def _sum(one: Usage | None, other: Usage | None) -> Usage | None:
    if one is None or other is None:
        return other if one is None else one
    pairs = {name: (getattr(one, name), getattr(other, name)) for name in _COUNTS}
    return Usage(**{name: None if a is None and b is None else (a or 0) + (b or 0) for name, (a, b) in pairs.items()})


_COUNTS: Final = ("input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens", "cost_micro_usd")


# ---------------------------------------------------------------- the record


def _with_outcome(made: Trial, found: Answer | ModelError, failed: Usage | None) -> Trial:
    if isinstance(found, Answer):
        return replace(made, answer=answer_of(found), usage=_sum(failed, found.usage))
    code, message = _code(found), clean_text(str(found))
    return replace(made, error=TrialError(code, message, owner_of(code, message)), usage=failed)


def owner_of(code: Code, message: str) -> Owner:
    """Whose failure of a request it was. What is no answer at all is the provider's; a damaged one is the agent's."""
    if code in OF_THE_MODEL and not is_no_answer(code, message):
        return Owner.AGENT
    return Owner.HARNESS if code is Code.INVALID_REQUEST else Owner.PROVIDER


def answer_of(answer: Answer) -> TrialAnswer:
    """The decision in an answer, calls as they came."""
    return TrialAnswer(
        content=text_of(answer.content),
        refusal=answer.refusal,
        calls=tuple(
            TrialCall(clean_text(one.name or ""), clean_text(one.arguments or ""), one.wire_id) for one in answer.calls
        ),
        finish_reason=answer.finish_reason or (FinishReason.STOP if answer.no_finish_expected else None),
    )


def text_of(content: Content | None) -> str | None:
    """The text of a content; what is no text in it is left out."""
    if content is None or isinstance(content, str):
        return None if content is None else clean_text(content)
    return clean_text("".join(part.text for part in content if isinstance(part, TextPart)))


def _provenance(seat: Seat, found: Answer | ModelError, passed: Passing, desk: Desk) -> Provenance:
    said: dict[str, Any] = {"server": passed.server}
    if isinstance(found, Answer):
        said |= {"model": found.model, "fingerprint": found.fingerprint}
    last = passed.latest()
    match seat.origin:
        case AnswerOrigin.RECORDED:
            said["at"] = (last.at or None) if last is not None else None
        case AnswerOrigin.LIVE:
            said["at"] = desk.now()
        case AnswerOrigin.SCRIPTED:
            said["server"] = None
    return Provenance(seat.origin, **said)
