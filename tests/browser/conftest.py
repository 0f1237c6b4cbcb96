"""One browser for each file of tests here; the reports they open; and a recorder of all that a report must never do.

The browser is one that is installed (``HARNESS_CHROMIUM``, else chromium, chromium-browser, google-chrome); nothing is
downloaded. Without one, or without playwright, these tests are skipped with that reason.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.runner import ReviewOptions, review_paths
from harness.runner.review.reporting_html import html_report
from tests.browser.installed import browser_path
from tests.browser.report import Report
from tests.report.html_sample import folders, made_page

REAL = (
    "cancellation/all-of-three-overlap", "children/two-in-parallel", "failures/retry-after-a-rate-limit",
    "articles/login-bug", "approval/rejected",
)  # fmt: skip


# While playwright is open an event loop counts as running in this thread. So it is closed behind each file: no other
# test of the same process may meet it.
@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed (the dev extra has it)")
    path = browser_path()
    if path is None:
        pytest.skip("no Chromium is installed, and HARNESS_CHROMIUM names none")
    with api.sync_playwright() as playwright:
        # A root user in a container cannot have the sandbox; pages here are files of our own.
        launched = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield launched
        launched.close()


def blocks_of(path: Path) -> dict[str, Any]:
    """The data of a report, by the name of each block."""
    found = re.findall(r'<script type="application/json" id="?([\w-]+)"?>(.*?)</script>', path.read_text("utf-8"), re.DOTALL)
    return {name: json.loads(text) for name, text in found}


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sixty scenarios made by hand: three in ten differ."""
    path = tmp_path_factory.mktemp("made") / "report.html"
    path.write_bytes(made_page(60))
    return path


@pytest.fixture(scope="session")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two thousand scenarios."""
    path = tmp_path_factory.mktemp("many") / "report.html"
    path.write_bytes(made_page(2000))
    return path


@pytest.fixture(scope="session")
def real(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Real runs: overlapping bodies with a cancel, children, a retry, a changed prompt, an approval."""
    place = tmp_path_factory.mktemp("real")
    path = place / "report.html"
    path.write_bytes(html_report(review_paths(*folders(place, REAL, trials=2), ReviewOptions(command="harness compare base candidate"))))
    return path


@pytest.fixture
def opened(browser: Any) -> Iterator[Callable[..., Report]]:
    """Opens a report in a page of its own. At the end: it fetched nothing, ran nothing foreign and complained of nothing."""
    reports: list[Report] = []

    def open_report(path: Path, route: str = "#/", **options: Any) -> Report:
        options.setdefault("viewport", {"width": 1280, "height": 900})
        report = Report(browser.new_context(**options), path, route)
        reports.append(report)
        return report

    yield open_report
    problems = [problem for report in reports for problem in report.close()]
    assert problems == []
