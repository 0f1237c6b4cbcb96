"""Kill evaluations at random instants and run them again: the same summary, and no answer paid twice.

    python tests/laws/kill_evaluations.py 100      what `make kill-evaluations N=100` runs; exit 1 on any fault

A child runs the real command line against a model that writes down every answer before it gives it: what stands in
that ledger is paid. The parent kills the child with SIGKILL at a seeded instant, reads which trials have a line, and
runs the same command again, until it comes to its end. A trial that has a line must never be paid again; one that was
under way may. Every second evaluation asks a live endpoint and records: there an answer is safe once it is in the
journal of the recording. An evaluation that holds its lines back must be seen to pay twice, or the instrument itself
is not to be trusted. Children are forked from this warm process.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import Any

REPO = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPO))

import harness.runner.evaluation.running as running  # noqa: E402
from harness.cassettes import read_cassette, read_journal  # noqa: E402
from harness.cli.main import run_app  # noqa: E402
from harness.store import read_trials  # noqa: E402
from harness.types.script import ScriptCall, ScriptReply  # noqa: E402

N_CASES, N_TRIALS, ARMS = 20, 2, ("now", "new")
N_PLANNED = N_CASES * N_TRIALS * len(ARMS)
AT_ONCE = 3
ANSWER_S = 0.01
HELD_BACK = 25
MOST_KILLS_A_FOLDER = 3
TOOL = {"name": "get_order", "description": "Finds an order.", "parameters": {"type": "object", "properties": {"id": {"type": "integer"}}}}


def document(model: dict[str, Any]) -> str:
    """The evaluation as JSON, which is YAML."""
    cases = [{"id": f"case-{n}", "ask": f"Where is order {n}?", "expect": {"get_order": {"id": n if n % 3 else 0}}} for n in range(N_CASES)]
    arms = {name: {"system": f"You are {name}."} for name in ARMS}
    fields = {"format": "harness-evaluation/1", "id": "killed", "tools": {"schemas": [TOOL]}, "model": model, "trials": N_TRIALS}
    return json.dumps({**fields, "arms": arms, "cases": cases, "running": {"at_once": AT_ONCE}})


# ---------------------------------------------------------------- what answers


def pay(case: str, arm: str) -> None:
    """Write down that this answer was given: one write of one line."""
    with open(os.environ["LEDGER"], "ab", buffering=0) as ledger:
        ledger.write(f"{case} {arm}\n".encode())


async def answer(call: Any) -> ScriptReply:
    """What the model says; paid before it is given."""
    import asyncio

    number = int(call.messages[-1].content.split()[-1].rstrip("?"))
    await asyncio.sleep(ANSWER_S)
    pay(f"case-{number}", call.system[0].content.removeprefix("You are ").rstrip("."))
    return ScriptReply(calls=(ScriptCall("get_order", json.dumps({"id": number})),))


def serve(ready: int) -> None:
    """A live endpoint, in a process of its own."""
    from http.server import ThreadingHTTPServer

    class Quiet(ThreadingHTTPServer):
        def handle_error(self, *_: object) -> None:
            """Who asked is dead."""

    server = Quiet(("127.0.0.1", 0), _handler())
    os.write(ready, str(server.server_port).encode())
    os.close(ready)
    server.serve_forever()


def _handler() -> Any:
    from http.server import BaseHTTPRequestHandler

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            size = int(self.headers["Content-Length"])
            data = self.rfile.read(size)
            if len(data) < size:
                return  # who asked died on the way
            body = json.loads(data)
            number = int(body["messages"][-1]["content"].split()[-1].rstrip("?"))
            time.sleep(ANSWER_S)
            call = {"id": "c", "type": "function", "function": {"name": "get_order", "arguments": json.dumps({"id": number})}}
            message = {"role": "assistant", "content": None, "tool_calls": [call]}
            data = json.dumps({"id": "r", "object": "chat.completion", "created": 0, "model": "m", "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}).encode()
            pay(f"case-{number}", body["messages"][0]["content"].removeprefix("You are ").rstrip("."))
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """Nothing."""

    return Handler


@contextmanager
def served() -> Iterator[str]:
    """The endpoint's base URL; its process ends with the block."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(read)
        serve(write)
        os._exit(0)
    os.close(write)
    try:
        yield f"http://127.0.0.1:{os.read(read, 16).decode()}/v1"
    finally:
        os.close(read)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


# ---------------------------------------------------------------- one child


