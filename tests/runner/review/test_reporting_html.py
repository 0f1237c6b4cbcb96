"""The HTML report of real runs: all its numbers and requests are those of the files (RELIABILITY P8)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.runner import ReviewOptions, review_paths
from harness.runner.review.reporting import ReportOptions, write_report, write_reports
from harness.runner.review.reviewing import Reviewed
from tests.report.html_sample import folders
from tests.report.parsed_page import Page, read_page

NAMES = (
    "approval/rejected",
    "articles/sum-weather-umbrella",
    "cancellation/all-of-three-overlap",
    "cancellation/n11-stubborn-tool",
    "children/two-in-parallel",
    "context/window",
    "failures/retry-after-a-rate-limit",
    "limits/steps-1",
    "streaming/arguments-in-fragments",
    "tool-work/another-tool-takes-over",
    "tool-work/composed-of-others",
)
Line = dict[str, Any]


@pytest.fixture(scope="module")
def reviewed(tmp_path_factory: pytest.TempPathFactory) -> Reviewed:
    base, candidate = folders(tmp_path_factory.mktemp("runs"), NAMES, trials=1)
    return review_paths(base, candidate, ReviewOptions(command="harness compare base candidate"))


@pytest.fixture(scope="module")
def found(reviewed: Reviewed, tmp_path_factory: pytest.TempPathFactory) -> Page:
    path = tmp_path_factory.mktemp("report") / "comparison.html"
    assert write_report(reviewed, path) is None
    return read_page(path.read_bytes())


def lines_of(reviewed: Reviewed, side: str, file: str) -> list[Line]:
    """The events of a file, read with nothing of ours; ``seq`` is the number of the line."""
    root: Path = getattr(reviewed, side).root
    return [json.loads(line) for line in (root / file).read_text("utf-8").splitlines()[1:]]


def sides(found: Page) -> Iterator[tuple[str, Line, Line]]:
    """Each side of each detail, with its row."""
    overview = found.blocks["overview"]
    for name, block in found.blocks.items():
        for side in ("base", "candidate"):
            if name.startswith("detail-") and block[side] is not None:
                yield side, block, overview["rows"][block["row"]]


def kinds(lines: list[Line], kind: str) -> list[Line]:
    return [line for line in lines if line["type"] == kind]


def test_every_scenario_is_told_in_full(found: Page) -> None:
    overview = found.blocks["overview"]
    assert len(overview["rows"]) == overview["nDetails"] == len(NAMES)
    assert sum(1 for _ in sides(found)) == 2 * len(NAMES) - 2


def test_numbers_of_rows_are_those_of_the_files(found: Page, reviewed: Reviewed) -> None:
    for side, detail, row in sides(found):
        lines = lines_of(reviewed, side, detail[side]["file"])
        answers = [one for one in kinds(lines, "assistant/message") if not one.get("interrupted")]
        name = side.capitalize()
        assert row[f"steps{name}"] == detail[side]["nSteps"] == sum("agent" not in one for one in answers)
        assert row[f"latency{name}"] == lines[-1]["time"]
        usage = [one.get("usage", {}) for one in kinds(lines, "assistant/message")]
        known = usage and all({"inputTokens", "outputTokens"} <= one.keys() for one in usage)
        told = sum(one["inputTokens"] + one["outputTokens"] for one in usage) if known else None
        assert row[f"tokens{name}"] == told
        assert detail[side]["status"] == kinds(lines, "run/end")[0]["status"]
        assert detail[side]["nRequests"] == len(kinds(lines, "model/request"))


def test_what_the_model_saw_is_what_the_files_say_request_by_request(found: Page, reviewed: Reviewed) -> None:
    n_requests = 0
    for side, detail, _ in sides(found):
        lines = lines_of(reviewed, side, detail[side]["file"])
        shown = {block["seq"]: block for block in detail[side]["blocks"] if block["request"]}
        asked = requests(lines)
        for seq, block in shown.items():
            messages = next(
                asked[at] for at in range(seq, len(lines)) if at in asked and _last(lines, asked, at, block)
            )
            tape, ranges = (block["request"]["messages"][key] for key in ("tape", "ranges"))
            places = [at for start, end in ranges for at in detail[side]["tapes"][tape][start:end]]
            got = [detail["messages"][at] for at in places]
            assert [(one["role"], one.get("content")) for one in got] == [
                (m["role"], m.get("content")) for m in messages
            ]
            n_requests += 1
    assert n_requests > 40


def _last(lines: list[Line], asked: dict[int, list[Line]], at: int, block: Line) -> bool:
    """Whether the request at that event is the last attempt of the agent's step in the block."""
    line = lines[at]
    return line.get("agent", "") == block["agent"] and line.get("attempt", 1) == block["request"]["attempts"]


