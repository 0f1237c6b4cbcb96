"""RELIABILITY P5 as a program: no secret of the environment stands in anything that is written.

usage: canaries.py [N]

N (10,000) placements of a canary: who says it (prompt, model, tool, exception, header, query, URL, a loop's own
error), how it is spelt (plain, base64, hexadecimal, percent-encoded, JSON in JSON, wrapped, cut over chunks of a stream), and
which secret it is. Looked through is whatever a run leaves: cassettes, trajectories, summaries, reports, and all that
the commands say; the looking is done here, by other means than the masking. Exit code 1 names every hit. Text that is turned around or
encrypted is out of scope.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import contextlib
import copy
import io
import itertools
import json
import os
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus, unquote_to_bytes

import httpx2

REPO = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(REPO))

from harness.cassettes import RecordingInfo, open_recording  # noqa: E402
from harness.cli.main import run_app  # noqa: E402
from harness.clock import SystemClock  # noqa: E402
from harness.errors import HarnessError, SecretFoundError  # noqa: E402

KINDS = (
    "canary-Value/1+x-{n:05d}",
    "0123456789abcdef0123456789a{n:05d}",
    "Pässwort & mehr {n:05d}",
    'quo"ted\\\\back {n:05d}',
    "sk-canary0123456789abcdef{n:05d}",
)
"""Shapes of a secret's value; each placement has one of its own."""


def _b64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


WAYS: dict[str, Callable[[str], str]] = {
    "plain": lambda secret: secret,
    "in words": lambda secret: f"the key is {secret}, keep it",
    "glued": lambda secret: f"x{secret}y",
    "exception text": lambda secret: f"Traceback (most recent call last):\n  File \"a.py\", line 1\nAuthError: key {secret} refused",
    "base64": lambda secret: _b64(secret.encode()),
    "base64, shifted by one": lambda secret: _b64(b"u" + secret.encode() + b"!"),
    "base64 of basic auth": lambda secret: _b64(b"user:" + secret.encode()),
    "base64, urlsafe": lambda secret: base64.urlsafe_b64encode(b"ab" + secret.encode()).decode(),
    "base64, wrapped": lambda secret: base64.encodebytes(b"a line that is long enough to be wrapped anyway: " + secret.encode()).decode(),
    "hexadecimal": lambda secret: secret.encode().hex(),
    "HEXADECIMAL": lambda secret: secret.encode().hex().upper(),
    "percent": lambda secret: quote(secret, safe=""),
    "percent, plus for spaces": lambda secret: quote_plus(secret),
    "percent, each byte": lambda secret: "".join(f"%{byte:02x}" for byte in secret.encode()),
    "JSON": lambda secret: json.dumps({"token": secret}),
    "JSON in JSON": lambda secret: json.dumps({"body": json.dumps({"token": secret})}),
    "JSON, each character": lambda secret: "".join(f"\\u{unit:04x}" for unit in _units(secret)),
    "JSON, as it is": lambda secret: json.dumps({"token": secret}, ensure_ascii=False),
    "URL userinfo": lambda secret: f"https://ada:{quote(secret, safe='')}@host.test/x?y=1",
    "URL query": lambda secret: f"GET https://host.test/x?key={quote(secret, safe='')}&y=1 failed",
    "header": lambda secret: f"Authorization: Bearer {secret}\r\nX-Other: 1",
    **{  # where somebody may cut a text
        f"behind {n} characters": lambda secret, n=n: f"{'lorem ipsum ' * n}"[:n] + f" {secret} and more"
        for n in (25, 62, 100, 280, 480, 1980)
    },
    "repr": lambda secret: repr({"key": secret}),
}


def _units(text: str) -> list[int]:
    data = text.encode("utf-16-be")
    return [int.from_bytes(data[at : at + 2], "big") for at in range(0, len(data), 2)]


# ---------------------------------------------------------------- looking, by other means


def leaks(data: bytes, secret: str) -> list[str]:
    """How a secret can be read out of these bytes; [] where it cannot."""
    return Reading(data).leaks(secret)


