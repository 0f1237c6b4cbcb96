"""The generated pages in the repository are what would be generated now."""

from pathlib import Path

import pytest

from docs import generate


def test_the_generated_pages_are_up_to_date() -> None:
    assert generate.out_of_date() == [], "run `make docs` and commit the pages"


def test_a_page_that_differs_or_is_missing_is_named_and_written_anew(tmp_path: Path) -> None:
    assert set(generate.write(tmp_path)) == set(generate.PAGES)
    assert generate.out_of_date(tmp_path) == []
    page = tmp_path / "docs" / "generated" / "coverage.md"
    page.write_bytes(page.read_bytes() + b"\n")
    (tmp_path / "docs" / "reference.md").unlink()
    assert set(generate.out_of_date(tmp_path)) == {"docs/generated/coverage.md", "docs/reference.md"}


def test_pages_are_the_same_each_time() -> None:
    assert all(make() == make() for make in generate.PAGES.values())


def test_the_check_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(generate, "PAGES", {"docs/generated/never.md": lambda: "text\n"})
    assert generate.main(["--check"]) == 1
    assert "docs/generated/never.md is out of date: run `make docs`" in capsys.readouterr().err
