"""The page of evaluations is true: its examples load, and it names every field and every word of a closed set."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.cli.dataset import app
from harness.scenarios.evaluation_arm_fields import CHOICES, ORDERS
from harness.scenarios.evaluation_case_fields import ORDERS as CALL_ORDERS
from harness.scenarios.evaluation_lines import MAX_LINE
from harness.scenarios.evaluation_loading import load_evaluation
from harness.scenarios.evaluation_schema import evaluation_schema
from harness.types.evaluation import CASES_FORMAT, Estimand, Execute, GateSpec, Grading, Metric, Running, Split
from tests.scenarios.test_page import field_names

PAGE = (Path(__file__).resolve().parents[2] / "docs/evaluations.md").read_text("utf-8")
BLOCKS = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
OF_STUBS_AND_LIMITS = ("StubFields", "StubCaseFields", "LimitsFields", "PricesFields", "RepeatsFields")
"""Described on the page of scenarios."""


def names_of_the_schema() -> Iterator[str]:
    schema: dict[str, Any] = evaluation_schema()
    described = {name: part for name, part in schema["$defs"].items() if name not in OF_STUBS_AND_LIMITS}
    return field_names({**schema, "$defs": described})


@pytest.mark.parametrize("block", [pytest.param(block, id=f"block-{number}") for number, block in enumerate(BLOCKS, 1)])
def test_an_example_loads(block: str, tmp_path: Path) -> None:
    tmp_path.joinpath("new-descriptions.yaml").write_text("get_order: Call this to find an order.\n", "utf-8")
    tmp_path.joinpath("page.yaml").write_text(block, "utf-8")
    assert len(load_evaluation(tmp_path / "page.yaml").cases) >= 1


def test_there_are_examples() -> None:
    assert len(BLOCKS) >= 4


def test_every_field_of_the_schema_is_on_the_page() -> None:
    missing = {name for name in names_of_the_schema() if not re.search(rf"`[^`]*\b{re.escape(name)}\b[^`]*`", PAGE)}
    assert sorted(missing) == []


@pytest.mark.parametrize(
    "words",
    [CHOICES, ORDERS, CALL_ORDERS, tuple(Execute), tuple(Metric), tuple(Estimand), tuple(Split), tuple(Grading), (CASES_FORMAT, f"{MAX_LINE:,} bytes")],
    ids=["tool-choices", "orders-of-tools", "orders-of-calls", "what-runs", "metrics", "estimands", "splits", "gradings", "files-of-cases"],
)  # fmt: skip
def test_every_word_of_a_closed_set_is_on_the_page(words: tuple[str, ...]) -> None:
    assert [word for word in words if str(word) not in PAGE] == []


def test_stated_defaults_are_the_real_ones() -> None:
    stated = dict(re.findall(r"\| `(\w+)` \| \(`?([\w. -]+)`?[):]", PAGE))
    gate, running = GateSpec("a", "b", 0.1), Running()
    real = {
        "trials": "1", "seed": "0", "metric": gate.metric, "estimand": gate.estimand, "alpha": str(gate.alpha), "looks": str(gate.looks), "at_once": str(running.at_once),
        "retries": str(running.retries), "split": "dev", "grading": "matchers", "execute": "first-decision", "order": "listed", "api": "chat", "stream": "false",
    }  # fmt: skip
    assert {name: value for name, value in stated.items() if name in real} == real


def test_every_command_of_the_group_is_on_the_page() -> None:
    names = [str(command.name) for command in app.registered_commands] + ["import bfcl"]
    assert [name for name in names if f"harness dataset {name}" not in PAGE] == []


def test_the_python_form_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    (block,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    exec(compile(block, "docs/evaluations.md", "exec"), names)  # noqa: S102 - our own page
    assert [case.id for case in names["shop"].cases] == ["where-is-order-7"]
