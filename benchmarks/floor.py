"""The floor: the least code that does the work of a run: pydantic arguments, a full event log, each line flushed.

It writes the very events of a step that our loop writes (``run.py`` compares the two files), without
tasks, limits, cancelling, checks of any kind, or an event kept in memory. The lean floor writes as many
lines of less: kind, number and content, without time, origin and place, arguments as they came.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any

import orjson
from pydantic import BaseModel

Message = dict[str, Any]


class Arguments(BaseModel):
    """What the tool takes."""

    key: str
    count: int


class Log:
    """Numbers and stamps events and writes each as one line, flushed."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._seq = 0
        self._began_ms = time.monotonic_ns() // 1_000_000

    def write(self, kind: str, origin: str, step: int, **fields: Any) -> int:
        """Write one event and give its number."""
        seq, self._seq = self._seq, self._seq + 1
        time_ms = time.monotonic_ns() // 1_000_000 - self._began_ms
        event = {"type": kind, "seq": seq, "time": time_ms, "origin": origin, "turn": 1, "step": step, **fields}
        self._file.write(orjson.dumps(event) + b"\n")
        self._file.flush()
        return seq

    def arguments(self, sent: str, arguments: Arguments) -> str:
        """What the log holds of a call's arguments: their canonical text."""
        return orjson.dumps(arguments.model_dump(), option=orjson.OPT_SORT_KEYS).decode()


class LeanLog(Log):
    """As many lines, and nothing in them that a reader could do without."""

    def write(self, kind: str, origin: str, step: int, **fields: Any) -> int:
        """Write one event and give its number."""
        seq, self._seq = self._seq, self._seq + 1
        self._file.write(orjson.dumps({"type": kind, "seq": seq, **fields}) + b"\n")
        self._file.flush()
        return seq

    def arguments(self, sent: str, arguments: Arguments) -> str:
        """They stay as they were sent."""
        return sent


async def model(step: int, n_steps: int) -> dict[str, Any]:
    """A scripted model."""
    if step > n_steps:
        return {"content": "done", "finishReason": "stop", "rawFinishReason": "stop"}
    call = {"id": f"call_{step}", "name": "lookup", "arguments": f'{{"key": "k{step}", "count": {step}}}'}
    return {"toolCalls": [call], "finishReason": "tool-calls", "rawFinishReason": "tool_calls"}


async def lookup(key: str, count: int) -> str:
    """The tool."""
    return f"value of {key} number {count}"


def digest(content: str) -> str:
    """What the log holds of a body's outcome, so that the result shown can be compared with it."""
    return "blake2b:" + hashlib.blake2b(content.encode(), digest_size=8).hexdigest()


async def run_call(call: dict[str, str], step: int, log: Log) -> Message:
    """Validate, run, record; gives the message for the model."""
    name, call_id = call["name"], call["id"]
    arguments = Arguments.model_validate_json(call["arguments"])
    used = log.arguments(call["arguments"], arguments)
    start = log.write("tool/start", "probe", step, callId=call_id, name=name, arguments=used)
    content = await lookup(arguments.key, arguments.count)
    log.write("tool/end", "probe", step, start=start, outcome="ok", digest=digest(content))
    log.write("tool/result", "subject", step, callId=call_id, name=name, content=content)
    return {"role": "tool", "callId": call_id, "content": content}


async def loop(n_steps: int, log: Log) -> list[Message]:
    """Ask, run the calls, commit their results, until an answer comes."""
    messages: list[Message] = [{"role": "user", "content": "Look up everything."}]
    step = n_sent = 0
    while True:
        step += 1
        log.write("step/start", "subject", step)
        kept = {"keep": [[0, n_sent]]} if n_sent else {}
        log.write("model/request", "probe", step, **kept, append=messages[n_sent:])
        n_sent = len(messages)
        answer = await model(step, n_steps)
        log.write("assistant/message", "subject", step, **answer)
        calls = answer.get("toolCalls", ())
        messages.append({"role": "assistant", "toolCalls": calls} if calls else {"role": "assistant", **answer})
        for call in calls:
            log.write("tool/call", "subject", step, callId=call["id"], name=call["name"], arguments=call["arguments"])
            messages.append(await run_call(call, step, log))
        log.write("step/end", "subject", step)
        if not calls:
            return messages


def run_loop(n_steps: int, path: Path, log: type[Log] = Log) -> None:
    """One run of ``n_steps`` tool steps and an answer, logged to ``path``."""
    with path.open("wb") as file:
        asyncio.run(loop(n_steps, log(file)))


def run_many(n_steps: int, paths: Iterable[Path]) -> None:
    """Many runs one after the other in one event loop, one for each path."""

    async def many() -> None:
        for path in paths:
            with path.open("wb") as file:
                await loop(n_steps, Log(file))

    asyncio.run(many())


def run_bare(n_steps: int) -> int:
    """The loop alone: no log, no validation; gives the number of messages."""

    async def bare() -> int:
        messages: list[Message] = [{"role": "user", "content": "Look up everything."}]
        step = 0
        while True:
            step += 1
            answer = await model(step, n_steps)
            messages.append({"role": "assistant", **answer})
            calls = answer.get("toolCalls", ())
            for call in calls:
                arguments = orjson.loads(call["arguments"])
                messages.append({"role": "tool", "callId": call["id"], "content": await lookup(**arguments)})
            if not calls:
                return len(messages)

    return asyncio.run(bare())
