"""Names lead to objects, or to an error that says what there is instead."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness import plugins
from harness.errors import ConfigurationError, UnknownNameError
from harness.types.evaluation import Split

GROUP = "harness.checks"


def install(folder: Path, distribution: str, points: dict[str, str], source: str = "") -> None:
    """Put a distribution with entry points into a folder, as an installer would lay it out."""
    module = distribution.replace("-", "_")
    folder.joinpath(f"{module}.py").write_text(source, "utf-8")
    info = folder / f"{module}-1.0.dist-info"
    info.mkdir()
    info.joinpath("METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\n", "utf-8")
    lines = [f"[{GROUP}]", *(f"{name} = {value}" for name, value in points.items())]
    info.joinpath("entry_points.txt").write_text("\n".join(lines) + "\n", "utf-8")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder on the import path; what was imported from it is forgotten afterwards."""
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]


@pytest.mark.article("18")
def test_entry_points_come_by_name_in_order(site: Path) -> None:
    install(site, "dist-one", {"zeta": "dist_one:Z", "alpha": "dist_one:A"}, "A = 1\nZ = 26\n")
    assert plugins.entry_point_names(GROUP) == ("alpha", "zeta")
    assert list(plugins.entry_points(GROUP).items()) == [("alpha", 1), ("zeta", 26)]
    assert plugins.load_entry_point(GROUP, "zeta") == 26


def test_one_broken_distribution_does_not_keep_another_from_loading(site: Path) -> None:
    install(site, "dist-good", {"good": "dist_good:A"}, "A = 1\n")
    install(site, "dist-broken", {"broken": "dist_broken:A"}, "raise RuntimeError('half installed')\n")
    assert plugins.load_entry_point(GROUP, "good") == 1
    with pytest.raises(UnknownNameError, match=r"'broken'.*'dist-broken'.*RuntimeError: half installed"):
        plugins.load_entry_point(GROUP, "broken")


def test_two_distributions_with_one_name_are_refused_and_both_named(site: Path) -> None:
    install(site, "dist-one", {"rule": "dist_one:A"}, "A = 1\n")
    install(site, "dist-two", {"rule": "dist_two:A"}, "A = 2\n")
    with pytest.raises(ConfigurationError, match=r"'dist-one'.*'dist-two'|'dist-two'.*'dist-one'"):
        plugins.entry_points(GROUP)


def test_an_unknown_entry_point_names_the_nearest(site: Path) -> None:
    install(site, "dist-one", {"pairing": "dist_one:A"}, "A = 1\n")
    with pytest.raises(UnknownNameError, match=r"no 'paring'.*did you mean 'pairing'"):
        plugins.load_entry_point(GROUP, "paring")


def test_a_group_that_nobody_fills_is_empty() -> None:
    assert plugins.entry_points("harness.nobody-has-this") == {}
    with pytest.raises(UnknownNameError, match="there are none"):
        plugins.load_entry_point("harness.nobody-has-this", "x")


def test_a_name_leads_to_its_object_and_into_it(site: Path) -> None:
    site.joinpath("own.py").write_text("class Box:\n    inside = 'x'\n\nvalue = 7\n", "utf-8")
    assert plugins.resolve("own:value") == 7
    assert plugins.resolve("own:Box.inside") == "x"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        pytest.param("own", "package.module:name", id="no-colon"),
        pytest.param("own.py:value", "files are named only on the command line", id="a-file"),
        pytest.param("folder/own.py:value", "package.module:name", id="a-path"),
        pytest.param("../own:value", "package.module:name", id="climbing"),
        pytest.param("own:", "package.module:name", id="nothing-after-the-colon"),
        pytest.param("own:__import__('os')", "package.module:name", id="an-expression"),
        pytest.param("own:value:x", "package.module:name", id="two-colons"),
        pytest.param("absent.module:value", "no module 'absent'.*install it", id="missing-module"),
        pytest.param("own:valeu", "has no 'valeu'.*did you mean 'value'", id="missing-name"),
        pytest.param("own:value.deeper", "'own.value' has no 'deeper'", id="missing-inside"),
        pytest.param("needy:value", "no module 'absent_too'", id="module-that-misses-another"),
        pytest.param("broken:value", "importing 'broken' failed: ZeroDivisionError", id="module-that-raises"),
    ],
)
def test_a_name_that_leads_nowhere_is_refused_with_what_to_do(site: Path, name: str, words: str) -> None:
    site.joinpath("own.py").write_text("value = 7\n", "utf-8")
    site.joinpath("needy.py").write_text("import absent_too\n", "utf-8")
    site.joinpath("broken.py").write_text("1 / 0\n", "utf-8")
    with pytest.raises(UnknownNameError, match=words) as caught:
        plugins.resolve(name)
    assert repr(name) in str(caught.value)


def test_without_a_near_name_the_known_ones_are_listed_and_cut_at_twenty() -> None:
    assert plugins.suggestion("zzz", tuple(Split)) == "; there are 'dev', 'held-out'"
    assert plugins.suggestion("helt-out", tuple(Split)) == "; did you mean 'held-out'?"
    assert plugins.suggestion("zzz", ["b", "a"]) == "; there are 'a', 'b'"
    assert plugins.suggestion("zzz", [f"name{n:02}" for n in range(25)]).endswith("'name19' and 5 more")
