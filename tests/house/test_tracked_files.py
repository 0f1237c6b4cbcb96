"""No file in the repository names a package registry's host or a path of the machine it was written on."""

import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.house.source import REPO

# Written in pieces, so that this file passes its own gate.
HOSTS = tuple("".join(pieces) for pieces in (
    ("py", "pi.org"), ("python", "hosted"), ("npm", "js.org"), ("crates", ".io"), ("rubygems", ".org"), ("deb.deb", "ian.org"),
))  # fmt: skip
MACHINE_PATH = re.compile(r"(?<![A-Za-z0-9_.~-])/" + r"wo" + r"rk/(?:main|shared|\.)")


def tracked_files(root: Path = REPO) -> list[Path]:
    """Files that git tracks; in an unpacked archive, which has no git, every file outside hidden folders."""
    done = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, check=False)
    if done.returncode == 0:
        return [root / name for name in done.stdout.decode("utf-8").split("\0") if name and (root / name).is_file()]
    return [path for path in sorted(root.rglob("*")) if path.is_file() and "/." not in path.as_posix()]


def leaks(text: str, *, home: str = str(REPO)) -> Iterable[str]:
    """What the text gives away: hosts by name, and paths."""
    lowered = text.lower()
    yield from (f"names the host {host!r}" for host in HOSTS if host in lowered)
    yield from (f"holds the path {match.group()!r}" for match in MACHINE_PATH.finditer(text))
    if home in text:
        yield f"holds the path {home!r}"


def test_no_tracked_file_names_a_registry_or_this_machine() -> None:
    found = []
    for path in tracked_files():
        text = path.read_bytes().decode("utf-8", errors="replace")
        found += [f"{path.relative_to(REPO)}: {leak}" for leak in leaks(text)]
    assert found == []


def test_there_are_tracked_files_to_judge() -> None:
    assert REPO / "pyproject.toml" in tracked_files()


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("--index-url https://" + "PY" + "PI.org/simple", id="registry-in-capitals"),
        pytest.param("https://files.python" + "hosted.org/x.whl", id="wheel"),
        pytest.param('path = "/wo' + 'rk/main/x"', id="path-of-the-machine"),
        pytest.param(f"see {REPO}/x", id="path-of-this-checkout"),
    ],
)
def test_a_file_that_gives_something_away_is_refused(text: str) -> None:
    assert list(leaks(text))


@pytest.mark.parametrize("text", ["pip install agent-loop-harness", "a/work/b", "https://example.test/path/to", "network/"])
def test_an_innocent_file_is_let_through(text: str) -> None:
    assert list(leaks(text)) == []
