"""The page of one run: the first divergence, the walk by keyboard, what the model saw, why the sides part."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import blocks_of
from tests.browser.report import FOCUSED_PAIR, Report
from tests.browser.test_report_diffs import with_blocks

Open = Callable[..., Report]


def found(path: Path, name: str) -> tuple[int, dict[str, Any]]:
    """The place of a run in the list, and its details."""
    blocks = blocks_of(path)
    index = next(at for at, row in enumerate(blocks["overview"]["rows"]) if row["name"] == name)
    return index, blocks[f"detail-{blocks['overview']['rows'][index]['detail']}"]


def of_change(path: Path, change: str) -> tuple[int, dict[str, Any]]:
    rows = blocks_of(path)["overview"]["rows"]
    return found(path, next(row["name"] for row in rows if row["change"] == change))


def messages_of(detail: dict[str, Any], side: str, pair: int) -> list[str]:
    """Texts of the messages that a request of one side held."""
    block = detail[side]["blocks"][detail["pairs"][pair][side]]
    asked = block["request"]["messages"]
    tape = detail[side]["tapes"][asked["tape"]]
    numbers = [number for start, end in asked["ranges"] for number in tape[start:end]]
    return [str(detail["messages"][number].get("content") or "") for number in numbers]


def test_one_key_leads_to_the_first_divergence_and_it_is_marked(opened: Open, made: Path) -> None:
    index, detail = of_change(made, "changed")
    report = opened(made, f"#/run/{index}")
    report.press("End", "f")
    assert report.run(FOCUSED_PAIR) == str(detail["first"])
    assert "first divergence" in str(report.page.locator(f"[data-pair='{detail['first']}']").get_attribute("aria-label"))
    assert report.count(".flag.first") == 1


def test_n_and_p_walk_the_differences_and_nothing_else(opened: Open, real: Path) -> None:
    index, detail = found(real, "children/two-in-parallel")
    differing = [at for at, pair in enumerate(detail["pairs"]) if pair["kind"] != "equal"]
    assert len(differing) >= 2
    report = opened(real, f"#/run/{index}")
    report.press("Home")
    walked = []
    for _ in differing:
        report.press("n")
        walked.append(int(report.run(FOCUSED_PAIR)))
    assert walked == differing
    report.press("n", "p")
    assert int(report.run(FOCUSED_PAIR)) == differing[-2]


def test_j_and_k_walk_every_block_that_is_shown(opened: Open, real: Path) -> None:
    index, _ = found(real, "children/two-in-parallel")
    report = opened(real, f"#/run/{index}")
    shown = report.run("() => [...document.querySelectorAll('[data-pair]')].map(pair => pair.dataset.pair)")
    report.press("Home")
    walked = [report.run(FOCUSED_PAIR)]
    for _ in shown[1:]:
        report.press("j")
        walked.append(report.run(FOCUSED_PAIR))
    assert walked == shown
    report.press("k")
    assert report.run(FOCUSED_PAIR) == shown[-2]


def test_equal_steps_are_one_line_that_says_how_many_and_opens(opened: Open, real: Path) -> None:
    index, _ = found(real, "children/two-in-parallel")
    report = opened(real, f"#/run/{index}")
    shut = report.page.locator(".pair.shut").first
    assert "equal step" in shut.inner_text()
    before, at = report.count(".pair"), int(str(shut.get_attribute("data-pair")))
    shut.locator("button").focus()
    report.press("e")
    assert report.count(".pair") > before
    report.press("e")
    assert (report.count(".pair"), report.run(FOCUSED_PAIR)) == (before, str(at))


def test_both_sides_stand_beside_each_other_in_the_order_of_the_alignment(opened: Open, made: Path) -> None:
    index, detail = of_change(made, "worse")
    report = opened(made, f"#/run/{index}")
    for at, pair in enumerate(detail["pairs"]):
        if pair["kind"] == "equal":
            continue
        drawn = report.page.locator(f"[data-pair='{at}'] .sides > .block")
        assert drawn.count() == 2
        for nth, side in enumerate(("base", "candidate")):
            block = detail[side]["blocks"][pair[side]] if pair[side] is not None else None
            text = drawn.nth(nth).inner_text()
            assert ("nothing here" in text) == (block is None)
            for call in (block or {}).get("calls") or []:
                assert call["name"] in text


def test_what_differs_is_marked_on_each_side(opened: Open, made: Path) -> None:
    index, detail = of_change(made, "changed")
    report = opened(made, f"#/run/{index}")
    pair = f"[data-pair='{detail['shown']}']"
    assert report.count(f"{pair} .block.base del") + report.count(f"{pair} .block.candidate ins") > 0
    assert report.count(f"{pair} .block.base ins") == report.count(f"{pair} .block.candidate del") == 0


def test_an_answer_in_other_words_has_those_words_marked_and_no_others(opened: Open, real: Path) -> None:
    index, detail = found(real, "children/two-in-parallel")
    report = opened(real, f"#/run/{index}")
    pair = f"[data-pair='{detail['shown']}'] .answer"
    assert "".join(report.texts(f"{pair} del")) == "another"
    assert "town" not in "".join(report.texts(f"{pair} ins")).split(",")[0]
    assert report.texts(f"{pair} ins")


def test_m_shows_every_message_tool_and_parameter_the_model_saw(opened: Open, real: Path) -> None:
    index, detail = found(real, "articles/login-bug")
    report = opened(real, f"#/run/{index}")
    report.press("f", "m")
    assert "What the model saw" in report.text("h2")
    shown = report.text("main")
    pair = detail["first"]
    for text in messages_of(detail, "base", pair) + messages_of(detail, "candidate", pair):
        assert " ".join(text.split()) in " ".join(shown.split())
    block = detail["base"]["blocks"][detail["pairs"][pair]["base"]]
    for tool in detail["tools"][block["request"]["tools"]]:
        assert tool["name"] in shown
        assert tool["description"] in shown
    assert detail["systems"][block["request"]["system"]][0]["content"] in shown


def test_only_differences_leaves_what_differs_and_j_goes_on_to_the_next_step(opened: Open, real: Path) -> None:
    index, _ = found(real, "articles/login-bug")
    report = opened(real, f"#/run/{index}")
    report.press("f", "m", "d")
    assert [text.split("\n")[0].split(" differs")[0] for text in report.texts(".seen-section h3")] == ["System prompt"]
    assert report.count(".seen-section ins") > 0
    before = report.text("h2")
    report.press("d", "j")
    assert report.text("h2") != before
    report.press("Escape")
    assert report.count("main.run") == 1


def test_a_route_leads_back_to_the_same_step_after_reload_and_by_the_back_button(opened: Open, real: Path) -> None:
    index, _ = found(real, "articles/login-bug")
    report = opened(real, f"#/run/{index}")
    report.press("f", "j", "m")
    title = report.text("h2")
    assert report.hash("view=seen")
    report.page.reload()
    report.page.wait_for_selector("main.seen")
    assert report.text("h2") == title
    report.page.go_back()
    report.page.wait_for_selector("main.run")
    report.page.go_forward()
    report.page.wait_for_selector("main.seen")
    assert report.text("h2") == title


def test_overlapping_bodies_lie_on_lanes_of_their_own_and_the_cancel_is_marked(opened: Open, real: Path) -> None:
    index, _ = found(real, "cancellation/all-of-three-overlap")
    report = opened(real, f"#/run/{index}")
    boxes = report.run(
        "() => [...document.querySelectorAll('.run-map .track.candidate .bar.tool')].map(bar => { const {left, right, top} = bar.getBoundingClientRect(); return [left, right, top] })"
    )
    assert len(boxes) >= 2
    for at, (left, right, top) in enumerate(boxes):
        for other_left, other_right, other_top in boxes[at + 1 :]:
            assert top != other_top or right <= other_left + 1 or other_right <= left + 1, "two bodies are drawn over each other"
    for kind in ("cancel", "delivered", "quiescent"):
        assert report.count(f".run-map .track.candidate .mark.{kind}") == 1
    label = str(report.page.locator(".run-map .track.candidate").get_attribute("aria-label"))
    assert "2 overlapping" in label or "3 overlapping" in label


def test_children_have_lanes_and_a_retry_and_an_approval_are_told(opened: Open, real: Path) -> None:
    index, _ = found(real, "children/two-in-parallel")
    report = opened(real, f"#/run/{index}")
    names = [name for name in report.texts(".run-map .track.base .lane-name") if name.startswith("↳")]
    assert len(names) == 2
    index, _ = found(real, "failures/retry-after-a-rate-limit")
    report.go(f"#/run/{index}")
    assert "retry" in report.text(".errors")
    index, _ = found(real, "approval/rejected")
    report.go(f"#/run/{index}")
    assert any("rejected by" in text for text in report.texts(".block.base"))


def test_the_number_of_an_event_in_a_finding_leads_to_its_block(opened: Open, real: Path) -> None:
    index, detail = found(real, "approval/rejected")
    report = opened(real, f"#/run/{index}")
    event = report.page.locator(".verdicts.candidate .event").first
    seq = int(event.inner_text())
    event.click()
    report.settle()
    blocks = detail["candidate"]["blocks"]
    block = max(at for at, one in enumerate(blocks) if one["seq"] <= seq)
    assert detail["pairs"][int(report.run(FOCUSED_PAIR))]["candidate"] == block


def test_why_shows_the_prompt_line_by_line_and_what_each_stretch_took(opened: Open, real: Path) -> None:
    index, detail = found(real, "articles/login-bug")
    report = opened(real, f"#/run/{index}")
    assert "system prompt" in report.text(".cause-text")
    assert report.count(".why .input-changed tr.removed") == report.count(".why .input-changed tr.added") == 1
    report.page.locator("button", has_text="What each stretch took").click()
    assert report.count("table.segments tbody tr") == len(detail["segments"])


def without_requests(name: str, data: Any) -> None:
    for side in ("base", "candidate") if name.startswith("detail-") else ():
        for block in data[side]["blocks"] if data[side] else ():
            block["request"] = None


def test_a_product_that_tells_of_no_requests_is_said_to_and_m_leads_there(opened: Open, real: Path, tmp_path: Path) -> None:
    index, _ = found(real, "articles/login-bug")
    path = with_blocks(real, tmp_path / "other.html", without_requests)
    for route in (f"#/run/{index}", f"#/run/{index}?at=1&view=seen"):
        report = opened(path, route)
        assert "What the model saw is not known" in report.text("main.run .no-requests")
        assert "what the model saw" not in " ".join(report.texts(".timeline-head button"))
        for key in ("m", "Enter"):
            report.press("f")
            report.press(key)
            assert report.run("document.activeElement.className").split() == ["note", "no-requests"], key
    report = opened(real, f"#/run/{index}")
    assert report.count(".no-requests") == 0


def test_brackets_walk_the_list_as_it_was_filtered_and_ordered(opened: Open, made: Path) -> None:
    rows = blocks_of(made)["overview"]["rows"]
    listed = sorted(row["name"] for row in rows if "scenario-0001" in row["name"])
    report = opened(made, "#/?q=scenario-0001&sort=name")
    assert report.listed() == len(listed) < len(rows)
    report.press("j", "Enter")
    walked = [report.text("h2")]
    assert f"1 of {len(listed)} listed" in report.text(".walked")
    for _ in listed[1:]:
        report.press("]")
        walked.append(report.text("h2"))
    assert walked == listed
    report.press("]")
    assert report.text("h2") == listed[-1]
    assert report.page.locator(".run-title button", has_text="next").is_disabled()
    report.press("[")
    assert report.text("h2") == listed[-2]
    report.page.locator(".run-title .back").click()
    report.settle()
    assert report.listed() == len(listed)


def test_brackets_walk_all_runs_where_the_run_is_not_in_the_list(opened: Open, made: Path) -> None:
    rows = blocks_of(made)["overview"]["rows"]
    report = opened(made, "#/?q=nothing-is-named-so")
    report.run("location.hash = '#/run/2'")
    report.settle()
    report.press("]")
    assert report.text("h2") == rows[3]["name"]


def test_a_run_without_details_says_that_the_file_has_none(opened: Open, many: Path) -> None:
    rows = blocks_of(many)["overview"]["rows"]
    index = next(at for at, row in enumerate(rows) if row["detail"] is None)
    report = opened(many, f"#/run/{index}")
    assert "the runs of 500 scenarios in full, the most interesting first" in report.text("main .note")
    assert report.text("h2") == rows[index]["name"]


@pytest.mark.parametrize("route", ["#/run/9999", "#/run/x", "#/nowhere", "#/run/0?at=-5", "#/run/0?at=1e9&view=seen", "#/?sort=%FF&change=%"])
def test_an_address_that_leads_nowhere_shows_a_page_all_the_same(opened: Open, made: Path, route: str) -> None:
    assert opened(made, route).text("main")


@pytest.mark.article("40")
def test_each_side_says_in_words_what_its_run_came_to(opened: Open, made: Path) -> None:
    index, detail = of_change(made, "changed")
    report = opened(made, f"#/run/{index}")
    told = {name: report.text(f".side-facts.{name} .state") for name in ("base", "candidate")}
    assert told == {name: detail[name]["state"] for name in told}
    assert all(told.values())
