"""A user's own check, model and subject by entry point, from an example package (ARTICLES 18)."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

from harness.errors import UnknownNameError, UsageError
from harness.runner import summarise_folder
from harness.testing import scenario
from harness.types.codes import ClockKind, Outcome
from tests.cli.conftest import cli  # noqa: F401 - a fixture
from tests.cli.lab import Cli
from tests.testing import example_package

pytestmark = pytest.mark.article("18")
HELLO = "format: harness-scenario/1\ntask: Hello\nscript: [{say: Hi.}]\n"
RUDE = scenario(task="Hello", script=[{"say": "Go away."}])


@pytest.fixture(autouse=True)
def installed(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """The example package, on the path."""
    folder: Path = tmp_path_factory.mktemp("site")
    example_package.install(folder)
    monkeypatch.delitem(sys.modules, "shop_rules", raising=False)
    monkeypatch.syspath_prepend(str(folder))


def test_an_own_check_is_judged_when_it_is_named_and_only_then() -> None:
    assert RUDE.run().passed
    run = RUDE.run(checks=["polite"])
    assert run.outcome is Outcome.FAIL
    assert [finding.message for finding in run.findings] == ["no please in 'Go away.'"]


def test_an_own_check_can_be_named_by_its_place() -> None:
    run = RUDE.run(checks=["shop_rules:polite"])
    assert run.outcome is Outcome.FAIL


def test_a_scenario_can_ask_for_an_own_check_and_its_file_alone_is_judged_by_it(tmp_path: Path) -> None:
    rude = scenario(task="Hello", script=[{"say": "Go away."}], checks=["polite"])
    run = rude.run(folder=tmp_path)
    assert {verdict.check: verdict.outcome for verdict in run.verdicts}["polite"] is Outcome.FAIL
    (summary,) = summarise_folder(tmp_path)
    assert summary.outcome is Outcome.FAIL
    assert summary.verdicts == run.verdicts


def test_an_own_model_answers_where_it_is_named() -> None:
    run = scenario(task="Hello").run(model="echo", checks=["polite"])
    assert run.passed, run.findings
    assert run.answer == "Hello, please"
    assert run.trajectory.header.models == (("main", "echo"),)
    assert run.trajectory.header.clock is ClockKind.VIRTUAL
    assert [verdict.why for verdict in run.verdicts if verdict.check == "echo"] == ["asked"]
    assert sys.modules["shop_rules"].CLOSED == ["scenario"]


def test_a_model_of_its_own_without_a_word_on_time_gets_the_system_s_clock() -> None:
    run = scenario(task="Hello").run(model="shop_rules:Echo")
    assert run.answer == "Hello, please"
    assert run.trajectory.header.clock is ClockKind.SYSTEM


def test_an_own_loop_runs_where_it_is_named(cli: Cli) -> None:  # noqa: F811 - the fixture
    cli.write("hello.yaml", HELLO)
    said = cli("run", "hello.yaml", "--subject", "shop_loop", "--model", "echo", "--check", "polite", "-v")
    assert said.code == 0, said.all
    assert "subject shop_loop" in said.out
    assert "PASS polite" in said.out


def test_workers_find_the_same_names(cli: Cli) -> None:  # noqa: F811 - the fixture
    for name in "ab":
        cli.write(f"{name}.yaml", HELLO)
    said = cli("run", ".", "--check", "polite", "-j", "2")
    assert said.code == 1, said.all
    assert said.out.count("no please in 'Hi.'") == 2


def test_a_later_comparison_judges_by_the_checks_that_were_named(cli: Cli) -> None:  # noqa: F811 - the fixture
    cli.write("hello.yaml", HELLO)
    for out in ("one", "two"):
        assert cli("run", "hello.yaml", "--check", "polite", "--out", out).code == 1
    told = cli("compare", "one", "two", "--json").json["comparison"]
    assert told["scenarios"][0]["base"]["outcome"] == "FAIL"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        pytest.param({"checks": ["polit"]}, "no check is named 'polit'.*polite", id="check"),
        pytest.param({"model": "ecko"}, "no model is named 'ecko'.*echo", id="model"),
        pytest.param({"checks": ["shop_rules:gone"]}, "'shop_rules' has no 'gone'", id="place"),
    ],
)
def test_a_name_that_leads_nowhere_is_refused_with_the_names_there_are(options: dict[str, object], words: str) -> None:
    with pytest.raises(UnknownNameError, match=words):
        RUDE.run(**options)  # type: ignore[arg-type]


def test_what_is_no_check_is_refused() -> None:
    with pytest.raises(UsageError, match="'broken' is no check"):
        RUDE.run(checks=["broken"])


def test_what_makes_no_model_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("shop_without_models")
    module.fails = lambda scenario, clock: 1 / 0  # type: ignore[attr-defined]
    module.gives_a_number = lambda scenario, clock: 3  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "shop_without_models", module)
    with pytest.raises(UsageError, match="'shop_without_models:fails' cannot be made: ZeroDivisionError"):
        RUDE.run(model="shop_without_models:fails")
    with pytest.raises(UsageError, match="'shop_without_models:gives_a_number' gave a int"):
        RUDE.run(model="shop_without_models:gives_a_number")
