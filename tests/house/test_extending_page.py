"""The page on extending tells the truth: its check is run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness.testing import scenario
from harness.types.codes import Outcome
from tests.house.test_readme import blocks


def test_the_check_on_the_page_judges_as_the_page_says(repo: Path) -> None:
    (code,) = blocks((repo / "docs/extending.md").read_text(encoding="utf-8"), "python")
    names: dict[str, Any] = {}
    exec(compile(code, "docs/extending.md", "exec"), names)  # noqa: S102 - the page's own code, in its own test
    for answer, outcome in (("Yes, please.", Outcome.PASS), ("No.", Outcome.FAIL)):
        run = scenario(task="go", script=[{"say": answer}]).run(checks=[names["polite"]])
        assert {v.check: v.outcome for v in run.verdicts}["polite"] is outcome
