"""How many steps, messages and turns a scenario expects."""

from __future__ import annotations

from collections.abc import Iterator

from harness.checks.base import BuiltCheck, Found, found
from harness.checks.expectations import expected_of
from harness.checks.reading import sees
from harness.folds import n_messages, n_steps, n_turns
from harness.types.events import Event, Trajectory
from harness.types.exchange import AssistantMessage
from harness.types.lifecycle import TurnStart


def _expected_counts(trajectory: Trajectory) -> Iterator[Found]:
    expected = expected_of(trajectory)
    last = _latest(trajectory, AssistantMessage)
    if expected.steps is not None and expected.steps != (steps := n_steps(trajectory)):
        yield found(f"expect {expected.steps} steps: there were {steps}", last)
    if expected.messages is not None and expected.messages != (messages := n_messages(trajectory)):
        yield found(f"expect {expected.messages} messages: there were {messages}", last)
    if expected.turns is not None and expected.turns != (turns := n_turns(trajectory)):
        yield found(f"expect {expected.turns} turns: there were {turns}", _latest(trajectory, TurnStart))


def _latest(trajectory: Trajectory, kind: type[AssistantMessage | TurnStart]) -> Event | None:
    return next((event for event in reversed(trajectory.events) if isinstance(event.fact, kind)), None)


def _applies(trajectory: Trajectory) -> str:
    expected = expected_of(trajectory)
    asked = (expected.steps, expected.messages, expected.turns)
    return "" if any(number is not None for number in asked) else "nothing is expected of steps, messages, turns"


def _evidence(trajectory: Trajectory) -> str:
    if expected_of(trajectory).turns is not None and not sees(trajectory, TurnStart.TYPE):
        return "turns are expected, and turn/start is not observed"
    return ""


EXPECTED_COUNTS = BuiltCheck(
    name="expected_counts",
    about="steps, messages (system messages included) and turns are as many as expected",
    needs=(("assistant/message", None),),
    rules=("article:12",),
    findings=_expected_counts,
    applies=_applies,
    evidence=_evidence,
    expectation=True,
)
