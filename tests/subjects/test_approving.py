"""Who answers for a person: the scenario's script, somebody's own approver, a terminal."""

from __future__ import annotations

import asyncio
import io
import os
from collections.abc import Iterator
from typing import Any, TextIO

import pytest

from harness.clock import Clocks, run_in_loop
from harness.errors import UnknownNameError, UsageError
from harness.loop import StopSignal
from harness.runner import RunOptions, RunSpec, execute
from harness.runner.approvers import find_approver
from harness.scenarios import scenario
from harness.subjects import FunctionSubject
from harness.subjects.approving import ScriptedApprover
from harness.subjects.terminal import TerminalApprover
from harness.types.codes import ClockKind
from harness.types.exchange import ToolResult
from harness.types.lifecycle import ApprovalAnswered
from harness.types.messages import CallId
from harness.types.policy import ApprovalReply, Question, ScriptedApproval, ScriptedReply

ASKED = Question(CallId("c1"), "write", '{"path":"x"}', "it writes")
WRITES: dict[str, Any] = {
    "task": "go",
    "tools": {"use": ["write_memory"], "memory": {}},
    "policy": {"tools": {"write_memory": "ask"}},
    "script": [{"call": {"write_memory": {"key": "a", "value": "b"}}}, {"say": "done"}],
}


# ---------------------------------------------------------------- scripted


def test_each_scripted_answer_is_given_once_to_the_first_question_that_it_fits() -> None:
    script = (
        ScriptedApproval(ScriptedReply.REJECT, tool="other"),
        ScriptedApproval(ScriptedReply.PARK, call="c2"),
        ScriptedApproval(ScriptedReply.ALLOW, tool="write", call="c1", after_ms=70),
        ScriptedApproval(ScriptedReply.UNAVAILABLE),
    )

    async def main(clock: Clocks) -> list[tuple[ApprovalReply, int]]:
        approver = ScriptedApprover(script, clock)
        given = []
        for _ in range(2):
            given.append((await approver.ask(ASKED, signal=StopSignal()), clock.now_ms()))
        with pytest.raises(LookupError):
            await approver.ask(ASKED, signal=StopSignal())
        return given

    assert run_in_loop(ClockKind.VIRTUAL, main) == [(ApprovalReply.ALLOW, 70), (ApprovalReply.UNAVAILABLE, 70)]


# ---------------------------------------------------------------- an own approver


class Yes:
    name = "yes"

    async def ask(self, question: Question, *, signal: Any) -> ApprovalReply:
        return ApprovalReply.ALLOW


ready = Yes()
nameless = object()


@pytest.mark.parametrize("name", ["Yes", "ready"])
def test_an_own_approver_answers_in_place_of_the_script(name: str) -> None:
    fields = {**WRITES, "policy": {"tools": {"write_memory": "ask"}, "approvals": [{"answer": "reject"}]}}
    spec = RunSpec(scenario(**fields), RunOptions(approver=f"{__name__}:{name}"))
    result = execute(spec)
    (answer,) = [event.fact for event in result.trajectory if isinstance(event.fact, ApprovalAnswered)]
    assert (answer.outcome, answer.by) == ("allowed", "yes")
    assert result.trajectory.header.clock is ClockKind.SYSTEM


