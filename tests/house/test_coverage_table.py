"""The coverage table counts what tests, checks and scenarios say they carry, and refuses what it cannot read."""

from pathlib import Path
from typing import Any

import pytest

from docs import coverage_page
from docs.coverage import (
    Carrier,
    Catalogue,
    Claim,
    CoverageError,
    all_claims,
    claims_of_check_makers,
    claims_of_checks,
    claims_of_scenario,
    claims_of_tests,
    cover,
    read_catalogue,
)

MARK = "@pytest.mark."


def numbers(claims: Any) -> set[tuple[str, str, str]]:
    return {(claim.section, claim.number, claim.carrier.name) for claim in claims}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            f"{MARK}conformance('1', '96a')\ndef test_x(): pass\n",
            {("conformance", "1", "test_x"), ("conformance", "96a", "test_x")},
            id="function",
        ),
        pytest.param(
            f"{MARK}article('7')\nasync def test_x(): pass\n", {("articles", "7", "test_x")}, id="async-function"
        ),
        pytest.param(
            f"class TestG:\n    {MARK}public_case('PB-001')\n    def test_x(self): pass\n",
            {("public_cases", "PB-001", "TestG.test_x")},
            id="method",
        ),
        pytest.param(
            "ROWS = [pytest.param(1, id='one', marks=pytest.mark.conformance('5'))]\n",
            {("conformance", "5", "ROWS[one]")},
            id="row-of-a-table",
        ),
        pytest.param(
            "@pytest.mark.parametrize('a', [pytest.param(1, marks=[pytest.mark.conformance('5')])])\ndef test_x(a): pass\n",
            {("conformance", "5", "test_x")},
            id="row-in-place",
        ),
        pytest.param("pytestmark = pytest.mark.conformance('5')\n", {("conformance", "5", "pytestmark")}, id="module"),
        pytest.param(f"{MARK}article('A:answer-52')\ndef test_x(): pass\n", {("told", "A:answer-52", "test_x")}, id="told"),
        pytest.param("def test_x(): mark.conformance('1'); f('conformance:1')\n", set(), id="no-marker"),
    ],
)
def test_markers_are_read_with_the_name_of_where_they_stand(text: str, expected: set[tuple[str, str, str]]) -> None:
    assert numbers(claims_of_tests("tests/test_x.py", text)) == expected


@pytest.mark.parametrize("argument", ["1", "*NUMBERS", "NUMBER", "f'{n}'"])
def test_a_number_that_is_not_written_literally_is_refused_with_its_line(argument: str) -> None:
    text = f"\n{MARK}conformance({argument})\ndef test_x(): pass\n"
    with pytest.raises(CoverageError, match=r"tests/test_x\.py:2: .*literal"):
        list(claims_of_tests("tests/test_x.py", text))


def test_checks_tell_their_rules_under_their_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    room = tmp_path / "told_checks"
    room.mkdir()
    room.joinpath("__init__.py").write_text("from told_checks.one import ONE\n", "utf-8")
    room.joinpath("one.py").write_text(
        "class Check:\n    name = 'pairing'\n    rules = tuple(f'conformance:{n}' for n in (28, '96a'))\n"
        "    def findings(self): ...\n\nONE = Check()\n",
        "utf-8",
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert set(claims_of_checks("told_checks")) == {
        Claim("conformance", number, Carrier("check", "told_checks/one.py", "pairing")) for number in ("28", "96a")
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "def answer(text):\n    return Check(name='answer', rules=('article:12',))\n",
            {("articles", "12", "answer[answer]")},
            id="made-by-a-function",
        ),
        pytest.param("ONE = Check(name='one', rules=('conformance:30',))\n", set(), id="a-constant-tells-itself"),
        pytest.param("def f():\n    found('x', rule='conformance:33')\n", set(), id="a-finding"),
    ],
)
def test_rules_of_made_checks_are_read(text: str, expected: set[tuple[str, str, str]]) -> None:
    assert numbers(claims_of_check_makers("harness/checks/x.py", text)) == expected


@pytest.mark.parametrize("rule", ["conformance:", "conformanse:1", "pairing: yes"])
def test_a_rule_that_is_no_number_is_refused(rule: str) -> None:
    with pytest.raises(CoverageError, match=r"harness/checks/x\.py: f"):
        list(claims_of_check_makers("harness/checks/x.py", f"def f():\n    return Check(rules=({rule!r},))\n"))


