"""What the tests of the comment share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.ci.posting import Posting


@pytest.fixture
def post(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Posting:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    return Posting(tmp_path, capsys)
