"""The loop against the real local model: what the loop must do whatever the model says, and what the model did.

    python cassettes/local-model/live.py          what `make live` runs; exit 0 where the loop held everywhere

Starts the server of this folder on a free port of loopback, and ends it. Writes `live.json` beside this file: which
model and server, when, and per run what was asked of the loop and what came. Right tools are the model's affair: they
are counted and told, and never fail this program. Exit 5 where the server does not start.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import platform
import re
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

HERE: Final = Path(__file__).resolve().parent
REPO: Final = HERE.parents[1]
sys.path.insert(0, str(REPO))

from harness.clock import wall_clock_iso  # noqa: E402
from harness.folds import EXIT_CODES, requests_of  # noqa: E402
from harness.runner import VERSION, ModelSource, RunOptions, RunResult, RunSpec, execute  # noqa: E402
from harness.runner.judging import EXPECTATIONS  # noqa: E402
from harness.scenarios import collect, scenario  # noqa: E402
from harness.types.codes import Outcome  # noqa: E402
from harness.types.exchange import AssistantChunk, ToolResult  # noqa: E402
from harness.types.scenario import Scenario  # noqa: E402

RESULTS: Final = HERE / "live.json"
MODEL: Final = "local-model"
READY_WITHIN_S: Final = 90
_CANCELLED: Final = re.compile(r"cancel task, id_task = \d+")
WEATHER: Final = "What is the weather in Oslo right now?"
BROKEN: Final = {"get_weather": {"raises": "the weather service is down"}}


@dataclass(frozen=True)
class Case:
    """One run: its scenario, and what the loop must have done (a text where it has not)."""

    name: str
    scenario: Scenario
    fault: Callable[[RunResult, Server], str]


@dataclass(frozen=True)
class Server:
    """The model's server: its base URL, and what it logs."""

    url: str
    log: Path

    def n_cancelled(self) -> int:
        """Requests whose client went away, as the server tells it."""
        return len(_CANCELLED.findall(self.log.read_text("utf-8", "replace")))


# ---------------------------------------------------------------- what is run


def asked(name: str, task: str, *, api: str = "chat", stream: bool = False, **fields: Any) -> Scenario:
    """A scenario for the local model, the same every time as far as the model is."""
    parameters: dict[str, Any] = {"max_tokens": 200, "temperature": 0}
    if api == "chat":  # Responses knows no seed
        parameters["seed"] = 1
    model = {"name": MODEL, "api": api, "stream": stream, "profile": "llama.cpp", "parameters": parameters}
    return scenario(id=f"live/{name}", task=task, model=model, **fields)


def cases() -> Iterator[Case]:
    """Every run, cheap ones first."""
    for api in ("chat", "responses"):
        for stream in (False, True):
            way = f"{api}, {'streamed' if stream else 'whole'}"
            tools = {"use": ["get_weather"]}
            one = asked(f"{api}-{stream}", WEATHER, api=api, stream=stream, tools=tools)
            yield Case(f"a tool is called and its result answered ({way})", one, completed)
    failing = {"use": ["get_weather"], "stub": BROKEN}
    one = asked("error", WEATHER, tools=failing, limits={"steps": 4})
    yield Case("a tool's error is told to the model, and the loop goes on", one, told_of_the_error)
    one = asked("limit", WEATHER, tools={"use": ["get_weather"]}, limits={"steps": 1})
    yield Case("a limit of one step ends the run behind its tools", one, limited)
    one = asked("cut", "Count from 1 to 200 in words.", stream=True)
    yield Case("an answer cut by max_tokens is incomplete", one, cut)
    for api in ("chat", "responses"):
        inject = [{"at": {"kind": "assistant/chunk", "nth": 5}, "do": "cancel"}]
        one = asked(f"cancel-{api}", "Count from 1 to 200.", api=api, stream=True, inject=inject)
        yield Case(f"a cancel in mid-stream reaches the server ({api})", one, stopped)


def completed(run: RunResult, _: Server) -> str:
    """The loop's own part of an ordinary run."""
    return "" if run.status == "completed" else f"ended {run.status} ({run.summary.reason})"


def told_of_the_error(run: RunResult, _: Server) -> str:
    """Where the tool was called, its failure is in the next request."""
    failed = [event.fact for event in run.trajectory if isinstance(event.fact, ToolResult) and event.fact.is_error]
    shown = [str(message) for request in requests_of(run.trajectory) for message in request.messages]
    if failed and not any("weather service is down" in text for text in shown):
        return "the model was not told of the error"
    return "" if failed else "the model called no tool, so nothing was shown"


def limited(run: RunResult, _: Server) -> str:
    """Ended by the limit where a tool was called, else by an answer."""
    n_results = sum(isinstance(event.fact, ToolResult) for event in run.trajectory)
    wanted = "limit_reached" if n_results else "completed"
    return "" if run.status == wanted and run.n_steps == 1 else f"ended {run.status} after {run.n_steps} steps"


def cut(run: RunResult, _: Server) -> str:
    """Incomplete, with what came."""
    return "" if run.status == "incomplete" else f"ended {run.status} ({run.summary.reason})"


def stopped(run: RunResult, server: Server) -> str:
    """Cancelled at the fifth chunk, nothing behind it, and the server saw its client go."""
    n_chunks = sum(isinstance(event.fact, AssistantChunk) for event in run.trajectory)
    if run.status != "cancelled" or n_chunks != 5:
        return f"ended {run.status} after {n_chunks} chunks"
    for _ in range(100):
        if server.n_cancelled():
            server.log.write_text("", "utf-8")  # the next case looks for its own
            return ""
        time.sleep(0.1)
    return "the server did not see its client go within 10 s"


# ---------------------------------------------------------------- running


