"""Names of scenarios in reports: long ones leave room for what else is to be said, and no two look like one."""

from __future__ import annotations

import dataclasses
import re
import xml.etree.ElementTree as Xml

from harness.report.comparison import comparison_text
from harness.report.junit import junit_xml
from harness.report.step_summary import SUMMARY_BYTES, step_summary
from harness.types.review import Review
from tests.report.reviews import COMPARISON, UNGATED, n_bytes, row


def named(*names: str) -> Review:
    """All of them worse, without a gate."""
    rows = tuple(row(name, "worse") for name in names)
    return dataclasses.replace(UNGATED, comparison=dataclasses.replace(COMPARISON, scenarios=rows), sources=())


def test_the_names_of_what_fails_leave_the_summary_to_the_table() -> None:
    summary = step_summary(named(*(f"shop/{'a-very-long-name-' * 12}{n:05}" for n in range(5_000))))
    assert SUMMARY_BYTES * 0.9 < n_bytes(summary) < SUMMARY_BYTES
    names, table = summary.split("#### Failing")[1].split("#### All scenarios")
    assert n_bytes(names) < SUMMARY_BYTES / 4
    assert table.count("\n| failed |") > 1_500
    for part, n in ((names, names.count("\n- `")), (table, table.count("\n| failed |"))):
        left = re.search(r"and (\d+) scenarios more, for which", part)
        assert n + (int(left[1]) if left else 0) == 5_000


def test_two_scenarios_that_differ_in_what_nobody_sees_are_two_everywhere() -> None:
    review = named("a/x\n", "a/x\\n", "a\n/x", "a\\n/x")
    cases = [(case.get("classname"), case.get("name")) for case in Xml.fromstring(junit_xml(review)).iter("testcase")]
    assert len(cases) == len(set(cases)) == 4
    lines = [line for line in comparison_text(review).splitlines() if line.startswith("worse")]
    assert len(lines) == len(set(lines)) == 4
