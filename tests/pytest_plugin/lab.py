"""Projects in a folder, and pytest run over them in a process of its own."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from tests.cli.lab import GOOD, clean_environment


@dataclass(frozen=True)
class Session:
    """How a session of pytest went."""

    code: int
    out: str
    err: str

    @property
    def ids(self) -> list[str]:
        """Node ids that ``--collect-only -q`` lists."""
        return [line for line in self.out.splitlines() if "::" in line]

    @property
    def counts(self) -> str:
        """The last line, without the time it took."""
        return re.sub(r" in [\d.]+s.*", "", self.out.strip().splitlines()[-1]).strip("= ")


def pytest_in(folder: Path, *options: str, env: dict[str, str] | None = None) -> Session:
    """Run pytest there; its cache and pytest-asyncio (which warns while an option is not set) only when named."""
    left_out = [part for name in ("asyncio", "cacheprovider") if name not in options for part in ("-p", f"no:{name}")]
    chosen = [option for option in options if option not in ("asyncio", "cacheprovider")]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *left_out, *chosen],
        cwd=folder,
        env=clean_environment(env or {}),
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    return Session(done.returncode, done.stdout, done.stderr)


def project(folder: Path, **texts: str) -> None:
    """Files by name; ``__`` is a slash, and the last ``_`` the dot before the suffix."""
    for name, text in texts.items():
        stem, _, suffix = name.replace("__", "/").rpartition("_")
        path = folder / f"{stem}.{suffix}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def junit(path: Path) -> ElementTree.Element:
    """The test cases of a JUnit file."""
    (suite,) = ElementTree.parse(path).getroot().iter("testsuite")
    return suite


def scenarios_in_three_folders(folder: Path) -> None:
    """Twelve scenarios; one has tags."""
    for family in ("returns", "orders", "a"):
        for name in ("z", "b", "M", "10"):
            path = folder / family / f"{name}.yaml"
            path.parent.mkdir(exist_ok=True)
            path.write_text(GOOD + ("tags: [slow, nightly, api]\n" if name == "M" else ""), encoding="utf-8")
