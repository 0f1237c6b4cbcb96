"""Which model is asked, how: as the scenario says, and options and environment above it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness.errors import ConfigurationError, ScenarioError
from harness.runner import RunOptions, RunSpec
from harness.runner.preflight import preflight
from harness.runner.seats import asked_as, seats
from harness.runner.specs import ModelSource
from harness.scenarios import parse_scenario, to_document
from harness.types.model_spec import ModelApi, ModelSpec
from harness.types.scenario import Scenario

HEAD = "format: harness-scenario/1\ntask: hi\n"
TWO = HEAD + "model: {name: a, api: responses, stream: true, parameters: {seed: 1}}\nmodels: {fallback: {model: {name: b, profile: deepseek}}}\n"


def loaded(text: str) -> Scenario:
    return parse_scenario(text, "models.yaml")


def asked(text: str, **environ: str) -> dict[str, ModelSpec]:
    spec = RunSpec(loaded(text), RunOptions(source=ModelSource.CASSETTE, environ=tuple(environ.items())))
    return {seat.role: asked_as(spec, seat) for seat in seats(spec)}


def test_models_of_several_roles_are_asked_each_in_its_way() -> None:
    found = asked(TWO)
    assert found["main"] == ModelSpec("a", json.dumps({"seed": 1}, separators=(",", ":")), ModelApi.RESPONSES, stream=True)  # type: ignore[arg-type]
    assert found["fallback"] == ModelSpec("b", profile="deepseek")


def test_the_environment_goes_before_the_scenario_and_a_blank_says_nothing() -> None:
    found = asked(TWO, HARNESS_API="chat", HARNESS_STREAM="false", HARNESS_PROFILE="groq")
    assert {(one.api, one.stream, one.profile) for one in found.values()} == {(ModelApi.CHAT, False, "groq")}
    assert asked(TWO, HARNESS_API=" ", HARNESS_STREAM="", HARNESS_PROFILE=" ") == asked(TWO)
    assert asked(HEAD)["main"] == ModelSpec("local-model")


@pytest.mark.parametrize(("name", "value", "allowed"), [("HARNESS_API", "completions", "chat, responses"), ("HARNESS_STREAM", "yes", "false, true")])
def test_a_value_that_is_none_is_named_with_those_that_are(name: str, value: str, allowed: str) -> None:
    with pytest.raises(ConfigurationError, match=f"{name} is '{value}'; allowed are {allowed}"):
        asked(HEAD, **{name: value})


def test_an_unknown_profile_is_told_before_anything_runs() -> None:
    text = HEAD + "model: {name: a, profile: opnai}\n"
    with pytest.raises(ScenarioError, match="no adapter profile is named 'opnai'; there are compatible, deepseek"):
        preflight([loaded(text)], RunOptions(source=ModelSource.CASSETTE))


@pytest.mark.parametrize(
    ("field", "words"),
    [
        pytest.param("api: completions", "unknown value 'completions'", id="api"),
        pytest.param("stream: 1", "must be true or false", id="stream"),
        pytest.param("parameters: {stream: true}", "no parameter", id="a-stream-among-parameters"),
        pytest.param("parameters: {messages: []}", "no parameter", id="messages-among-parameters"),
        pytest.param("streaming: true", "unknown field 'streaming'", id="unknown"),
    ],
)
def test_a_field_that_is_wrong_is_refused_by_name(field: str, words: str) -> None:
    with pytest.raises(ScenarioError, match=words):
        loaded(HEAD + f"model: {{name: a, {field}}}\n")


@pytest.mark.parametrize("model", ["a", {"name": "a", "stream": True}, {"name": "a", "api": "responses", "profile": "openai", "parameters": {"seed": 1}}])
def test_a_model_is_written_as_it_was_read(model: Any) -> None:
    text = HEAD + f"model: {json.dumps(model)}\n"
    assert to_document(loaded(text))["model"] == model
    plain = loaded(HEAD + f"model: {json.dumps({'name': 'a'})}\n")
    assert (loaded(text).digest == plain.digest) == (model == "a")


def test_options_of_the_command_line_go_before_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from harness.cli.options import environment

    monkeypatch.setenv("HARNESS_API", "responses")
    monkeypatch.setenv("HARNESS_STREAM", "true")
    said = dict(environment(api="chat", stream=False))
    assert (said["HARNESS_API"], said["HARNESS_STREAM"], "HARNESS_PROFILE" in said) == ("chat", "false", False)
    assert dict(environment())["HARNESS_API"] == "responses"
