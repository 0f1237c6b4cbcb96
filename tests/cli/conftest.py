"""A folder of its own, and the command line called in it, in this process."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.cli.lab import Cli

_FOREIGN = ("CI", "NO_COLOR", "OPENAI_API_KEY", "OPENAI_BASE_URL", "HARNESS_MODEL", "HARNESS_DEBUG")


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Cli:
    """``cli("run", "x.yaml")`` in an empty folder, with no variable of the machine that it would listen to."""
    for name in _FOREIGN:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    return Cli(tmp_path, capfd)
