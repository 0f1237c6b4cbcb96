"""The format's page is true: its examples load, and it names every field and every word of a closed set."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.documents import MAX_BYTES, MAX_DEPTH, MAX_NODES
from harness.scenarios import parse_scenario, scenario_schema
from harness.scenarios.expect_fields import REASONS, STATUSES
from harness.scenarios.script_fields import FAILURES
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


def test_the_python_example_runs() -> None:
    (block,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    names: dict[str, Any] = {}
    exec(compile(block, "docs/scenarios.md", "exec"), names)  # noqa: S102 - our own page
    assert names["refund"].id == "refund"
    assert names["refund"].expect.never == ("delete_order",)