@dataclass(frozen=True)
class Instant:
    """When a child is killed: so long after it began, or so long after so many trials had their line."""

    after_s: float
    n_lines: int | None = None

    def wait(self, pid: int) -> None:
        """Return at that instant, or when the child has ended before it."""
        while self.n_lines is not None and not _has_ended(pid) and with_a_line().total() < self.n_lines:
            time.sleep(0.0005)
        time.sleep(self.after_s)


def _has_ended(pid: int) -> bool:
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def instant(chance: random.Random, life_s: float) -> Instant:
    """Mostly while it asks, else anywhere in its life."""
    if chance.random() < 0.3:
        return Instant(chance.uniform(0, life_s))
    return Instant(chance.uniform(0, 0.01), chance.randrange(N_PLANNED))


def run_child(arguments: list[str], *, buffered: bool, at: Instant | None) -> int | None:
    """Run the command in a fork; None where it was killed, else its exit code."""
    pid = os.fork()
    if pid == 0:
        code = 70
        try:
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, 1)
            os.dup2(os.open("said", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
            if buffered:
                _hold_lines_back()
            code = run_app(arguments)
        finally:
            os._exit(code)
    if at is not None:
        at.wait(pid)
        os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    return None if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


def _hold_lines_back() -> None:
    """The mutant: lines are acknowledged before they are in the file."""
    opened = running.open_trials

    def mutant(path: Any, header: Any, **more: Any) -> Any:
        held: list[bytes] = []

        def write(descriptor: int, data: bytes) -> int:
            held.append(data)
            if len(held) == HELD_BACK or b"trials/header" in data:
                os.write(descriptor, b"".join(held))
                held.clear()
            return len(data)

        return opened(path, header, write=write, **more)

    running.open_trials = mutant


# ---------------------------------------------------------------- what is safe


Key = tuple[str, str]


def ledger() -> Counter[Key]:
    """How often each case was paid in each arm."""
    path = Path(os.environ["LEDGER"])
    lines = path.read_text().splitlines() if path.exists() else []
    return Counter((case, arm) for case, arm in (line.split() for line in lines))


def settled_ledger() -> Counter[Key]:
    """The ledger once nobody writes it any more: the endpoint still answers what a killed process had asked."""
    before, now = None, ledger()
    while now != before:
        time.sleep(0.15)
        before, now = now, ledger()
    return now


def with_a_line() -> Counter[Key]:
    """How many trials of each case and arm are acknowledged."""
    path = Path("out/trials.jsonl")
    if not path.exists() or b"\n" not in path.read_bytes():
        return Counter()
    return Counter((one.case, one.arm) for one in read_trials(path))


def recorded() -> Counter[Key]:
    """How many answers of each case and arm are safe in a recording."""
    found: Counter[Key] = Counter()
    for arm in ARMS:
        for suffix in ("", ".2"):
            path = Path(f"cassettes/evaluations/killed/{arm}{suffix}.yaml")
            exchanges = {one.label for one in (*read_journal(path), *(read_cassette(path).exchanges if path.exists() else ()))}
            found.update((label, arm) for label in exchanges)
    return found


@dataclass
class Totals:
    """What many kills came to."""

    kills: int = 0
    folders: int = 0
    lines_at_kills: int = 0
    at_work: int = 0
    paid: int = 0
    planned: int = 0
    wrong: list[str] = field(default_factory=list)

    def line(self, name: str) -> str:
        return (
            f"{name}: {self.kills} kills in {self.folders} evaluations ({self.at_work} with some and not all trials acknowledged), "
            f"{self.planned} trials planned, {self.paid} answers paid, {len(self.wrong)} faults"
        )


def one_folder(chance: random.Random, totals: Totals, wanted: Wanted, *, record: bool, buffered: bool) -> None:
    """Kill one evaluation a few times, then let it come to its end."""
    arguments = ["evaluate", "killed.yaml", "--out", "out", *(["--record"] if record else [])]
    kills_before = totals.kills
    for number in range(MOST_KILLS_A_FOLDER + 1):
        paid_before = settled_ledger()
        safe = with_a_line()
        if record:
            safe = recorded() | safe
        at = instant(chance, wanted.life_s) if number < MOST_KILLS_A_FOLDER else None
        code = run_child(arguments, buffered=buffered, at=at)
        for key, n in (ledger() - paid_before).items():
            if n > N_TRIALS - safe[key]:
                totals.wrong.append(f"{key} was paid {n} times with {safe[key]} of {N_TRIALS} acknowledged")
        if code is None:
            totals.kills += 1
            n_lines = with_a_line().total()
            totals.lines_at_kills += n_lines
            totals.at_work += 0 < n_lines < N_PLANNED
        elif code != wanted.code:
            totals.wrong.append(f"exit code {code}: {Path('said').read_text()[:300]}")
            break
        elif Path("out/summary.json").read_bytes() != wanted.summary:
            totals.wrong.append("another summary")
    n_paid = ledger().total()
    totals.folders += 1
    totals.planned += N_PLANNED
    totals.paid += n_paid
    n_kills = totals.kills - kills_before
    if n_paid > N_PLANNED + n_kills * AT_ONCE:
        totals.wrong.append(f"{n_paid} answers were paid for {N_PLANNED} trials and {n_kills} kills with {AT_ONCE} under way")
    if record and recorded().total() != N_PLANNED:
        totals.wrong.append(f"{recorded().total()} of {N_PLANNED} answers are in the recordings")


def kill_many(n: int, *, seed: int, record: bool, buffered: bool = False, url: str = "") -> Totals:
    """Kill evaluations until it was done ``n`` times."""
    chance, totals = random.Random(f"{seed} {record} {buffered}"), Totals()
    model = {"name": "m"} if record else {"from": "tests.laws.kill_evaluations:answer"}
    os.environ |= {"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": url} if record else {}
    home = os.getcwd()
    with tempfile.TemporaryDirectory(prefix="harness-") as root:
        try:
            wanted = _undisturbed(Path(root), model, record=record)
            while totals.kills < n and len(totals.wrong) < 20:
                _enter(Path(root) / f"folder-{totals.folders}", model)
                one_folder(chance, totals, wanted, record=record, buffered=buffered)
        finally:
            os.chdir(home)
    return totals


def _enter(folder: Path, model: dict[str, Any]) -> None:
    folder.mkdir()
    os.chdir(folder)
    Path("killed.yaml").write_text(document(model))
    ledger_file = Path(os.environ["LEDGER"])
    ledger_file.unlink(missing_ok=True)


@dataclass(frozen=True)
class Wanted:
    """What an evaluation comes to that nobody disturbs, its exit code, and how long it takes in a warm process."""

    summary: bytes
    code: int
    life_s: float


def _undisturbed(root: Path, model: dict[str, Any], *, record: bool) -> Wanted:
    """Run it twice, the first time here, so that what is loaded on the way is there in every child."""
    arguments = ["evaluate", "killed.yaml", "--out", "out", *(["--record"] if record else [])]
    _enter(root / "warm", model)
    with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
        run_app(arguments)
    _enter(root / "undisturbed", model)
    began_s = time.monotonic()
    code = run_child(arguments, buffered=False, at=None)
    assert code == 1, Path("said").read_text()  # every third case is answered wrong
    return Wanted(Path("out/summary.json").read_bytes(), code, time.monotonic() - began_s)


def verdict(scripted: Totals, recording: Totals, buffered: Totals) -> list[str]:
    """What is wrong with what was found; [] where nothing is."""
    wrong = [f"{name}: {one}" for name, totals in (("scripted", scripted), ("recording", recording)) for one in totals.wrong]
    for name, totals in (("scripted", scripted), ("recording", recording)):
        if totals.at_work < totals.kills / 4:
            wrong.append(f"{name}: only {totals.at_work} of {totals.kills} kills came at work; the instrument shows nothing")
    if not any("were paid" in one for one in buffered.wrong):
        wrong.append("an evaluation that holds its lines back was not seen to pay twice: the instrument shows nothing")
    return wrong


def main(n: int, seed: int = 1) -> int:
    sys.modules["tests.laws.kill_evaluations"] = sys.modules["__main__"] if __name__ == "__main__" else sys.modules[__name__]
    with tempfile.TemporaryDirectory(prefix="harness-") as folder:
        os.environ["LEDGER"] = str(Path(folder) / "ledger")
        with served() as url:
            recording = kill_many(n // 2, seed=seed, record=True, url=url)
        scripted = kill_many(n - n // 2, seed=seed, record=False)
        buffered = kill_many(max(6, n // 10), seed=seed, record=False, buffered=True)
    for name, totals in (("scripted", scripted), ("recording", recording), ("a mutant that holds lines back", buffered)):
        print(totals.line(name))
    wrong = verdict(scripted, recording, buffered)
    print("\n".join(wrong[:20]) if wrong else f"PASS: {scripted.kills + recording.kills} kills, every summary the same, no trial paid twice")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 100))
