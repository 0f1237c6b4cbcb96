"""Data of the HTML report: what differs is told as it was, not as it is cut; nothing is left out without a word."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.report.html.apart import starts_of
from harness.report.html.cutting import ROOMS, Room, windows
from harness.report.html.details import detail_plain
from harness.report.html.embed import json_bytes
from harness.report.html.plots import MOST_ROWS, plots_block
from harness.runner.review.side_by_side import side_by_side
from harness.types.codes import Cause, Code, Origin, Outcome
from harness.types.events import Trajectory
from harness.types.exchange import ModelFailed, ModelRequest, RequestHeader, ToolEnd, ToolResult, ToolStart
from harness.types.facts import Fact
from harness.types.lifecycle import Note
from harness.types.messages import ChatDeveloper, ChatSystem, JsonText
from harness.types.records import Comparison, Divergence, Explanation, Finding, RunSummary, ScenarioComparison, Verdict
from tests.compare.made import PARAMETERS, TOOLS, header, numbered, refund_run, summary, with_facts

FULL = ROOMS[0]
LONG = "x" * 30_000
CHANGED = ScenarioComparison("shop/refund@default#1", "changed", base=summary(), candidate=summary())


def detail(
    base: Trajectory, candidate: Trajectory, row: ScenarioComparison = CHANGED, room: Room = FULL
) -> dict[str, Any]:
    """The detail of a row, as JSON gives it back."""
    made: dict[str, Any] = json.loads(json_bytes(detail_plain(row, 0, side_by_side(base, candidate, row), room)))
    return made


def first_request(made: dict[str, Any], side: str) -> dict[str, Any]:
    return next(block["request"] for block in made[side]["blocks"] if block["request"])


def first_call(made: dict[str, Any], side: str = "candidate") -> dict[str, Any]:
    return next(call for block in made[side]["blocks"] for call in block["calls"])


# ---------------------------------------------------------------- what was not seen to end


def without(*kinds: type[Any]) -> Callable[[Fact], Fact | None]:
    return lambda fact: None if isinstance(fact, kinds) else fact


@pytest.mark.parametrize(
    ("left_out", "observed", "said"),
    [
        pytest.param((ToolEnd,), (), "did not end", id="a-start-without-an-end"),
        pytest.param((ToolEnd, ToolStart, ToolResult), (), "never started", id="no-start-where-starts-are-seen"),
        pytest.param((ToolEnd, ToolStart, ToolResult), (("tool/call", Origin.SUBJECT),), "no result was seen", id="starts-are-not-seen"),
    ],
)  # fmt: skip
def test_a_call_without_an_outcome_says_what_is_known_of_it(
    left_out: tuple[type[Any], ...], observed: Any, said: str
) -> None:
    run = dataclasses.replace(with_facts(refund_run(), without(*left_out)), header=header(observed=observed))
    call = first_call(detail(refund_run(), run))
    assert (call.get("outcome"), call["unended"], call.get("startSeq") is not None) == (
        None,
        said,
        said == "did not end",
    )


def test_a_call_that_ended_says_nothing_of_that_kind() -> None:
    assert "unended" not in first_call(detail(refund_run(), refund_run()))


# ---------------------------------------------------------------- equal is equal as a whole


def tool(**changes: Any) -> list[Any]:
    return [{**TOOLS[0], **changes}, TOOLS[1]]


@pytest.mark.parametrize("room", [FULL, ROOMS[1]], ids=["full", "cut-further"])
@pytest.mark.parametrize(
    ("part", "base", "candidate"),
    [
        pytest.param("system", {"system": LONG + "a"}, {"system": LONG + "b"}, id="system"),
        pytest.param("parameters", {"parameters": JsonText(f'{{"a":"{LONG}"}}')}, {"parameters": JsonText(f'{{"a":"{LONG}1"}}')}, id="parameters"),
    ],
)  # fmt: skip
def test_prompts_and_parameters_that_differ_beyond_the_cut_have_places_of_their_own(
    part: str, base: Any, candidate: Any, room: Room
) -> None:
    made = detail(refund_run(**base), refund_run(**candidate), room=room)
    places = [first_request(made, side)[part] for side in ("base", "candidate")]
    assert places[0] != places[1]
    cut = made["parametersCut"] if part == "parameters" else [one[0]["cut"] for one in made["systems"]]
    assert all(n >= len(LONG) - room.text_chars for n in cut)


@pytest.mark.parametrize("room", ROOMS, ids=str)
def test_of_two_long_texts_the_place_where_they_part_is_kept(room: Room) -> None:
    texts = [LONG + side + LONG for side in ("LEFT", "RIGHT")]
    runs = [
        refund_run(
            system=text,
            task=text,
            tools=tool(description=text),
            parameters=JsonText(f'{{"a":"{text}"}}'),
            answers=(([("refund", f'{{"why":"{text}"}}')], text), ([], text)),
            results=(text,),
        )
        for text in texts
    ]
    made = detail(runs[0], runs[1], room=room)
    for side, word in (("base", "LEFT"), ("candidate", "RIGHT")):
        request = first_request(made, side)
        blocks = made[side]["blocks"]
        answers = [block["answer"] for block in blocks if block["answer"]]
        call = first_call(made, side)
        places = [
            made["systems"][request["system"]][0]["content"],
            made["tools"][request["tools"]][0]["description"],
            made["parameters"][request["parameters"]],
            made["messages"][next(block["inputs"] for block in blocks if "inputs" in block)[0]]["content"],
            answers[0]["content"],
            call["arguments"],
            call["result"],
            answers[1]["content"],
        ]
        assert [word in text for text in places] == [True] * len(places)
        assert [len(text) for text in places] == [room.text_chars] * len(places)
        assert 0 < answers[0]["cutBefore"] < answers[0]["cut"]
        assert answers[0]["cutBefore"] + len(places[4]) + answers[0]["cut"] - answers[0]["cutBefore"] == len(
            LONG
        ) * 2 + len(word)


@pytest.mark.parametrize(
    ("left", "right", "start"),
    [
        pytest.param("s" * 90 + "a" * 20, "s" * 90 + "b" * 20, 10, id="the-end-is-kept-whole"),
        pytest.param("s" * 900 + "a" * 900, "s" * 900 + "b" * 900, 900 - 33, id="around-the-middle"),
        pytest.param("s" * 30 + "a" * 900, "s" * 30 + "b" * 900, None, id="early-enough"),
        pytest.param("s" * 95, "s" * 95 + "b" * 900, None, id="one-is-kept-whole"),
    ],
)
def test_two_long_texts_begin_at_the_same_place_not_long_before_they_part(
    left: str, right: str, start: int | None
) -> None:
    runs = side_by_side(refund_run(system=left), refund_run(system=right), CHANGED)
    assert starts_of(runs, 100) == ({} if start is None else {left: start, right: start})


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        pytest.param(tool(description=LONG + "a"), tool(description=LONG + "b"), False, id="description"),
        pytest.param(tool(parameters={"a": LONG}), tool(parameters={"a": LONG + "b"}), False, id="parameters"),
        pytest.param(tool(strict=True), tool(strict=False), False, id="strict"),
        pytest.param([{"type": "web_search"}, TOOLS[1]], [{"type": "file_search"}, TOOLS[1]], False, id="no-name"),
        pytest.param(tool(description=LONG), tool(description=LONG), True, id="equal"),
    ],
)
def test_tools_are_the_same_only_where_the_model_saw_the_same(left: Any, right: Any, same: bool) -> None:
    made = detail(refund_run(tools=left), refund_run(tools=right))
    tools = [made["tools"][first_request(made, side)["tools"]] for side in ("base", "candidate")]
    assert (tools[0][0]["same"] == tools[1][0]["same"]) is same
    assert tools[0][1]["same"] == tools[1][1]["same"]


def test_the_role_of_a_system_message_makes_it_another() -> None:
    def developer(fact: Fact) -> Fact:
        if isinstance(fact, RequestHeader):
            return dataclasses.replace(fact, system=(ChatDeveloper("Be short."),))
        return fact

    made = detail(refund_run(system="Be short."), with_facts(refund_run(), developer))
    roles = [made["systems"][first_request(made, side)["system"]][0]["role"] for side in ("base", "candidate")]
    assert roles == ["system", "developer"]


# ---------------------------------------------------------------- attempts, events, windows


def retried(trajectory: Trajectory) -> Trajectory:
    """The first request refused, and asked again with one message less."""
    at = next(n for n, event in enumerate(trajectory.events) if isinstance(event.fact, ModelRequest))
    asked = trajectory.events[at]
    assert isinstance(asked.fact, ModelRequest)
    failed = dataclasses.replace(asked, fact=ModelFailed(Code.CONTEXT_OVERFLOW, "too long"))
    again = dataclasses.replace(asked, fact=dataclasses.replace(asked.fact, attempt=2))
    events = (*trajectory.events[: at + 1], failed, again, *trajectory.events[at + 1 :])
    return dataclasses.replace(
        trajectory, events=tuple(dataclasses.replace(event, seq=n) for n, event in enumerate(events))
    )


def test_every_attempt_of_a_step_has_its_request() -> None:
    made = detail(refund_run(), retried(refund_run(answers=(([], "ok"),))))
    [block] = [block for block in made["candidate"]["blocks"] if "requests" in block]
    assert [one["attempts"] for one in block["requests"]] == [1, 2]
    assert block["request"] == block["requests"][-1]
    assert not any("requests" in block for block in made["base"]["blocks"])


def test_each_event_is_in_the_ranges_of_one_block_though_agents_lie_within_each_other() -> None:
    run = refund_run()
    agents = {3: "child", 5: "child", 9: "child", 10: "child"}
    mixed = dataclasses.replace(
        run, events=tuple(dataclasses.replace(event, agent=agents.get(event.seq, "")) for event in run.events)
    )
    blocks = detail(mixed, mixed)["base"]["blocks"]
    of = [
        [at for at, block in enumerate(blocks) if any(a <= n < b for a, b in block["seqs"])]
        for n in range(len(run.events))
    ]
    assert all(len(found) == 1 for found in of)
    for event in mixed.events:
        assert blocks[of[event.seq][0]]["agent"] == event.agent
    assert any(len(block["seqs"]) > 1 for block in blocks)


def found_at(base: Trajectory, seq: int, path: str) -> Divergence:
    return Divergence("changed", path, "a", "b", 1, None, base_seq=seq, candidate_seq=seq)


def test_a_long_run_keeps_the_block_where_the_sides_part_and_says_where_others_are_left_out() -> None:
    answers = tuple(([("lookup_order", f'{{"id":{at}}}')], f"step {at}") for at in range(300))
    base = refund_run(answers=(*answers, ([], "One.")))
    other = refund_run(system="Be long.", answers=(*answers, ([], "Two.")))
    last = max(event.seq for event in base.events if isinstance(event.fact, ModelRequest)) + 1
    start = next(event.seq for event in base.events if isinstance(event.fact, RequestHeader))
    explained = Explanation(Cause.SYSTEM_PROMPT, "", found_at(base, start, "system"), found_at(base, last, "content"))
    row = dataclasses.replace(CHANGED, explanation=explained, divergence=explained.first)
    made = detail(base, other, row, Room(1_000, 60))
    shown, first = made["pairs"][made["shown"]], made["pairs"][made["first"]]
    assert made["base"]["blocks"][shown["base"]]["step"] == 301
    assert made["base"]["blocks"][first["base"]]["step"] == 1
    assert len(made["pairs"]) <= 60
    assert len(made["segments"]) + made["segmentsLeftOut"] > 0
    assert sum(gap["n"] for gap in made["gaps"]) > 0
    after = [n for n, block in enumerate(made["base"]["blocks"]) if block.get("afterGap")]
    assert [made["pairs"][gap["at"]]["base"] for gap in made["gaps"] if gap["at"] < len(made["pairs"])] == after


@given(st.integers(1, 80), st.lists(st.integers(0, 79), max_size=3), st.integers(3, 60))
def test_windows_hold_every_middle_and_no_more_than_there_is_room_for(n: int, middles: list[int], most: int) -> None:
    inside = [place for place in middles if place < n]
    found = windows(n, inside, most)
    assert found == sorted(set(found))
    assert len(found) <= most
    assert set(inside) <= set(found) <= set(range(n))


# ---------------------------------------------------------------- limits are told


def test_notes_findings_and_verdicts_that_are_left_out_are_counted() -> None:
    run = refund_run()
    notes = [dataclasses.replace(run.events[-4], fact=Note("n", JsonText(str(n)))) for n in range(60)]
    noisy = dataclasses.replace(
        run,
        events=tuple(
            dataclasses.replace(event, seq=n) for n, event in enumerate((*run.events[:-3], *notes, *run.events[-3:]))
        ),
    )
    findings = tuple(Finding("rule", f"found {n}", (1,)) for n in range(30))
    verdicts = tuple(Verdict(f"check-{n}", Outcome.FAIL, findings, "why") for n in range(45))
    row = dataclasses.replace(CHANGED, candidate=summary(verdicts=verdicts))
    made = detail(run, noisy, row)
    block = next(block for block in made["candidate"]["blocks"] if len(block.get("notes", [])) == 50)
    assert (len(block["notes"]), block["nNotesLeftOut"]) == (50, 10)
    shown = made["verdicts"]["candidate"]
    assert (len(shown), made["verdictsLeftOut"]) == (40, {"base": 0, "candidate": 5})
    assert (shown[0]["nFindings"], len(shown[0]["findings"])) == (30, 20)


# ---------------------------------------------------------------- plots are of all scenarios


def plotted(base: Sequence[RunSummary], candidate: Sequence[RunSummary], n_shown: int) -> dict[str, Any]:
    pairs = zip(base, candidate, strict=True)
    rows = tuple(ScenarioComparison(one.run_id, "changed", base=one, candidate=other) for one, other in pairs)
    comparison = Comparison("base", "candidate", rows, Outcome.FAIL)
    return plots_block(comparison, rows[:n_shown], base, candidate)


@pytest.mark.parametrize("n_shown", [10, 40], ids=["some-listed", "all-listed"])
def test_rates_are_over_all_scenarios_whatever_is_listed(n_shown: int) -> None:
    base = [summary(f"f/{at}") for at in range(40)]
    candidate = [summary(f"f/{at}", Outcome.FAIL if at < 4 else Outcome.PASS) for at in range(40)]
    found = plotted(base, candidate, n_shown)
    whole = found["rates"][0]
    assert (whole["candidate"]["rate"], whole["candidate"]["units"]) == (0.9, 40)
    assert (len(found["measures"]), found["nRows"]) == (n_shown, 40)


def test_rates_are_over_all_scenarios_beyond_the_rows_of_a_page() -> None:
    runs = [summary(f"f/{at}", Outcome.FAIL if at < 60 else Outcome.PASS) for at in range(MOST_ROWS + 1_000)]
    whole = plotted(runs, runs, len(runs))["rates"][0]["candidate"]
    assert (whole["n"], whole["of"]) == (MOST_ROWS + 940, MOST_ROWS + 1_000)


def test_a_scenario_that_is_not_listed_has_no_row_to_lead_to() -> None:
    base = [summary(f"f/{at}", trial=trial) for at in range(3) for trial in (1, 2)]
    firsts = [run for run in base if run.trial == 1]
    rows = tuple(ScenarioComparison(run.run_id, "same", base=run, candidate=run) for run in firsts)
    found = plots_block(Comparison("b", "c", rows, Outcome.PASS), rows[:1], base, base)
    assert [line["row"] for line in found["rates"] if line["group"] == "scenario"] == [0, None, None]


def test_arms_have_lines_of_their_own_and_their_names() -> None:
    base = [summary("shop/refund", arm=arm, trial=trial) for arm in ("now", "new") for trial in (1, 2)]
    rows = tuple(ScenarioComparison(run.run_id, "same", base=run, candidate=run) for run in base if run.trial == 1)
    found = plots_block(Comparison("b", "c", rows, Outcome.PASS), rows, base, base)
    assert [line["name"] for line in found["rates"] if line["group"] == "scenario"] == [
        "shop/refund@new",
        "shop/refund@now",
    ]


def test_a_mean_of_whole_numbers_that_is_whole_is_exact() -> None:
    big = 2**53 + 1
    runs = [summary("a", input_tokens=big, output_tokens=0)]
    found = json.loads(json_bytes(plotted(runs, runs, 1)))
    assert found["measures"][0]["tokens"][:2] == [str(big), str(big)]


def test_the_parameters_of_the_sample_are_not_cut() -> None:
    made = detail(refund_run(), refund_run())
    assert (made["parameters"], made["parametersCut"]) == ([PARAMETERS], [0])


# ---------------------------------------------------------------- what the whole text, the tool, the call was


def system_of(*lines: str) -> Callable[[Fact], Fact | None]:
    def change(fact: Fact) -> Fact | None:
        if isinstance(fact, RequestHeader):
            return dataclasses.replace(fact, system=(ChatSystem("\n".join(lines)),))
        return fact

    return change


def test_a_prompt_cut_behind_its_beginning_begins_with_a_line_and_says_how_many_stand_before() -> None:
    lines = [f"line {at}" for at in range(9_000)]
    runs = [with_facts(refund_run(), system_of(*lines, end)) for end in ("END", "ENDZ")]
    made = detail(*runs)
    for (shown,), text in zip(made["systems"], ("END", "ENDZ"), strict=True):
        whole = [*lines, text]
        kept = shown["content"].split("\n")
        assert kept == whole[shown["linesBefore"] :]
        assert shown["cutBefore"] == len("\n".join(whole)) - len(shown["content"])


def test_characters_left_out_are_those_of_the_runs_each_text_once() -> None:
    long = "é" * 30_000
    failed = ModelFailed(Code.SERVER, long, 1)
    runs = [with_facts(refund_run(), lambda fact: failed if isinstance(fact, ToolEnd) else fact) for _ in range(2)]
    row = dataclasses.replace(
        CHANGED, base=summary(verdicts=(Verdict("c", Outcome.FAIL, (Finding("c", long, (1,)),), long + "x"),))
    )
    assert detail(*runs, row=row)["cutText"] == 10_000


def test_two_long_errors_are_kept_where_they_part() -> None:
    def failing(end: str) -> Trajectory:
        failed = ModelFailed(Code.SERVER, LONG + end, 1)
        return with_facts(refund_run(), lambda fact: failed if isinstance(fact, ToolEnd) else fact)

    made = detail(failing("a"), failing("b"))
    errors = [
        next(error for block in made[side]["blocks"] for error in block.get("errors", ()))
        for side in ("base", "candidate")
    ]
    assert [error["message"][-1] for error in errors] == ["a", "b"]
    assert all(error["cut"] == 10_001 for error in errors)


@pytest.mark.parametrize(
    ("offered", "shown"),
    [
        pytest.param({}, {}, id="neither"),
        pytest.param({"description": ""}, {"description": ""}, id="an-empty-description"),
        pytest.param({"parameters": None}, {"parameters": "null"}, id="no-object"),
        pytest.param({"description": ["x"]}, {"more": '{"description":["x"]}'}, id="a-description-that-is-no-text"),
    ],
)
def test_a_tool_has_what_it_was_offered_with_and_no_more(offered: dict[str, Any], shown: dict[str, str]) -> None:
    made = detail(*[refund_run(tools=({"name": "look", **offered},))] * 2)
    (one,) = made["tools"][0]
    assert {key: one[key] for key in ("description", "parameters", "more") if key in one} == shown


def test_a_second_result_of_a_call_is_not_one_that_nobody_asked_for() -> None:
    run = refund_run()
    result = next(event for event in run if isinstance(event.fact, ToolResult))
    events = [copy for event in run for copy in ([event, event] if event is result else [event])]
    calls = [call for block in detail(numbered(run, events), run)["base"]["blocks"] for call in block["calls"]]
    assert [call.get("again") for call in calls if "id" not in call] == [True]


def test_how_many_checks_judged_a_side_and_how_many_it_passed_are_told() -> None:
    verdicts = tuple(
        Verdict(f"c{at}", outcome, (), "")
        for at, outcome in enumerate((Outcome.PASS, Outcome.FAIL, Outcome.NOT_APPLICABLE))
    )
    row = dataclasses.replace(CHANGED, base=summary(verdicts=verdicts), candidate=summary(verdicts=()))
    assert detail(refund_run(), refund_run(), row=row)["judged"] == {
        "base": {"n": 3, "passed": 1},
        "candidate": {"n": 0, "passed": 0},
    }
