"""`event_grammar`, attempts: numbered without a gap, each further one told, and only behind a failure and its pause."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from harness.checks.base import Found, found
from harness.checks.reading import at, sees
from harness.folds.imported import is_import
from harness.types.events import Event, Trajectory
from harness.types.exchange import ModelFailed, ModelRequest, ModelRetry
from harness.types.lifecycle import StepStart


@dataclass(slots=True)
class _Asked:
    """The latest attempt of the open step (0: none yet), how it failed, and the retry that was told since."""

    attempt: int = 0
    request: Event | None = None
    failed: Event | None = None
    retry: Event | None = None


def attempt_findings(trajectory: Trajectory, events: list[Event]) -> Iterator[Found]:
    """Everything out of place in the attempts of one agent, where its loop tells its retries."""
    if not sees(trajectory, ModelRetry.TYPE) or is_import(trajectory):
        return
    asked = _Asked()
    for event in events:
        match event.fact:
            case StepStart():
                asked = _Asked()
            case ModelRequest(attempt=attempt):
                yield from _request(asked, event, attempt)
                asked = _Asked(attempt, event)
            case ModelFailed():
                asked.failed = event
            case ModelRetry() as retry:
                yield from _retry(asked, event, retry)
                asked.retry = event
            case _:
                pass


def _request(asked: _Asked, event: Event, attempt: int) -> Iterator[Found]:
    if attempt != asked.attempt + 1:
        text = f"a request{at(event)} is attempt {attempt} of its step, behind attempt {asked.attempt}"
        yield found(text, asked.request, event, rule="conformance:102")
    if asked.attempt == 0:
        return
    if asked.retry is None or not isinstance(asked.retry.fact, ModelRetry):
        text = f"attempt {attempt}{at(event)} follows no model/retry"
        yield found(text, asked.request, event, rule="conformance:152")
        return
    delay_ms = asked.retry.fact.delay_ms
    if event.time is not None and asked.retry.time is not None and event.time - asked.retry.time < delay_ms:
        waited = event.time - asked.retry.time
        text = f"attempt {attempt}{at(event)} comes {waited} ms behind its model/retry, which says {delay_ms} ms"
        yield found(text, asked.retry, event, rule="conformance:152")


def _retry(asked: _Asked, event: Event, retry: ModelRetry) -> Iterator[Found]:
    failed = asked.failed.fact if asked.failed else None
    if not isinstance(failed, ModelFailed):
        text = f"model/retry{at(event)} follows no model/error of the latest attempt"
        yield found(text, asked.request, event, rule="conformance:151")
    elif (retry.attempt, retry.code) != (failed.attempt, failed.code):
        told, was = f"{retry.attempt} with {retry.code}", f"{failed.attempt} with {failed.code}"
        text = f"model/retry tells of attempt {told}, what failed was attempt {was}"
        yield found(text, asked.failed, event, rule="conformance:152")
    if asked.retry is not None:
        yield found(f"model/retry{at(event)} comes twice", asked.retry, event, rule="conformance:152")
