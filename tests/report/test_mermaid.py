"""The sequence diagram keeps to a subset of the syntax that every renderer draws, whatever was said."""

import dataclasses
import re

import pytest
from hypothesis import given

from harness.report import mermaid
from harness.report.mermaid import LIMIT_BYTES, label
from harness.testing import scenario
from harness.types.codes import CancelBy, CancelScope, Code, Origin, QueueDisposition
from harness.types.events import Event, Trajectory
from harness.types.exchange import ModelFailed
from harness.types.lifecycle import CancelDelivered, Note, RunQuiescent
from harness.types.reasons import Alive
from tests.compare.made import Maker, header, refund_run
from tests.report.nasty import NASTY
from tests.strategies import trajectories

TEXT = r"(?:[^#;\n\x00-\x1f%<>&\"`\\{}$|]|#\d+;)*"
WHO = r"(?:[UMT]|A\d*)"
LINES = re.compile(
    rf"    (?:participant [UAMT] as \w+|participant A\d+ as {TEXT}|{WHO}(?:->>|-->>|--x){WHO}: \w+{TEXT}"
    rf"|Note over [UAMT](?:,[UAMT])?: \w+{TEXT})"
)
DIAGRAM = """\
sequenceDiagram
    participant U as User
    participant A as Agent
    participant M as Model
    participant T as Tools
    U->>A: user: 17 × 38?
    A->>M: request: 1 message
    M-->>A: call calculator
    A->>T: run calculator #123;#34;expression#34;:#34;17 * 38#34;#125;
    T-->>A: result of calculator OK: 646
    A->>M: request: 3 messages
    M-->>A: answer: 646
    A-->>U: answer: 646
    Note over A: completed (final-answer)"""


ENDS = re.compile(rf"    (?:Note over ({WHO})(?:,({WHO}))?|({WHO})(?:->>|-->>|--x)({WHO})): ")


def check_syntax(diagram: str) -> None:
    """Only lines that every renderer takes, and only of those that take part: another would be drawn under its id."""
    head, *lines = diagram.split("\n")
    assert head == "sequenceDiagram"
    assert [line for line in lines if not LINES.fullmatch(line)] == []
    declared = {line.split()[1] for line in lines if line.startswith("    participant ")}
    used = {who for line in lines for found in ENDS.finditer(line) for who in found.groups() if who}
    assert used <= declared


@pytest.mark.article("13")
def test_a_run_is_a_sequence_of_user_agent_model_and_tools() -> None:
    run = refund_run(
        task="17 × 38?", answers=(([("calculator", '{"expression":"17 * 38"}')], None), ([], "646")), results=("646",)
    )
    assert mermaid(run) == DIAGRAM
    check_syntax(DIAGRAM)


@pytest.mark.article("13")
def test_each_child_agent_takes_part_under_its_name_and_answers_who_asked_it() -> None:
    run = scenario(
        task="go", agents={"planner": {"description": "x", "tools": ["clerk"]}, "clerk": {"description": "x"}},
        tools={"visible": ["planner"]},
        script=[
            {"call": {"planner": {"task": "plan"}}}, {"call": {"clerk": {"task": "add"}}},
            {"say": "42"}, {"say": "42 in all"}, {"say": "Done."},
        ],
    ).run()  # fmt: skip
    drawn = mermaid(run.trajectory)
    check_syntax(drawn)
    lines = [line.strip() for line in drawn.split("\n")]
    assert lines[3:5] == ["participant A1 as planner", "participant A2 as clerk"]
    order = ["A->>A1: user: plan", "A1->>A2: user: add", "A2-->>A1: answer: 42", "A1-->>A: answer: 42 in all", "A-->>U: answer: Done."]
    assert [line for line in lines if line in order] == order


@pytest.mark.parametrize("nasty", NASTY, ids=ascii)
def test_no_text_can_become_syntax(nasty: str) -> None:
    run = refund_run(task=nasty, answers=(([(nasty, nasty)], nasty), ([], nasty)), results=(nasty,))
    plain = refund_run(task="x", answers=(([("x", "x")], "x"), ([], "x")), results=("x",))
    check_syntax(mermaid(run))
    assert mermaid(run).count("\n") == mermaid(plain).count("\n")


@given(trajectories())
def test_the_diagram_of_any_trajectory_is_in_the_subset(trajectory: Trajectory) -> None:
    check_syntax(mermaid(trajectory))


@pytest.mark.parametrize(
    ("text", "shown"),
    [("a;b", "a#59;b"), ("#1", "#35;1"), ("x\ny", "x#92;ny"), ("é模", "é模"), ("l" * 90, "l" * 59 + "…")],
    ids=["semicolon", "hash", "line", "letters", "long"],
)
def test_labels_escape_what_has_a_meaning_and_are_cut(text: str, shown: str) -> None:
    assert label(text) == shown


def test_a_long_run_is_cut_below_what_renderers_take_and_says_so() -> None:
    answers = [([("search", '{"q":"' + "x" * 300 + '"}')], None)] * 900
    diagram = mermaid(refund_run(answers=answers, results=["r" * 300] * 900))
    assert len(diagram.encode()) <= LIMIT_BYTES
    assert len(diagram.encode()) > 0.9 * LIMIT_BYTES
    assert re.fullmatch(r"    Note over U,T: \d+ events more from event \d+ on", diagram.split("\n")[-1])
    check_syntax(diagram)


def with_children(n: int, *, arrows: int) -> Trajectory:
    """A run, and behind it so many child agents with one event each, which has an arrow or none."""
    run = refund_run()
    fact = ModelFailed(Code.SERVER, "x" * 500) if arrows else Note("x")
    made = [Event(len(run.events) + i, fact, Origin.PROBE, agent=f"call_{i}_{'模' * 30}") for i in range(n)]
    return dataclasses.replace(run, events=(*run.events, *made))


@pytest.mark.parametrize("n", [2, 60, 1_500])
@pytest.mark.parametrize("arrows", [0, 1])
def test_a_run_of_many_child_agents_is_cut_below_what_renderers_take_and_says_so(n: int, arrows: int) -> None:
    diagram = mermaid(with_children(n, arrows=arrows))
    assert len(diagram.encode()) <= LIMIT_BYTES
    check_syntax(diagram)
    declared = len(re.findall(r"(?m)^    participant A\d+ as ", diagram))
    left = re.search(r"Note over U,T: (\d+) agents? more without an arrow here", diagram)
    assert declared + (int(left[1]) if left else 0) == n
    if n > 1_000:
        assert left is not None
        assert bool(re.search(r"events more from event \d+ on", diagram)) is bool(arrows)


def test_errors_cancels_what_stays_alive_and_interruption_are_drawn() -> None:
    make = Maker()
    make.add(ModelFailed(Code.SERVER, "down"))
    make.add(CancelDelivered(CancelBy.USER, CancelScope.RUN, QueueDisposition.DROP))
    make.add(RunQuiescent((Alive("task", "poller"),)))
    lines = mermaid(Trajectory(header(), tuple(make.events))).split("\n")[5:]
    assert lines == [
        "    M--xA: error SERVER: down",
        "    Note over U,T: cancel delivered, by user",
        "    Note over T: still running: poller",
        "    Note over A: interrupted after none",
    ]
    cut = dataclasses.replace(refund_run(), events=refund_run().events[:25])
    assert "interrupted after call 'call_2_0' (turn 1, step 2, event 24)" in mermaid(cut)
