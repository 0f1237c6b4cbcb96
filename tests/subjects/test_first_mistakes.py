"""What somebody gets wrong who brings a loop here for the first time is told, and never a pass."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import pytest

from harness.testing import Env, scenario, subject
from harness.types.codes import Outcome, Status

MODULE = "tools_of_first_mistakes"


async def ask(env: Env, messages: Any = None) -> Any:
    return await env.openai().chat.completions.create(
        model="m", messages=messages or [{"role": "user", "content": env.task}]
    )


async def crashing(env: Env) -> None:
    await ask(env)
    raise KeyError("boom")


def test_a_loop_that_crashes_is_no_pass_although_nothing_is_expected() -> None:
    run = scenario(task="x", script=[{"say": "x"}]).run(subject(crashing))
    assert (run.outcome, run.status) == (Outcome.FAIL, Status.FAILED)
    assert [finding.check for finding in run.findings] == ["expected_end"]
    assert "KeyError: 'boom'" in run.findings[0].message


def test_a_function_of_the_script_that_raises_is_no_pass_either(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType(MODULE)
    module.reply = lambda: None  # type: ignore[attr-defined]  # takes no request
    monkeypatch.setitem(sys.modules, MODULE, module)
    run = scenario(task="x", script=[{"function": f"{MODULE}:reply"}]).run()
    assert run.outcome is Outcome.FAIL
    assert "TypeError" in run.findings[0].message


def test_a_crash_that_is_expected_passes() -> None:
    expect = {"error": "boom"}
    assert scenario(task="x", script=[{"say": "x"}], expect=expect).run(subject(crashing)).passed
