"""The line of a scenario is found from its id, without importing or running anything."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.runner.review.sources import MOST_SOURCES, project_root, sources_of
from harness.scenarios import collect
from harness.types.review import SourceLine
from tests.conftest import REPO

TEXT = "format: harness-scenario/1\ntask: Refund.\nscript: [{say: Done.}]\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in {
        "scenarios/shop/refund.yaml": TEXT,
        "scenarios/shop/named.yml": "# a word\nformat: harness-scenario/1\ntask: Hi.\nid: other/name\nscript: [{say: Hi.}]\n",
        "scenarios/shop/flow.yaml": '{"format": "harness-scenario/1",\n "id": "flow",\n "task": "Hi.", "script": [{"say": "Hi."}]}\n',
        "scenarios/broken.yaml": "format: harness-scenario/1\nid: [\n",
        "scenarios/choice.yaml": "format: harness-evaluation/1\nid: shop/refund\n",
        "scenarios/node_modules/shop/refund.yaml": TEXT,
        "elsewhere/last.yaml": "\n\n" + TEXT,
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return tmp_path


def found(project: Path, *wanted: str, under: str = "scenarios") -> tuple[SourceLine, ...]:
    return sources_of(wanted, [Path(under)], root=project_root(project))


@pytest.mark.parametrize(
    ("name", "file", "line"),
    [
        pytest.param("shop/refund", "scenarios/shop/refund.yaml", 1, id="by-its-file-the-line-of-its-first-key"),
        pytest.param("other/name", "scenarios/shop/named.yml", 4, id="by-an-id-of-its-own-the-line-of-that"),
        pytest.param("flow", "scenarios/shop/flow.yaml", 2, id="in-flow-style"),
    ],
)
def test_a_scenario_is_found_at_its_line(name: str, file: str, line: int, project: Path) -> None:
    assert found(project, name) == (SourceLine(name, file, line),)


@pytest.mark.parametrize("name", ["shop/named", "broken", "choice", "gone", "", "../x", "\x00"])
def test_what_no_file_of_the_project_holds_is_left_out(name: str, project: Path) -> None:
    assert found(project, name) == ()


def test_sources_stand_in_the_order_that_was_asked_for_each_once(project: Path) -> None:
    names = [one.scenario for one in found(project, "other/name", "gone", "shop/refund", "other/name")]
    assert names == ["other/name", "shop/refund"]


def test_a_file_is_named_from_where_the_repository_begins(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / ".git").mkdir()
    inside = project / "deep" / "down"
    inside.mkdir(parents=True)
    (inside / "one.yaml").write_text(TEXT, "utf-8")
    monkeypatch.chdir(inside)
    assert sources_of(["one"], [Path("one.yaml")], root=project_root(Path())) == (SourceLine("one", "deep/down/one.yaml", 1),)


def test_a_file_outside_the_project_has_no_place_in_a_report(project: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside") / "scenarios"
    outside.mkdir()
    (outside / "far.yaml").write_text(TEXT, "utf-8")
    assert sources_of(["far"], [outside], root=project_root(project)) == ()


def test_a_python_file_is_not_imported(project: Path) -> None:
    (project / "scenarios" / "mine.py").write_text("raise SystemExit('imported')\n", "utf-8")
    assert sources_of(["mine/0"], ["scenarios", "scenarios/mine.py"], root=project_root(project)) == ()


def test_no_more_are_looked_up_than_are_told(project: Path) -> None:
    wanted = [f"gone/{n}" for n in range(MOST_SOURCES)]
    assert found(project, *wanted, "shop/refund") == ()
    assert found(project, *wanted[1:], "shop/refund") != ()


def test_every_shipped_scenario_is_found_where_the_collector_finds_it() -> None:
    scenarios = collect([REPO / "scenarios" / "cancellation"])
    sources = sources_of([one.id for one in scenarios], [REPO / "scenarios"], root=REPO)
    assert [(one.scenario, str(REPO / one.file)) for one in sources] == [(one.id, one.source) for one in scenarios][:MOST_SOURCES]
