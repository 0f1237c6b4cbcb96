"""A newcomer's loop, three broken variants and the fifth article's, swept by the one-liner.

What the sweep says is held against a script that imports nothing of the harness.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from harness.protocols import Subject
from harness.testing import Env, scenario, subject
from harness.tools import FunctionTool
from harness.types.codes import Outcome, Status
from harness.types.sweeps import Sweep
from tests.subjects.article_e import article_e
from tests.subjects.newcomer.loops import LOOPS, Agent

TOOLS = "tools_of_a_newcomer"
GO: dict[str, Any] = {
    "task": "go",
    "tools": {"from": f"{TOOLS}:tools"},
    "script": [{"calls": [{"slow": {}}, {"quick": {}}]}, {"say": "done"}],
}


@pytest.fixture(autouse=True)
def _tools(monkeypatch: pytest.MonkeyPatch) -> None:
    async def slow() -> str:
        await asyncio.sleep(0.02)
        return "slow's own result"

    async def quick() -> str:
        return "quick's own result"

    module = ModuleType(TOOLS)
    module.tools = [FunctionTool(slow), FunctionTool(quick)]  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, TOOLS, module)


def of(loop: type[Agent]) -> Subject:
    async def run(env: Env) -> str:
        agent = loop(env.openai(), env.tools, env.tool_schemas, max_steps=env.limits.steps)
        return await agent.run(env.task)

    return subject(run, name=loop.__name__)


def swept(loop: Subject) -> Sweep:
    run = scenario(**GO).run(loop)
    assert (run.status, run.outcome) == (Status.COMPLETED, Outcome.PASS), "a single run shows nothing"
    return run.sweep("cancel", "tool-error", "model-error")


def told(sweep: Sweep) -> dict[str, set[str]]:
    """Row of the strip -> checks that accuse."""
    rows: dict[str, set[str]] = {}
    for cell in sweep.red:
        rows.setdefault(cell.row, set()).update(finding.check for finding in cell.findings)
    return rows


@cache
def seen() -> Any:
    """What the script without the harness saw of each loop."""
    script = Path(__file__).parent / "without_harness.py"
    done = subprocess.run([sys.executable, "-I", script], capture_output=True, text=True, check=True, timeout=60)
    return json.loads(done.stdout)


def test_the_newcomers_loop_is_clean_and_the_script_sees_nothing_either() -> None:
    sweep = swept(of(Agent))
    assert (sweep.clean, sweep.red, sweep.flaky) == (True, (), ()), sweep.strip
    assert seen()["Agent"] == {
        "cancelled": ["ended as cancelled"],
        "a_tool_raises": ["the model was told slow's own result about slow"],
        "a_request_fails": ["failed", "slow ran 1 times"],
    }


@pytest.mark.conformance("63", "64", "67")
def test_a_loop_that_swallows_its_cancel_starts_a_tool_and_a_request_after_it() -> None:
    rows = told(swept(of(LOOPS["SwallowsTheCancel"])))
    late = {"cancel_no_tool_start", "cancel_no_model_request", "cancel_settled"}
    assert rows == {"cancel inside": late, "cancel next-tick": late}
    assert seen()["SwallowsTheCancel"]["cancelled"] == [
        "answered 'done'", "quick begins after the cancel", "request after the cancel",
    ]  # fmt: skip


@pytest.mark.conformance("39", "76")
def test_a_loop_that_forgets_siblings_tells_the_model_of_a_body_that_is_still_running() -> None:
    sweep = swept(of(LOOPS["ForgetsTheSiblings"]))
    assert told(sweep) == {"tool-error": {"event_grammar"}}
    assert [cell.injection.at.tool for cell in sweep.red if cell.injection] == ["quick"]
    assert seen()["ForgetsTheSiblings"]["a_tool_raises"] == [
        "the model was told something else about slow", "slow ends after the answer",
    ]  # fmt: skip


@pytest.mark.conformance("140")
def test_a_loop_that_starts_over_runs_its_tools_twice_and_its_file_shows_it_again() -> None:
    loop = of(LOOPS["StartsOver"])
    sweep = swept(loop)
    assert told(sweep) == {"model-error INVALID_REQUEST": {"model_error_runs_tools_again"}}
    assert seen()["StartsOver"]["a_request_fails"] == ["answered", "slow ran 2 times"]
    assert sweep.smallest is not None
    fields = json_of(sweep.smallest.reproduction)
    again = scenario(**fields).run(loop)
    assert again.outcome is Outcome.FAIL
    assert "tool_order" in {finding.check for finding in again.findings}


@pytest.mark.article("42")
@pytest.mark.conformance("39")
def test_the_loop_of_the_fifth_article_dies_of_either_tool_and_is_sane_under_cancels() -> None:
    assert told(swept(subject(article_e))) == {"tool-error": {"tool_error_survived"}}


def json_of(text: str) -> dict[str, Any]:
    from harness.documents import load_document

    return {name: value for name, value in load_document(text, "again.yaml").value.items() if name != "format"}
