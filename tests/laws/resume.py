"""Kill runs at their n-th write, resume them, count what was done: no call takes effect twice, none without a line.

    python tests/laws/resume.py          what `make crash` runs besides: every write of every scenario here

A child process runs a scenario whose tool adds a line to a ledger of effects, the outbox; the sink's write hook kills it with
SIGKILL before, in the middle of, or behind its n-th write. The parent resumes the file, and looks at the outbox.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

REPO = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPO))

from harness import ToolContext, tool  # noqa: E402
from harness.errors import UsageError  # noqa: E402
from harness.runner import executing  # noqa: E402
from harness.store import open_sink, read_trajectory  # noqa: E402
from harness.testing import BoundScenario, EffectLedger, scenario  # noqa: E402
from harness.types.codes import Outcome, Status  # noqa: E402
from harness.types.exchange import ToolCall, ToolStart  # noqa: E402

OUTBOX = "HARNESS_TEST_OUTBOX"
PLACES = ("before", "torn", "behind")


@tool
def send(context: ToolContext, to: str, text: str) -> str:
    """Send a message."""
    EffectLedger(os.environ[OUTBOX]).add("send", {"to": to, "text": text}, context=context)
    return f"sent to {to}"


REGISTRY = (send,)


def outbox_scenario() -> BoundScenario:
    """Three sends in two steps and two turns, each with words of its own, so that a line tells its call."""
    return scenario(
        id="laws/outbox",
        tasks=["Tell Ada and Bob.", "Tell Cy."],
        tools={"from": "tests.laws.resume:REGISTRY"},
        script=[
            {"calls": [{"send": {"to": "ada", "text": "1"}}, {"send": {"to": "bob", "text": "2"}}]},
            {"say": "Told them."},
            {"call": {"send": {"to": "cy", "text": "3"}}},
            {"say": "Told all."},
        ],
        allow_leftovers=True,
        expect={"effects": {"send": {"at_most": 1, "per": "arguments"}}},
    )


@dataclass
class Tally:
    """What many kills came to."""

    kills: int = 0
    resumed: int = 0
    effects: int = 0
    unknown: int = 0
    wrong: list[str] = field(default_factory=list)


def run_killed(path: Path, outbox: Path, *, at: int, place: str) -> bool:
    """Run the scenario in a child that dies at its n-th write; False where it ended before that."""
    pid = os.fork()
    if pid == 0:
        try:
            os.environ[OUTBOX] = str(outbox)
            _run(path, at, place)
        finally:
            os._exit(0)
    _, status = os.waitpid(pid, 0)
    return os.WIFSIGNALED(status)


def _run(path: Path, at: int, place: str) -> None:
    left = [at]

    def write(descriptor: int, data: bytes) -> int:
        left[0] -= 1
        if left[0] == 0 and place != "behind":
            if place == "torn":
                os.write(descriptor, data[: len(data) // 2])
            os.kill(os.getpid(), signal.SIGKILL)
        n_written = os.write(descriptor, data)
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return n_written

    def opened(_: object, header: object, **options: object) -> object:
        return open_sink(path, header, write=write, **options)  # type: ignore[arg-type]

    executing.open_sink = opened  # type: ignore[assignment]  # the sink's own hook, in this child only
    outbox_scenario().run(folder=path.parent / "runs", workspace=path.parent)


def judge_killed(path: Path, outbox: Path, folder: Path, tally: Tally, name: str) -> None:
    """Resume what was left, and compare the outbox with the log."""
    os.environ[OUTBOX] = str(outbox)
    tally.kills += 1
    if not path.exists() or b"\n" not in path.read_bytes():
        if outbox.exists():
            tally.wrong.append(f"{name}: something was sent, and there is no log")
        return
    logged = {fact.arguments for fact in _facts(path) if isinstance(fact, ToolCall)}
    started = {str(fact.arguments) for fact in _facts(path) if isinstance(fact, ToolStart)}
    for line in _sent(outbox):
        to, _, text = line.partition(":")
        if not any(f'"{to}"' in call and f'"{text}"' in call for call in logged & started):
            tally.wrong.append(f"{name}: {line} was sent before its call was in the file")
    try:
        run = outbox_scenario().resume(path, folder=folder, workspace=outbox.parent)
    except UsageError as error:
        if "nothing is left" not in str(error) and "no event yet" not in str(error):
            tally.wrong.append(f"{name}: {error}")
        return
    tally.resumed += 1
    sent = _sent(outbox)
    doubled = [line for line, count in Counter(sent).items() if count > 1]
    if doubled:
        tally.wrong.append(f"{name}: sent twice: {doubled}")
    if run.status is not Status.COMPLETED:
        tally.wrong.append(f"{name}: ended {run.status}")
    bad = [one.check for one in run.verdicts if one.outcome in (Outcome.FAIL, Outcome.ERROR)]
    if bad:
        tally.wrong.append(f"{name}: fails {bad}")
    tally.effects += len(sent)
    tally.unknown += sum(getattr(event.fact, "code", None) == "TOOL_OUTCOME_UNKNOWN" for event in run.trajectory.events)


def _sent(outbox: Path) -> list[str]:
    """What was sent, as ``ada:1``, read with nothing of ours."""
    lines = outbox.read_text("utf-8").splitlines() if outbox.exists() else []
    arguments = [json.loads(line)["arguments"] for line in lines]
    return [f"{one['to']}:{one['text']}" for one in arguments]


def _facts(path: Path) -> list[object]:
    return [event.fact for event in read_trajectory(path).events]


def kill_everywhere(folder: Path, *, step: int = 1) -> Tally:
    """Kill at every n-th write (each ``step``-th), before, in and behind it."""
    tally = Tally()
    for place in PLACES:
        at = 1
        while True:
            here = folder / f"{place}-{at}"
            here.mkdir()
            path, outbox = here / "run.jsonl", here / "effects.jsonl"
            if not run_killed(path, outbox, at=at, place=place):
                break
            judge_killed(path, outbox, here / "resumed", tally, f"{place} write {at}")
            at += step
    return tally


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="harness-resume-") as name:
        tally = kill_everywhere(Path(name))
    _say(
        f"kill and resume: {tally.kills} kills, {tally.resumed} resumed, {tally.effects} effects, none twice,"
        f" {tally.unknown} outcomes unknown, {len(tally.wrong)} wrong"
    )
    for line in tally.wrong:
        _say(f"FAIL: {line}")
    return 1 if tally.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
