"""A card of a loop: every shipped scenario that it can take, and what it breaks there."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from harness.errors import HarnessError
from harness.protocols import Subject
from harness.runner import RunOptions, execute, plan
from harness.scenarios import collect
from harness.types.codes import Outcome, Status
from harness.types.scenario import Scenario, SendAction

EXPECTATIONS = frozenset(
    {"answer", "end_state", "expected_end", "expected_counts", "result_codes", "tool_order", "script", "inject"}
)
"""Checks of what a scenario wants of the built-in loop; a card is about what must hold of any loop."""

_LONGEST = 120


@dataclass(frozen=True, slots=True)
class Row:
    """One scenario: how the loop ended, and which rules it broke there."""

    scenario: str
    status: str
    reason: str
    broken: tuple[str, ...]
    died: bool


def takes(one: Scenario) -> bool:
    """True for scenarios with a script and one task: a function subject takes one, and none while it runs.

    That a tool concludes a turn is between the built-in loop and its tools (CONFORMANCE 17).
    """
    sends = any(isinstance(injection.do, SendAction) for injection in one.inject)
    one_task = len(one.tasks) == 1 and not sends
    plain = one.script is not None and one_task and not one.agents
    return plain and one.skip is None and one.expect.reason != "concluded"


def rows(subject: Subject, folder: Path) -> list[Row]:
    """The card of a loop over all shipped scenarios that it can take, in their order."""
    return [_row(subject, one) for one in collect([folder]) if takes(one)]


def _row(subject: Subject, one: Scenario) -> Row:
    try:
        result = execute(plan([one], RunOptions())[0], subject=subject)
    except HarnessError as error:
        return Row(one.id, "not run", f"{type(error).__name__}: {error}", (), died=False)
    broken = [v.check for v in result.verdicts if v.outcome is Outcome.FAIL and v.check not in EXPECTATIONS]
    expected = one.expect.status or Status.COMPLETED
    died = result.status is Status.FAILED and expected != Status.FAILED
    return Row(one.id, str(result.status or "interrupted"), result.summary.reason, tuple(broken), died)


def card_page(name: str, card: list[Row]) -> str:
    """The card as a page of the docs: only what went wrong, and how much went right."""
    wrong = [row for row in card if row.broken or row.died]
    lines = [
        f"# What the loop of {name} breaks",
        "",
        f"Written by `python -m tests.subjects.card`. {len(card)} shipped scenarios with a script and one task were run",
        f"against it; {len(card) - len(wrong)} show nothing wrong. *Died* means that the run ended as failed where the",
        "scenario expects another end. Not every row is a fault: that tools of one answer overlap is a choice.",
        "",
        "| scenario | its end | died | rules broken |",
        "|---|---|---|---|",
    ]
    for row in wrong:
        reason = row.reason.replace("|", "\\|").replace("\n", " ")
        reason = reason if len(reason) <= _LONGEST else reason[:_LONGEST] + "…"
        died = "yes" if row.died else ""
        lines.append(f"| {row.scenario} | {row.status}: {reason} | {died} | {', '.join(row.broken)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Write the card of the fifth article's loop."""
    from harness.testing import subject
    from tests.subjects.article_e import article_e

    repo = Path(__file__).resolve().parent.parent.parent
    page = card_page("the fifth article", rows(subject(article_e), repo / "scenarios"))
    (repo / "docs/generated/article-e.md").write_text(page, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
