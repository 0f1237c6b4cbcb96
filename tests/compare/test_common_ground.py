"""A run of ours beside a file of another product, and files of two products: compared on what both can tell."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.compare import align, explain, first_divergence, segments_of
from harness.compare.common import on_common_ground
from harness.formats import read_foreign
from harness.runner import RunOptions, RunSpec, execute
from harness.scenarios import parse_scenario
from harness.types.codes import Cause
from harness.types.events import Trajectory
from harness.types.exchange import RequestHeader

USER = {"role": "user", "content": "hi"}
CALL = {"role": "assistant", "content": None, "tool_calls": [{"id": "x1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]}
TOLD = {"role": "tool", "tool_call_id": "x1", "content": "ok"}
TOOLS = [{"type": "function", "function": {"name": "g", "description": "", "parameters": {}}}]
OURS = """
format: harness-scenario/1
id: s
system: "{system}"
task: hi
tools: {{stub: {{f: {{returns: ok}}}}}}
script:
  - call: {{f: {{}}}}
  - say: {answer}
"""


def ours(answer: str = "done", system: str = "Be kind.") -> Trajectory:
    scenario = parse_scenario(OURS.format(answer=answer, system=system), "s.yaml", "s")
    return execute(RunSpec(scenario, RunOptions())).trajectory


def theirs(tmp_path: Path, answer: str = "done", system: str | None = "Be kind.", **beside: Any) -> Trajectory:
    leading = [] if system is None else [{"role": "system", "content": system}]
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"messages": [*leading, USER, CALL, TOLD, {"role": "assistant", "content": answer}], **beside}))
    (trajectory,) = read_foreign(path)
    return trajectory


@pytest.mark.parametrize("system", [pytest.param("Be kind.", id="prompt-told"), pytest.param(None, id="prompt-not-told")])
def test_one_conversation_is_the_same_in_a_file_of_ours_and_of_another_product(system: str | None, tmp_path: Path) -> None:
    own, foreign = ours(), theirs(tmp_path, system=system)
    assert explain(own, foreign) is None
    assert explain(foreign, own) is None
    assert first_divergence(own, foreign) is None
    assert align(own, foreign, None).is_equal


DIFFERENT = [
    pytest.param({"answer": "other"}, {}, Cause.MODEL, "answer", 2, id="answer"),
    pytest.param({}, {"system": "Be brief."}, Cause.SYSTEM_PROMPT, "system prompt", None, id="prompt"),
    pytest.param({"answer": "other"}, {"system": "Be brief."}, Cause.SYSTEM_PROMPT, "answer", 2, id="answer-behind-a-prompt"),
]


@pytest.mark.parametrize(("here", "there", "cause", "path", "step"), DIFFERENT)
def test_what_both_can_tell_is_a_difference(here: Any, there: Any, cause: Cause, path: str, step: Any, tmp_path: Path) -> None:
    for one, other in ((ours(**here), theirs(tmp_path, **there)), (theirs(tmp_path, **there), ours(**here))):
        found = explain(one, other)
        assert found is not None
        told = found.effect or found.first
        assert (found.cause, told.path) == (cause, path)
        assert step is None or told.step == step


def test_segments_of_a_run_of_ours_beside_a_file_add_up_to_the_whole_run(tmp_path: Path) -> None:
    own, foreign = ours("other"), theirs(tmp_path)
    found = align(own, foreign, first_divergence(own, foreign))
    assert sorted(event.seq for block in found.base for event in block.events) == list(range(len(own)))
    assert all(event is own.events[event.seq] for block in found.base for event in block.events)
    assert [segment.kind for segment in segments_of(found)] == ["equal", "changed"]


def test_tools_that_one_file_does_not_tell_are_no_difference(tmp_path: Path) -> None:
    unknown, known, other = theirs(tmp_path), theirs(tmp_path, tools=TOOLS), theirs(tmp_path, tools=[])
    assert explain(unknown, known) is None
    assert explain(other, unknown) is None
    found = explain(known, other)
    assert found is not None
    assert found.cause is Cause.TOOLS_OFFERED


@pytest.mark.parametrize("left_out", [pytest.param(True, id="turns-on-one-side"), pytest.param(False, id="on-both")])
def test_two_files_are_taken_for_two_products_only_where_one_tells_turns(left_out: bool, tmp_path: Path) -> None:
    foreign = theirs(tmp_path)
    placed = replace(foreign, events=tuple(replace(event, turn=1, step=1) for event in foreign))
    other = foreign if left_out else placed
    assert explain(placed, other) is None
    assert on_common_ground(placed, other)[0].events[0].turn == (None if left_out else 1)
    assert any(isinstance(event.fact, RequestHeader) for event in on_common_ground(placed, other)[0])


def test_runs_of_ours_are_compared_as_they_are() -> None:
    one, other = ours(), ours("other")
    assert on_common_ground(one, other) == (one, other)
    assert on_common_ground(one, other)[0] is one


def test_a_result_that_is_gone_is_no_choice_of_the_model(tmp_path: Path) -> None:
    whole = theirs(tmp_path)
    cut = replace(whole, events=tuple(event for event in whole if event.fact.TYPE != "tool/result"))
    for one, other in ((whole, cut), (cut, whole)):
        found = explain(one, other)
        assert found is not None
        assert found.cause is Cause.LOOP
