"""The model door of a user's function: in process under virtual time, or on loopback in real time.

In process costs nothing and repeats itself; it needs a loop that is async and asks through our client.
Every other loop gets a real server: one that is not async, and one that makes its own client.
"""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, NoReturn, Protocol

from harness.errors import ModelError, UsageError
from harness.protocols import World
from harness.server import Asked, Desk, ModelTransport, Patience, Witness
from harness.server.beside import Beside
from harness.server.loopback import API_KEY, LoopbackServer
from harness.types.doors import Answer
from harness.wire.requests import ChatRequest

if TYPE_CHECKING:
    import openai

NOT_ASYNC: Final = "the loop is a plain function, not an async one"
OWN_CLIENT: Final = "the loop makes a client of its own"
SYNC_CLIENT: Final = "the loop uses a synchronous client"
GIVES_AWAITABLE: Final = "the loop is async after all: it gave something to await"
DECLARED: Final = "its subject is declared to run on loopback"
_AWAITED: Final = ("Awaitable", "Coroutine", "Future", "Task")


class Door(StrEnum):
    """How a function reaches its model. AUTO: in process where it can be, else on loopback."""

    AUTO = "auto"
    IN_PROCESS = "in-process"
    LOOPBACK = "loopback"


class OtherDoor(UsageError):
    """The loop needs the other door: nothing is wrong, and the run begins anew. ``why`` goes to its report."""

    def __init__(self, why: str, to: Door = Door.LOOPBACK) -> None:
        super().__init__(f"{why}: its subject's door is to be {Door.AUTO.value!r} or {to.value!r}")
        self.why = why
        self.to = to


class ModelDoor(Protocol):
    """How a function asks its model."""

    @property
    def base_url(self) -> str: ...
    @property
    def refusals(self) -> list[str]: ...
    def sync_openai(self) -> openai.OpenAI: ...

    def openai(self) -> openai.AsyncOpenAI: ...

    async def called(self, function: Callable[[Any], Any], env: Any, name: str) -> Any:
        """The value of ``function(env)``, awaited."""
        ...


class InProcess:
    """A client on our transport. ``needed`` says why the other door was asked for; "" for not at all."""

    def __init__(self, world: World, witness: Witness, patience: Patience) -> None:
        self.transport = ModelTransport(
            witness.ask, failed=witness.failed, patience=patience, faults=world.scenario.faults
        )
        self.needed = ""

    @property
    def refusals(self) -> list[str]:
        """What was asked for and is not offered."""
        return self.transport.refusals

    @property
    def base_url(self) -> str:
        """There is none in process. Raises OtherDoor."""
        self._needs(OWN_CLIENT)

    def sync_openai(self) -> openai.OpenAI:
        """A synchronous client cannot share the run's event loop. Raises OtherDoor."""
        self._needs(SYNC_CLIENT)

    def openai(self) -> openai.AsyncOpenAI:
        """A client whose every request is answered in process."""
        from harness.models import in_process_client

        return in_process_client(self.transport)

    async def called(self, function: Callable[[Any], Any], env: Any, name: str) -> Any:
        """The value, made in the run's own event loop. Raises UsageError for a function that is not async."""
        value = function(env)
        if not inspect.isawaitable(value):
            raise UsageError(
                f"subject {name!r} gave a {type(value).__name__}, nothing to await: a loop that is not async "
                "is named as a plain function (def), or declared with door='loopback'"
            )
        try:
            return await value
        finally:
            await self.transport.aclose()

    def _needs(self, why: str) -> NoReturn:
        self.needed = why
        raise OtherDoor(why)


class OnLoopback:
    """A real server beside the run; the function runs in a thread of its own."""

    def __init__(self, world: World, witness: Witness, patience: Patience, *, declared: bool) -> None:
        self._beside = beside = Beside()
        self._declared = declared
        self._witness = witness
        self._patience = patience
        self._clients: list[Any] = []
        self._desk = Desk(
            beside.asking(self._ask),
            failed=self._failed,
            faults=world.scenario.faults,
            now_ms=world.clock.now_ms,
            title=world.scenario.id,
            called="model server on loopback",
        )
        self._server = LoopbackServer(self._desk)

    @property
    def beside(self) -> Beside:
        """Hands work over to the run's event loop."""
        return self._beside

    @property
    def refusals(self) -> list[str]:
        """What was asked for and is not offered."""
        return self._desk.refusals

    @property
    def base_url(self) -> str:
        """Where the server listens."""
        return self._server.base_url

    def sync_openai(self) -> openai.OpenAI:
        """A synchronous client of the server; closed with the run."""
        from harness.models.loopback_clients import loopback_sync_client

        self._clients.append(client := loopback_sync_client(self.base_url))
        return client

    def openai(self) -> openai.AsyncOpenAI:
        """A client of the server; closed with the run."""
        from harness.models.loopback_clients import loopback_client

        self._clients.append(client := loopback_client(self.base_url))
        return client

    async def called(self, function: Callable[[Any], Any], env: Any, name: str) -> Any:
        """The value, made in another thread while the server listens and the environment names it."""
        with self._server, _environment(self.base_url):
            return await self._beside.run(functools.partial(self._work, function, env), name=f"the loop {name}")

    def _work(self, function: Callable[[Any], Any], env: Any) -> Any:
        if is_async(function):
            return self._closing(lambda: function(env))
        try:
            value = function(env)
        finally:
            for client in self._clients:
                if not inspect.iscoroutinefunction(client.close):
                    client.close()
        if inspect.iscoroutine(value) and not self._declared and not self._desk.bodies:
            value.close()
            raise OtherDoor(GIVES_AWAITABLE, Door.IN_PROCESS)
        return self._closing(lambda: value) if inspect.isawaitable(value) else value

    async def _closing(self, begin: Callable[[], Awaitable[Any]]) -> Any:
        try:
            return await begin()
        finally:
            for client in self._clients:
                closed = client.close()
                if inspect.isawaitable(closed):
                    await closed

    async def _ask(self, asked: Asked) -> Answer:
        await self._patience.admit()
        try:
            answer = await self._witness.ask(asked)
        except ModelError as error:
            self._patience.failed(error.code)
            raise
        self._patience.answered()
        return answer

    def _failed(self, request: ChatRequest | None, number: int, error: ModelError) -> None:
        self._beside.later(lambda: self._witness.failed(request, number, error))


@contextmanager
def _environment(base_url: str) -> Iterator[None]:
    """What clients read that are made without arguments; put back afterwards."""
    ours = {"OPENAI_BASE_URL": base_url, "OPENAI_API_KEY": API_KEY}
    earlier = {name: os.environ.get(name) for name in ours}
    os.environ.update(ours)
    try:
        yield
    finally:
        for name, value in earlier.items():
            if os.environ.get(name) != ours[name]:
                continue  # somebody else has set it meanwhile
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def is_async(function: Callable[..., Any]) -> bool:
    """Whether calling it gives something to await, as far as can be told without calling it."""
    found = _plain(function)
    if inspect.iscoroutinefunction(found):
        return True
    told = str(getattr(found, "__annotations__", {}).get("return", ""))
    return any(word in told for word in _AWAITED)


def is_plain(function: Callable[..., Any]) -> bool:
    """Whether it is written as a plain function (no lambda, which may well call an async one)."""
    found = _plain(function)
    return inspect.isroutine(found) and getattr(found, "__name__", "") != "<lambda>" and not is_async(function)


def _plain(function: Callable[..., Any]) -> Any:
    while isinstance(function, functools.partial):
        function = function.func
    return function if inspect.isroutine(function) else getattr(type(function), "__call__", function)  # noqa: B004
