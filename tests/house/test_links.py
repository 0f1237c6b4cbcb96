"""Links between the pages of the repository lead somewhere."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.house.source import REPO
from tests.house.test_tracked_files import tracked_files

LINK = re.compile(r"\]\(([^)\s]+)\)")


def dead_links(page: Path) -> Iterator[str]:
    """Relative targets of a Markdown page that do not exist; addresses and anchors within the page are left out."""
    for target in LINK.findall(page.read_text("utf-8")):
        path = target.partition("#")[0]
        if path and "://" not in target and not (page.parent / path).exists():
            yield target


def test_every_relative_link_leads_to_a_file() -> None:
    pages = [path for path in tracked_files() if path.suffix == ".md"]
    assert {str(page.relative_to(REPO)): dead for page in pages if (dead := list(dead_links(page)))} == {}


@pytest.mark.parametrize(
    ("link", "n_dead"),
    [
        pytest.param("[x](gone.md)", 1, id="missing-page"),
        pytest.param("[x](gone.md#part)", 1, id="missing-page-with-anchor"),
        pytest.param("[x](page.md) [y](#part) [z](https://example.test/x)", 0, id="good"),
    ],
)
def test_a_dead_link_is_found(link: str, n_dead: int, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"{link}\n", "utf-8")
    assert len(list(dead_links(page))) == n_dead
