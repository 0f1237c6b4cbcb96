"""What a body came to stands in its end, whoever ran it; a loop that shows another text is found out."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from typing import Any

import pytest

from harness.mutants.plain import PlainLoop
from harness.mutants.plain.work import ShowsEachOthersResults, ShowsTheLastResultForAll
from harness.runner.broken import as_subject
from harness.testing import scenario, subject
from harness.types.codes import Code, Outcome, ToolOutcome
from harness.types.exchange import ToolEnd, ToolResult
from harness.types.jsontext import text_digest


@dataclasses.dataclass
class Order:
    id: int


class Secretive:
    """A value that cannot be read."""

    model_fields = ()

    def model_dump(self) -> Any:
        raise RuntimeError("not for you")


class Speechless(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


def ends_of(body: Callable[..., Any]) -> list[ToolEnd]:
    """The ends of one call of a wrapped function; what it raises is swallowed."""

    async def loop(env: Any) -> str:
        wrapped = env.wrap_function("look", body)
        await env.openai().chat.completions.create(model="m", messages=[{"role": "user", "content": env.task}])
        try:
            found = wrapped()
            if hasattr(found, "__await__"):
                await found
        except Exception:  # whatever the body raises: its end is looked at
            return "failed"
        return "done"

    script = [{"call": {"look": {}}}, {"say": "done"}]
    run = scenario(task="go", script=script, allow_leftovers=True).run(subject(loop))
    return [event.fact for event in run.trajectory.events if isinstance(event.fact, ToolEnd)]


@pytest.mark.parametrize("kind", ["plain", "async"])
@pytest.mark.parametrize(
    ("value", "text"),
    [
        pytest.param("found", "found", id="text"),
        pytest.param("found\n", "found", id="without-outer-blanks"),
        pytest.param({"b": 1, "a": [2.5, None]}, '{"a":[2.5,null],"b":1}', id="object"),
        pytest.param(None, "null", id="nothing"),
        pytest.param(Order(7), '{"id":7}', id="dataclass"),
        pytest.param("\ud800", "\ufffd", id="lone-surrogate"),
        pytest.param(object(), None, id="no-content"),
        pytest.param(Secretive(), None, id="cannot-be-read"),
        pytest.param(ValueError("boom"), "boom", id="exception"),
        pytest.param(Speechless(), None, id="exception-without-words"),
    ],
)
def test_the_end_of_a_wrapped_function_tells_what_it_came_to(kind: str, value: Any, text: str | None) -> None:
    def plain() -> Any:
        if isinstance(value, Exception):
            raise value
        return value

    async def coroutine() -> Any:
        return plain()

    (end,) = ends_of(plain if kind == "plain" else coroutine)
    assert end.digest == (None if text is None else text_digest(text))
    assert end.outcome is (ToolOutcome.ERROR if isinstance(value, Exception) else ToolOutcome.OK)


TWO = {
    "task": "go",
    "tools": {"from": "harness.mutants.lab:tools"},
    "script": [{"calls": [{"slow": {"x": 1}}, {"slow": {"x": 2}}]}, {"say": "done"}],
}


@pytest.mark.conformance("2")
@pytest.mark.parametrize(
    ("loop", "accused"),
    [
        pytest.param(PlainLoop, [], id="sound"),
        pytest.param(ShowsEachOthersResults, ["call_1_0", "call_1_1"], id="exchanged"),
        pytest.param(ShowsTheLastResultForAll, ["call_1_0"], id="the-last-for-all"),
    ],
)
def test_a_loop_that_shows_another_calls_text_is_accused_of_each_such_result(
    loop: type[PlainLoop], accused: list[str]
) -> None:
    run = scenario(**TWO).run(as_subject(loop, "loop"))
    failed = [verdict for verdict in run.verdicts if verdict.outcome is Outcome.FAIL]
    assert [verdict.check for verdict in failed] == ["result_truth"] * bool(accused)
    assert [finding.message.split("'")[1] for verdict in failed for finding in verdict.findings] == accused


class InItsOwnWords(PlainLoop):
    """Failures in a word, JSON with blanks, a prefix before all."""

    async def body(self, name: str, arguments: dict[str, Any]) -> str:
        return "Result: " + json.dumps(await self.tools[name](**arguments), indent=2)

    def failed(self, call: Any, error: Exception) -> str:
        return "failed"


def test_a_loop_that_tells_results_in_its_own_words_is_accused_of_nothing() -> None:
    run = scenario(**TWO).run(as_subject(InItsOwnWords, "loop"))
    assert [verdict.check for verdict in run.verdicts if verdict.outcome is Outcome.FAIL] == []


@pytest.mark.conformance("2", "60")
def test_the_built_in_loops_results_are_what_their_bodies_gave_and_a_cut_one_is_known_by_its_whole() -> None:
    long = {
        "task": "go",
        "tools": {"use": ["probe_huge"], "options": {"probe_huge": {"n_chars": 5000}}},
        "tool_policy": {"results": {"max_bytes": 1000}},
        "script": [{"call": "probe_huge"}, {"say": "done"}],
    }
    told = []
    for fields in (TWO, long):
        run = scenario(**fields).run()
        facts = [event.fact for event in run.trajectory.events]
        shown = [text_digest(str(fact.content)) for fact in facts if isinstance(fact, ToolResult)]
        told.append(shown == [fact.digest for fact in facts if isinstance(fact, ToolEnd)])
        assert [v.outcome for v in run.verdicts if v.check == "result_truth"] == [Outcome.PASS]
    assert told == [True, False]
    (result,) = (fact for fact in facts if isinstance(fact, ToolResult))
    assert result.code is Code.TRUNCATED