def options(server: Server, folder: Path) -> RunOptions:
    """Live against this server."""
    environ = (("OPENAI_API_KEY", "local"), ("OPENAI_BASE_URL", server.url))
    return RunOptions(source=ModelSource.LIVE, folder=folder, environ=environ)


def loop_case(case: Case, chosen: RunOptions, server: Server) -> dict[str, Any]:
    """One line of the results."""
    run = execute(RunSpec(case.scenario, chosen))
    bad = [verdict for verdict in run.verdicts if verdict.outcome is not Outcome.PASS]
    findings = [f"{one.check}: {one.message}" for verdict in bad for one in verdict.findings]
    fault = case.fault(run, server)
    wrong = [*([fault] if fault else []), *findings]
    return {"what": case.name, "held": not wrong, **({"wrong": wrong} if wrong else {}), **seen(run)}


def seen(run: RunResult) -> dict[str, Any]:
    """What the model did."""
    calls = [f"{call.name}({call.arguments})" for call in run.summary.calls]
    answer, took_ms = (run.answer or "")[:120], run.summary.duration_ms
    return {"status": str(run.status), "steps": run.n_steps, "calls": calls, "ms": took_ms, "answer": answer}


def choices(chosen: RunOptions) -> list[dict[str, Any]]:
    """The shipped scenarios of this model, asked anew: does it still choose as it was recorded?"""
    rows = []
    for one in collect([REPO / "scenarios" / "recorded"], configured=()):
        run = execute(RunSpec(one, chosen))
        failed = sorted({verdict.check for verdict in run.verdicts if verdict.outcome is Outcome.FAIL})
        broken = [name for name in failed if name not in EXPECTATIONS]
        row: dict[str, Any] = {"scenario": one.id, "as recorded": not failed}
        rows.append(row | ({"loop broke": broken} if broken else {}) | seen(run))
    return rows


@contextmanager
def served(python: Path, threads: int) -> Iterator[Server]:
    """The server of this folder while the block runs. Raises RuntimeError where it does not start."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with tempfile.TemporaryDirectory(prefix="harness-live-") as folder:
        log = Path(folder, "server.log")
        with log.open("ab") as out:
            command = [str(python), str(HERE / "serve.py"), "--port", str(port), "--threads", str(threads)]
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=out, text=True)
        try:
            assert process.stdout is not None
            line = process.stdout.readline() if _readable(process) else ""
            if not line.startswith("READY"):
                raise RuntimeError(f"the server did not start: {log.read_text('utf-8', 'replace')[-500:]}")
            yield Server(f"http://127.0.0.1:{port}/v1", log)
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(20)


def _readable(process: subprocess.Popen[str]) -> bool:
    assert process.stdout is not None
    return bool(select.select([process.stdout], [], [], READY_WITHIN_S)[0])


def server_version(python: Path) -> str:
    """Name and version of the server's package, as its own environment has it."""
    asks = "import importlib.metadata as m; print(m.version('xllamacpp'))"
    asked = subprocess.run([str(python), "-c", asks], capture_output=True, text=True, check=True)
    return f"xllamacpp {asked.stdout.strip()}"


def about(python: Path) -> dict[str, str]:
    """Who answered, and when."""
    return {
        "model": "Qwen2.5-Coder-1.5B-Instruct Q4_K_M",
        "server": server_version(python),
        "date": wall_clock_iso(),
        "harness": VERSION,
        "python": platform.python_version(),
        "openai": importlib.metadata.version("openai"),
    }


def told(row: dict[str, Any]) -> str:
    """A line of the results, as it is printed."""
    line = f"{'held ' if row['held'] else 'BROKE'}  {row['what']}  [{row['status']}, {row['steps']} steps]\n"
    return line + "".join(f"       {text}\n" for text in row.get("wrong", ()))


def asked_all(server: Server, folder: Path) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """What the loop made of every case, and what the model chose in the shipped scenarios."""
    chosen, rows = options(server, folder), []
    for case in cases():
        rows.append(loop_case(case, chosen, server))
        say(told(rows[-1]))
    return rows, choices(chosen)


def say(text: str) -> None:
    """Print at once: a case takes seconds."""
    sys.stdout.write(text)
    sys.stdout.flush()


def main(argv: list[str] | None = None) -> int:
    """Run all, print, write the results."""
    parser = argparse.ArgumentParser(description="The loop against the real local model.")
    default = REPO / ".venv-model" / "bin" / "python"
    parser.add_argument("--python", type=Path, default=default, help="of the server's environment")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--out", type=Path, default=RESULTS)
    arguments = parser.parse_args(argv)
    if not arguments.python.exists():
        sys.stderr.write(f"no environment at {arguments.python}: run `make model` first\n")
        return EXIT_CODES[Outcome.ERROR]
    try:
        with (
            served(arguments.python, arguments.threads) as server,
            tempfile.TemporaryDirectory(prefix="harness-live-") as folder,
        ):
            rows, chose = asked_all(server, Path(folder))
    except RuntimeError as error:
        sys.stderr.write(f"{error}\n")
        return EXIT_CODES[Outcome.ERROR]
    n_held, n_same = sum(row["held"] for row in rows), sum(row["as recorded"] for row in chose)
    broke = [row["scenario"] for row in chose if "loop broke" in row]
    say(f"\nthe loop held in {n_held} of {len(rows)} cases and {len(chose) - len(broke)} of {len(chose)} scenarios; ")
    say(f"the model chose as recorded in {n_same} of {len(chose)}\n")
    found = {"about": about(arguments.python), "loop": rows, "choices": chose}
    arguments.out.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", "utf-8")
    say(f"written to {os.path.relpath(arguments.out)}\n")
    return 0 if n_held == len(rows) and not broke else 1


if __name__ == "__main__":
    sys.exit(main())