class Reading:
    """What can be read out of some bytes, in every way that is tried here."""

    def __init__(self, data: bytes) -> None:
        self._views = list(_views(data))
        squeezed = re.sub(r"\s|\\+[nr]", "", data.decode("utf-8", "replace"))
        self._views.append(("over lines", squeezed))
        self._hex = squeezed.lower()
        pieces = set(re.findall(r"[A-Za-z0-9+/_-]{12,}", squeezed))
        self._decoded = b"\0".join(_decoded(piece[at:]) for piece in sorted(pieces) for at in range(4))

    def leaks(self, secret: str) -> list[str]:
        """The ways in which a secret shows, or all but the end of it."""
        most, raw = secret[: max(8, len(secret) * 3 // 4)], secret.encode()
        found = [how if secret in view else f"most of it, {how}" for how, view in self._views if most in view]
        found += ["hexadecimal"] if raw.hex() in self._hex else []
        return found + (["base64"] if raw in self._decoded else [])


def _decoded(piece: str) -> bytes:
    try:
        text = piece.translate(str.maketrans("-_", "+/"))
        text = text[:-1] if len(text) % 4 == 1 else text
        return base64.b64decode(text + "=" * (-len(text) % 4))
    except (ValueError, binascii.Error):
        return b""


def _views(data: bytes) -> Iterator[tuple[str, str]]:
    text = data.decode("utf-8", "replace")
    yield "as it stands", text
    yield "over chunks", joined_chunks(text)
    once = text
    for depth in range(1, 5):
        once = _unescaped(once)
        yield f"escaped {depth}", once
    for how, one in (("percent", text), ("escaped and percent", once)):
        yield how, unquote_to_bytes(one.encode("utf-8", "replace")).decode("utf-8", "replace")
        yield f"{how}, plus", unquote_to_bytes(one.replace("+", " ").encode("utf-8", "replace")).decode("utf-8", "replace")


_ESCAPE = re.compile(r'\\(u[0-9a-fA-F]{4}|["\\/bfnrt])')
_SIMPLE = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


def _unescaped(text: str) -> str:
    units = _ESCAPE.sub(lambda match: chr(int(match[1][1:], 16)) if match[1][0] == "u" else _SIMPLE.get(match[1], match[1]), text)
    return units.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def joined_chunks(text: str) -> str:
    """The text of all streamed pieces of a trajectory, place by place, put together."""
    pieces: dict[str, list[str]] = {}
    for line in text.split("\n"):
        if line.startswith('{"type":"assistant/chunk"'):
            with contextlib.suppress(ValueError, KeyError):
                for place, piece in _texts(json.loads(json.loads(line)["chunk"]), ""):
                    pieces.setdefault(place, []).append(piece)
    return "\n".join("".join(many) for many in pieces.values())


def _texts(value: Any, place: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _texts(item, f"{place}.{key}")
    elif isinstance(value, list):
        for at, item in enumerate(value):
            yield from _texts(item, f"{place}[{item.get('index', at) if isinstance(item, dict) else at}]")


# ---------------------------------------------------------------- runs

Document = dict[str, Any]
BASE: Document = {
    "format": "harness-scenario/1",
    "title": "Canaries",
    "system": "Use the tools.",
    "task": "Look it up.",
    "tools": {
        "stub": {"look": {"returns": {"said": "nothing"}}, "fall": {"raises": "it fell"}},
        "schemas": {"look": {"type": "object"}, "fall": {"type": "object"}},
    },
    "script": [
        {"say": "First.", "reasoning": "Because.", "calls": [{"name": "look", "arguments": {"q": "x"}}, {"name": "fall", "arguments": {}}]},
        {"say": "Second.", "calls": [{"name": "look", "arguments": "{}"}]},
        {"say": "Done."},
    ],
    "expect": {"status": "completed"},
}


def _put(*path: Any) -> Callable[[Document, str], None]:
    def put(document: Document, text: str) -> None:
        holder: Any = document
        for part in path[:-1]:
            holder = holder[part]
        holder[path[-1]] = text

    return put


def _script(*path: Any) -> Callable[[Document, str], None]:
    return _put("script", *path)


def _fails(document: Document, text: str) -> None:
    document["script"][2] = {"fail": {"code": "SERVER", "message": text}}


def _sent(document: Document, text: str) -> None:
    document["inject"] = [{"at": {"kind": "step/start", "nth": 1}, "do": {"send": {"queue": "steer", "text": text}}}]


PLACES: dict[str, Callable[[Document, str], None]] = {
    "system": _put("system"),
    "task": _put("task"),
    "tool result": _put("tools", "stub", "look", "returns", "said"),
    "tool result, key": lambda document, text: document["tools"]["stub"]["look"].__setitem__("returns", {text[-900:]: 1}),
    "tool result, text": _put("tools", "stub", "look", "returns"),
    "exception of a tool": _put("tools", "stub", "fall", "raises"),
    "description": _put("tools", "schemas", "look", "description"),
    "argument": _script(0, "calls", 0, "arguments", "q"),
    "argument, key": lambda document, text: document["script"][0]["calls"][0].__setitem__("arguments", {text[-900:]: 1}),
    "arguments, raw": _script(1, "calls", 0, "arguments"),
    "tool name": _script(1, "calls", 0, "name"),
    "call id": _script(1, "calls", 0, "id"),
    "answer": _script(2, "say"),
    "text beside calls": _script(0, "say"),
    "reasoning": _script(0, "reasoning"),
    "refusal": lambda document, text: document["script"].__setitem__(2, {"refusal": text}),
    "error of the model": _fails,
    "input from outside": _sent,
    "expectation": lambda document, text: document["expect"].__setitem__("answer", {"contains": text}),
    "runtime context": lambda document, text: document.__setitem__("runtime_context", {"page": text}),
}


def in_chunks(document: Document, text: str, every: int) -> None:
    """The text as answer, reasoning and arguments, in pieces of so many characters."""
    document["script"] = [
        {"say": "Hm.", "calls": [{"name": "look", "arguments": json.dumps({"q": text})}], "chunks": {"every": every}},
        {"say": f"{text}.", "reasoning": f"so: {text}", "chunks": {"every": every}},
    ]


@dataclass
class Told:
    """What was tried, and every hit."""

    counts: Counter[str] = field(default_factory=Counter)
    hits: list[str] = field(default_factory=list)

    def look(self, where: str, data: bytes, planted: dict[str, str]) -> None:
        reading = Reading(data)
        for secret, how in planted.items():
            self.hits += [f"{where}: {how}: {one}" for one in reading.leaks(secret)]


def documents(secrets: Iterator[tuple[int, str]]) -> Iterator[tuple[Document, dict[str, str]]]:
    """Scenarios, each with several canaries of its own in it; endlessly."""
    for number in itertools.count():
        document: Document = copy.deepcopy(BASE)
        planted: dict[str, str] = {}
        if number % 4 == 3:
            at, secret = next(secrets)
            way = list(WAYS)[(number // 4) % len(WAYS)]
            every = 1 + at % 17
            in_chunks(document, WAYS[way](secret), every)
            planted[secret] = f"{way}, in chunks of {every}"
        else:
            names = list(PLACES)[number % 3 :: 3]
            for place in names:
                at, secret = next(secrets)
                way = list(WAYS)[(at // len(KINDS) + number) % len(WAYS)]
                PLACES[place](document, WAYS[way](secret))
                planted[secret] = f"{way}, {place}"
        yield document, planted


def _secrets() -> Iterator[tuple[int, str]]:
    for number in itertools.count(1):
        yield number, KINDS[number % len(KINDS)].format(n=number)


def runs(told: Told, n: int, secrets: Iterator[tuple[int, str]]) -> None:
    """Scenarios through the command line; whatever is in the folder afterwards, and whatever was said."""
    with tempfile.TemporaryDirectory(prefix="canaries-") as name, _in(Path(name)):
        Path("raising_loop.py").write_text(RAISES, encoding="utf-8")
        batch = itertools.batched(documents(secrets), 5) if hasattr(itertools, "batched") else _fives(documents(secrets))
        for number, many in enumerate(batch):
            planted = {secret: how for _, some in many for secret, how in some.items()}
            told.counts["in runs"] += len(planted)
            _one_batch(told, number, [document for document, _ in many], planted)
            if told.counts["in runs"] >= n:
                return


def _fives(many: Iterator[Any]) -> Iterator[tuple[Any, ...]]:
    while five := tuple(itertools.islice(many, 5)):
        yield five


RAISES = '''
async def loop(env):
    await env.openai().chat.completions.create(model="m", messages=[{"role": "user", "content": env.task}])
    raise RuntimeError(env.task + env.system)
'''


def _one_batch(told: Told, number: int, documents: list[Document], planted: dict[str, str]) -> None:
    folder = Path(f"s{number}/scenarios")
    folder.mkdir(parents=True)
    for at, document in enumerate(documents):
        (folder / f"c{at}.yaml").write_text(json.dumps(document, ensure_ascii=True), encoding="utf-8")
    out = f"s{number}/out"
    environ = {f"CANARY_{at}_API_KEY": secret for at, secret in enumerate(planted)}
    said = [_said(environ, "run", str(folder), "--out", out, *(["-v"] if number % 2 else ["--json"]))]
    said.append(_said(environ, "run", str(folder), "--out", f"s{number}/raised", "--subject", "raising_loop:loop"))
    files = sorted(Path(out, "trajectories").rglob("*.jsonl"))
    if len(files) < len(documents):
        told.hits.append(f"{folder}: only {len(files)} of {len(documents)} scenarios ran, so nothing was shown of the others")
    said += [_said(environ, "show", str(file), *(["-v"] if number % 2 else [])) for file in files[: 1 + number % 3]]
    said.append(_said(environ, "check", out))
    said.append(_said(environ, "compare", out, f"s{number}/raised", "-v", "--out", f"s{number}/out/compare.md"))
    for text in said:
        told.look("said", text, planted)
    for place in (out, f"s{number}/raised"):
        for file in (one for one in Path(place).rglob("*") if one.is_file()):
            told.look(file.as_posix(), file.read_bytes(), planted)
    told.counts["files"] += sum(one.is_file() for place in (out, f"s{number}/raised") for one in Path(place).rglob("*"))
    told.counts["runs"] += 2 * len(documents)


def _said(environ: dict[str, str], *arguments: str) -> bytes:
    before = dict(os.environ)
    os.environ.update(environ)
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            run_app(list(arguments))
        return out.buffer.getvalue() if isinstance(out.buffer, io.BytesIO) else b""
    finally:
        for key in environ:
            del os.environ[key]
        os.environ.update(before)


@contextlib.contextmanager
def _in(folder: Path) -> Iterator[None]:
    here = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(here)


# ---------------------------------------------------------------- recordings

ASKED: Document = {
    "model": "m",
    "messages": [
        {"role": "system", "content": "Use the tools."},
        {"role": "user", "content": "Look it up."},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "c", "content": "nothing"},
    ],
    "tools": [{"type": "function", "function": {"name": "look", "description": "Looks.", "parameters": {"type": "object"}}}],
}
SAID: Document = {
    "id": "x", "object": "chat.completion", "created": 0, "model": "m",
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Done."}}],
}  # fmt: skip
Ask = dict[str, Any]


def _asked(*path: Any) -> Callable[[Ask, str], None]:
    return lambda ask, text: _put(*path)(ask["asked"], text)


def _answered(*path: Any) -> Callable[[Ask, str], None]:
    return lambda ask, text: _put(*path)(ask["said"], text)


def _streamed(ask: Ask, text: str) -> None:
    every = 1 + len(text) % 11
    cut = [text[at : at + every] for at in range(0, len(text), every)]
    chunks = [{"choices": [{"index": 0, "delta": {"content": piece}}]} for piece in cut]
    ask["pieces"] = [f"data: {json.dumps(chunk)}\n\n".encode() for chunk in chunks] + [b"data: [DONE]\n\n"]


def _cut_bytes(ask: Ask, text: str) -> None:
    ask["said"]["choices"][0]["message"]["content"] = text
    whole = json.dumps(ask["said"], ensure_ascii=False).encode()
    ask["pieces"] = [whole[at : at + 7] for at in range(0, len(whole), 7)]


def _header(name: str, side: str) -> Callable[[Ask, str], None]:
    return lambda ask, text: ask[side].append((name, _ascii(text)))


def _ascii(text: str) -> str:
    return text.replace("\r", " ").replace("\n", " ").encode("ascii", "replace").decode()


def _url(form: str) -> Callable[[Ask, str], None]:
    return lambda ask, text: ask.__setitem__("url", form.format(quote(text, safe="")))


IN_EXCHANGES: dict[str, Callable[[Ask, str], None]] = {
    "system": _asked("messages", 0, "content"),
    "task": _asked("messages", 1, "content"),
    "arguments": _asked("messages", 2, "tool_calls", 0, "function", "arguments"),
    "tool result": _asked("messages", 3, "content"),
    "description": _asked("tools", 0, "function", "description"),
    "parameter": _asked("user"),
    "key of the request": lambda ask, text: ask["asked"].__setitem__(text, 1),
    "answer": _answered("choices", 0, "message", "content"),
    "name of the model": _answered("model"),
    "fingerprint": _answered("system_fingerprint"),
    "key of the answer": lambda ask, text: ask["said"].__setitem__(text, 1),
    "streamed pieces": _streamed,
    "pieces of bytes": _cut_bytes,
    "header": _header("Authorization", "headers"),
    "header of another name": _header("API-Key", "headers"),
    "content type": _header("Content-Type", "said_headers"),
    "answered header": _header("OpenAI-Organization", "said_headers"),
    "cookie": _header("SET-Cookie", "said_headers"),
    "server": _header("Server", "said_headers"),
    "retry": _header("Retry-After", "said_headers"),
    "query": _url("http://localhost/v1/chat/completions?key={}&api-version=1"),
    "kept query": _url("http://localhost/v1/chat/completions?api-version={}"),
    "userinfo": _url("http://ada:{}@localhost/v1/chat/completions"),
    "path": _url("http://localhost/{}/chat/completions"),
    "reason phrase": lambda ask, text: ask.__setitem__("reason", _ascii(text)),
    "scenario": lambda ask, text: ask.__setitem__("scenario", text),
}


class _Upstream(httpx2.AsyncBaseTransport):
    def __init__(self, ask: Ask) -> None:
        self._ask = ask

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        pieces = self._ask["pieces"] or [json.dumps(self._ask["said"]).encode()]

        async def body() -> Any:
            for piece in pieces:
                yield piece

        headers = [("content-type", "application/json"), *self._ask["said_headers"]]
        extensions = {"reason_phrase": self._ask["reason"].encode()}
        return httpx2.Response(200, headers=headers, content=body(), extensions=extensions)


def recordings(told: Told, n: int, secrets: Iterator[tuple[int, str]]) -> None:
    """One exchange each through a recording; nothing but what is in the folder afterwards counts."""
    places, ways = list(IN_EXCHANGES), list(WAYS)
    with tempfile.TemporaryDirectory(prefix="canaries-") as name:
        for number in range(n):
            place, way = places[number % len(places)], ways[(number + number // len(places)) % len(ways)]
            _, secret = next(secrets)
            told.counts["in recordings"] += 1
            folder = Path(name, str(number))
            ask: Ask = {
                "asked": copy.deepcopy(ASKED), "said": copy.deepcopy(SAID), "pieces": [], "headers": [], "said_headers": [],
                "url": "http://localhost/v1/chat/completions", "reason": "OK", "scenario": "a",
            }  # fmt: skip
            IN_EXCHANGES[place](ask, WAYS[way](secret))
            message = asyncio.run(_recorded(folder / "c.yaml", ask, secret))
            told.counts["refused" if message else "written"] += 1
            what = {secret: f"{way}, {place}"}
            told.look("said", message.encode(), what)
            for file in folder.rglob("*"):
                told.look(file.name, file.read_bytes() if file.is_file() else b"", what)


async def _recorded(path: Path, ask: Ask, secret: str) -> str:
    info = RecordingInfo(ask["scenario"], "sha256:0", "2026-01-31T10:00:00Z", "0")
    transport = open_recording(path, upstream=_Upstream(ask), secrets=(secret,), info=info, clock=SystemClock())
    try:
        async with httpx2.AsyncClient(transport=transport, trust_env=False) as client:
            response = await client.post(ask["url"], json=ask["asked"], headers=ask["headers"])
            await response.aread()
        transport.commit()
    except SecretFoundError as error:
        return str(error)
    except (HarnessError, httpx2.InvalidURL, httpx2.HTTPError) as error:  # an address that is none is not recorded
        return f"{type(error).__name__}: {error}".replace(secret, "") if isinstance(error, httpx2.InvalidURL) else str(error)
    return ""


def tried(n: int) -> Told:
    """So many placements, three in five of them in recordings."""
    told, secrets = Told(), _secrets()
    recordings(told, n * 3 // 5, secrets)
    runs(told, n - n * 3 // 5, secrets)
    return told


def main() -> int:
    """Place and look. 0 without a hit, else 1."""
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    began = time.monotonic()
    told = tried(n)
    n_placed = told.counts["in recordings"] + told.counts["in runs"]
    print(", ".join(f"{count:,} {what}" for what, count in told.counts.items()))
    print(f"{n_placed:,} placements, {len(told.hits)} hits; {time.monotonic() - began:.0f} s")
    print("\n".join(told.hits[:60]))
    return 1 if told.hits else 0


if __name__ == "__main__":
    sys.exit(main())
