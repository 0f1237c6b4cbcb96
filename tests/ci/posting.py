"""The script of the comment, called as its action calls it, against a loopback service."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.ci.service_lab import FORK, HEAD, REPOSITORY, FakeService, artifact, load, pull, serving

MARKER = "<!-- harness-comparison -->"
REPORT = f"{MARKER}\n**PASS** no difference\n"
GOOD = {"comparison.md": REPORT, "pull-request.txt": "7\n"}
comment = load()


class Posting:
    """The script against a loopback service, with an event of the second workflow."""

    def __init__(self, folder: Path, capture: pytest.CaptureFixture[str]) -> None:
        self.service = FakeService(artifact(GOOD))
        self.paused: list[float] = []
        self.event: dict[str, Any] = {
            "workflow_run": {"id": 42, "event": "pull_request", "head_sha": HEAD, "head_branch": "topic", "head_repository": {"full_name": FORK}}
        }
        self.environ = {
            "GITHUB_TOKEN": "t0ken", "GITHUB_SERVER_URL": "https://example.test", "GITHUB_REPOSITORY": REPOSITORY,
            "GITHUB_EVENT_NAME": "workflow_run", "GITHUB_EVENT_PATH": str(folder / "event.json"), "GITHUB_RUN_ID": "42",
        }  # fmt: skip
        self._capture = capture
        self._folder = folder

    def __call__(self) -> tuple[int, str]:
        """Exit code, and the one line that was said."""
        (self._folder / "event.json").write_text(json.dumps(self.event), encoding="utf-8")
        with serving(self.service) as url:
            code = comment.main({**self.environ, "GITHUB_API_URL": url}, pause=self.paused.append)
        (line,) = self._capture.readouterr().out.splitlines()
        return code, line

    @property
    def bodies(self) -> list[str]:
        return [one["body"] for one in self.service.comments]


def own_branch(post: Posting) -> None:
    """The other event: a pull request from a branch of the repository itself."""
    post.service.pulls[7] = pull(repo=REPOSITORY)
    head = {"sha": HEAD, "ref": "topic", "repo": {"full_name": REPOSITORY}}
    post.event = {"pull_request": {"number": 7, "head": head}}
    post.environ["GITHUB_EVENT_NAME"] = "pull_request"
