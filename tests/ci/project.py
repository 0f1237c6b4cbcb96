"""A project in a real repository with a remote, as a CI service checks it out, and `harness` on its path."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from tests.cli.lab import GOOD
from tests.house.source import REPO

GATE = "harness-gate.yaml"
CHANGED = GOOD.replace("expression: 6 * 7}", "expression: 7 * 6}")
_WHO = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.test", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.test"}


@dataclass
class Project:
    """The checkout of a branch; ``origin`` is a bare repository beside it."""

    root: Path
    environ: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        shim = self.root / "bin" / "harness"
        shim.parent.mkdir(parents=True)
        shim.write_text(f'#!/usr/bin/env bash\nexec "{sys.executable}" -m harness "$@"\n')
        shim.chmod(0o755)
        kept = {name: os.environ[name] for name in ("HOME", "TMPDIR") if name in os.environ}
        # As one has it who has not installed anything: this package is on the path of both sides.
        self.environ = {**kept, **_WHO, "PATH": f"{shim.parent}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(REPO), "LC_ALL": "C.UTF-8",
                        "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}  # fmt: skip
        self._git("init", "--quiet", "--bare", "--initial-branch=main", str(self.root / "origin.git"), cwd=self.root)
        self._git("clone", "--quiet", str(self.root / "origin.git"), str(self.checkout), cwd=self.root)
        self.write("scenarios/refund.yaml", GOOD)
        self.write("scenarios/hello.yaml", GOOD)
        self.write(GATE, "format: harness-gate/1\n")
        self.write(".gitignore", "runs/\nreports/\nnights/\n.venv/\n*.tar.gz\n")
        self.commit("main")
        self._git("push", "--quiet", "origin", "main")

    @property
    def checkout(self) -> Path:
        return self.root / "checkout"

    def write(self, name: str, text: str) -> None:
        """A file of the checkout."""
        path = self.checkout / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def commit(self, message: str) -> str:
        """Commit all that there is; gives the commit."""
        self._git("add", "--all")
        self._git("commit", "--quiet", "--message", message)
        return self._git("rev-parse", "HEAD").strip()

    def branch(self, *, changed: bool) -> str:
        """Be on a branch that changes what a run does, or only a page."""
        self._git("checkout", "--quiet", "-b", "topic")
        if changed:
            self.write("scenarios/refund.yaml", CHANGED)
        else:
            self.write("README.md", "words\n")
        return self.commit("topic")

    def bash(self, text: str, **environ: str) -> subprocess.CompletedProcess[str]:
        """Run a script in the checkout, as CI services do."""
        return subprocess.run(
            ["bash", "-euo", "pipefail", "-c", text], cwd=self.checkout, env={**self.environ, **environ}, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, encoding="utf-8", timeout=120, check=False,
        )  # fmt: skip

    def _git(self, *arguments: str, cwd: Path | None = None) -> str:
        done = subprocess.run(["git", *arguments], cwd=cwd or self.checkout, env=self.environ, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout
