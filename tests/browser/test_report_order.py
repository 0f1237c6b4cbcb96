"""What stands in another order is said to, and is not said to be missing; what differs is not said to be the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser.report import Report
from tests.browser.test_report_diffs import with_blocks

Open = Callable[..., Report]
DRAWN = """([name, properties]) => {
  const room = document.createElement('div');
  harnessApp.render(harnessApp.h(harnessApp[name], properties), room);
  return room.textContent.replace(/\\s+/g, ' ');
}"""


@pytest.fixture(scope="module")
def page(browser: Any, made: Path) -> Iterator[Report]:
    report = Report(browser.new_context(), made)
    yield report
    assert list(report.close()) == []


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        pytest.param('{"id":9007199254740993}', '{"id":9007199254740992}', False, id="numbers-beyond-the-exact-ones"),
        pytest.param('{"a":1}', '[["a",1]]', False, id="an-object-and-a-list-of-its-pairs"),
        pytest.param('{"a":1,"a":2}', '{"a":2}', False, id="a-repeated-key"),
        pytest.param("1e400", "2e400", False, id="numbers-without-end"),
        pytest.param("1e400", "null", False, id="no-number-and-null"),
        pytest.param('{"a":{}}', '{"a":[]}', False, id="empty-ones"),
        pytest.param('{"a":"1"}', '{"a":1}', False, id="text-and-number"),
        pytest.param("{", "{ ", False, id="no-json"),
        pytest.param('{"b":[1, {}],"a":"\\u00e9"}', ' { "a": "é", "b": [1,{}] } ', True, id="order-space-and-escapes"),
        pytest.param("[" * 5_000 + "]" * 5_000, "[ " + "[" * 4_999 + "]" * 5_000, True, id="deep"),
    ],
)
def test_only_the_same_value_is_said_to_be_one(one: str, other: str, same: bool, page: Report) -> None:
    both = "([one, other]) => [harnessApp.diffing.sameValue(one, other), harnessApp.diffing.sameValue(other, one)]"
    assert page.run(both, [one, other]) == [same, same]


def call(name: str, arguments: str, **more: Any) -> dict[str, Any]:
    return {"id": f"{name}-{arguments}", "name": name, "arguments": arguments, "outcome": "ok", **more}


@pytest.mark.parametrize(
    ("base", "candidate", "lacks", "moved"),
    [
        pytest.param(["look 1", "find 2"], ["find 2", "look 1"], [], 1, id="swapped"),
        pytest.param(["look 2"], ["look 1", "look 2"], ["look 1"], 0, id="another-of-the-same-name-before-it"),
        pytest.param(["a 1", "b 1", "c 1"], ["c 1", "a 1", "b 1"], [], 1, id="the-last-comes-first"),
        pytest.param(["look 1"], ["look 2"], [], 0, id="other-arguments"),
        pytest.param(["look 1"], ["find 1"], [], 0, id="another-tool-in-its-place"),
        pytest.param(["a 1", "b 1"], ["b 1", "c 1"], [], 0, id="one-gone-and-one-new"),
    ],
)
def test_calls_find_their_equal_ones_whatever_the_order(
    base: list[str], candidate: list[str], lacks: list[str], moved: int, page: Report
) -> None:
    sides = [[call(*one.split()) for one in side] for side in (base, candidate)]
    drawn = [
        page.run(DRAWN, ["Calls", {"calls": sides[at], "theirs": sides[1 - at], "side": side}])
        for at, side in enumerate(("base", "candidate"))
    ]
    assert [text.count("in another order") for text in drawn] == [moved, moved]
    assert drawn[1].count("only in candidate") == len(lacks)
    assert "only in base" not in drawn[0]


def test_tools_in_another_order_are_each_on_both_sides(page: Report) -> None:
    tools = [{"name": name, "same": at} for at, name in enumerate(("alpha", "beta", "gamma"))]
    pairs = page.run("([one, other]) => harnessApp.pairTools(one, other)", [tools, [tools[2], tools[0], tools[1]]])
    assert [(one["left"]["name"], one["right"]["name"], one["moved"]) for one in pairs] == [
        ("alpha", "alpha", None), ("beta", "beta", None), ("gamma", "gamma", [3, 1]),
    ]  # fmt: skip
    alone = page.run("([one, other]) => harnessApp.pairTools(one, other)", [tools[:1], tools])
    assert [(one["name"], bool(one["left"])) for one in alone] == [("alpha", True), ("beta", False), ("gamma", False)]


@pytest.mark.parametrize(
    ("shown", "said", "not_said"),
    [
        pytest.param({"name": "ghost", "bodies": []}, "no call asked for it", "one more result", id="nobody"),
        pytest.param({"name": "look", "again": True}, "one more result", "no call asked", id="a-second-result"),
        pytest.param(
            {"name": "part", "bodies": [{"name": "part", "within": 7, "attempt": 1}]},
            "began at event 7",
            "no call asked",
            id="by-another-body",
        ),
        pytest.param({"id": "", "name": "look"}, "look", "no call asked", id="an-empty-id"),
    ],
)
def test_what_no_call_asked_for_says_so(shown: dict[str, Any], said: str, not_said: str, page: Report) -> None:
    text = page.run(DRAWN, ["Calls", {"calls": [shown], "theirs": None, "side": "base"}])
    assert said in text
    assert not_said not in text


def test_a_cut_call_says_so_with_or_without_a_result(page: Report) -> None:
    for more in ({}, {"outcome": "ok", "result": "x"}):
        text = page.run(
            DRAWN,
            [
                "Calls",
                {
                    "calls": [{"id": "a", "name": "look", "arguments": "{", "cut": 90, **more}],
                    "theirs": None,
                    "side": "base",
                },
            ],
        )
        assert text.count("90 characters left out of this file") == 1


def test_lines_behind_a_cut_have_the_numbers_of_the_whole_text(page: Report) -> None:
    numbers = """before => {
      const room = document.createElement('div');
      harnessApp.render(harnessApp.h(harnessApp.LineDiff, {base: 'a\\nb', candidate: 'a\\nc', before}), room);
      return [...room.querySelectorAll('.number')].map(one => one.textContent);
    }"""
    assert page.run(numbers, [9_000, 7]) == ["9001", "8", "9002", "", "", "9"]
    assert page.run(numbers, [None, 0]) == ["", "1", "", "", "", "2"]


@pytest.mark.parametrize(
    ("judged", "said"),
    [
        pytest.param({"n": 0, "passed": 0}, "no check judged it", id="none"),
        pytest.param({"n": 2, "passed": 0}, "no check applied to it", id="none-that-applies"),
        pytest.param({"n": 2, "passed": 1}, "all checks passed", id="some"),
    ],
)
def test_a_side_without_checks_did_not_pass_all(
    judged: dict[str, int], said: str, opened: Open, made: Path, tmp_path: Path
) -> None:
    def change(name: str, data: Any) -> None:
        if name == "detail-0":
            failed = [{"check": "c", "outcome": "FAIL", "why": "w"}]
            data.update(
                verdicts={"base": [], "candidate": failed}, judged={"base": judged, "candidate": {"n": 1, "passed": 0}}
            )

    report = opened(with_blocks(made, tmp_path / "page.html", change), "#/run/0")
    assert report.text(".verdicts.base p") == said


@pytest.mark.parametrize(("effect", "told"), [(None, False), ({"path": "answer"}, True)], ids=["the-same", "another"])
def test_where_nothing_was_done_differently_no_choice_is_spoken_of(
    effect: Any, told: bool, opened: Open, made: Path, tmp_path: Path
) -> None:
    def change(name: str, data: Any) -> None:
        if name == "detail-0":
            data["inputs"] = [{"path": "history", "base": "a", "candidate": "b", "cut": 12}]
            data["explanation"] = {**(data["explanation"] or {}), "effect": effect, "nInputs": 3}

    report = opened(with_blocks(made, tmp_path / "page.html", change), "#/run/0")
    text = report.text(".why")
    assert ("made the choice" in text) == told
    assert "2 inputs left out of this file" in text
    assert "12 characters left out of this file" in text


def test_blocks_that_differ_in_what_was_cut_alone_say_so(opened: Open, made: Path, tmp_path: Path) -> None:
    def change(name: str, data: Any) -> None:
        if name == "detail-0":
            block = {**data["base"]["blocks"][0], "request": None, "requests": None, "startMs": 3}
            data["base"]["blocks"][0] = block
            data["candidate"]["blocks"][0] = {**block, "startMs": 9}
            data["pairs"][0] = {"kind": "changed", "base": 0, "candidate": 0}
            data["cutText"] = 9

    report = opened(with_blocks(made, tmp_path / "page.html", change), "#/run/0")
    assert "only in what this file does not hold" in report.text("[data-pair='0']")
