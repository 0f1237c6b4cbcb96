"""The locale's encoding does not matter: same bytes, same exit codes (case PB-048)."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.lab import clean_environment

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


ALL_OF_THEM = """\
import os, sys
from harness.cli.main import _in_utf8, run_app
_in_utf8()
arguments = sys.argv[1:]
while arguments:
    end = arguments.index("--next")
    code = run_app(arguments[:end])
    os.write(1, f"exit code {code}\\n".encode())
    arguments = arguments[end + 1 :]
"""


@pytest.mark.public_case("PB-048")
def test_runs_reports_and_what_is_said_are_the_same_bytes_in_every_locale(tmp_path: Path) -> None:
    steps = [
        ["run", "--out", "out", "--json"],
        ["run", "--out", "again", "-k", "模型"],
        ["compare", "out", "again", "--out", "report.md"],
        ["check", "out"],
        ["show", f"out/trajectories/{NAME}@default#1.jsonl", "-v"],
        ["show", f"out/trajectories/{NAME}@default#1.jsonl", "--format", "mermaid"],
        ["scenario", "schema"],
    ]
    said = {name: _said(steps, tmp_path / name, locale) for name, locale in {"c": PLAIN_C, "utf8": UTF8}.items()}
    assert said["c"].count(b"exit code 0\n") == len(steps), said["c"].decode("utf-8", "replace")
    assert said["c"] == said["utf8"]
    in_c, in_utf8 = files_in(tmp_path / "c"), files_in(tmp_path / "utf8")
    assert in_c.keys() == in_utf8.keys()
    assert in_c == in_utf8
    generated = {name: data for name, data in in_c.items() if not name.startswith(b"scenarios")}
    assert all(b"\r" not in data and b"\\ufffd" not in data and "�".encode() not in data for data in generated.values())
    assert NAME.encode() in generated[b"out/summary.jsonl"]


def _said(steps: list[list[str]], folder: Path, locale: dict[str, str]) -> bytes:
    source = folder / "scenarios" / f"{NAME}.yaml"
    source.parent.mkdir(parents=True)
    source.write_bytes(SCENARIO.replace("\n", "\r\n").encode("utf-8"))
    done = subprocess.run(
        [sys.executable, "-c", ALL_OF_THEM, *(part for step in steps for part in (*step, "--next"))],
        cwd=folder,
        env=clean_environment({**locale, "NO_COLOR": "1"}),
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode("utf-8", "replace")
    assert done.stderr == b""
    return re.sub(rb", \d+ ms, in", b", in", done.stdout)  # the one line that tells how long it took
