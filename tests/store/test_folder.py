"""A folder of runs: portable names that never collide, summaries that are never half."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import InvalidValueError, TrajectoryFormatError
from harness.store import find_runs, read_info, read_summaries, trajectory_path, write_summaries, write_trajectory
from harness.types.events import Header, ScenarioRef, Trajectory
from harness.types.messages import RunId
from harness.types.records import RunSummary
from tests.strategies import texts, values_of

summaries = st.lists(values_of(RunSummary), max_size=3).map(tuple)


@given(summaries, st.dictionaries(texts, texts, max_size=3))
def test_summaries_and_info_come_back_as_they_were_written(tmp_path_factory: pytest.TempPathFactory, found: tuple[RunSummary, ...], info: dict[str, str]) -> None:
    folder = tmp_path_factory.mktemp("runs")
    write_summaries(folder, found, info)
    assert read_summaries(folder) == found
    assert read_info(folder) == info
    assert sorted(entry.name for entry in folder.iterdir()) == ["run.json", "summary.jsonl"]


def test_info_that_is_no_json_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(InvalidValueError):
        write_summaries(tmp_path, (), {"x": float("nan")})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("data", "line", "words"),
    [
        pytest.param(b'{"runId":"r"}\n', 1, "scenario", id="missing-fields"),
        pytest.param(b"\n", 1, "not JSON", id="blank"),
        pytest.param(b"{", 1, "not finished", id="torn"),
    ],
)
def test_a_damaged_summary_is_refused_with_its_line(tmp_path: Path, data: bytes, line: int, words: str) -> None:
    tmp_path.joinpath("summary.jsonl").write_bytes(data)
    with pytest.raises(TrajectoryFormatError, match=words) as caught:
        read_summaries(tmp_path)
    assert caught.value.line == line


@pytest.mark.parametrize("read", [read_summaries, read_info])
def test_a_folder_without_summaries_is_refused_by_name(tmp_path: Path, read: object) -> None:
    with pytest.raises(TrajectoryFormatError, match="cannot be read"):
        read(tmp_path)  # type: ignore[operator]


def test_damaged_info_is_refused_by_name(tmp_path: Path) -> None:
    tmp_path.joinpath("run.json").write_bytes(b"[]")
    with pytest.raises(TrajectoryFormatError, match=r"run\.json"):
        read_info(tmp_path)


# ---------------------------------------------------------------- names (PB-049)

IDS = ["foo/bar", "../foo/bar", "/etc/x", "a:b", "a*b?", "trail.", "trail ", "a@b", "a#1", "a%40b", "con", "", "模型 🚀", "x" * 500]


def valid_everywhere(path: Path, root: Path) -> bool:
    parts = path.relative_to(root).parts
    return ".." not in parts and all(
        part[-1] not in ". " and not re.search(r'[<>:"|?*\\\x00-\x1f]', part) and len(part.encode("utf-8")) <= 255 for part in parts
    )


@pytest.mark.public_case("PB-049")
def test_odd_scenario_ids_give_different_portable_files_inside_the_folder(tmp_path: Path) -> None:
    paths = [trajectory_path(tmp_path, scenario, "default", 1) for scenario in IDS]
    assert len(set(paths)) == len(IDS)
    assert paths == [trajectory_path(tmp_path, scenario, "default", 1) for scenario in IDS]
    for path, scenario in zip(paths, IDS, strict=True):
        assert valid_everywhere(path, tmp_path), path
        header = Header(version="1", run_id=RunId(scenario), subject="s", scenario=ScenarioRef(scenario, ""))
        write_trajectory(path, Trajectory(header, ()))
    found = find_runs(tmp_path)
    assert sorted(found) == sorted(paths)


def test_an_ordinary_run_has_an_ordinary_name() -> None:
    assert trajectory_path("out", "weather/umbrella", "new-prompt", 3) == Path("out/trajectories/weather/umbrella@new-prompt#3.jsonl")


@given(st.tuples(texts, texts, st.integers(1, 99)), st.tuples(texts, texts, st.integers(1, 99)))
def test_two_runs_never_share_a_file(one: tuple[str, str, int], two: tuple[str, str, int]) -> None:
    assert (one == two) == (trajectory_path("out", *one) == trajectory_path("out", *two))
    assert valid_everywhere(trajectory_path("out", *one), Path("out"))


@pytest.mark.parametrize(("one", "two"), [(("x@y", "z", 1), ("x", "y@z", 1)), (("x", "a#1", 1), ("x#1", "a", 1)), (("a/b", "c", 1), ("a", "b/c", 1))])
def test_marks_inside_ids_do_not_make_two_runs_one(one: tuple[str, str, int], two: tuple[str, str, int]) -> None:
    assert trajectory_path("out", *one) != trajectory_path("out", *two)


def test_runs_are_listed_in_one_order_and_a_run_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    for scenario, trial in (("b/x", 1), ("a/y", 2), ("a/y", 1), ("a", 1)):
        header = Header(version="1", run_id=RunId(f"{scenario}{trial}"), subject="s", scenario=ScenarioRef(scenario, ""), trial=trial)
        write_trajectory(trajectory_path(tmp_path, scenario, "default", trial), Trajectory(header, ()))
    names = [path.relative_to(tmp_path / "trajectories").as_posix() for path in find_runs(tmp_path)]
    assert names == ["a/y@default#1.jsonl", "a/y@default#2.jsonl", "a@default#1.jsonl", "b/x@default#1.jsonl"]
    (tmp_path / "trajectories" / "copy.jsonl").write_bytes((tmp_path / "trajectories" / names[0]).read_bytes())
    with pytest.raises(TrajectoryFormatError, match="holds each run once") as caught:
        find_runs(tmp_path)
    assert "a/y@default#1.jsonl" in str(caught.value)


def test_a_file_in_the_folder_that_is_no_trajectory_is_refused(tmp_path: Path) -> None:
    tmp_path.joinpath("trajectories").mkdir()
    tmp_path.joinpath("trajectories", "x.jsonl").write_bytes(b"{}\n")
    with pytest.raises(TrajectoryFormatError, match="no trajectory"):
        find_runs(tmp_path)


def test_a_folder_without_runs_has_none(tmp_path: Path) -> None:
    assert find_runs(tmp_path) == []


def test_run_info_is_one_sorted_json_object(tmp_path: Path) -> None:
    write_summaries(tmp_path, (), {"b": 1, "a": ["模型"]})
    assert json.loads(tmp_path.joinpath("run.json").read_bytes()) == {"a": ["模型"], "b": 1}
    assert tmp_path.joinpath("run.json").read_bytes() == '{"a":["模型"],"b":1}\n'.encode()