def requests(lines: list[Line]) -> dict[int, list[Line]]:
    """The messages of each request by its event, put together from ``keep`` and ``append``."""
    previous: dict[str, list[Line]] = {}
    found: dict[int, list[Line]] = {}
    for seq, line in enumerate(lines):
        if line["type"] == "model/request":
            agent = line.get("agent", "")
            kept = [one for start, end in line.get("keep", []) for one in previous.get(agent, [])[start:end]]
            found[seq] = previous[agent] = [*kept, *line.get("append", [])]
    return found


def test_calls_bodies_and_results_are_where_the_files_have_them(found: Page, reviewed: Reviewed) -> None:
    for side, detail, _ in sides(found):
        lines = lines_of(reviewed, side, detail[side]["file"])
        calls = [call for block in detail[side]["blocks"] for call in block["calls"]]
        bodies = [body for call in calls for body in call.get("bodies", [call]) if body.get("startSeq") is not None]
        starts = {seq for seq, line in enumerate(lines) if line["type"] == "tool/start"}
        assert {body["startSeq"] for body in bodies} == starts
        ends = {line["start"]: seq for seq, line in enumerate(lines) if line["type"] == "tool/end"}
        assert {body["startSeq"]: body["endSeq"] for body in bodies if "endSeq" in body} == ends
        results = {seq for seq, line in enumerate(lines) if line["type"] == "tool/result"}
        assert {call["resultSeq"] for call in calls if "resultSeq" in call} == results
        emitted = sum(len(line.get("toolCalls", [])) for line in kinds(lines, "assistant/message"))
        assert sum(call.get("id") is not None for call in calls) == emitted


def test_cancels_ends_children_approvals_and_retries_are_marked_where_the_files_have_them(
    found: Page, reviewed: Reviewed
) -> None:
    marks: set[str] = set()
    for side, detail, _ in sides(found):
        lines = lines_of(reviewed, side, detail[side]["file"])
        one = detail[side]
        cancels = [seq for seq, line in enumerate(lines) if line["type"].startswith("cancel/")]
        assert [cancel["seq"] for cancel in one["cancels"]] == cancels
        alive = [f"{item['kind']} {item['name']}" for item in lines[-1].get("alive", [])]
        assert (one["alive"], one["quiescentMs"]) == (alive, lines[-1]["time"])
        blocks = one["blocks"]
        assert {block["agent"] for block in blocks} == {line.get("agent", "") for line in lines}
        errors = [error for block in blocks for error in block.get("errors", [])]
        assert len(errors) == len(kinds(lines, "model/error")) + len(kinds(lines, "model/retry"))
        approvals = [one for block in blocks for one in block.get("approvals", [])]
        assert len(approvals) == len(kinds(lines, "approval/asked"))
        marks |= {mark["kind"] for block in blocks for mark in block.get("marks", [])}
    assert {"cancel", "delivered", "quiescent", "limit", "turn-end", "run-end"} <= marks


def test_bodies_that_overlapped_lie_on_lanes_of_their_own(found: Page) -> None:
    overlapping = next(
        block
        for _, detail, row in sides(found)
        if row["name"] == "cancellation/all-of-three-overlap"
        for block in detail["base"]["blocks"]
        if len(block["calls"]) == 3
    )
    lanes = {call["name"]: call["lane"] for call in overlapping["calls"]}
    assert lanes["slow_lookup"] != lanes["slower_lookup"]
    assert len(set(lanes.values())) == 2


def test_the_first_divergence_of_a_row_lies_in_the_pair_that_is_named(found: Page) -> None:
    for _, detail, row in sides(found):
        if row["cause"] is None or detail["first"] is None:
            continue
        pair = detail["pairs"][detail["shown"] if detail["shown"] is not None else detail["first"]]
        assert pair["kind"] != "equal"
        block = detail["candidate"]["blocks"][pair["candidate"]] if pair["candidate"] is not None else None
        assert block is None or block["step"] is None or row["step"] in (block["step"], None)


def test_it_is_written_beside_the_other_reports(reviewed: Reviewed, tmp_path: Path) -> None:
    assert write_reports(reviewed, tmp_path / "reports", ReportOptions()) == []
    data = (tmp_path / "reports" / "comparison.html").read_bytes()
    assert read_page(data).blocks["overview"]["nRows"] == len(NAMES)


def test_a_run_that_is_gone_is_told_and_no_file_is_written(tmp_path: Path) -> None:
    base, candidate = folders(tmp_path, NAMES[-1:] + NAMES[:1], trials=1)
    review = review_paths(base, candidate, ReviewOptions())
    for file in candidate.rglob("*.jsonl"):
        file.unlink()
    problem = write_report(review, tmp_path / "out.html")
    assert problem is not None
    assert not (tmp_path / "out.html").exists()
