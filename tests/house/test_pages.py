"""The pages of the docs name the rooms that there are, and the index leads to every page."""

import re

import pytest

from tests.house.source import REPO
from tests.house.test_tracked_files import tracked_files

FLOORS = re.compile(r"^(?:doors|wiring|subjects|rooms|kernel|contracts|ground|bedrock) {2,}(.*)$", re.MULTILINE)


def rooms_on(page: str) -> set[str]:
    """The rooms that the drawing of the floors on a page names."""
    lines = FLOORS.findall(page)
    return {room.strip() for line in lines for room in re.split(r" {3,}", line)[0].split("|")}


def rooms_that_are() -> set[str]:
    tops = {path.relative_to(REPO / "harness").parts[0] for path in tracked_files() if path.is_relative_to(REPO / "harness")}
    return {top.removesuffix(".py") for top in tops if not top.startswith("__")} - {"py.typed"}


@pytest.mark.parametrize("page", ["docs/index.md", "docs/design.md"])
def test_the_floors_drawn_on_a_page_hold_the_rooms_that_there_are(page: str) -> None:
    assert rooms_on((REPO / page).read_text("utf-8")) == rooms_that_are()


def test_a_room_that_is_not_there_is_noticed() -> None:
    drawing = "rooms      models | attic\nkernel     clock        thin: reads the time\n"
    assert rooms_on(drawing) == {"models", "attic", "clock"}


def test_the_index_leads_to_every_page() -> None:
    index = (REPO / "docs" / "index.md").read_text("utf-8")
    linked = set(re.findall(r"\]\(([^)#]+\.md)", index))
    pages = {str(path.relative_to(REPO / "docs")) for path in tracked_files() if path.suffix == ".md" and path.is_relative_to(REPO / "docs")}
    assert sorted(pages - linked - {"index.md"}) == []


def cited(pattern: str) -> set[str]:
    """Every number or name that code, tests or docs cite behind a word."""
    files = [path for path in tracked_files() if path.suffix in (".py", ".md") and path.name != "promises.md"]
    text = "\n".join(path.read_text("utf-8") for path in files)
    return {one for found in re.findall(pattern, text) for one in found.split(", ")}


def test_what_is_cited_stands_on_a_page() -> None:
    promises = (REPO / "docs" / "promises.md").read_text("utf-8")
    rows = set(re.findall(r"^\| (\w+) \|", promises, re.MULTILINE))
    assert sorted(cited(r"INVARIANTS (\d+(?:, \d+)*)") - rows) == []
    assert sorted(cited(r"RELIABILITY (P\d)") - rows) == []
    headings = set(re.findall(r"^## (.+)$", (REPO / "docs" / "design.md").read_text("utf-8"), re.MULTILINE))
    assert sorted(cited(r"design page, ([A-Z][\w ]*?)[;)]") - headings) == []
    assert cited(r"design page, ([a-z0-9]\w*)") == set(), "a place that no page has"


@pytest.mark.parametrize("place", re.findall(r"`((?:tests)/[\w/.]+)`", (REPO / "docs" / "promises.md").read_text("utf-8")))
def test_a_place_that_a_promise_names_is_there(place: str) -> None:
    assert (REPO / place).exists()
