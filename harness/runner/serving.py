"""A scenario's script behind an HTTP server on loopback, for programs that ask an OpenAI-compatible endpoint."""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Final

from harness import plugins
from harness.clock import SystemClock
from harness.errors import ConfigurationError
from harness.folds import outcome_of
from harness.models import ScriptedModel
from harness.redaction import known_secrets, redact_secrets
from harness.server import Desk, Exchange, HistoryCheck, Went, asking
from harness.server.loopback import API_KEY, LOOPBACK, LoopbackServer
from harness.types.codes import Outcome
from harness.types.jsontext import canonical_json
from harness.types.records import Finding, Verdict
from harness.types.scenario import Scenario
from harness.types.script import ScriptEntry, ScriptFollows, ScriptReply

SERVED: Final = "scripted"


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """How a script is served. ``told`` hears of each request as it ends, in the server's thread."""

    host: str = LOOPBACK
    port: int = 0
    history: HistoryCheck = HistoryCheck.STRICT
    allow_leftovers: bool = False
    told: Callable[[Exchange], None] | None = None
    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))


class Served:
    """The server of one scenario; it listens while it is entered.

    Replies are looked up by the number of answers that a request shows wherever the script has one reply
    for each (so runs may begin anew, and in parallel), else they come one after the other. Raises
    ConfigurationError for a scenario without a script, and for an address that cannot be had.
    """

    def __init__(self, scenario: Scenario, options: ServeOptions | None = None) -> None:
        if scenario.script is None:
            raise ConfigurationError(
                f"scenario {scenario.id!r} has no script to serve: write one, or record it and use 'harness run'"
            )
        self.scenario = scenario
        self.options = options = options or ServeOptions()
        self.used_up = threading.Event()
        clock = SystemClock()
        self.follows = _follows(scenario.script, scenario.script_follows)
        self._model = ScriptedModel(
            scenario.script, scenario=scenario.id, clock=clock, resolve=plugins.resolve, follows=self.follows,
            allow_leftovers=scenario.allow_leftovers or options.allow_leftovers,
        )  # fmt: skip
        names = [scenario.model.name] if scenario.model else []
        self._desk = Desk(
            asking(self._model), faults=scenario.faults, history=options.history, models=[*names, SERVED],
            now_ms=_since(clock), told=self._ended, title=scenario.id,
        )  # fmt: skip
        self._server = LoopbackServer(self._desk, host=options.host, port=options.port)

    def __enter__(self) -> Served:
        """Listen."""
        self._server.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop: every request ends."""
        self._server.__exit__(kind, error, trace)

    @property
    def base_url(self) -> str:
        """``http://127.0.0.1:port/v1``."""
        return self._server.base_url

    @property
    def api_key(self) -> str:
        """A key that will do (any does)."""
        return API_KEY

    @property
    def environment(self) -> dict[str, str]:
        """What a program needs in its environment to ask this server."""
        return {"OPENAI_BASE_URL": self.base_url, "OPENAI_API_KEY": self.api_key}

    @property
    def requests(self) -> tuple[Exchange, ...]:
        """Every request so far that reached the model, in the order in which they came."""
        return tuple(one for one in self._desk.exchanges if one.number)

    @property
    def refusals(self) -> tuple[str, ...]:
        """What was asked for and is not offered."""
        return tuple(self._desk.refusals)

    @property
    def n_left(self) -> int:
        """Replies of the script that nobody has asked for."""
        return self._model.n_left

    def verdicts(self) -> tuple[Verdict, ...]:
        """The script (dry, left over), the faults (unfired), the histories (refused); INVALID where nobody asked."""
        requests = self.requests
        if not requests:
            return (Verdict("requests", Outcome.INVALID, (Finding("requests", "nobody asked for anything"),)),)
        return (*self._model.closing_verdicts(), self._faults(), _histories(requests))

    @property
    def outcome(self) -> Outcome:
        """The worst of the verdicts."""
        return outcome_of(self.verdicts())

    def summary(self) -> str:
        """What happened, on one line."""
        went = Counter(one.went for one in self.requests)
        words = [f"{n} {kind}" for kind, n in sorted(went.items())]
        n_fired = len(self.scenario.faults) - len(self._desk.unfired)
        parts = [
            f"{_n(len(self.requests), 'request')}" + (f" ({', '.join(words)})" if words else ""),
            f"{_n(n_fired, 'fault')} fired",
            f"{_n(self.n_left, 'reply', 'replies')} unused",
        ]
        return ", ".join(parts)

    def line(self, exchange: Exchange) -> str:
        """A request as a line of the request log: JSON, secrets masked."""
        return redact_secrets(canonical_json(exchange.plain()), known_secrets(self.options.environ))

    def _faults(self) -> Verdict:
        unfired = self._desk.unfired
        if unfired and not (self.scenario.allow_leftovers or self.options.allow_leftovers):
            told = (f"request {one.request} never came: {one.text} did not happen" for one in unfired)
            return Verdict("faults", Outcome.FAIL, tuple(Finding("faults", text) for text in told))
        return Verdict("faults", Outcome.PASS, why=f"{_n(len(unfired), 'fault')} unfired")

    def _ended(self, exchange: Exchange) -> None:
        waiting = any(one.went is Went.OPEN for one in self._desk.exchanges)
        done = exchange.number > 0 and not (self._model.n_left or waiting or self._desk.unfired)
        if done and exchange.went is not Went.FAULT:  # whoever was disturbed is to ask again
            self.used_up.set()
        if self.options.told is not None:
            self.options.told(exchange)


def _follows(script: Sequence[ScriptEntry], wanted: ScriptFollows) -> ScriptFollows:
    plain = all(isinstance(one, ScriptReply) and not (one.fail or one.hang or one.empty) for one in script)
    return ScriptFollows.HISTORY if plain else wanted


def _histories(requests: Sequence[Exchange]) -> Verdict:
    refused = [one for one in requests if one.went is Went.REFUSED]
    findings = tuple(Finding("history", f"request {one.number} was refused with 400: {one.why}") for one in refused)
    return Verdict("history", Outcome.FAIL if findings else Outcome.PASS, findings)


def _since(clock: SystemClock) -> Callable[[], int]:
    began_ms = clock.now_ms()
    return lambda: clock.now_ms() - began_ms


def _n(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"
