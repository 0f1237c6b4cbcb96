"""Models of other roles: each with its own script or cassette, opened beside the main one (ARTICLES 21)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from harness.errors import CassetteError, ModelError
from harness.models import RecordingDoor
from harness.protocols import Signal, World
from harness.runner import ModelSource, RunOptions, RunResult, execute, plan
from harness.runner.seats import cassettes_of
from harness.runner.specs import RunSpec
from harness.scenarios import scenario
from harness.types.codes import CancelBy, Code, Origin, Outcome, Status
from harness.types.doors import ModelCall
from harness.types.exchange import AssistantMessage, ModelFailed, RequestHeader
from harness.types.lifecycle import RunEnd, RunStart
from harness.types.messages import ChatUser, JsonText, MessageBuffer
from harness.types.profile import Profile
from harness.types.reasons import Concluded

TWO_ROLES = {
    "task": "x",
    "script": [{"say": "from main"}],
    "models": {"fallback": {"script": [{"say": "from the other"}]}, "summariser": {"model": "small"}},
}


class Never:
    """A signal that nobody sets."""

    is_set = False
    by: CancelBy | None = None

    async def wait(self) -> None:
        raise AssertionError("nobody waits")


@dataclass
class Asks:
    """A subject that asks the models of the roles named, once each, in this order."""

    roles: tuple[str, ...]
    name = "asks"
    profile = Profile()
    observed = (("run/start", Origin.SUBJECT), ("run/end", Origin.SUBJECT), ("model/error", Origin.PROBE))

    async def run(self, world: World) -> None:
        signal: Signal = Never()
        world.log.record(RunStart(), origin=Origin.SUBJECT)
        for role in self.roles:
            model = world.model if role == "main" else world.models[role]
            door = RecordingDoor(model, world.log, agent="" if role == "main" else role)
            call = ModelCall((), MessageBuffer([ChatUser(role)]).view(), JsonText("[]"), JsonText("{}"))
            try:
                answer = await door.ask(call, signal=signal)
            except ModelError:  # recorded by the door
                continue
            world.log.record(AssistantMessage(answer.content), origin=Origin.SUBJECT, agent=door._agent)
        world.log.record(RunEnd(Status.COMPLETED, Concluded()), origin=Origin.SUBJECT)


def ran(*roles: str, **fields: object) -> RunResult:
    one = scenario(**{**TWO_ROLES, "models": {"fallback": TWO_ROLES["models"]["fallback"]}, **fields})  # type: ignore[index,arg-type]
    return execute(plan([one], RunOptions())[0], subject=Asks(roles))


@pytest.mark.article("21")
def test_each_role_answers_from_its_own_script_and_the_header_names_them() -> None:
    result = ran("fallback", "main")
    said = [e.fact.content for e in result.trajectory.events if isinstance(e.fact, AssistantMessage)]
    assert said == ["from the other", "from main"]
    assert result.trajectory.header.models == (("main", "scripted"), ("fallback", "scripted"))
    assert [v.outcome for v in result.verdicts if v.check == "script"] == [Outcome.PASS]


def test_a_reply_that_a_role_has_left_fails_the_one_script_verdict_and_names_the_role() -> None:
    (verdict,) = [v for v in ran("main").verdicts if v.check == "script"]
    assert verdict.outcome is Outcome.FAIL
    assert ["models.fallback" in finding.message for finding in verdict.findings] == [True]


def test_what_is_left_over_is_told_of_each_role_and_what_to_do_about_it() -> None:
    fields: Any = {**TWO_ROLES, "script": [{"say": "a"}, {"say": "b"}]}
    fields["models"] = {"fallback": {"script": [{"say": "c"}]}}
    run = execute(RunSpec(scenario(id="s", **fields), RunOptions()), subject=Asks(("main",)))
    assert [finding.message for finding in run.findings] == [
        "'s (script)': 1 reply unused after 1 request. Remove them from the script, or say allow_leftovers.",
        "'s (models.fallback)': 1 reply unused after 0 requests. Remove them from the script, or say allow_leftovers.",
    ]


def test_leftovers_of_a_role_may_be_allowed() -> None:
    roles = {"fallback": {"script": [{"say": "unused"}], "allow_leftovers": True}}
    assert [v.outcome for v in ran("main", models=roles).verdicts if v.check == "script"] == [Outcome.PASS]


def test_an_injected_fault_fails_the_request_of_whichever_role_makes_it() -> None:
    at = {"kind": "model/request", "agent": "fallback"}
    result = ran("main", "fallback", inject=[{"at": at, "do": {"fault": {"code": "RATE_LIMIT"}}}])
    failed = [(e.agent, e.fact.code) for e in result.trajectory.events if isinstance(e.fact, ModelFailed)]
    assert failed == [("fallback", Code.RATE_LIMIT)]
    headers = [e.agent for e in result.trajectory.events if isinstance(e.fact, RequestHeader)]
    assert headers == ["", "fallback"]


def test_a_role_that_only_names_a_model_replays_a_cassette_of_its_own(tmp_path: Path) -> None:
    one = scenario(id="s", **TWO_ROLES)
    spec = RunSpec(one, RunOptions(cassettes=tmp_path))
    with pytest.raises(CassetteError, match=r"summariser=small\.yaml"):
        execute(spec, subject=Asks(("main",)))


def test_recording_asks_every_named_model_and_leaves_scripted_roles_scripted() -> None:
    spec = RunSpec(scenario(id="s", **{**TWO_ROLES, "model": "big"}), RunOptions(source=ModelSource.RECORD))
    assert [path.stem for path in cassettes_of(spec)] == ["big", "summariser=small"]
