"""What is no answer at all is the endpoint's doing; an answer that is damaged is the model's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx2
import pytest

from harness.errors import ModelError
from harness.runner.specs import ModelSource
from harness.types.codes import Code
from harness.types.doors import ModelCall
from harness.types.evaluation import Execute
from harness.types.scenario import Stub
from harness.types.trials import Owner
from tests.runner.evaluation.lab import (
    Endpoint,
    _Bytes,
    answers,
    evaluation,
    lines,
    plan,
    run,
    with_running,
)


def page(data: bytes, kind: str = "application/json") -> httpx2.Response:
    """A body with status 200."""
    return httpx2.Response(200, headers={"content-type": kind}, stream=_Bytes(data))


NO_ANSWERS = [
    pytest.param(b"<html>Login</html>", "text/html", id="html"),
    pytest.param(b"<html>Login</html>", "application/json", id="html-that-says-json"),
    pytest.param(b'{"id": "x", "choices": [', "application/json", id="cut-json"),
    pytest.param(b"", "application/json", id="nothing"),
    pytest.param(b"[]", "application/json", id="a-list"),
    pytest.param(b"{}", "application/json", id="an-empty-object"),
    pytest.param(b'{"id": "x", "choices": []}', "application/json", id="no-choices"),
    pytest.param(b'{"id": "x", "choices": [null]}', "application/json", id="a-choice-that-is-none"),
]
WAYS = [pytest.param((), id="whole"), pytest.param((("HARNESS_STREAM", "true"),), id="streamed"), pytest.param((("HARNESS_API", "responses"),), id="responses")]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("data", "kind"), NO_ANSWERS)
def test_a_body_that_is_no_answer_is_the_providers_and_never_counts_against_the_model(
    data: bytes, kind: str, way: tuple[tuple[str, str], ...], tmp_path: Path
) -> None:
    endpoint = Endpoint(lambda body, number: page(data, kind))
    made = with_running(evaluation(20, arms=("now",), trials=1), retries=0, at_once=1)
    ran = run(plan(tmp_path, made, environ=(("OPENAI_API_KEY", "k"), *way)), endpoint)
    assert {one.error.owner for one in lines(tmp_path) if one.error} == {Owner.PROVIDER}
    assert (ran.exit_code, len(endpoint.asked)) == (5, 10)  # where all are so, it stops
    assert "in a row" in ran.stopped


@pytest.mark.parametrize("way", WAYS[1:])
def test_a_stream_with_nothing_in_it_is_the_providers_too(way: tuple[tuple[str, str], ...], tmp_path: Path) -> None:
    endpoint = Endpoint(lambda body, number: page(b"", "text/event-stream"))
    run(plan(tmp_path, evaluation(1, arms=("now",), trials=1), environ=(("OPENAI_API_KEY", "k"), *way)), endpoint)
    (trial,) = lines(tmp_path)
    assert trial.error is not None
    assert trial.error.owner is Owner.PROVIDER


def nameless(body: dict[str, Any], number: int) -> dict[str, Any]:
    """An answer whose call has no name."""
    found = answers(body, number)
    found["choices"][0]["message"]["tool_calls"][0]["function"]["name"] = ""
    return found


def unfinished(body: dict[str, Any], number: int) -> dict[str, Any]:
    """An answer that does not say why it ended."""
    found = answers(body, number)
    found["choices"][0]["finish_reason"] = None
    return found


@pytest.mark.parametrize("behaviour", [nameless, unfinished])
def test_a_damaged_answer_still_counts_against_the_model(behaviour: Any, tmp_path: Path) -> None:
    run(plan(tmp_path, evaluation(1, arms=("now",), trials=1)), Endpoint(behaviour))
    (trial,) = lines(tmp_path)
    assert trial.error is not None
    assert trial.error.owner is Owner.AGENT


def login_page(call: ModelCall) -> Any:
    """What the door says of a login page."""
    return ModelError("no chat completion: response: is not JSON (JSONDecodeError: ...)", code=Code.DAMAGED_RESPONSE)


def damaged(call: ModelCall) -> Any:
    """What the door says of a call without a name."""
    return ModelError("call 1 of the answer has no name", code=Code.DAMAGED_RESPONSE)


@pytest.mark.parametrize(("name", "owner"), [("login_page", Owner.PROVIDER), ("damaged", Owner.AGENT)])
@pytest.mark.parametrize("execute", [Execute.FIRST, Execute.STUBS])
def test_a_whole_loop_and_a_first_decision_tell_them_apart_alike(name: str, owner: Owner, execute: Execute, tmp_path: Path) -> None:
    stubs = (("get_order", Stub(returns="1")), ("refund_order", Stub(returns="2")))
    made = evaluation(1, arms=("now",), trials=1, execute=execute, stubs=stubs)
    run(plan(tmp_path, made, source=ModelSource.OWN, model=f"{__name__}:{name}"))
    (trial,) = lines(tmp_path)
    assert trial.error is not None
    assert (trial.error.code, trial.error.owner) == (Code.DAMAGED_RESPONSE, owner)
