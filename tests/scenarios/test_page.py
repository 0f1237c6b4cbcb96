"""The format's page is true: its examples load, and it names every field and every word of a closed set."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.documents import MAX_BYTES, MAX_DEPTH, MAX_NODES
from harness.scenarios import parse_scenario, scenario_schema
from harness.scenarios.expect_fields import REASONS, STATUSES
from harness.scenarios.script_fields import FAILURES
from harness.testing import scenario
from harness.types.codes import Outcome
from harness.types.scenario import Limits

PAGE = (Path(__file__).resolve().parents[2] / "docs/scenarios.md").read_text("utf-8")
BLOCKS = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)


def field_names(schema: Any) -> Iterator[str]:
    for definition in (schema, *schema["$defs"].values()):
        yield from definition.get("properties", {})


@pytest.mark.parametrize("block", [pytest.param(block, id=f"block-{number}") for number, block in enumerate(BLOCKS, 1)])
def test_an_example_loads(block: str) -> None:
    assert parse_scenario(block, "docs/scenarios.md").expect is not None


def test_there_are_examples() -> None:
    assert len(BLOCKS) >= 3


def test_every_field_of_the_schema_is_on_the_page() -> None:
    assert [name for name in sorted(set(field_names(scenario_schema()))) if not re.search(rf"\b{re.escape(name)}\b", PAGE)] == []


@pytest.mark.parametrize("words", [STATUSES, REASONS, FAILURES], ids=["statuses", "reasons", "failures"])
def test_every_word_of_a_closed_set_is_on_the_page(words: tuple[str, ...]) -> None:
    assert [word for word in words if word not in PAGE] == []


def test_stated_numbers_are_the_real_ones() -> None:
    limits = Limits()
    table = re.findall(r"\| `(\w+)` \| (\d+) \|", PAGE)
    assert {name: int(value) for name, value in table} == {
        "steps": limits.steps, "wall_ms": limits.wall_ms, "grace_ms": limits.grace_ms, "parallel_tools": limits.parallel_tools,
    }  # fmt: skip
    assert f"{MAX_BYTES // 2**20} MiB, {MAX_DEPTH} levels or {MAX_NODES:,} values" in PAGE


def python_example(number: int) -> dict[str, Any]:
    block = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)[number]
    names: dict[str, Any] = {}
    exec(compile(block, "docs/scenarios.md", "exec"), names)  # noqa: S102 - our own page
    return names


def test_the_python_form_runs() -> None:
    refund = python_example(0)["refund"]
    assert refund.id == "refund"
    assert refund.expect.never == ("delete_order",)


def test_the_tool_with_a_ledger_writes_its_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names = python_example(1)
    done: list[int] = []
    names["bank"] = SimpleNamespace(refund=done.append)
    run = scenario(
        task="x", tools={"from": "page:registry"}, script=[{"call": {"refund": {"order": 7}}}, {"say": "x"}],
        expect={"effects": {"refund": {"exactly": 1}}},
    )  # fmt: skip
    monkeypatch.setitem(sys.modules, "page", SimpleNamespace(registry=(names["refund"],)))
    result = run.run(workspace=tmp_path / "workspace")
    assert (result.outcome, done, names["ledger"].count("refund", order=7)) == (Outcome.PASS, [7], 1)