def test_what_a_scenario_covers_is_read_as_text() -> None:
    text = "task: x\ncovers: {conformance: [28, '96a', N3], articles: ['A:answer-52', '7'], public_cases: [PB-001]}\n"
    assert {(claim.section, claim.number) for claim in claims_of_scenario("scenarios/x.yaml", text)} == {
        ("conformance", "28"),
        ("conformance", "96a"),
        ("nastiest", "N3"),
        ("told", "A:answer-52"),
        ("articles", "7"),
        ("public_cases", "PB-001"),
    }


@pytest.mark.parametrize(
    "text", ["covers: {conformanse: [1]}", "covers: {conformance: 1}", "covers: [", "covers: {a: b: c}"]
)
def test_a_scenario_whose_covers_cannot_be_read_is_refused_by_name(text: str) -> None:
    with pytest.raises(CoverageError, match=r"scenarios/x\.yaml"):
        list(claims_of_scenario("scenarios/x.yaml", text))


def small_catalogue() -> Catalogue:
    entries = {"1": {"kind": "M", "due": "house", "title": "one"}, "2": {"kind": "M", "due": "later", "title": "two"}}
    return Catalogue({"later": "what comes later", "house": "now"}, {"conformance": entries, "nastiest": {}, "articles": {}, "told": {}, "public_cases": {}})


def claim(number: str) -> Claim:
    return Claim("conformance", number, Carrier("test", "tests/test_x.py", "test_x"))


def test_only_what_is_due_and_carried_by_nothing_is_missing() -> None:
    assert cover(small_catalogue(), []).missing == (("conformance", "1"),)
    assert cover(small_catalogue(), [claim("1")]).missing == ()


def test_one_of_the_nastiest_is_missing_until_a_scenario_carries_it() -> None:
    catalogue = Catalogue({"house": "now"}, {"nastiest": {"N3": {"due": "house", "title": "three"}}})
    tested = Claim("nastiest", "N3", Carrier("test", "tests/test_x.py", "test_x"))
    shipped = Claim("nastiest", "N3", Carrier("scenario", "scenarios/n03.yaml", ""))
    assert cover(catalogue, [tested]).missing == (("nastiest", "N3"),)
    assert cover(catalogue, [tested, shipped]).missing == ()


def test_a_number_outside_the_catalogue_is_reported_and_not_counted() -> None:
    coverage = cover(small_catalogue(), [claim("1"), claim("3")])
    assert coverage.unknown == (claim("3"),)
    assert "no number '3'" in coverage_page.terminal(coverage)


def test_the_page_names_carriers_and_the_work_that_owes_the_others() -> None:
    page = coverage_page.page(cover(small_catalogue(), [claim("1")]))
    assert "| 1 | M | one | tests/test_x.py: `test_x` |" in page
    assert "| 2 | M | two | *open: what comes later* |" in page
    assert "1 of 2 carried; due now: 1 of 1." in page


def test_the_catalogue_holds_every_number_once_with_a_title_and_a_known_work() -> None:
    catalogue = read_catalogue()
    sizes = {section: len(entries) for section, entries in catalogue.sections.items()}
    assert {name: sizes[name] for name in ("conformance", "nastiest", "articles", "public_cases")} == {
        "conformance": 160,
        "nastiest": 13,
        "articles": 43,
        "public_cases": 50,
    }
    entries = [entry for section in catalogue.sections.values() for entry in section.values()]
    assert all(entry["title"] and entry["due"] in catalogue.works for entry in entries)


def test_the_catalogue_agrees_with_the_one_beside_the_repository(shared: Path) -> None:
    text = (shared / "CONFORMANCE.md").read_text("utf-8")
    numbered = (line.split(". ", 1) for line in text.splitlines() if ". " in line[:6] and line[0].isdigit())
    kinds = {number: rest[0] for number, rest in numbered}
    assert kinds == {number: entry["kind"] for number, entry in read_catalogue().sections["conformance"].items()}


def test_every_claim_in_the_repository_names_a_number_of_the_catalogue() -> None:
    assert cover(read_catalogue(), all_claims()).unknown == ()
