"""A folder of cassettes: who uses what, what an audit finds, and what prune removes."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from harness.cassettes import About, Cassette, cassette_path, dump_cassette
from harness.cassettes.library import Held, Trouble, audit, read_folder, remove, unused
from harness.errors import CassetteError
from tests.cassettes.lab import INFO, cassette, completion, exchange, two_steps

CANARY = "hunter2-canary-key"


def put(root: Path, scenario: str, arm: str = "m", *, trial: int = 1, recorded_for: str | None = None, **more: object) -> Path:
    """A cassette at the place of a scenario; each holds something else unless ``bodies`` say what."""
    bodies = more.get("bodies", ({**two_steps()[0], "user": f"{scenario}/{arm}/{trial}"},))
    assert isinstance(bodies, tuple)
    info = dataclasses.replace(INFO, scenario=scenario if recorded_for is None else recorded_for)
    held = dataclasses.replace(cassette(*bodies), about=About(info, model="m", host="localhost"))
    path = cassette_path(root, scenario, arm, trial)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(dump_cassette(held))
    return path


def found(root: Path, *scenarios: str, known: bool = True) -> dict[str, list[Trouble]]:
    """What an audit finds, by path below the root; each scenario of ``scenarios`` replays model "m"."""
    users = {cassette_path(root, one, "m"): one for one in scenarios} if known else None
    seen: dict[str, list[Trouble]] = {}
    for one in audit(read_folder(root, users), scenarios if known else None, (CANARY,)):
        seen.setdefault(one.path.relative_to(root).as_posix(), []).append(one.trouble)
    return seen


def test_a_folder_in_order_is_not_accused(tmp_path: Path) -> None:
    put(tmp_path, "a")
    put(tmp_path, "b/c")
    put(tmp_path, "b/c", trial=2)
    assert found(tmp_path, "a", "b/c") == {}


def test_what_an_audit_calls_unused_is_what_a_prune_would_remove(tmp_path: Path) -> None:
    put(tmp_path, "a")
    put(tmp_path, "a", "readable")
    put(tmp_path, "a", "torn").write_bytes(b"interactions: [")
    assert found(tmp_path, "a") == {"a/readable.yaml": [Trouble.UNUSED], "a/torn.yaml": [Trouble.DAMAGED]}
    users = {cassette_path(tmp_path, "a", "m"): "a"}
    assert [one.path.name for one in unused(read_folder(tmp_path, users))] == ["readable.yaml"]


def test_what_is_no_yaml_is_none_of_ours(tmp_path: Path) -> None:
    put(tmp_path, "a")
    for name in ("README.md", "live.json", "serve.py"):
        (tmp_path / name).write_text("{}", encoding="utf-8")
    assert found(tmp_path, "a") == {}


def test_each_trouble_is_found_in_the_file_that_has_it_and_in_no_other(tmp_path: Path) -> None:
    put(tmp_path, "good")
    put(tmp_path, "gone")
    put(tmp_path, "good", "other-model")
    put(tmp_path, "moved", recorded_for="good")
    put(tmp_path, "leaky", bodies=({"model": "m", "messages": [{"role": "user", "content": CANARY}]},))
    put(tmp_path, "torn").write_bytes(dump_cassette(cassette(two_steps()[0]))[:-12])
    put(tmp_path, "empty").write_bytes(b"")
    put(tmp_path, "stock").write_bytes(dump_cassette(cassette({"model": "s"})))
    twin = {"model": "m", "messages": [], "seed": 7}
    put(tmp_path, "twin-a", bodies=(twin,))
    put(tmp_path, "twin-b", bodies=(twin,))
    assert found(tmp_path, "good", "moved", "leaky", "torn", "empty", "stock", "twin-a", "twin-b") == {
        "gone/m.yaml": [Trouble.ORPHAN],
        "good/other-model.yaml": [Trouble.UNUSED],
        "moved/m.yaml": [Trouble.MISPLACED],
        "leaky/m.yaml": [Trouble.SECRET, Trouble.SECRET],
        "torn/m.yaml": [Trouble.DAMAGED],
        "empty/m.yaml": [Trouble.DAMAGED],
        "stock/m.yaml": [Trouble.NO_HEADER],
        "twin-b/m.yaml": [Trouble.DUPLICATE],
    }


def test_of_two_that_are_the_same_the_one_in_use_is_not_accused(tmp_path: Path) -> None:
    put(tmp_path, "a-copy", bodies=({"model": "m"},))
    put(tmp_path, "b", bodies=({"model": "m"},))
    assert found(tmp_path, "b") == {"a-copy/m.yaml": [Trouble.ORPHAN, Trouble.DUPLICATE]}


def test_equal_trials_of_one_scenario_are_no_duplicates(tmp_path: Path) -> None:
    for trial in (1, 2, 12):
        put(tmp_path, "a", trial=trial, bodies=({"model": "m"},))
    assert found(tmp_path, "a") == {}


def test_an_arm_that_ends_in_a_number_is_no_trial_of_another(tmp_path: Path) -> None:
    put(tmp_path, "a", "m.2")
    assert found(tmp_path, "a") == {"a/m%2E2.yaml": [Trouble.UNUSED]}


def test_without_scenarios_nothing_is_said_about_use(tmp_path: Path) -> None:
    put(tmp_path, "gone")
    assert found(tmp_path, known=False) == {}


@pytest.mark.parametrize("name", ["authorization", "cookie", "set-cookie", "openai-organization", "x-api-key"])
def test_a_header_that_opens_an_account_is_found_though_its_value_has_no_shape(tmp_path: Path, name: str) -> None:
    one = exchange({"model": "m"}, completion())
    kept = dataclasses.replace(one, response=dataclasses.replace(one.response, headers=((name, "abc"),)))
    path = cassette_path(tmp_path, "a", "m")
    path.parent.mkdir()
    path.write_bytes(dump_cassette(Cassette((kept,), About(dataclasses.replace(INFO, scenario="a")))))
    assert found(tmp_path, "a") == {"a/m.yaml": [Trouble.SECRET]}


def test_a_secret_in_a_damaged_file_is_found_and_not_shown(tmp_path: Path) -> None:
    put(tmp_path, "a").write_bytes(f"interactions: [{CANARY}".encode())
    findings = audit(read_folder(tmp_path, None), None, (CANARY,))
    assert [one.trouble for one in findings] == [Trouble.DAMAGED, Trouble.SECRET]
    assert CANARY not in json.dumps([one.what for one in findings if one.trouble is Trouble.SECRET])


@pytest.mark.parametrize("made", [False, True], ids=["no-folder", "nothing-in-it"])
def test_no_cassettes_is_an_error_and_no_clean_audit(tmp_path: Path, made: bool) -> None:
    if made:
        (tmp_path / "cassettes").mkdir()
    with pytest.raises(CassetteError):
        read_folder(tmp_path / "cassettes", None)


def held(root: Path, *scenarios: str) -> tuple[Held, ...]:
    return read_folder(root, {cassette_path(root, one, "m"): one for one in scenarios})


def test_prune_removes_what_nobody_replays_with_its_empty_folders_and_nothing_else(tmp_path: Path) -> None:
    put(tmp_path, "good")
    put(tmp_path, "good", trial=2)
    put(tmp_path, "old/gone")
    put(tmp_path, "old/torn").write_bytes(b"interactions: [")
    readme = tmp_path / "README.md"
    readme.write_text("hello", encoding="utf-8")
    going = unused(held(tmp_path, "good"))
    assert [one.path.relative_to(tmp_path).as_posix() for one in going] == ["old/gone/m.yaml"]
    remove(going, tmp_path)
    left = sorted(one.relative_to(tmp_path).as_posix() for one in tmp_path.rglob("*") if one.is_file())
    assert left == ["README.md", "good/m.2.yaml", "good/m.yaml", "old/torn/m.yaml"]
    assert not (tmp_path / "old/gone").exists()