@pytest.mark.parametrize(
    ("name", "error"),
    [("nobody", UnknownNameError), (f"{__name__}:nobody", UnknownNameError), (f"{__name__}:nameless", UsageError)],
)
def test_what_is_no_approver_is_refused_by_name(name: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        find_approver(name)


# ---------------------------------------------------------------- a terminal


@pytest.fixture
def terminal() -> Iterator[tuple[TextIO, int]]:
    """A terminal's two ends: what the program reads from, and where the person types."""
    person, program = os.openpty()
    with os.fdopen(program, "r", encoding="utf-8") as source:
        yield source, person
    os.close(person)


def ask_there(source: TextIO, output: TextIO, typed: list[tuple[float, str]], person: int) -> Any:
    async def main(clock: Clocks) -> ApprovalReply:
        loop = asyncio.get_running_loop()
        for delay_s, text in typed:
            loop.call_later(delay_s, os.write, person, text.encode())
        return await TerminalApprover(source, output).ask(ASKED, signal=StopSignal())

    return run_in_loop(ClockKind.SYSTEM, main)


@pytest.mark.parametrize(
    ("typed", "reply"),
    [
        ("y\n", ApprovalReply.ALLOW),
        (" YES \n", ApprovalReply.ALLOW),
        ("n\n", ApprovalReply.REJECT),
        ("park\n", ApprovalReply.PARK),
    ],
)
def test_a_person_types_an_answer(terminal: tuple[TextIO, int], typed: str, reply: ApprovalReply) -> None:
    output = io.StringIO()
    assert ask_there(terminal[0], output, [(0.0, typed)], terminal[1]) is reply
    assert "May write run with" in output.getvalue()
    assert "(it writes)" in output.getvalue()


def test_what_is_no_answer_is_asked_again(terminal: tuple[TextIO, int]) -> None:
    output = io.StringIO()
    assert (
        ask_there(terminal[0], output, [(0.0, "what?\n"), (0.02, "\n"), (0.04, "n\n")], terminal[1])
        is ApprovalReply.REJECT
    )
    assert output.getvalue().count("Please answer") == 2


def test_a_control_sequence_in_the_arguments_never_reaches_the_terminal(terminal: tuple[TextIO, int]) -> None:
    output = io.StringIO()

    async def main(clock: Clocks) -> ApprovalReply:
        os.write(terminal[1], b"y\n")
        asked = Question(CallId("c1"), "write", "\x1b[2Jhidden\u202e")
        return await TerminalApprover(terminal[0], output).ask(asked, signal=StopSignal())

    run_in_loop(ClockKind.SYSTEM, main)
    assert "\x1b" not in output.getvalue()
    assert "\u202e" not in output.getvalue()


@pytest.mark.conformance("57")
def test_where_the_input_is_no_terminal_nobody_is_there() -> None:
    output = io.StringIO()
    assert ask_there(io.StringIO("y\n"), output, [], 0) is ApprovalReply.UNAVAILABLE
    assert output.getvalue() == ""


def test_a_cancel_while_a_person_thinks_leaves_the_terminal_as_it_was(terminal: tuple[TextIO, int]) -> None:
    async def main(clock: Clocks) -> ApprovalReply:
        approver = TerminalApprover(terminal[0], io.StringIO())
        task = asyncio.create_task(approver.ask(ASKED, signal=StopSignal()))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        os.write(terminal[1], b"y\n")
        return await approver.ask(ASKED, signal=StopSignal())

    assert run_in_loop(ClockKind.SYSTEM, main) is ApprovalReply.ALLOW


def test_lines_that_come_together_answer_two_questions(terminal: tuple[TextIO, int]) -> None:
    async def main(clock: Clocks) -> list[ApprovalReply]:
        os.write(terminal[1], b"y\nn\n")
        approver = TerminalApprover(terminal[0], io.StringIO())
        return [await approver.ask(ASKED, signal=StopSignal()) for _ in range(2)]

    assert run_in_loop(ClockKind.SYSTEM, main) == [ApprovalReply.ALLOW, ApprovalReply.REJECT]


def test_under_the_terminal_a_run_takes_real_time_and_without_one_it_fails_closed() -> None:
    result = execute(RunSpec(scenario(**WRITES), RunOptions(approver="terminal")))
    assert result.trajectory.header.clock is ClockKind.SYSTEM
    (told,) = [event.fact for event in result.trajectory if isinstance(event.fact, ToolResult)]
    assert told.code == "APPROVAL_UNAVAILABLE"


# ---------------------------------------------------------------- a loop without a gate


async def own_loop(env: Any) -> str:
    return "done"


@pytest.mark.parametrize(("policy", "approver"), [({"read_only": True}, None), ({}, f"{__name__}:ready")])
def test_a_function_whose_calls_pass_no_gate_is_refused_under_a_policy(
    policy: dict[str, Any], approver: str | None
) -> None:
    fields = {**WRITES, "policy": policy, "script": [{"say": "done"}]}
    with pytest.raises(UsageError, match="pass no gate"):
        execute(RunSpec(scenario(**fields), RunOptions(approver=approver)), subject=FunctionSubject(own_loop))
