"""What a page holds, some script of it shows: no field of its data is there for nothing."""

from __future__ import annotations

import re
from itertools import count
from typing import Any

import pytest

from harness.report.html import page
from harness.report.html.assets import LIBRARIES, shipped_assets
from harness.runner.review.side_by_side import side_by_side
from tests.report import filled
from tests.report.html_sample import PLACEHOLDER, made_page
from tests.report.parsed_page import read_page
from tests.report.reviews import GATED


def blocks() -> list[dict[str, Any]]:
    """The data of pages in which every field of every record holds something."""
    n = count()
    made = filled.trajectory(lambda: f"x{next(n)}")
    told = filled.row(lambda: "w")
    full = page(filled.review(lambda: "w", (told,)), lambda row: side_by_side(made, made, row), assets=PLACEHOLDER)
    return [read_page(data).blocks for data in (full, made_page(30, PLACEHOLDER), page(GATED, assets=PLACEHOLDER))]


def keys_of(value: Any, path: str = "") -> set[str]:
    """Each field as the path to it; places in a list, and words that are data (`moved`, `counts`), are no fields."""
    if isinstance(value, list):
        return {key for item in value for key in keys_of(item, path)}
    if not isinstance(value, dict) or path.endswith((".moved", ".counts")):
        return set()
    return {f"{path}.{key}" for key in value} | {found for key, item in value.items() for found in keys_of(item, f"{path}.{key}")}


def unshown(keys: set[str], script: str) -> list[str]:
    return sorted(key for key in keys if not re.search(rf"\b{re.escape(key.rpartition('.')[2])}\b", script))


@pytest.fixture(scope="module")
def script() -> str:
    texts = [one.text for one in shipped_assets().scripts if one.name not in LIBRARIES]
    assert len(texts) > 20
    return "\n".join(re.sub(r"^\s*(//|/\*\*|\*).*$", "", text, flags=re.MULTILINE) for text in texts)


def test_every_field_of_the_data_is_named_by_a_script_of_the_page(script: str) -> None:
    keys = {key for found in blocks() for name, block in found.items() for key in keys_of(block, re.sub(r"\d+", "N", name))}
    assert len(keys) > 150
    assert unshown(keys, script) == []


def test_a_field_that_no_script_names_is_found(script: str) -> None:
    assert unshown({"overview.rows.name", "overview.rows.nobodyShowsThis"}, script) == ["overview.rows.nobodyShowsThis"]
