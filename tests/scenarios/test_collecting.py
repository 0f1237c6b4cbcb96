"""Paths become scenarios in one order, with one id each, or an error says why not."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.errors import NothingToRunError, ScenarioError, UsageError
from harness.scenarios import collect, id_of
from harness.types.names import portable_path

REPO = Path(__file__).resolve().parents[2]
TEXT = "format: harness-scenario/1\ntask: t\n"


def write(folder: Path, name: str, text: str = TEXT) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def ids(*paths: Path, **options: Any) -> list[str]:
    return [scenario.id for scenario in collect(paths, **options)]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Twelve scenarios in three folders, and files that are none."""
    for folder in ("b", "a", "a/deep"):
        for name in ("two", "ten", "one", "四"):
            write(tmp_path / folder, f"{name}.yaml")
    write(tmp_path, "a/settings.yaml", "other: tool\n")
    write(tmp_path, "a/notes.txt", TEXT)
    write(tmp_path, ".hidden/x.yaml")
    write(tmp_path, "node_modules/x.yaml")
    write(tmp_path, "a/.draft.yaml")
    return tmp_path


ORDER = [f"{folder}/{name}" for folder in ("a", "a/deep", "b") for name in ("one", "ten", "two", "四")]


def test_folders_give_their_marked_yaml_files_by_name(tree: Path) -> None:
    assert ids(tree) == ORDER


