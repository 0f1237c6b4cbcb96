"""The page of the file format is true: its run reads and is written back, its lines are golden, its tables are whole."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path

import pytest

from harness.errors import TrajectoryFormatError
from harness.folds import is_interrupted, requests_of
from harness.store import dump_trajectory, read_bytes
from harness.store.ondisk import HeaderLine
from harness.store.writing import ENVELOPE_KEYS
from harness.types.facts import FACT_TYPES
from harness.types.messages import camel

REPO = Path(__file__).parents[2]
PAGE = (REPO / "docs" / "format.md").read_text("utf-8")
RUN, KINDS = re.findall(r"```jsonl\n(.*?)```", PAGE, re.DOTALL)
GOLDEN = (REPO / "tests" / "golden" / "every_kind.jsonl").read_text("utf-8").split("\n")


def test_the_run_of_the_page_reads_and_is_what_would_be_written() -> None:
    read = read_bytes(RUN.encode(), "docs/format.md")
    assert dump_trajectory(read).decode() == RUN
    assert read.torn is None
    assert not is_interrupted(read)
    assert [len(one.messages) for one in requests_of(read)] == [1, 3], "keep and append rebuild what was shown"


def test_the_page_shows_a_golden_line_of_each_kind_once() -> None:
    lines = KINDS.strip().split("\n")
    assert [line for line in lines if line not in GOLDEN] == []
    shown = [json.loads(line)["type"] for line in lines]
    assert sorted(shown) == sorted(FACT_TYPES)


@pytest.mark.parametrize("name", [*(camel(field.name) for field in dataclasses.fields(HeaderLine)), *ENVELOPE_KEYS])
def test_every_field_of_header_and_envelope_is_explained(name: str) -> None:
    rows = [line.split("|")[1] for line in PAGE.split("\n") if line.startswith("| `")]
    assert any(f"`{name}`" in row for row in rows)


LINES = RUN.split("\n")


@pytest.mark.parametrize(
    ("lines", "line"),
    [
        pytest.param([LINES[0].replace("/1", "/2", 1), *LINES[1:]], 1, id="another-format"),
        pytest.param([*LINES[:3], *LINES[4:]], 4, id="a-number-missing"),
        pytest.param([LINES[0], LINES[1].replace("run/start", "later/kind"), *LINES[2:]], 2, id="unknown-kind"),
        pytest.param([LINES[0], LINES[1].replace('"time":0', '"time":NaN'), *LINES[2:]], 2, id="nan"),
        pytest.param([LINES[0], LINES[1].replace('"time":0', '"time":0,"time":0'), *LINES[2:]], 2, id="twice"),
        pytest.param([LINES[0], LINES[1].replace('"time":0', '"time":0,"x":0'), *LINES[2:]], 2, id="unknown-field"),
    ],
)
def test_what_the_page_says_is_refused_is_refused_by_its_line(lines: list[str], line: int) -> None:
    with pytest.raises(TrajectoryFormatError) as caught:
        read_bytes("\n".join(lines).encode(), "page")
    assert caught.value.line == line


@pytest.mark.parametrize("n_bytes", [1, 20, 60])
def test_a_tail_without_its_line_feed_is_reported_and_not_read(n_bytes: int) -> None:
    cut = read_bytes(RUN.encode()[:-n_bytes], "page")
    assert cut.torn is not None
    assert len(cut.events) == len(LINES) - 3
    ignorable = RUN.encode() + b'{"type":"later/kind","seq":18,"origin":"probe","ignorable":true, "x" : 1.50}\n'
    assert dump_trajectory(read_bytes(ignorable, "page")) == ignorable
