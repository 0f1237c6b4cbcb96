"""What docs/planning.md says that its commands and code print is what they print."""

import contextlib
import io
import re
import shlex
from pathlib import Path

import pytest

from harness.cli.main import run_app

REPO = Path(__file__).parents[2]
PAGE = REPO / "docs" / "planning.md"
BLOCK = re.compile(r"^```(sh|python)\n(.*?)^```\n\n```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks() -> list[tuple[str, str, str]]:
    """Each command or piece of code with the output that stands below it."""
    return BLOCK.findall(PAGE.read_text("utf-8"))


def printed(language: str, code: str) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        if language == "python":
            exec(compile(code, str(PAGE), "exec"), {})  # noqa: S102  # our own page
        else:
            program, *arguments = shlex.split(code)
            assert program == "harness"
            assert run_app(arguments) == 0
    return out.getvalue()


def test_the_page_has_its_commands_and_code() -> None:
    assert [language for language, _, _ in blocks()] == ["sh", "python", "python"]


@pytest.mark.parametrize(("language", "code", "output"), blocks(), ids=["plan", "looks", "trend"])
def test_the_page_shows_what_is_printed(language: str, code: str, output: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(REPO)
    assert printed(language, code) == output
