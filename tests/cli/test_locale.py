"""The locale's encoding does not matter: same bytes, same exit codes (case PB-048)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.lab import in_a_process

NAME = "模型 🚀 äß"
SCENARIO = f"""\
format: harness-scenario/1
title: {NAME}
system: {NAME}
task: "{NAME}?"
tools:
  use: [search_docs]
  stub: {{look_up: {{returns: "{NAME}!"}}}}
script:
  - call: {{look_up: {{word: "{NAME}"}}}}
  - say: "{NAME}."
expect: {{status: completed, answer: "{NAME}."}}
"""
PLAIN_C = {"PYTHONUTF8": "0", "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0"}
UTF8 = {"PYTHONUTF8": "1", "LC_ALL": "C.UTF-8"}


def files_in(folder: Path) -> dict[bytes, bytes]:
    """Every generated file by its name in bytes, without what may differ in a header."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            data = path.read_bytes()
            if path.suffix == ".jsonl" and data.startswith(b'{"type":"trajectory/header"'):
                first, _, rest = data.partition(b"\n")
                header = json.loads(first)
                header.pop("volatile")
                data = json.dumps(header).encode() + rest
            found[str(path.relative_to(folder)).encode("utf-8", "surrogateescape")] = data
    return found


@pytest.mark.public_case("PB-048")
def test_runs_reports_and_what_is_said_are_the_same_bytes_in_every_locale(tmp_path: Path) -> None:
    said = {}
    for name, locale in {"c": PLAIN_C, "utf8": UTF8}.items():
        folder = tmp_path / name
        source = folder / "scenarios" / f"{NAME}.yaml"
        source.parent.mkdir(parents=True)
        source.write_bytes(SCENARIO.replace("\n", "\r\n").encode("utf-8"))
        steps = [
            ["run", "--out", "out", "--json"],
            ["run", "--out", "again", "-k", "模型"],
            ["compare", "out", "again", "--out", "report.md"],
            ["check", "out"],
            ["show", f"out/trajectories/{NAME}@default#1.jsonl", "-v"],
            ["show", f"out/trajectories/{NAME}@default#1.jsonl", "--format", "mermaid"],
            ["scenario", "schema"],
        ]
        said[name] = [_said(step, folder, locale) for step in steps]
    assert [code for code, _ in said["c"]] == [0] * 7, said["c"]
    assert said["c"] == said["utf8"]
    in_c, in_utf8 = files_in(tmp_path / "c"), files_in(tmp_path / "utf8")
    assert in_c.keys() == in_utf8.keys()
    assert in_c == in_utf8
    generated = {name: data for name, data in in_c.items() if not name.startswith(b"scenarios")}
    assert all(b"\r" not in data and b"\\ufffd" not in data and "�".encode() not in data for data in generated.values())
    assert NAME.encode() in generated["summary.jsonl".join(["out/", ""]).encode()]


def _said(arguments: list[str], folder: Path, locale: dict[str, str]) -> tuple[int, bytes]:
    done = in_a_process(*arguments, cwd=folder, env={**locale, "NO_COLOR": "1"})
    assert b"Error" not in done.stderr, done.stderr.decode("utf-8", "replace")
    out = done.stdout
    last = out.rstrip(b"\n").rsplit(b"\n", 1)[-1]
    if b" planned = " in last:  # the one line that tells how long it took
        out = out.replace(last, b"")
    return done.returncode, out
