"""Sweeps of limits: each around what the reference needed of it; a loop that is wrong about one is red, the built-in is not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.folds import Budget
from harness.mutants.seams import BrokenSubject, Seam, instead, limits
from harness.scenarios import parse_scenario
from harness.subjects import BuiltInLoop
from harness.testing import BoundScenario, Ending, scenario, subject
from harness.types.codes import LimitKind, Origin, Status, ToolOutcome
from harness.types.events import Event
from harness.types.exchange import ToolEnd, ToolResult, ToolStart
from harness.types.lifecycle import TurnEnd
from harness.types.limits import Limits
from harness.types.messages import CallId
from harness.types.reasons import FinalAnswer, LimitHit
from harness.types.sweeps import CellOutcome, Sweep
from tests.conftest import REPO
from tests.subjects.test_broken_loops import Loop

SPENT = {"input": 10, "output": 5}
FIELDS: dict[str, Any] = {
    "task": "go",
    "tools": {"use": ["calculator"]},
    "limits": {"cost_micro_usd": 10_000, "prices": {"input": 1_000_000, "output": 2_000_000}},
    "script": [
        {"calls": [{"calculator": {"expression": "1"}}, {"calculator": {"expression": "2"}}], "usage": SPENT},
        {"call": {"calculator": {"expression": "3"}}, "usage": SPENT},
        {"call": {"calculator": {"expression": "3"}}, "usage": SPENT},
        {"call": {"calculator": {"expression": "3"}}, "usage": SPENT},
        {"say": "done", "usage": SPENT},
    ],
}
NAMES = {
    "steps": LimitKind.STEPS, "tool_calls": LimitKind.TOOL_CALLS, "tokens": LimitKind.TOKENS,
    "cost_micro_usd": LimitKind.COST, "context_tokens": LimitKind.CONTEXT, "repeats.same": LimitKind.REPEATS,
}  # fmt: skip

N_DONE = {"steps": 5, "context_tokens": 0}
"""Results that there are below each limit, where not four: the first request, of which nothing is reported, is the largest."""


def swept(seam: Seam | None = None) -> Sweep:
    loop = BuiltInLoop() if seam is None else BrokenSubject(BuiltInLoop(), "broken", seam)
    return scenario(**FIELDS).sweep(loop, "limit")


def values(sweep: Sweep) -> dict[str, list[int]]:
    """The swept values of each limit."""
    found: dict[str, list[int]] = {}
    for cell in sweep.cells:
        assert cell.limit is not None
        found.setdefault(cell.limit[0], []).append(cell.limit[1])
    return found


@pytest.mark.conformance("61", "89", "90", "91", "93", "100")
def test_every_limit_is_swept_one_below_at_and_one_above_what_the_reference_needed() -> None:
    sweep = swept()
    assert (sweep.clean, {cell.outcome for cell in sweep.cells}) == (True, {CellOutcome.CLEAN}), sweep.strip
    found = values(sweep)
    context = found.pop("context_tokens")
    assert found == {
        "steps": [4, 5, 6],
        "tool_calls": [4, 5, 6],
        "tokens": [60, 61, 62],
        "cost_micro_usd": [80, 81, 82],
        "repeats.same": [3, 4, 5],
    }
    assert context == [context[1] - 1, context[1], context[1] + 1]
    assert context[0] > 50


@pytest.mark.conformance("90", "93", "100")
@pytest.mark.parametrize("name", NAMES)
def test_the_one_below_ends_the_run_by_that_limit_and_what_was_done_survives(name: str) -> None:
    sweep = swept()
    below = values(sweep)[name][0]
    bound = scenario(**FIELDS)
    first, _, same = name.partition(".")
    wanted = replace(bound.scenario.limits, **{first: parse_limits({first: {same: below}}).repeats if same else below})
    run = BoundScenario(replace(bound.scenario, limits=wanted)).run()
    assert run.status is Status.LIMIT_REACHED
    assert isinstance(run.reason, LimitHit)
    assert (run.reason.which, run.reason.value) == (NAMES[name], below)
    results = [event.fact for event in run.trajectory if isinstance(event.fact, ToolResult)]
    assert [one.content for one in results if one.code is None] == ["1", "2", "3", "3", "3"][: N_DONE.get(name, 4)]


def parse_limits(fields: dict[str, Any]) -> Limits:
    return scenario(**{**FIELDS, "limits": fields}).scenario.limits


def ignored(name: str) -> Seam:
    return limits(lambda given: {name: 10**6 if name != "repeats" else None})


def moved(name: str, by: int) -> Seam:
    """A loop whose limit is off by one, where one is set."""

    def change(given: Any) -> dict[str, object]:
        value = getattr(given, name)
        if value is None:
            return {}
        return {name: replace(value, same=value.same + by) if name == "repeats" else value + by}

    return limits(change)


@pytest.mark.conformance("89", "91", "100")
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("seam", "wrong"),
    [
        pytest.param(ignored, [True, False, False], id="ignored"),
        pytest.param(lambda name: moved(name, 1), [True, False, False], id="one-too-many"),
        pytest.param(lambda name: moved(name, -1), [False, True, False], id="one-too-few"),
    ],
)
def test_a_loop_that_is_wrong_about_a_limit_is_red_at_that_limit_and_at_no_other(name: str, seam: Any, wrong: list[bool]) -> None:
    sweep = swept(seam(name.partition(".")[0]))
    red = [cell.outcome is CellOutcome.RED for cell in sweep.cells if cell.limit and cell.limit[0] == name]
    at = {cell.limit[0] for cell in sweep.red if cell.limit}
    assert at == {name}, sweep.strip
    assert red[1:] == wrong[1:]
    assert red[0], "one below is told otherwise, or does not end where it must"
    assert {"limit_holds"} <= {one.check for cell in sweep.red for one in cell.findings}


@pytest.mark.conformance("90", "93")
@pytest.mark.parametrize(
    ("seam", "text"),
    [
        pytest.param(
            instead(TurnEnd, lambda fact: (replace(fact, status=Status.COMPLETED, reason=FinalAnswer()) if isinstance(fact.reason, LimitHit) else fact,)),
            "does not say so",
            id="told-as-completed",
        ),
        pytest.param(
            instead(TurnEnd, lambda fact: (replace(fact, reason=replace(fact.reason, which=LimitKind.WALL_TIME)) if isinstance(fact.reason, LimitHit) else fact,)),
            "does not say so",
            id="told-as-another",
        ),
    ],
)  # fmt: skip
def test_a_loop_that_does_not_name_the_limit_is_red(seam: Seam, text: str) -> None:
    sweep = swept(seam)
    assert {cell.limit[0] for cell in sweep.red if cell.limit} == set(NAMES)
    assert all(any(text in one.message for one in cell.findings) for cell in sweep.red), sweep.red


@pytest.mark.conformance("93")
def test_a_loop_that_loses_what_was_done_before_its_limit_is_red() -> None:
    def forget(world: Any) -> Any:
        if world.limits.steps == Limits().steps:
            return world
        lost = lambda fact: (replace(fact, content="the limit was reached"),) if fact.content == "3" else (fact,)  # noqa: E731
        return instead(ToolResult, lost)(world)

    sweep = swept(forget)
    found = {one.message for cell in sweep.red for one in cell.findings if one.check == "limit_holds"}
    assert any("its result is another than without it" in text for text in found), found


def test_a_red_limit_is_shown_again_by_a_file_that_sets_it() -> None:
    sweep = swept(ignored("tokens"))
    again = BoundScenario(parse_scenario(sweep.smallest.reproduction, "again.yaml"))  # type: ignore[union-attr]
    assert again.scenario.limits.tokens == 60
    run = again.run(BrokenSubject(BuiltInLoop(), "broken", ignored("tokens")))
    assert "budgets" in {finding.check for finding in run.findings}


# ---------------------------------------------------------------- what is not swept, and why


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        pytest.param({"script": [{"say": "hello"}]}, "limits.tool_calls: no body began", id="no-body"),
        pytest.param({"script": [{"say": "hello"}], "limits": {}}, "limits.tokens: no answer before the last request or body reports its usage", id="no-usage"),
        pytest.param({"limits": {}}, "limits.cost_micro_usd: the scenario gives no prices", id="no-prices"),
        pytest.param({"context": {"window": {"last_messages": 4}}}, "limits.context_tokens: the run makes its history shorter by itself", id="window"),
        pytest.param({"tools": {"use": ["calculator"], "visible_from": [{"tools": ["calculator"]}]}}, "limits.context_tokens: what is offered changes", id="visible"),
    ],
)  # fmt: skip
def test_a_limit_that_cannot_be_swept_says_why(fields: dict[str, Any], why: str) -> None:
    sweep = scenario(**{**FIELDS, **fields}).sweep(BuiltInLoop(), "limit")
    assert sweep.clean
    assert why in sweep.why


def test_a_limit_that_children_take_over_and_use_up_first_is_not_swept(repo: Path) -> None:
    sweep = scenario(repo / "scenarios/children/one-child.yaml").sweep(None, "limit")
    assert "tool_calls" in sweep.why
    assert "a child uses as much of it" in sweep.why
    assert sweep.clean, sweep.strip


@pytest.mark.parametrize(
    "name",
    ["limits/tool-calls-used-up", "limits/repeats-by-value", "limits/steps-1", "limits/exactly-at-the-limit", "context/refused-where-it-grows"],
)  # fmt: skip
def test_a_run_that_a_limit_ended_is_not_given_more_of_it(name: str, repo: Path) -> None:
    sweep = scenario(repo / f"scenarios/{name}.yaml").sweep(None, "limit")
    assert sweep.clean, sweep.strip


# ---------------------------------------------------------------- a loop that counts by itself


class CountsTokens(Loop):
    """A function that ends when its tokens are used up, as the scenario says."""

    most = 0

    def limit(self) -> int:
        return int(self.env.limits.tokens or 10**9)

    async def run(self) -> Any:
        n_tokens = 0
        while True:
            if n_tokens >= self.limit():
                return Ending("limit_reached", limit="tokens")
            answer: Any = await self.client.chat.completions.create(model="m", messages=self.messages, tools=self.env.tool_schemas)
            n_tokens += answer.usage.total_tokens
            message = answer.choices[0].message
            if not message.tool_calls:
                return message.content
            if n_tokens >= self.limit():
                return Ending("limit_reached", limit="tokens")
            self.messages.append(self.echo(message))
            self.messages += await self.calls(message.tool_calls)


class CountsTokensLate(CountsTokens):
    """Its tokens are off by one."""

    def limit(self) -> int:
        return super().limit() + 1


def of(loop: type[Loop], **given: Any) -> Sweep:
    wanted = scenario(**{**FIELDS, "limits": {"tokens": 1_000, **given}})
    return wanted.sweep(subject(lambda env: loop(env).run(), name=loop.__name__), "limit")


@pytest.mark.conformance("100")
def test_a_function_is_held_to_the_limits_that_the_scenario_sets() -> None:
    clean, late = of(CountsTokens), of(CountsTokensLate)
    assert [cell.limit for cell in clean.cells if cell.limit and cell.limit[0] == "tokens"] == [("tokens", n) for n in (60, 61, 62)]
    assert {cell.outcome for cell in clean.cells if cell.limit and cell.limit[0] == "tokens"} == {CellOutcome.CLEAN}
    assert ("tokens", 60) in {cell.limit for cell in late.red}
    assert "the loop counts by itself, and the scenario sets no such limit" in clean.why


# ---------------------------------------------------------------- the count of bodies


@pytest.mark.conformance("100")
def test_bodies_within_a_body_do_not_count_as_calls() -> None:
    budget = Budget(Limits(tool_calls=3))
    facts = [ToolStart(CallId("c1"), "outer", "{}"), ToolStart(None, "inner", "{}", within=0), ToolEnd(1, ToolOutcome.OK)]
    for seq, fact in enumerate(facts):
        budget.apply(Event(seq, fact, Origin.PROBE))
    assert budget.n_bodies == 1


@pytest.mark.conformance("57", "100")
@pytest.mark.parametrize("name", ["parked", "cancelled-while-asked"])
def test_a_question_needs_room_for_its_call_since_nobody_is_asked_in_vain(name: str) -> None:
    path = REPO / "scenarios" / "approval" / f"{name}.yaml"
    sweep = BoundScenario(parse_scenario(path.read_text("utf-8"), str(path), name)).sweep(None, "limit")
    assert (sweep.clean, values(sweep)["tool_calls"]) == (True, [1, 2, 3]), sweep.strip
