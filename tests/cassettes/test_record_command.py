"""``harness record`` as a user runs it: a key in the environment, a strange locale, and a replay afterwards."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from harness.cassettes import Cassette, cassette_path, read_cassette
from tests.cassettes.lab import completion, endpoint, json_reply

KEY = "canary-Key/77aa88bb99"
TEXT = "模型 🚀 äß"
SCENARIO = f"""\
format: harness-scenario/1
id: odd/trail. {TEXT}
title: {TEXT}
task: Say {TEXT}
model: {{name: lab-model, parameters: {{temperature: 0}}}}
expect: {{status: completed, answer: "{TEXT}"}}
"""


def harness(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """The command in its own process, with a temporary folder of its own."""
    temporary = folder / "tmp"
    temporary.mkdir(exist_ok=True)
    kept = {name: text for name, text in os.environ.items() if name not in ("LC_ALL", "PYTHONUTF8")}
    command = [sys.executable, "-c", "from harness.cli import main; main()", *arguments]
    return subprocess.run(
        command,
        cwd=folder,
        env={**kept, "TMPDIR": str(temporary), "PYTHONPATH": str(Path(__file__).parents[2]), **environment},
        capture_output=True,
        timeout=120,
        check=False,
    )


def record(folder: Path, **environment: str) -> subprocess.CompletedProcess[bytes]:
    (folder / "odd.yaml").write_bytes(SCENARIO.replace("\n", "\r\n").encode())
    with endpoint(lambda *_: json_reply(completion(TEXT), set_cookie="sid=cookie-canary")) as server:
        done = harness(
            folder,
            "record",
            "odd.yaml",
            "--out",
            "out",
            OPENAI_API_KEY=KEY,
            OPENAI_BASE_URL=server.base_url,
            **environment,
        )
        assert [seen[1]["authorization"] for seen in server.seen] == [f"Bearer {KEY}"]
    return done


def recorded(folder: Path) -> Cassette:
    """What was recorded, without the times."""
    found = read_cassette(cassette_path(folder / "cassettes", f"odd/trail. {TEXT}", "lab-model"))
    exchanges = tuple(replace(one, response=replace(one.response, chunks=())) for one in found.exchanges)
    assert found.about is not None
    info = replace(found.about.info, recorded_at="")
    return Cassette(exchanges, replace(found.about, info=info))


@pytest.mark.public_case("PB-048", "PB-049", "PB-034")
def test_a_recording_made_in_any_locale_is_the_same_and_replays_in_any_other(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("utf-8", "c")]
    locales = [{"PYTHONUTF8": "1"}, {"PYTHONUTF8": "0", "LC_ALL": "C"}]
    for folder, locale in zip(folders, locales, strict=True):
        folder.mkdir()
        done = record(folder, **locale)
        assert done.returncode == 0, done.stdout + done.stderr
    assert recorded(folders[0]) == recorded(folders[1])
    for folder, locale in zip(folders, reversed(locales), strict=True):
        done = harness(folder, "run", "odd.yaml", "--out", "replayed", **locale)
        assert done.returncode == 0, done.stdout + done.stderr
        for one in folder.rglob("*"):
            if one.is_file():
                data = one.read_bytes()
                assert KEY.encode() not in data, one.name
                assert b"cookie-canary" not in data, one.name
                assert one.name == "odd.yaml" or b"\r" not in data, one.name
