"""Limits are enforced, not asked for: taking the system prompt away changes nothing that is enforced."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from harness.runner import RunOptions, RunResult, execute, plan
from harness.scenarios import collect
from harness.types.messages import ChatSystem
from harness.types.scenario import Scenario
from tests.loop.lab import codes, starts

SHIPPED = [one for one in collect([Path(__file__).parents[2] / "scenarios"]) if one.script is not None]
WITH_SYSTEM = [one for one in SHIPPED if one.system is not None]


def enforced(run: RunResult) -> tuple[object, ...]:
    """What the loop enforces: its end, its steps, which bodies began, and the codes of results."""
    return run.status, run.reason, run.n_steps, starts(run), codes(run)


def played(one: Scenario) -> RunResult:
    return execute(plan([one], RunOptions())[0])


@pytest.mark.article("16")
@pytest.mark.parametrize("one", WITH_SYSTEM, ids=lambda one: one.id)
def test_without_its_system_prompt_every_hard_limit_of_a_scenario_stands(one: Scenario) -> None:
    assert enforced(played(replace(one, system=None))) == enforced(played(one))


@pytest.mark.article("16")
def test_the_system_prompt_is_shown_in_front_and_never_as_a_message_of_the_history() -> None:
    run = played(WITH_SYSTEM[0])
    header = next(e.fact for e in run.trajectory if e.fact.TYPE == "request/header")  # type: ignore[union-attr]
    assert header.system == (ChatSystem(str(WITH_SYSTEM[0].system)),)  # type: ignore[union-attr]
    assert not any(isinstance(message, ChatSystem) for message in run.messages)
