"""The scripted server before any transport: requests in, replies out, the same in process and on loopback."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from harness.errors import ModelError
from harness.server.asking import Ask, Asked
from harness.server.dialects import ChatDialect, Dialect, HistoryCheck, Read, ResponsesDialect
from harness.server.exchanges import Exchange, Went, kept_headers, retry_of
from harness.server.failing import failed_reply, instead, lost_on_its_way, went_wrong
from harness.server.reply import EVENT_STREAM, Broken, NotOffered, Reply
from harness.server.streaming import Flow
from harness.server.ticket import ClientTimeout, Failed, Ticket, kept_body, models_listed
from harness.server.validation import HistoryRefusal
from harness.types.codes import Code
from harness.types.doors import Answer
from harness.types.faults import FaultKind, WireFault
from harness.types.jsontext import Refusal, canonical_json, parse_json
from harness.types.messages import JsonText
from harness.wire.failures import error_body
from harness.wire.requests import ChatRequest

_OFFERED: Final = (
    "offered are POST /chat/completions (client.chat.completions.create) and POST /responses (client.responses.create)"
)
_UNREADABLE: Final = HistoryRefusal("the body of your request has no known shape", "")


def _unheard(_: Exchange) -> None:
    """Nobody listens."""


class Desk:
    """Answers ``POST …/chat/completions``, ``POST …/responses``, ``GET …/models`` and ``GET /health`` from ``ask``.

    ``bodies`` keeps every request body as canonical JSON text where it is JSON, else as it came;
    ``exchanges`` how each request went, and ``told`` hears of each as it ends; ``refusals`` what was asked
    for and is not offered. ``failed`` is told of requests that the server failed by itself. ``faults``
    disturb requests by their number.
    """

    def __init__(
        self,
        ask: Ask,
        *,
        failed: Failed | None = None,
        faults: Sequence[WireFault] = (),
        history: HistoryCheck = HistoryCheck.STRICT,
        models: Sequence[str] = ("scripted",),
        now_ms: Callable[[], int] = lambda: 0,
        told: Callable[[Exchange], None] = _unheard,
        title: str = "",
        called: str = "model server",
    ) -> None:
        self._ask = ask
        self._failed = failed
        self._faults = {fault.request: fault for fault in faults}
        self._history = history
        self._models = tuple(models)
        self._now_ms = now_ms
        self._told = told
        self._title = title
        self._called = called
        self._dialects: tuple[Dialect, ...] = (ChatDialect(), ResponsesDialect())
        self._lost: tuple[JsonText, Answer] | None = None
        self.bodies: list[JsonText] = []
        self.exchanges: list[Exchange] = []
        self.refusals: list[str] = []
        self.stopped = False
        self._untold: set[int] = set()
        self._newest: dict[JsonText, Exchange] = {}

    def stop(self) -> None:
        """The server is about to end: what is under way from here on ends because of that."""
        self.stopped = True

    @property
    def unfired(self) -> tuple[WireFault, ...]:
        """Faults whose request never came."""
        return tuple(one for number, one in sorted(self._faults.items()) if number > len(self.bodies))

    async def answer(
        self,
        method: str,
        path: str,
        content: bytes,
        *,
        headers: Mapping[str, str] | None = None,
        read_timeout_s: float | None = None,
    ) -> Reply:
        """The reply to one request. Raises NotOffered, Broken, TimeoutError (the client's), and what is ours."""
        exchange = Exchange(0, method, path, self._now_ms(), kept_headers(headers or {}))
        self.exchanges.append(exchange)
        self._untold.add(id(exchange))
        try:
            if method == "GET" and path.endswith("/models"):
                return self._ended(exchange, Reply(200, canonical_json(models_listed(self._models)).encode()))
            if method == "GET" and path == "/health":
                value = {"status": "ok", "scenario": self._title}
                return self._ended(exchange, Reply(200, canonical_json(value).encode()))
            ticket = self._ticket(exchange, content)
            return await self._within(ticket, read_timeout_s) if isinstance(ticket, Ticket) else ticket
        except NotOffered as error:
            refusal = NotOffered(f"{self._called}: {error}", status=error.status, param=error.param)
            self.refusals.append(str(refusal))
            self._close(exchange, Went.REFUSED, why=str(error), status=error.status)
            raise refusal from None
        except asyncio.CancelledError:
            why = "the server was stopped" if self.stopped else "the client went away before it had its answer"
            self._close(exchange, Went.DISCONNECTED, why=why)
            raise
        except Broken as error:
            self._close(exchange, Went.FAULT if exchange.fault else Went.FAILED, why=str(error))
            raise
        except Exception as error:
            self._close(exchange, Went.UNANSWERABLE, why=f"{type(error).__name__}: {error}")
            raise

    # ------------------------------------------------------------ reading

    def _ticket(self, exchange: Exchange, content: bytes) -> Ticket | Reply:
        """The request with its number; or the 400 that it gets."""
        dialect = self._dialect(exchange)
        body = kept_body(content)
        self.bodies.append(body)
        number = len(self.bodies)
        exchange.number, exchange.body, exchange.dialect = number, body, dialect.name
        exchange.retry_of = retry_of(self._newest.get(body))
        self._newest[body] = exchange
        read = self._read(content, dialect)
        exchange.stream = read.stream
        if read.request is not None:
            exchange.shows(read.request)
        if read.request is None or read.refusal is not None:
            return self._bad_request(exchange, read.request, read.refusal or _UNREADABLE)
        return Ticket(number, exchange, dialect, read, self._faults.get(number))

    def _dialect(self, exchange: Exchange) -> Dialect:
        found = next((one for one in self._dialects if exchange.path.endswith(one.path)), None)
        if found is not None and exchange.method == "POST":
            return found
        status = 404 if found is None else 405
        raise NotOffered(f"{exchange.method} {exchange.path} is not offered; {_OFFERED}", status=status)

    def _read(self, content: bytes, dialect: Dialect) -> Read:
        value = parse_json(content.decode("utf-8", "replace"))
        if isinstance(value, Refusal):
            why = f"we could not parse the JSON body of your request: {value.message}"
            return Read(None, HistoryRefusal(why, ""))
        if not isinstance(value, dict):
            return Read(None, HistoryRefusal("the body of your request is no JSON object", ""))
        return dialect.read(value, self._history)

    def _bad_request(self, exchange: Exchange, request: ChatRequest | None, refusal: HistoryRefusal) -> Reply:
        place = f"Invalid {refusal.param!r}: " if refusal.param else ""
        message = f"{place}{refusal.message}."
        self._tell(request, exchange.number, ModelError(f"HTTP 400: {message}", code=Code.INVALID_REQUEST))
        body = error_body(message, kind="invalid_request_error", param=refusal.param or None, code=refusal.code)
        return self._ended(exchange, Reply(400, body), Went.REFUSED, why=message)

    def _tell(self, request: ChatRequest | None, number: int, error: ModelError) -> None:
        if self._failed is not None:
            self._failed(request, number, error)

    # ------------------------------------------------------------ answering

    async def _within(self, ticket: Ticket, limit_s: float | None) -> Reply:
        try:
            async with asyncio.timeout(limit_s) as time:
                return await self._answered(ticket)
        except TimeoutError as error:
            if not time.expired():
                raise
            late = ModelError(f"request {ticket.number} was not answered in the client's time", code=Code.TIMEOUT)
            self._tell(ticket.request, ticket.number, late)
            self._close(ticket.exchange, Went.DISCONNECTED, why=str(late))
            raise ClientTimeout(str(late)) from error

    async def _answered(self, ticket: Ticket) -> Reply:
        fault, exchange = ticket.fault, ticket.exchange
        if fault is not None:
            exchange.fault = fault.text
            await asyncio.sleep(fault.delay_ms / 1000)
            if (error := went_wrong(fault)) is not None:
                self._tell(ticket.request, ticket.number, error)
                reply = instead(fault, error)
                return self._ended(exchange, reply, Went.FAULT, why=str(error))
        lost = None if fault is None else lost_on_its_way(fault, ticket.number)
        if ticket.read.stream:
            return await self._streamed(ticket, lost)
        return await self._whole(ticket, lost)

    def _asked(self, ticket: Ticket, lost: ModelError | None, emit: Any = None) -> Asked:
        known = self._lost
        given = known[1] if known is not None and known[0] == ticket.exchange.body else None
        self._lost = None
        more = {} if emit is None else {"emit": emit}
        return Asked(ticket.request, ticket.number, given=given, lost=lost, **more)

    async def _whole(self, ticket: Ticket, lost: ModelError | None) -> Reply:
        try:
            answer = await self._ask(self._asked(ticket, lost))
        except ModelError as error:
            return self._ended(ticket.exchange, failed_reply(error), Went.FAILED, why=str(error))
        reply = Reply(200, ticket.dialect.whole(answer, ticket.number, ticket.read))
        if lost is None:
            return self._ended(ticket.exchange, reply)
        self._lost = (ticket.exchange.body, answer)
        return await self._damaged(ticket, reply, lost)

    async def _damaged(self, ticket: Ticket, reply: Reply, lost: ModelError) -> Reply:
        fault = ticket.fault
        assert fault is not None
        if fault.kind is FaultKind.STALL_AFTER:
            await asyncio.Event().wait()
        if fault.kind is FaultKind.CUT_AFTER:
            reply.cut = len(reply.body) // 2
        elif fault.kind is FaultKind.MALFORMED_AFTER:
            reply.body = reply.body[: len(reply.body) // 2]
        return self._ended(ticket.exchange, reply, Went.FAULT, why=str(lost))

    async def _streamed(self, ticket: Ticket, lost: ModelError | None) -> Reply:
        exchange = ticket.exchange
        flow = Flow(ticket.dialect.frames(ticket.number, ticket.read), lost_as=ticket.fault if lost else None)

        def settle() -> None:
            exchange.n_pieces = flow.n_pieces
            self._settle(exchange, *flow.went(lost))

        def close() -> None:
            flow.close()
            if lost is not None and flow.answer is not None:
                self._lost = (exchange.body, flow.answer)
            settle()
            self._tell_once(exchange)

        flow.ending = settle
        error = await flow.began(self._ask(self._asked(ticket, lost, flow.emit)), name=f"answer {ticket.number}")
        if error is not None:
            if not isinstance(error, ModelError):
                raise error
            return self._ended(exchange, failed_reply(error), Went.FAILED, why=str(error))
        headers = {"content-type": EVENT_STREAM, "cache-control": "no-cache"}
        exchange.status = 200
        return Reply(200, headers=headers, pieces=flow.pieces(), close=close, is_answer=lost is None)

    # ------------------------------------------------------------ ends

    def _ended(self, exchange: Exchange, reply: Reply, went: Went = Went.ANSWERED, *, why: str = "") -> Reply:
        """The reply, and how its request went; it is told once the reply has left."""
        self._settle(exchange, went, why, reply.status)
        reply.close = lambda: self._tell_once(exchange)
        reply.is_answer = went is Went.ANSWERED
        return reply

    def _close(self, exchange: Exchange, went: Went, *, why: str = "", status: int | None = None) -> None:
        self._settle(exchange, went, why, status)
        self._tell_once(exchange)

    def _settle(self, exchange: Exchange, went: Went, why: str, status: int | None = None) -> None:
        if exchange.went is Went.OPEN:
            exchange.went, exchange.why = went, why
            exchange.status = exchange.status if status is None else status
            exchange.took_ms = self._now_ms() - exchange.at_ms

    def _tell_once(self, exchange: Exchange) -> None:
        if id(exchange) not in self._untold:
            return
        self._untold.discard(id(exchange))
        self._told(exchange)
