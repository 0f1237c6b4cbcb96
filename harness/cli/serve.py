"""``harness serve``: a scenario's script as an OpenAI-compatible endpoint on loopback."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harness.cli.options import AsJson, collected, environment, let_names_resolve

if TYPE_CHECKING:
    from harness.cli.request_log import RequestLog
    from harness.runner import Served
    from harness.server import Exchange
    from harness.types.scenario import Scenario

_LOCAL = ("127.0.0.1", "::1", "localhost")


def serve(
    scenario: Annotated[Path, typer.Argument(help="A scenario file with a script.")],
    port: Annotated[int, typer.Option("--port", help="Port to listen on (default: a free one).")] = 0,
    host: Annotated[
        str, typer.Option("--host", help="Address to listen on; anything but loopback lets others ask.")
    ] = "127.0.0.1",
    log: Annotated[
        Path | None, typer.Option("--log", help="Write each request here, one JSON object a line, secrets masked.")
    ] = None,
    once: Annotated[bool, typer.Option("--once", help="End when the script is used up.")] = False,
    lenient: Annotated[
        bool, typer.Option("--lenient", help="Take histories and parameters that the real API refuses with 400.")
    ] = False,
    allow_leftovers: Annotated[
        bool, typer.Option("--allow-leftovers", help="Replies and faults that are left over are no failure.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Answer programs in any language from a script, until Ctrl-C."""
    from harness.cli.request_log import RequestLog
    from harness.runner import Served, ServeOptions
    from harness.server import HistoryCheck

    let_names_resolve()
    (found,) = _one(scenario)
    file = None if log is None else RequestLog(log)
    stop = threading.Event()
    with ExitStack() as stack:
        teller = _Teller(file, stop, once=once, as_json=as_json)
        options = ServeOptions(
            host=host, port=port, history=HistoryCheck.LENIENT if lenient else HistoryCheck.STRICT,
            allow_leftovers=allow_leftovers, told=teller, environ=dict(environment()),
        )  # fmt: skip
        served = teller.served = Served(found, options)
        if file is not None:
            stack.callback(file.close)
        with _ended_by_signals(stop), served:
            if file is not None:
                file.open()
            teller.begin(host)
            stop.wait()
    raise typer.Exit(teller.finish(log))


def _one(path: Path) -> tuple[Scenario, ...]:
    from harness.errors import UsageError

    found = collected([path], (), "")
    if len(found) != 1:
        raise UsageError(f"{path} holds {len(found)} scenarios; name the file of one")
    return found


@contextmanager
def _ended_by_signals(stop: threading.Event) -> Iterator[None]:
    """Ctrl-C and a termination signal are the usual ways to end a server: they set ``stop``."""
    numbers = (signal.SIGINT, signal.SIGTERM)
    earlier = [signal.signal(number, lambda *_: stop.set()) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, earlier, strict=True):
            signal.signal(number, handler)


class _Teller:
    """Tells of the server and its requests, on the way and at the end."""

    served: Served

    def __init__(self, log: RequestLog | None, stop: threading.Event, *, once: bool, as_json: bool) -> None:
        self._log = log
        self._stop = stop
        self._once = once
        self._as_json = as_json

    def __call__(self, exchange: Exchange) -> None:
        """One request has ended; called in the server's thread."""
        if self._log is not None:
            self._log.write(self.served.line(exchange))
        self._say(_line(exchange))
        if self._once and self.served.used_up.is_set():
            self._stop.set()

    def begin(self, host: str) -> None:
        """Where it listens, and what a program needs to find it."""
        served = self.served
        n_faults = len(served.scenario.faults)
        faults = f", {n_faults} {'fault' if n_faults == 1 else 'faults'}" if n_faults else ""
        how = "by the answers that a request shows" if served.follows == "history" else "one after the other"
        n_left = served.n_left
        self._say(
            f"{served.scenario.id}: {n_left} {'reply' if n_left == 1 else 'replies'} {how}{faults}; "
            "Chat Completions and Responses, whole and streamed"
        )
        for name, value in served.environment.items():
            self._say(f"  export {name}={value}")
        if host not in _LOCAL:
            self._say(f"  {host} is not loopback: whoever reaches this machine can ask")
        self._say("  Ctrl-C ends it" + (", and so does the last reply" if self._once else ""))

    def finish(self, log: Path | None) -> int:
        """The summary, and the exit code."""
        from harness.cli.output import say, say_json
        from harness.folds import EXIT_CODES

        served = self.served
        verdicts, code = served.verdicts(), EXIT_CODES[served.outcome]
        if self._as_json:
            say_json(self._plain(code))
            return code
        say(f"{served.outcome} {served.summary()}" + (f"; log: {log}" if log else ""))
        for verdict in verdicts:
            for finding in verdict.findings:
                say(f"  {verdict.check}: {finding.message}")
        return code

    def _plain(self, code: int) -> dict[str, Any]:
        served = self.served
        return {
            "exitCode": code,
            "scenario": served.scenario.id,
            "outcome": str(served.outcome),
            "requests": [one.plain() for one in served.requests],
            "findings": [finding.message for verdict in served.verdicts() for finding in verdict.findings],
            "unusedReplies": served.n_left,
        }

    def _say(self, text: str) -> None:
        from harness.cli.output import complain, say

        complain(text) if self._as_json else say(text)


def _line(exchange: Exchange) -> str:
    """One request for a reader."""
    place = f"#{exchange.number}" if exchange.number else exchange.method
    what = f"{exchange.dialect}{' stream' if exchange.stream else ''}" if exchange.dialect else exchange.path
    parts = [place, what, str(exchange.status or "-"), str(exchange.went), f"{exchange.took_ms} ms"]
    parts += [f"retry of #{exchange.retry_of}"] if exchange.retry_of else []
    parts += [exchange.fault] if exchange.fault else []
    return "  " + " · ".join(parts) + (f": {exchange.why}" if exchange.why else "")
