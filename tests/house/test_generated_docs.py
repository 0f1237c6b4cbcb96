"""The generated pages in the repository are what would be generated now."""

import inspect
from pathlib import Path

import pytest

from docs import generate, tables
from harness import errors
from harness.types import facts


def test_the_generated_pages_are_up_to_date() -> None:
    assert generate.out_of_date() == [], "run `make docs` and commit the pages"


def test_a_page_that_differs_or_is_missing_is_named_and_written_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cheap = ("docs/generated/errors.md", "docs/generated/events.md", "docs/reference.md")
    monkeypatch.setattr(generate, "PAGES", {name: generate.PAGES[name] for name in cheap})
    assert set(generate.write(tmp_path)) == set(cheap)
    assert generate.out_of_date(tmp_path) == []
    page = tmp_path / cheap[0]
    page.write_bytes(page.read_bytes() + b"\n")
    (tmp_path / "docs" / "reference.md").unlink()
    assert set(generate.out_of_date(tmp_path)) == {cheap[0], "docs/reference.md"}


def test_the_check_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(generate, "PAGES", {"docs/generated/never.md": lambda: "text\n"})
    assert generate.main(["--check"]) == 1
    assert "docs/generated/never.md is out of date: run `make docs`" in capsys.readouterr().err


def test_every_kind_of_event_and_every_error_has_a_row() -> None:
    events = tables.events_page()
    assert [name for name in facts.FACT_TYPES if f"| `{name}` |" not in events] == []
    (request,) = [line for line in events.split("\n") if line.startswith("| `model/request` |")]
    assert "`keep?`" in request, "what stands on disk, not what it is rebuilt to"
    raised = [name for name, value in vars(errors).items() if inspect.isclass(value) and issubclass(value, Exception)]
    page = tables.errors_page()
    assert [name for name in raised if f"`{name}` |" not in page] == []
