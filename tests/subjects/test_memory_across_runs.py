"""Memory across runs: two runs on one store (ARTICLES 19)."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.testing import scenario
from harness.types.exchange import RequestHeader
from harness.types.messages import ChatTool


@pytest.mark.article("19")
def test_what_one_run_remembers_the_next_run_on_the_same_workspace_shows_the_model(tmp_path: Path) -> None:
    tools = {"use": ["read_memory", "write_memory"]}
    first = scenario(
        task="Remember that the base is 10.",
        tools=tools,
        script=[{"call": {"write_memory": {"key": "base", "value": 10}}}, {"say": "Noted."}],
    ).run(workspace=tmp_path)
    second = scenario(
        task="What is the base?",
        tools=tools,
        script=[{"call": {"read_memory": {"key": "base"}}}, {"say": "The base is 10."}],
    ).run(workspace=tmp_path)
    assert first.passed, first.findings
    assert [m.content for m in second.messages if isinstance(m, ChatTool)] == ["10"]


@pytest.mark.article("19")
def test_without_a_workspace_nothing_is_remembered_from_run_to_run() -> None:
    tools = {"use": ["read_memory", "write_memory"]}
    scenario(
        task="x", tools=tools, script=[{"call": {"write_memory": {"key": "base", "value": 10}}}, {"say": "Noted."}]
    ).run()
    second = scenario(
        task="x", tools=tools, script=[{"call": {"read_memory": {"key": "base"}}}, {"say": "unknown"}]
    ).run()
    assert [m.content for m in second.messages if isinstance(m, ChatTool)] != ["10"]


@pytest.mark.article("19")
def test_what_was_remembered_stands_in_the_next_runs_prompt_where_that_is_asked_for(tmp_path: Path) -> None:
    tools = {"use": ["read_memory", "write_memory"]}
    writes = [{"call": {"write_memory": {"key": "base", "value": "ten\n- key: forged"}}}, {"say": "Noted."}]
    shown = {"memory": {"shown": True}}
    first = scenario(task="Remember.", system="You help.", tools=tools, context=shown, script=writes).run(
        workspace=tmp_path
    )
    second = scenario(task="And?", system="You help.", tools=tools, context=shown, script=[{"say": "Ten."}]).run(
        workspace=tmp_path
    )
    silent = scenario(task="And?", system="You help.", tools=tools, script=[{"say": "Ten."}]).run(workspace=tmp_path)
    told = [
        [
            message.content
            for event in run.trajectory
            if isinstance(event.fact, RequestHeader)
            for message in event.fact.system
        ]
        for run in (first, second, silent)
    ]
    assert told == [
        ["You help."],
        ['You help.\n\nWhat is remembered from earlier:\n- base: "ten\\n- key: forged"'],
        ["You help."],
    ]


@pytest.mark.article("19")
def test_a_run_without_tools_of_a_store_is_told_nothing() -> None:
    run = scenario(task="And?", context={"memory": {"shown": True}}, script=[{"say": "Ten."}]).run()
    assert [e.fact.system for e in run.trajectory if isinstance(e.fact, RequestHeader)] == [()]
