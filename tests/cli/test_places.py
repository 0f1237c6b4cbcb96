"""Where results are to go: what is no place for them is refused before anything runs, by every command."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.endpoint import endpoint, says
from tests.cli.lab import GOOD, UNSCRIPTED, Cli

RED = """\
from pathlib import Path
from tests.runner.sweep_lab import AsksOnceMore

async def red(env):
    Path("red").touch()
    return await AsksOnceMore(env).run()
"""


@pytest.fixture
def shop(cli: Cli) -> Cli:
    """Scenarios, a run of one, and a regular file where folders are expected."""
    cli.write("scenarios/good.yaml", GOOD)
    assert cli("run", "--out", "ran").code == 0
    cli.write("afile", "mine")
    cli.folder.joinpath("afolder").mkdir()
    return cli


VERBS = [
    pytest.param(["run", "--out", "{}"], id="run"),
    pytest.param(["run", "--workspace", "{}"], id="run-workspace"),
    pytest.param(["replay", "ran", "--out", "{}"], id="replay"),
    pytest.param(["sweep", "--kind", "tool-error", "--out", "{}"], id="sweep"),
    pytest.param(["compare", "ran", "ran", "--out", "{}/into"], id="compare"),
    pytest.param(["scenario", "from", "ran", "-o", "{}/into.yaml"], id="scenario-from"),
    pytest.param(["init", "{}"], id="init"),
    pytest.param(["serve", "scenarios/good.yaml", "--log", "{}/log.jsonl"], id="serve-log"),
    pytest.param(["cassettes", "import", "scenarios", "-o", "{}"], id="cassettes-import"),
]


@pytest.mark.parametrize("place", ["afile", "afile/deeper", "gone"])
@pytest.mark.parametrize("arguments", VERBS)
def test_a_file_is_no_folder_for_results_and_nothing_runs(arguments: list[str], place: str, shop: Cli) -> None:
    shop.folder.joinpath("gone").symlink_to("afile/nowhere")
    before = sorted(shop.folder.rglob("*"))
    said = shop(*(text.format(place) for text in arguments))
    assert said.code == 2, said.all
    assert place in said.err
    assert said.out == ""
    assert sorted(shop.folder.rglob("*")) == before
    assert shop.folder.joinpath("afile").read_text("utf-8") == "mine"


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(["compare", "ran", "ran", "--out", "afolder"], id="compare"),
        pytest.param(["scenario", "from", "ran", "-o", "/dev/null", "--force"], id="scenario-from"),
        pytest.param(["sweep", "--kind", "tool-error", "--out", "taken"], id="sweep"),
    ],
)
def test_a_folder_or_device_is_no_file_for_results_and_nothing_is_told_before(arguments: list[str], shop: Cli) -> None:
    shop.folder.joinpath("taken/good-red.yaml").mkdir(parents=True)
    said = shop(*arguments)
    assert said.code == 2, said.all
    assert "name a file to write to" in said.err
    assert said.out == ""


@pytest.mark.parametrize("place", ["afile", "afile/deeper", "full"])
def test_nobody_is_asked_for_what_no_cassette_could_hold(
    place: str, shop: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []
    shop.write("scenarios/ask.yaml", UNSCRIPTED)
    shop.folder.joinpath("full/ask/local-model.yaml").mkdir(parents=True)

    def answer(body: object) -> object:
        asked.append(body)
        return says("Hello.")

    with endpoint(answer) as url:
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789abcdefghij")
        said = shop("record", "--cassettes", place)
        assert (said.code, asked) == (2, []), said.all
        assert place in said.err
        assert shop("record").code == 0
        assert len(asked) == 1


def test_a_project_with_a_file_in_the_way_gets_no_half_of_a_beginning(cli: Cli) -> None:
    cli.write("tests", "a file")
    said = cli("init")
    assert said.code == 2, said.all
    assert not cli.folder.joinpath("scenarios").exists()


def test_what_a_sweep_found_is_told_although_its_file_could_not_be_written(
    shop: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk that was there before the sweep is gone behind it: the loop itself puts a file in its place."""
    shop.write("loops_of_places.py", RED)
    said = shop("sweep", "--kind", "cancel", "--out", "red/deep", "--subject", "loops_of_places:red")
    assert said.code == 1, said.all
    assert "FAIL  good" in said.out
    assert "not written: what shows good again" in said.err
    assert "shown again by" not in said.out
    assert Path("red").is_file()
