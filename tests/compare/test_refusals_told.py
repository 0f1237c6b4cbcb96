"""A refusal is told as one: where one side answers or calls and the other refuses, neither is nothing."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from harness.compare import explain
from harness.types.events import Trajectory
from harness.types.exchange import AssistantMessage
from harness.types.facts import Fact
from tests.compare.made import refund_run, with_facts

RUN = refund_run()
ANSWERS = [event.fact for event in RUN if isinstance(event.fact, AssistantMessage)]


def answering(**changes: Any) -> Trajectory:
    """The run with another last answer."""

    def change(fact: Fact) -> Fact | None:
        return dataclasses.replace(ANSWERS[-1], **changes) if fact is ANSWERS[-1] else fact

    return with_facts(RUN, change)


SAYS = answering(content="Here.")
REFUSES = answering(content=None, refusal="I cannot.")


@pytest.mark.parametrize(
    ("base", "candidate", "told"),
    [
        pytest.param(SAYS, REFUSES, ('answer "Here."', 'refusal "I cannot."'), id="an-answer-and-a-refusal"),
        pytest.param(REFUSES, SAYS, ('refusal "I cannot."', 'answer "Here."'), id="a-refusal-and-an-answer"),
        pytest.param(
            answering(content=None, tool_calls=ANSWERS[0].tool_calls[:1]), REFUSES,
            ("lookup_order(7)", 'refusal "I cannot."'), id="a-call-and-a-refusal",
        ),
        pytest.param(REFUSES, answering(content=None, refusal="Never."), ("I cannot.", "Never."), id="two-refusals"),
        pytest.param(REFUSES, answering(content="", refusal="I cannot."), None, id="two-that-differ-in-no-word-of-it"),
    ],
)  # fmt: skip
def test_a_refusal_is_told_as_one(base: Trajectory, candidate: Trajectory, told: tuple[str, str] | None) -> None:
    found = explain(base, candidate)
    assert found is not None
    shown = (found.shown.base, found.shown.candidate)
    if told is None:
        assert shown[0] != shown[1]
    else:
        assert shown == told
