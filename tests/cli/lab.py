"""The command line under test: in this process, or in one of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from harness.cli.main import run_app
from tests.conftest import REPO

GOOD = """\
format: harness-scenario/1
task: What is 6 * 7?
tools: {use: [calculator]}
script:
  - call: {calculator: {expression: 6 * 7}}
  - say: It is 42.
expect: {status: completed, steps: 2, answer: {contains: "42"}}
"""
BAD = GOOD.replace("steps: 2", "steps: 3")
UNSCRIPTED = "format: harness-scenario/1\ntask: Hello\nmodel: local-model\nexpect: {status: completed}\n"


@dataclass(frozen=True)
class Said:
    """What a command said, and its exit code."""

    code: int
    out: str
    err: str

    @property
    def all(self) -> str:
        """Both streams."""
        return self.out + self.err

    @property
    def json(self) -> Any:
        """Standard output, which must be one JSON object on one line."""
        (line,) = self.out.splitlines()
        value = json.loads(line)
        assert isinstance(value, dict)
        return value


@dataclass(frozen=True)
class Cli:
    """The command line in a folder."""

    folder: Path
    capture: pytest.CaptureFixture[str]

    def __call__(self, *arguments: str) -> Said:
        """Call it in this process."""
        self.capture.readouterr()
        code = run_app(list(arguments))
        out, err = self.capture.readouterr()
        return Said(code, out, err)

    def write(self, name: str, text: str | bytes) -> Path:
        """A file in the folder."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode("utf-8") if isinstance(text, str) else text)
        return path


def clean_environment(more: Mapping[str, str]) -> dict[str, str]:
    """An environment with this package on the path, and little else."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR", "SYSTEMROOT") if name in os.environ}
    return {**kept, "PYTHONPATH": str(REPO), **more}


def in_a_process(
    *arguments: str, cwd: Path, env: Mapping[str, str] | None = None, before: str = ""
) -> subprocess.CompletedProcess[bytes]:
    """The command line in a process of its own; ``before`` is Python that it executes first."""
    code = f"{before}\nfrom harness.cli import main\nif __name__ == '__main__':\n    main()\n"
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=cwd,
        env=clean_environment(env or {}),
        capture_output=True,
        timeout=120,
        check=False,
    )
