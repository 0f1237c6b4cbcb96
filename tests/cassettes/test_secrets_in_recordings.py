"""No secret of the environment reaches a cassette, wherever somebody put it (INVARIANTS 23, RELIABILITY P5)."""

from __future__ import annotations

import base64
import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.cassettes import Cassette, Exchange, RecordedRequest, RecordedResponse, dump_cassette, open_recording
from harness.cassettes.keep import refuse_secrets
from harness.errors import SecretFoundError
from tests.cassettes.lab import INFO, StepClock, completion, two_steps

CANARIES = ("canary-Value/1+x", "sk-canary0123456789abcdef", "Pässwort & mehr 7", "0123456789abcdef0123456789abcdef")
HIDDEN = {
    "plain": lambda secret: secret,
    "in-words": lambda secret: f"the key is {secret}, keep it",
    "exception-text": lambda secret: f"Traceback (most recent call last):\nAuthError: key {secret!s} refused",
    "base64": lambda secret: base64.b64encode(secret.encode()).decode(),
    "base64-of-basic-auth": lambda secret: base64.b64encode(b"user:" + secret.encode()).decode(),
    "percent": lambda secret: quote(secret, safe=""),
    "hex": lambda secret: secret.encode().hex(),
    "json-text": lambda secret: json.dumps({"token": secret}),
    "url-userinfo": lambda secret: f"https://ada:{quote(secret, safe='')}@host.test/x",
}
PLACES: dict[str, Callable[[dict[str, Any], dict[str, Any], str], None]] = {
    "system": lambda asked, _, text: asked["messages"][0].__setitem__("content", text),
    "task": lambda asked, _, text: asked["messages"][1].__setitem__("content", text),
    "tool-arguments": lambda asked, _, text: asked["messages"][2]["tool_calls"][0]["function"].__setitem__(
        "arguments", text
    ),
    "tool-result": lambda asked, _, text: asked["messages"][3].__setitem__("content", text),
    "tool-description": lambda asked, _, text: asked["tools"][0]["function"].__setitem__("description", text),
    "parameter": lambda asked, _, text: asked.__setitem__("user", text),
    "key": lambda asked, _, text: asked.__setitem__(text, 1),
    "answer": lambda _, said, text: said["choices"][0]["message"].__setitem__("content", text),
    "answer-extra": lambda _, said, text: said.__setitem__("debug", {"seen": [text]}),
}


class Upstream(httpx2.AsyncBaseTransport):
    """Answers at once, in the pieces given."""

    def __init__(self, pieces: list[bytes], headers: list[tuple[str, str]]) -> None:
        self.pieces, self.headers = pieces, headers

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        async def body() -> Any:
            for piece in self.pieces:
                yield piece

        return httpx2.Response(200, headers=self.headers, content=body())


async def record(
    path: Path,
    asked: Any,
    pieces: list[bytes],
    *,
    url: str = "http://localhost/v1/chat/completions",
    headers: Any = (),
    said_headers: Any = (),
) -> None:
    """One exchange through a recording, committed."""
    upstream = Upstream(pieces, [("content-type", "application/json"), *said_headers])
    transport = open_recording(path, upstream=upstream, secrets=CANARIES, info=INFO, clock=StepClock())
    async with httpx2.AsyncClient(transport=transport) as asking:
        await asking.post(url, json=asked, headers=list(headers))
    transport.commit()


def files_in(folder: Path) -> list[Path]:
    """Everything under a folder."""
    return sorted(folder.rglob("*"))


def written(folder: Path) -> bytes:
    """All bytes under a folder."""
    return b"".join(one.read_bytes() for one in files_in(folder) if one.is_file())


@pytest.mark.parametrize("secret", CANARIES, ids=range(len(CANARIES)))
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("way", HIDDEN)
@pytest.mark.asyncio
async def test_a_canary_in_a_body_is_refused_and_nothing_is_written(
    tmp_path: Path, way: str, place: str, secret: str
) -> None:
    asked, said = copy.deepcopy(two_steps()[1]), completion("done")
    PLACES[place](asked, said, HIDDEN[way](secret))
    with pytest.raises(SecretFoundError, match=r"(request|response) 1, body") as caught:
        await record(tmp_path / "c.yaml", asked, [json.dumps(said).encode()])
    assert secret not in str(caught.value)
    assert files_in(tmp_path) == []


