"""The shipped scenarios: they load, say what they carry, expect in full, and hold when they are run."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from docs.coverage import section_of
from harness.documents import dump_yaml
from harness.runner import RunOptions, RunSpec, execute
from harness.scenarios import collect, parse_scenario, to_document
from harness.types.codes import Outcome
from harness.types.scenario import Scenario

REPO = Path(__file__).resolve().parents[2]
SHIPPED = collect([REPO / "scenarios"], configured=[str(REPO / "scenarios")])
SCRIPTED = [scenario for scenario in SHIPPED if scenario.script is not None]
FAMILIES = ("articles", "cancellation", "damage", "failures", "inbox", "limits", "memory", "streaming")


def rows(scenarios: list[Scenario]) -> list[object]:
    return [pytest.param(scenario, id=scenario.id) for scenario in scenarios]


def catalogue() -> dict[str, dict[str, object]]:
    return tomllib.loads((REPO / "docs/catalogue.toml").read_text("utf-8"))


def test_there_are_enough_in_every_family() -> None:
    counted = Counter(scenario.id.split("/")[0] for scenario in SCRIPTED)
    assert len(SCRIPTED) >= 35
    assert all(counted[family] >= 5 for family in FAMILIES)


@pytest.mark.parametrize("scenario", rows(SCRIPTED))
def test_it_says_what_it_carries_and_expects_more_than_a_status(scenario: Scenario) -> None:
    expect = scenario.expect
    assert scenario.title
    assert scenario.covers
    assert expect.status is not None
    assert expect.steps is not None
    assert scenario.script is None or expect.answer or expect.result_codes or expect.reason or expect.turns


@pytest.mark.parametrize("scenario", rows(list(SHIPPED)))
def test_the_numbers_that_it_carries_are_in_the_catalogue(scenario: Scenario) -> None:
    known = catalogue()
    for entry in scenario.covers:
        prefix, _, number = entry.partition(":")
        assert number in known[section_of(prefix, number)], entry


@pytest.mark.parametrize("scenario", rows([scenario for scenario in SHIPPED if scenario.id.startswith("articles/")]))
def test_the_articles_stories_are_told_in_their_language(scenario: Scenario) -> None:
    assert all(re.search("[\u4e00-\u9fff]", text) for text in (*scenario.tasks, scenario.title))


@pytest.mark.parametrize("scenario", rows(list(SHIPPED)))
def test_it_is_the_same_scenario_after_it_was_written_anew(scenario: Scenario) -> None:
    again = parse_scenario(dump_yaml(to_document(scenario)), scenario.source)
    assert again == scenario


def test_no_two_are_the_same_but_for_their_name() -> None:
    forms = Counter(dump_yaml({**to_document(scenario), "id": "", "title": "", "covers": ""}) for scenario in SHIPPED)
    assert [form for form, number in forms.items() if number > 1] == []


@pytest.mark.parametrize("scenario", rows(SCRIPTED))
def test_it_holds_for_the_built_in_loop(scenario: Scenario) -> None:
    result = execute(RunSpec(scenario, RunOptions()))
    bad = [verdict for verdict in result.verdicts if verdict.outcome not in (Outcome.PASS, Outcome.NOT_APPLICABLE)]
    assert bad == []
    assert len(result.verdicts) > 5


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"status": "failed"}, id="status"),
        pytest.param({"steps": 4}, id="steps"),
        pytest.param({"result_codes": ((1, "EMPTY"),)}, id="result"),
        pytest.param({"answer": '{"$contains":"53"}'}, id="answer"),
        pytest.param({"never": ("calculator",)}, id="never"),
        pytest.param({"before": (("calculator", "read_memory"),)}, id="before"),
    ],
)
def test_a_wrong_expectation_fails_the_run(change: dict[str, object]) -> None:
    scenario = next(scenario for scenario in SHIPPED if scenario.id == "articles/answer-52")
    wrong = replace(scenario, expect=replace(scenario.expect, **change))  # type: ignore[arg-type]
    result = execute(RunSpec(wrong, RunOptions()))
    assert [verdict.outcome for verdict in result.verdicts].count(Outcome.FAIL) == 1
