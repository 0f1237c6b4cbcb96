"""The first foreign loop that is judged: the fifth article's. Its card is a page of the docs."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.testing import scenario, subject
from harness.types.codes import Code, Outcome, Status
from harness.types.reasons import Failed
from tests.subjects.article_e import article_e
from tests.subjects.card import card_page, rows

PAGE = Path("docs/generated/article-e.md")


@pytest.mark.article("42")
@pytest.mark.parametrize(
    ("name", "dies_of"),
    [
        pytest.param("failures/unknown-tool", "KeyError", id="unknown-tool"),
        pytest.param("failures/throwing-tool", "ValueError", id="throwing-tool"),
        pytest.param("failures/malformed-arguments", "JSONDecodeError", id="bad-json"),
    ],
)
def test_the_loop_of_the_fifth_article_dies_where_a_sane_loop_tells_the_model(
    repo: Path, name: str, dies_of: str
) -> None:
    file = repo / "scenarios" / f"{name}.yaml"
    theirs, ours = scenario(file).run(subject(article_e)), scenario(file).run()
    assert theirs.status is Status.FAILED
    assert isinstance(theirs.reason, Failed)
    assert (theirs.reason.code, dies_of in theirs.reason.message) == (Code.UNKNOWN, True)
    assert ours.status is Status.COMPLETED


@pytest.mark.article("42")
def test_it_completes_what_needs_no_care(repo: Path) -> None:
    file = repo / "scenarios/articles/answer-52.yaml"
    run = scenario(file).run(subject(article_e))
    assert run.status is Status.COMPLETED
    assert [v.check for v in run.verdicts if v.outcome is Outcome.FAIL] == []


@pytest.mark.article("42")
def test_its_card_in_the_docs_is_what_the_shipped_scenarios_say_today(repo: Path) -> None:
    card = card_page("the fifth article", rows(subject(article_e), repo / "scenarios"))
    assert (repo / PAGE).read_text(encoding="utf-8") == card, "run: make docs"


def test_the_built_in_loop_breaks_nothing_on_the_same_card(repo: Path) -> None:
    from harness.subjects import BuiltInLoop

    assert [row for row in rows(BuiltInLoop(), repo / "scenarios") if row.broken or row.died] == []
