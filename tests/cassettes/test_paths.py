"""One file a run, whatever the scenario's id looks like."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.cassettes import cassette_path

ROOT = Path("cassettes")
ODD = [
    "foo/bar",
    "../foo/bar",
    "/etc/x",
    "a:b",
    "a*b?",
    "trail.",
    "trail ",
    "con",
    "模型 🚀 äß",
    "a/b.yaml",
    "a//b",
    ".",
]


def test_a_plain_id_reads_as_it_is() -> None:
    assert cassette_path(ROOT, "weather/oslo", "local-model") == ROOT / "weather/oslo/local-model.yaml"
    assert cassette_path(ROOT, "weather/oslo", "local-model", 3) == ROOT / "weather/oslo/local-model.3.yaml"


@pytest.mark.public_case("PB-049")
def test_odd_ids_have_different_files_inside_the_folder() -> None:
    paths = [cassette_path(ROOT, identity, "arm") for identity in ODD]
    assert len(set(paths)) == len(ODD)
    for path in paths:
        assert path.parts[0] == "cassettes"
        assert ".." not in path.parts
        for part in path.parts:
            assert not set(part) & set('<>:"\\|?*')
            assert part[-1] not in ". "


IDS = st.text(st.sampled_from("ab/.:%2F 1yml"), max_size=8)


@given(st.lists(st.tuples(IDS, IDS, st.integers(1, 12)), min_size=2, max_size=6, unique=True))
def test_two_runs_never_share_a_file_nor_need_a_file_for_a_folder(runs: list[tuple[str, str, int]]) -> None:
    paths = [PurePosixPath(cassette_path(ROOT, *run)) for run in runs]
    assert len(set(paths)) == len(runs)
    for path in paths:
        assert not set(path.parents) & set(paths)
        assert path.parts[0] == "cassettes"
        assert ".." not in path.parts