@pytest.mark.public_case("PB-043")
def test_the_order_of_directory_entries_changes_nothing(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    forwards = ids(tree)
    walk = os.walk

    def backwards(*args: Any, **options: Any) -> Iterator[Any]:
        for place, folders, names in walk(*args, **options):
            folders.sort(reverse=True)
            names.sort(reverse=True)
            yield place, folders, names

    monkeypatch.setattr(os, "walk", backwards)
    assert ids(tree) == forwards == ORDER


@pytest.mark.public_case("PB-043")
@pytest.mark.parametrize("seed", ["0", "1", "2"])
def test_the_hash_seed_changes_neither_order_nor_digests(tree: Path, seed: str) -> None:
    write(tree, "py/some.py", "from harness.scenarios import scenario\nSCENARIOS = [scenario(id='x', task='t', tags={'c', 'b', 'a'})]\n")
    code = "import sys; from harness.scenarios import collect; print([(s.id, s.digest) for s in collect(sys.argv[1:])])"
    command = [sys.executable, "-c", code, str(tree), str(tree / "py/some.py")]
    environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(command, cwd=REPO, env=environment, capture_output=True, encoding="utf-8", check=True, timeout=60)
    expected = [(s.id, s.digest) for s in collect([tree, tree / "py/some.py"])]
    assert done.stdout.strip() == repr(expected)


class TestIds:
    def test_one_file_has_one_id_however_it_is_asked_for(self, tmp_path: Path) -> None:
        file = write(tmp_path, "project/scenarios/family/name.yaml")
        asked = [file, file.parent, file.parent.parent, tmp_path / "project"]
        assert [ids(path) for path in asked] == [["family/name"]] * 4

    def test_a_configured_root_comes_before_the_folder_called_scenarios(self, tmp_path: Path) -> None:
        file = write(tmp_path, "scenarios/specs/family/name.yaml")
        root = str(tmp_path / "scenarios/specs")
        assert ids(file, configured=[root]) == ids(file.parent, configured=[root]) == ["family/name"]

    def test_elsewhere_a_folder_gives_paths_below_it_and_a_file_its_stem(self, tmp_path: Path) -> None:
        file = write(tmp_path, "a/b/name.yaml")
        assert ids(tmp_path) == ["a/b/name"]
        assert ids(file) == ["name"]

    def test_dots_in_a_name_stay(self) -> None:
        assert id_of("scenarios/a/v1.2.yaml") == "a/v1.2"

    def test_two_files_with_one_id_are_refused_and_both_named(self, tmp_path: Path) -> None:
        write(tmp_path, "one.yaml", TEXT + "id: same\n")
        write(tmp_path, "two.yaml", TEXT + "id: same\n")
        with pytest.raises(ScenarioError, match=r"two\.yaml:1.*'same' is taken by .*one\.yaml"):
            collect([tmp_path])

    def test_one_stem_under_two_suffixes_is_refused(self, tmp_path: Path) -> None:
        write(tmp_path, "x.yaml")
        write(tmp_path, "x.yml")
        with pytest.raises(ScenarioError, match=r"'x' is taken"):
            collect([tmp_path])

    @pytest.mark.public_case("PB-049")
    def test_ids_that_look_like_paths_load_and_give_seven_files_inside(self, tmp_path: Path) -> None:
        wanted = ["foo/bar", "../foo/bar", "/etc/x", "a:b", "a*b?", "trail.", "trail "]
        for number, identity in enumerate(wanted):
            write(tmp_path, f"{number}.yaml", f"{TEXT}id: '{identity}'\n")
        assert ids(tmp_path) == wanted
        files = [(tmp_path / "out" / portable_path(identity)).resolve() for identity in wanted]
        assert len(set(files)) == 7
        assert all(file.is_relative_to(tmp_path / "out") for file in files)

    def test_a_file_that_is_reached_twice_counts_once(self, tmp_path: Path) -> None:
        file = write(tmp_path, "scenarios/a/x.yaml")
        assert ids(file, tmp_path, file.parent) == ["a/x"]

    def test_paths_keep_the_order_in_which_they_were_given(self, tmp_path: Path) -> None:
        first, second = write(tmp_path, "scenarios/a.yaml"), write(tmp_path, "scenarios/b.yaml")
        assert ids(second, first) == ["b", "a"]


class TestStrictness:
    def test_under_a_configured_path_an_evaluation_is_passed_over(self, tmp_path: Path) -> None:
        (tmp_path / "one.yaml").write_text("format: harness-scenario/1\ntask: x\nscript: [{say: y}]\n", encoding="utf-8")
        (tmp_path / "two.yaml").write_text("format: harness-evaluation/1\ncases: []\n", encoding="utf-8")
        assert [found.id for found in collect([tmp_path], configured=[str(tmp_path)])] == ["one"]
        with pytest.raises(ScenarioError, match=r"is an evaluation; run it with: harness evaluate .*two\.yaml"):
            collect([tmp_path / "two.yaml"])

    def test_under_a_configured_path_every_yaml_file_must_be_a_scenario(self, tree: Path) -> None:
        with pytest.raises(ScenarioError, match=r"settings\.yaml.*is no scenario"):
            collect([tree], configured=[str(tree)])
        with pytest.raises(ScenarioError, match=r"settings\.yaml.*is no scenario"):
            collect([tree / "a"], configured=[str(tree)])

    def test_a_broken_marked_file_is_refused_and_not_passed_over(self, tmp_path: Path) -> None:
        write(tmp_path, "x.yaml", TEXT + "a: [\n")
        with pytest.raises(ScenarioError, match="not YAML"):
            collect([tmp_path])

    @pytest.mark.parametrize(
        ("head", "marked"),
        [
            pytest.param(TEXT, True, id="plain"),
            pytest.param("\ufeff# remark\r\nformat: harness-scenario/1\r\ntask: t\r\n", True, id="bom-remark-crlf"),
            pytest.param('{"format": "harness-scenario/1", "task": "t"}', True, id="json"),
            pytest.param("'format': 'harness-scenario/1'\ntask: t\n", True, id="quoted"),
            pytest.param("# format: harness-scenario/1\na: 1\n", False, id="in-a-remark"),
            pytest.param("format: other/1\n", False, id="another-format"),
        ],
    )
    def test_a_file_outside_is_taken_by_its_mark(self, tmp_path: Path, head: str, marked: bool) -> None:
        write(tmp_path, "always.yaml")
        write(tmp_path, "x.yaml", head)
        assert ids(tmp_path) == (["always", "x"] if marked else ["always"])

    def test_a_file_named_itself_must_be_a_scenario(self, tmp_path: Path) -> None:
        with pytest.raises(ScenarioError, match="write 'format: harness-scenario/1' first"):
            collect([write(tmp_path, "x.yaml", "a: 1\n")])
        with pytest.raises(ScenarioError, match=r"neither \.yaml, \.yml nor \.py"):
            collect([write(tmp_path, "x.txt")])

    def test_a_path_that_is_not_there_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(ScenarioError, match=r"nope.*no such file or folder"):
            collect([tmp_path / "nope"])

    def test_a_file_that_cannot_be_read_is_refused_and_not_passed_over(self, tmp_path: Path) -> None:
        write(tmp_path, "a.yaml")
        (tmp_path / "b.yaml").symlink_to(tmp_path / "gone.yaml")
        with pytest.raises(ScenarioError, match=r"b\.yaml.*cannot be read"):
            collect([tmp_path])
        with pytest.raises(ScenarioError, match=r"b\.yaml.*cannot be read"):
            collect([tmp_path], configured=[str(tmp_path)])

    def test_links_to_folders_are_passed_over_so_that_loops_end(self, tmp_path: Path) -> None:
        write(tmp_path, "a/x.yaml")
        (tmp_path / "a/loop").symlink_to(tmp_path)
        assert ids(tmp_path) == ["a/x"]


class TestNothing:
    @pytest.mark.public_case("PB-042")
    def test_a_folder_without_scenarios_is_never_a_green_run(self, tmp_path: Path) -> None:
        with pytest.raises(NothingToRunError, match="no scenarios") as caught:
            collect([tmp_path])
        assert caught.value.exit_code == 4

    @pytest.mark.public_case("PB-042")
    def test_an_expression_that_fits_nothing_says_of_how_many(self, tree: Path) -> None:
        with pytest.raises(NothingToRunError, match=r"no scenarios of 12 fit -k 'nope'"):
            collect([tree], match="nope")

    def test_no_paths_are_nothing(self) -> None:
        with pytest.raises(NothingToRunError, match="no scenarios in no path"):
            collect([])

    def test_an_expression_chooses_and_a_bad_one_is_refused_before_anything_loads(self, tree: Path) -> None:
        assert ids(tree, match="deep and not 四") == ["a/deep/one", "a/deep/ten", "a/deep/two"]
        write(tree, "broken.yaml", TEXT + "a: [\n")
        with pytest.raises(UsageError, match="-k"):
            collect([tree], match="(")


class TestPython:
    def test_a_folder_never_runs_python(self, tmp_path: Path) -> None:
        write(tmp_path, "x.yaml")
        write(tmp_path, "evil.py", "raise SystemExit('ran')\n")
        assert ids(tmp_path) == ["x"]

    def test_a_file_named_itself_gives_its_list(self, tmp_path: Path) -> None:
        file = write(tmp_path, "some.py", "from harness.scenarios import scenario\nSCENARIOS = [scenario(id='b', task='t'), scenario(task='u')]\n")
        assert ids(file) == ["b", "some/1"]

    def test_without_a_list_it_gives_what_it_holds_in_order(self, tmp_path: Path) -> None:
        file = write(tmp_path, "some.py", "from harness.scenarios import scenario\nzeta = scenario(task='t')\nalpha = scenario(id='own', task='t')\n")
        values = collect([file])
        assert [value.id for value in values] == ["some/zeta", "own"]
        assert values[0].source == str(file)
        assert values[0].digest == collect([write(tmp_path, "z.yaml", TEXT + "id: some/zeta\n")])[0].digest

    def test_it_may_look_itself_up_while_it_is_imported(self, tmp_path: Path) -> None:
        head = "from __future__ import annotations\nfrom dataclasses import dataclass\nfrom typing import ClassVar\n"
        body = "@dataclass\nclass Row:\n    n: ClassVar[int] = 1\n\nx = scenario(task='t', seed=Row.n)\n"
        assert ids(write(tmp_path, "own.py", head + "from harness.scenarios import scenario\n" + body)) == ["own/x"]

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            pytest.param("1 / 0\n", "ZeroDivisionError", id="raises"),
            pytest.param("SCENARIOS = 7\n", "must be a list", id="no-list"),
            pytest.param("SCENARIOS = [7]\n", r"SCENARIOS\[0\].*must be a scenario", id="no-scenario"),
            pytest.param("from harness.scenarios import scenario\nscenario(tsak='t')\n", "did you mean 'task'", id="typo"),
        ],
    )
    def test_what_is_wrong_in_it_is_a_scenario_error(self, tmp_path: Path, text: str, words: str) -> None:
        with pytest.raises(ScenarioError, match=words):
            collect([write(tmp_path, "some.py", text)])

    def test_a_file_without_scenarios_is_nothing(self, tmp_path: Path) -> None:
        with pytest.raises(NothingToRunError):
            collect([write(tmp_path, "some.py", "x = 1\n")])


def test_collecting_grows_with_the_number_of_files_and_not_faster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted, not timed: 5,000 files are walked once, sniffed once and read once each."""
    for number in range(5_000):
        write(tmp_path, f"scenarios/f{number % 50:02}/s{number:04}.yaml")
    opened: list[str] = []
    real_open = open

    def counting(file: Any, *args: Any, **options: Any) -> Any:
        opened.append(str(file))
        return real_open(file, *args, **options)

    monkeypatch.setattr("builtins.open", counting)
    values = collect([tmp_path])
    assert len(values) == 5_000
    assert len(opened) == 10_000
    assert [value.id for value in values] == sorted(value.id for value in values)
