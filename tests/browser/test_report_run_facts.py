"""The page of a run shows what its file says of the run as a whole, and of each call, where that is out of the ordinary."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.types.events import Parent, TornTail, Trajectory
from harness.types.exchange import AssistantMessage, ToolResult
from harness.types.messages import ImagePart, RunId, TextPart
from tests.browser.report import Report
from tests.browser.test_report_told import made_page
from tests.compare.made import header, refund_run, summary, with_facts

Open = Callable[..., Report]


@pytest.fixture
def shown(opened: Open, tmp_path: Path) -> Callable[..., Report]:
    def show(candidate: Trajectory, **changes: object) -> Report:
        path = tmp_path / "report.html"
        path.write_bytes(made_page([summary()], [summary(**changes)], (refund_run(), candidate)))  # type: ignore[arg-type]
        return opened(path, "#/run/0")

    return show


def results(**changes: object) -> Trajectory:
    return with_facts(refund_run(), lambda fact: dataclasses.replace(fact, **changes) if isinstance(fact, ToolResult) else fact)  # type: ignore[arg-type]


def test_a_run_says_its_turns_why_it_ran_in_real_time_what_it_goes_on_from_and_a_torn_line(shown: Callable[..., Report]) -> None:
    run = refund_run(head=header(parent=Parent(RunId("shop/before@default#2"), 41, "an approval was waited for")))
    report = shown(dataclasses.replace(run, torn=TornTail(9, 100, 7)), n_turns=3, real_time="it streams over the loopback")
    said = report.text(".side-facts.candidate")
    for text in (
        "3 turns", "In real time: it streams over the loopback", "torn, and not read",
        "Goes on from run shop/before@default#2 behind its event 41: an approval was waited for",
    ):  # fmt: skip
        assert text in said, text
        assert text not in report.text(".side-facts.base"), text


def test_a_result_says_its_message_and_that_it_was_cut_for_the_model(shown: Callable[..., Report]) -> None:
    report = shown(results(message="the shop was shut", truncated=True))
    call = report.text(".block.candidate .call")
    assert "the shop was shut" in call
    assert "the tool's result was cut for the model" in call
    base = report.text(".block.base .call")
    assert "message" not in base
    assert "was cut for the model" not in base


def test_a_result_of_parts_shows_each_of_them(shown: Callable[..., Report]) -> None:
    report = shown(results(content=(TextPart("a photo:"), ImagePart("sha256:12", "image/png"))))
    assert "a photo:\n[image image/png sha256:12]" in report.text(".block.candidate .call")


@pytest.mark.parametrize(("wire_id", "told"), [("toolu_1", "(on the wire toolu_1)"), ("", "(on the wire empty)"), (None, None)])
def test_an_id_that_was_another_on_the_wire_is_told(shown: Callable[..., Report], wire_id: str | None, told: str | None) -> None:
    def named(fact: object) -> object:
        if not isinstance(fact, AssistantMessage):
            return fact
        return dataclasses.replace(fact, tool_calls=tuple(dataclasses.replace(call, wire_id=wire_id) for call in fact.tool_calls))

    other = refund_run(results=('{"id":7,"total":1}', '{"id":8,"total":5}', "ok"))
    report = shown(with_facts(other, named))  # type: ignore[arg-type]
    said = report.text(".block.candidate .call-id")
    assert (told in said) if told else ("wire" not in said)
