"""``harness cassettes``: list, audit, prune, import, with the exit codes of the verdict table."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.cli.lab import GOOD, UNSCRIPTED, Cli
from tests.conftest import REPO

SHIPPED = REPO / "cassettes/recorded/weather_oslo/local-model.yaml"
SCENARIO = REPO / "scenarios/recorded/weather_oslo.yaml"


@pytest.fixture
def project(cli: Cli) -> Cli:
    """One scenario with its shipped recording."""
    cli.write("scenarios/recorded/weather_oslo.yaml", SCENARIO.read_bytes())
    cli.write("cassettes/recorded/weather_oslo/local-model.yaml", SHIPPED.read_bytes())
    return cli


def test_list_tells_scenario_model_server_date_and_use(project: Cli) -> None:
    said = project("cassettes", "list")
    assert said.code == 0
    for part in ("recorded/weather_oslo", "local-model", "localhost (llama.cpp)", "2026-", "yes", "1 cassette,"):
        assert part in said.out
    (one,) = project("cassettes", "list", "--json").json["cassettes"]
    assert (one["scenario"], one["exchanges"], one["used"], one["usedBy"]) == (
        "recorded/weather_oslo", 2, True, "recorded/weather_oslo",
    )  # fmt: skip


def test_list_in_a_folder_without_scenarios_does_not_guess_what_is_used(project: Cli) -> None:
    shutil.rmtree(project.folder / "scenarios")
    (one,) = project("cassettes", "list", "--json").json["cassettes"]
    assert one["used"] is None


def test_audit_of_a_folder_in_order_is_zero(project: Cli) -> None:
    said = project("cassettes", "audit")
    assert (said.code, said.out) == (0, "1 cassette: nothing is wrong\n")


def test_audit_of_a_secret_is_one_and_does_not_show_it(project: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_API_KEY", "get_weather")
    said = project("cassettes", "audit")
    assert said.code == 1
    assert "known secret" in said.out


@pytest.mark.parametrize(
    ("break_it", "code"),
    [
        pytest.param(lambda path: path.write_bytes(b""), 4, id="emptied"),
        pytest.param(lambda path: path.write_bytes(SHIPPED.read_bytes()[:-30]), 4, id="torn"),
        pytest.param(lambda path: path.unlink(), 4, id="deleted"),
        pytest.param(lambda path: path.rename(path.with_name("other.yaml")), 1, id="moved"),
    ],
)
def test_audit_tells_what_is_broken_by_its_exit_code(project: Cli, break_it, code: int) -> None:
    break_it(project.folder / "cassettes/recorded/weather_oslo/local-model.yaml")
    said = project("cassettes", "audit", "--json")
    assert said.code == code


def test_prune_names_first_and_removes_only_with_yes(project: Cli) -> None:
    old = project.write("cassettes/recorded/gone/local-model.yaml", SHIPPED.read_bytes())
    said = project("cassettes", "prune")
    assert said.code == 0
    assert "nothing was removed" in said.out
    assert old.exists()
    assert project("cassettes", "prune", "--yes", "--json").json == {
        "removed": True, "unused": ["cassettes/recorded/gone/local-model.yaml"],
    }  # fmt: skip
    assert not old.exists()
    assert (project.folder / "cassettes/recorded/weather_oslo/local-model.yaml").exists()


def test_prune_removes_nothing_where_no_scenario_is_known_or_one_does_not_load(project: Cli) -> None:
    old = project.write("cassettes/recorded/gone/local-model.yaml", SHIPPED.read_bytes())
    broken = project.write("scenarios/broken.yaml", UNSCRIPTED + "nonsense: 1\n")
    assert project("cassettes", "prune", "--yes").code == 2
    broken.unlink()
    shutil.rmtree(project.folder / "scenarios")
    said = project("cassettes", "prune", "--yes")
    assert said.code == 2
    assert "--scenarios" in said.err
    assert old.exists()


def test_a_scenario_with_a_script_keeps_its_recording_too(cli: Cli) -> None:
    cli.write("scenarios/a.yaml", GOOD)
    cli.write("cassettes/a/local-model.yaml", SHIPPED.read_bytes())
    assert cli("cassettes", "prune", "--json").json["unused"] == []


# ---------------------------------------------------------------- import


def test_import_makes_cassettes_that_a_scenario_replays(project: Cli) -> None:
    # A stock file, since it has no header of ours: imported to where the scenario looks, it answers it.
    place = project.folder / "cassettes/recorded/weather_oslo/local-model.yaml"
    stock = SHIPPED.read_text(encoding="utf-8").split("metadata:")[0] + "version: 1\n"
    theirs = project.write("theirs/local-model.yaml", stock)
    place.unlink()
    said = project("cassettes", "import", str(theirs), "-o", str(place.parent))
    assert said.code == 0
    assert "2 of 2 exchanges in 1 cassette of 1 file" in said.out
    assert project("run", "scenarios").code == 0
    assert project("cassettes", "audit").code == 0


def test_import_tells_each_file_and_why_the_rest_is_refused(project: Cli) -> None:
    stock = SHIPPED.read_text(encoding="utf-8").replace("/v1/chat/completions", "/v1/messages", 1)
    theirs = project.write("theirs/mixed.yaml", stock.split("metadata:")[0] + "version: 1\n")
    said = project("cassettes", "import", str(theirs), "-v")
    assert said.code == 0
    assert "1/2  mixed.yaml: anthropic, chat" in said.out
    assert "the Messages protocol of Anthropic" in said.out
    (file,) = project("cassettes", "import", str(theirs), "-o", "again", "--json").json["files"]
    assert [one["verdict"] for one in file["exchanges"]] == ["anthropic", "chat"]
    assert file["written"] == "again/mixed.yaml"


@pytest.mark.parametrize(
    ("files", "code"),
    [
        pytest.param({}, 4, id="nothing"),
        pytest.param({"a.yaml": "interactions: ["}, 4, id="damaged"),
        pytest.param({"a.yaml": "a: 1"}, 4, id="no-recording"),
    ],
)
def test_import_of_nothing_that_replays_is_four(cli: Cli, files: dict[str, str], code: int) -> None:
    (cli.folder / "theirs").mkdir()
    for name, text in files.items():
        cli.write(f"theirs/{name}", text)
    assert cli("cassettes", "import", "theirs").code == code
    assert not Path(cli.folder / "reports/imported").exists()


def test_import_never_overwrites(project: Cli) -> None:
    for code in (0, 2):
        assert project("cassettes", "import", str(SHIPPED)).code == code


def test_json_stays_one_object_when_a_file_is_damaged(cli: Cli) -> None:
    cli.write("theirs/a.yaml", "interactions: [")
    said = cli("cassettes", "import", "theirs", "--json")
    assert said.code == 4
    assert "damaged" in json.dumps(said.json)