@pytest.mark.parametrize("secret", CANARIES, ids=range(len(CANARIES)))
@pytest.mark.parametrize("place", ["header", "response-header", "cookie", "query", "userinfo"])
@pytest.mark.asyncio
async def test_a_canary_outside_of_bodies_is_left_out(tmp_path: Path, place: str, secret: str) -> None:
    plain = base64.urlsafe_b64encode(secret.encode()).decode() if not secret.isascii() else secret
    url = "http://localhost/v1/chat/completions"
    more: dict[str, Any] = {
        "header": {"headers": [("Authorization", f"Bearer {plain}"), ("API-KEY", plain)]},
        "response-header": {"said_headers": [("OpenAI-Organization", plain), ("x-debug", plain)]},
        "cookie": {"said_headers": [("SET-Cookie", f"sid={plain}")]},
        "query": {"url": f"{url}?key={quote(secret, safe='')}"},
        "userinfo": {"url": f"http://ada:{quote(secret, safe='')}@localhost/v1/chat/completions"},
    }[place]
    await record(tmp_path / "c.yaml", two_steps()[0], [json.dumps(completion()).encode()], **more)
    data = written(tmp_path)
    assert data
    for hidden in (
        secret,
        plain,
        *(HIDDEN[way](secret) for way in ("base64", "base64-of-basic-auth", "percent", "hex")),
    ):
        assert hidden.encode() not in data


@pytest.mark.asyncio
async def test_a_canary_in_the_path_of_the_url_is_refused(tmp_path: Path) -> None:
    url = f"http://localhost/bot{CANARIES[1]}/chat"
    with pytest.raises(SecretFoundError, match="request 1, URI"):
        await record(tmp_path / "c.yaml", two_steps()[0], [b"{}"], url=url)
    assert files_in(tmp_path) == []


@pytest.mark.parametrize("secret", CANARIES, ids=range(len(CANARIES)))
@pytest.mark.parametrize("cut_at", [1, 0.3, 0.5, -1])
@pytest.mark.parametrize("level", ["bytes", "events"])
@pytest.mark.asyncio
async def test_a_canary_split_over_two_chunks_is_refused(
    tmp_path: Path, level: str, cut_at: float, secret: str
) -> None:
    cut = int(cut_at * len(secret)) if isinstance(cut_at, float) else int(cut_at)
    if level == "bytes":
        whole = json.dumps(completion(f"key {secret}"), ensure_ascii=False)
        at = whole.index(secret) + cut % len(secret)
        pieces = [whole[:at].encode(), whole[at:].encode()]
    else:
        deltas = [{"choices": [{"index": 0, "delta": {"content": text}}]} for text in (secret[:cut], secret[cut:])]
        pieces = [f"data: {json.dumps(one)}\n\n".encode() for one in deltas]
    with pytest.raises(SecretFoundError):
        await record(tmp_path / "c.yaml", two_steps()[0], pieces)
    assert files_in(tmp_path) == []


WORDS = st.text(st.characters(exclude_categories=("Cs",)), max_size=30)


@given(
    st.sampled_from(CANARIES), st.sampled_from(sorted(HIDDEN)), st.sampled_from(["request", "response"]), WORDS, WORDS
)
def test_no_text_around_a_canary_hides_it(secret: str, way: str, side: str, before: str, after: str) -> None:
    text = json.dumps({"said": f"{before} {HIDDEN[way](secret)} {after}"}).encode()
    bodies = {"request": b"{}", "response": b"{}", side: text}
    one = Cassette(
        (
            Exchange(
                RecordedRequest("POST", "http://localhost/v1", (), bodies["request"]),
                RecordedResponse(200, "OK", (), bodies["response"]),
            ),
        )
    )
    with pytest.raises(SecretFoundError, match=f"{side} 1, body, said"):
        refuse_secrets(one, dump_cassette(one), CANARIES)


@given(st.dictionaries(WORDS, WORDS, max_size=3))
def test_a_body_without_a_secret_is_not_refused(body: dict[str, str]) -> None:
    one = Cassette(
        (
            Exchange(
                RecordedRequest("POST", "http://localhost/v1", (), json.dumps(body).encode()),
                RecordedResponse(200, "OK", (), json.dumps(completion("order 4711, id call_abc")).encode()),
            ),
        )
    )
    refuse_secrets(one, dump_cassette(one), CANARIES)


def test_a_secret_in_an_answer_of_many_is_told_with_what_was_asked_and_with_its_file() -> None:
    body = json.dumps({"said": CANARIES[0]}).encode()
    request, response = RecordedRequest("POST", "http://localhost/v1", (), b"{}"), RecordedResponse(200, "OK", (), body)
    one = Cassette((Exchange(request, response, label="case-7"),))
    with pytest.raises(SecretFoundError, match=r"shop/new\.yaml: .* response 1 of 'case-7', body, said"):
        refuse_secrets(one, dump_cassette(one), CANARIES, file="shop/new.yaml")
    named = Cassette((Exchange(request, response, label=f"case {CANARIES[0]}"),))
    with pytest.raises(SecretFoundError, match="response 1, body, said") as caught:
        refuse_secrets(named, dump_cassette(named), CANARIES)
    assert CANARIES[0] not in str(caught.value)
