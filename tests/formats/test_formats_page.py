"""The page on formats names every reader, every provider and every count, and no other."""

import re
from pathlib import Path

import pytest

from harness.checks.refusals import PROVIDERS
from harness.formats import FORMATS, WRITERS
from tests.formats.test_counts import FOUND, TABLE


@pytest.fixture(scope="module")
def page(repo: Path) -> str:
    return (repo / "docs" / "formats.md").read_text("utf-8")


def rows(page: str, title: str) -> list[list[str]]:
    table = page.split(f"## {title}\n", 1)[1].split("\n## ", 1)[0]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in table.splitlines() if line.startswith("| ")]


def test_every_reader_has_its_row(page: str) -> None:
    names = [row[0].strip("`") for row in rows(page, "What each reader takes")[1:]]
    assert names == sorted(FORMATS)


def test_every_writer_and_every_provider_has_its_column(page: str) -> None:
    assert re.findall(r"`(\w+)`", " ".join(rows(page, "What the writers carry")[0])) == list(WRITERS)
    assert rows(page, "Which provider would refuse a history")[0][1:] == list(PROVIDERS)


def test_every_count_is_the_one_of_the_table(page: str) -> None:
    head, *body = rows(page, "The counts")
    differs = {(row["format"], row["measure"]): row["ours"] for row in TABLE["differs"]}
    for measure, *cells in body:
        for folder, cell in zip(head[1:], cells, strict=True):
            found, ours = FOUND[folder].get(measure, 0), differs.get((folder, measure))
            assert cell == (str(found) if ours is None else f"{ours} ({found})"), (folder, measure)
    told = {row[0] for row in body}
    assert {measure for measures in FOUND.values() for measure in measures} <= told


def test_every_difference_is_explained_on_the_page(page: str) -> None:
    assert all(row["why"] in page for row in TABLE["differs"])
