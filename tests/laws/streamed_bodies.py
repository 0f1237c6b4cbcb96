"""Streamed bodies to cut: recorded ones, and those of every scripted answer, in both dialects."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from harness.errors import HarnessError
from harness.models.profiles import COMPATIBLE, AdapterProfile, profile_of_host
from harness.models.replies import answer_of
from harness.models.streaming import chunks_of
from harness.scenarios import collect
from harness.types.chunking import ChunkCut, ChunkPlan
from harness.types.model_spec import ModelApi
from harness.types.scenario import Scenario
from harness.types.script import ScriptBranch, ScriptEntry, ScriptReply
from harness.wire.chat import assembled
from harness.wire.responses import render_response_events

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
PATHS = {"/chat/completions": ModelApi.CHAT, "/responses": ModelApi.RESPONSES}
CHARACTERS = ChunkPlan(ChunkCut.CHARACTERS, every=3)


@dataclass(frozen=True, slots=True)
class Body:
    """One streamed body, where it is from, and whose rules it is read by."""

    name: str
    api: ModelApi
    data: bytes
    profile: AdapterProfile = COMPATIBLE


def recorded_bodies(folder: Path) -> Iterator[Body]:
    """Every streamed answer of a model in the cassettes below a folder."""
    for file in sorted(folder.rglob("*.yaml")):
        text = file.read_bytes()
        if b"event-stream" not in text:
            continue
        for number, one in enumerate(yaml.load(text, LOADER).get("interactions", ())):  # a safe loader, in C where present
            address, _, _ = one["request"]["uri"].partition("?")
            api = next((api for path, api in PATHS.items() if address.endswith(path)), None)
            headers = {str(name).lower(): str(value) for name, value in (one["response"].get("headers") or {}).items()}
            if api is not None and "event-stream" in headers.get("content-type", ""):
                host = address.partition("//")[2].partition("/")[0].partition(":")[0]
                name = f"{file.relative_to(folder).as_posix()}[{number}]"
                yield Body(name, api, _plain(one["response"]["body"]["string"]), profile_of_host(host))


def _plain(body: str | bytes) -> bytes:
    data = body.encode() if isinstance(body, str) else body
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


def scripted_bodies(paths: Iterable[Path]) -> Iterator[Body]:
    """Every scripted answer with words of its own: as a chat stream (its own chunks where it has some), and as Responses."""
    for scenario in collect(list(paths), configured=[str(path) for path in paths]):
        for number, reply in enumerate(_replies(scenario), start=1):
            yield from _bodies(f"{scenario.id}, reply {number}", reply, number)


def _bodies(name: str, reply: ScriptReply, number: int) -> Iterator[Body]:
    chunks = chunks_of(reply, reply.chunks or CHARACTERS, number)
    yield Body(f"{name}, chat", ModelApi.CHAT, framed([*chunks, "[DONE]"]))
    try:
        answer = assembled(chunks) if reply.chunks is not None and reply.chunks.given else answer_of(reply, number)
    except HarnessError:
        return  # what is damaged has no other form
    events = render_response_events(answer, id=f"resp_{number}", model="m", cut=ChunkCut.CHARACTERS, every=3)
    yield Body(f"{name}, responses", ModelApi.RESPONSES, framed(events))


def framed(texts: Iterable[str]) -> bytes:
    """Each text as the data of one event."""
    return b"".join(b"data: " + text.encode().replace(b"\n", b"\ndata: ") + b"\n\n" for text in texts)


def _replies(scenario: Scenario) -> Iterator[ScriptReply]:
    scripts = (scenario.script or (), *(role.script or () for _, role in scenario.models))
    for script in scripts:
        yield from _of(script)


def _of(script: Iterable[ScriptEntry]) -> Iterator[ScriptReply]:
    for entry in script:
        if isinstance(entry, ScriptBranch):
            for case in entry.cases:
                yield from _of(case.script)
        elif not (entry.fail or entry.hang or entry.function or entry.raw):
            yield entry


def finish_at(body: Body) -> int:
    """Where the line ends that holds the first finish reason (for a provider without: its end); else behind the body.

    By plain looking at lines, so that it does not share the reader's rules.
    """
    end = 0
    for line in body.data.splitlines(keepends=True):
        end += len(line)
        data = line.removeprefix(b"data:").strip()
        if line.startswith(b"data:") and _is_the_end(data, body):
            return end - (len(line) - len(line.rstrip(b"\r\n")))
    return len(body.data) + 1


def _is_the_end(data: bytes, body: Body) -> bool:
    if data == b"[DONE]":
        return body.api is ModelApi.CHAT and body.profile.finish.value == "never"
    try:
        value: Any = json.loads(data)
    except ValueError:
        return False
    if not isinstance(value, dict):
        return False
    if body.api is ModelApi.RESPONSES:
        return value.get("type") in ("response.completed", "response.incomplete")
    choices = value.get("choices")
    return isinstance(choices, list) and any(isinstance(one, dict) and one.get("finish_reason") for one in choices)
