"""Secrets: which values are one, and no spelling of them escapes."""

from __future__ import annotations

import base64
import json
import struct
import time
from pathlib import Path
from urllib.parse import quote, quote_plus, unquote, unquote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.redaction import find_secrets, known_secrets, redact_text, secret_mask
from harness.redaction.words import format_words

CANARY = "cAnary/+9f_77 x~Q"
SHAPED = (
    "sk-abcdefghijklmnop1234",
    "sk-proj-Abc_def-0123456789",
    "Bearer abcdef0123456789",
    "bearer abcdefghijklmnopqrstuvwxyz",
    "ghp_abcdefghij0123456789",
    "github_pat_abcdefghij0123456789",
    "glpat-abcdefghij0123456789",
    "AKIAABCDEFGHIJKLMNOP",
    "xoxb-1234567890-abc",
    "AIza" + "a" * 35,
    "hf_" + "b" * 32,
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIabc\n-----END RSA PRIVATE KEY-----",
    "https://ada:hunter2@host.test/x",
)
INNOCENT = (
    "a task-management-with-long-names and a disk-abcdefghijklmnopqrst",
    "the bearer of this letter",
    "order 4711, id 3fa85f64-5717-4562-b3fc-2c963f66afa6, call_abc123",
    "https://host.test/a@b and mail ada@host.test, http://127.0.0.1:8091/v1",
    "sk-no-key-required",
    "AKIA is a prefix; github_pat is a word",
)


def spelled(secret: str) -> dict[str, bytes]:
    data = secret.encode()
    return {
        "plain": data,
        "base64": base64.b64encode(data),
        "base64-shifted-1": base64.b64encode(b"x" + data),
        "base64-shifted-2": base64.b64encode(b"ab" + data + b"tail"),
        "base64-urlsafe": base64.urlsafe_b64encode(b"user:" + data),
        "base64-wrapped": base64.encodebytes(b"long enough to be wrapped into lines of seventy-six: " + data),
        "hex": data.hex().encode(),
        "HEX": data.hex().upper().encode(),
        "percent": quote(secret, safe="").encode(),
        "percent-every-byte": "".join(f"%{b:02x}" for b in data).encode(),
        "json": json.dumps({"k": secret}).encode(),
        "json-unicode": "".join(f"\\u{ord(c):04x}" for c in secret).encode(),
        "json-in-json": json.dumps(json.dumps({"k": secret})).encode(),
    }


@pytest.mark.parametrize("way", spelled(CANARY))
def test_a_known_secret_is_found_in_every_spelling(way: str) -> None:
    found = find_secrets(b'{"x": "' + spelled(CANARY)[way] + b'"}', (CANARY,))
    assert any(one.startswith("known secret") for one in found)
    assert not any(CANARY in one for one in found)


@pytest.mark.parametrize("cut", range(1, len(CANARY)))
def test_a_secret_split_over_two_stream_chunks_is_found(cut: int) -> None:
    frames = [
        {"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 2, "function": {"arguments": piece}}]}}]}
        for piece in (CANARY[:cut], CANARY[cut:])
    ]
    body = "".join(f"data: {json.dumps(frame)}\n\n" for frame in frames) + "data: [DONE]\n\n"
    assert "known secret, as it stands" in find_secrets(body.encode(), (CANARY,))


@pytest.mark.parametrize("text", SHAPED, ids=range(len(SHAPED)))
def test_a_text_of_the_shape_of_a_key_is_found_and_masked(text: str) -> None:
    around = f'{{"note": "use {text} here"}}'
    assert find_secrets(around.encode(), ())
    clean = redact_text(around)
    assert find_secrets(clean.encode(), ()) == ()
    assert "<secret>" in clean


@pytest.mark.parametrize("text", INNOCENT)
def test_innocent_text_is_not_taken_for_a_secret(text: str) -> None:
    assert find_secrets(text.encode(), (CANARY,)) == ()
    assert redact_text(text, secrets=(CANARY,)) == text


ENVIRONMENT = {
    "OPENAI_API_KEY": "plain-api-key",
    "apikey": "lowercase-key",
    "SERVICE_TOKEN_2": "token-number-2",
    "DB_PASSWORD": "correct horse",
    "ANY_NAME": "sk-abcdefghijklmnop1234",
    "HTTPS_PROXY": "http://ada:proxy-password@proxy.test:8080",
    "SHORT_KEY": "1234567",
    "NUMBER_TOKEN": "123456789012",
    "SSH_AUTH_SOCK": "/tmp/ssh-abc/agent.1",
    "KEYBOARD": "qwertz-layout",
    "HOME": "/home/ada",
    "LANG": "C.UTF-8",
}


def test_the_secrets_of_an_environment_are_told_by_name_and_by_shape() -> None:
    assert known_secrets(ENVIRONMENT) == (
        "correct horse",
        "lowercase-key",
        "plain-api-key",
        "proxy-password",
        "sk-abcdefghijklmnop1234",
        "token-number-2",
    )


def test_a_password_of_a_url_is_known_as_it_stands_there_and_decoded() -> None:
    assert known_secrets({"DB": "postgres://ada:p4ss%20Word!zz@db.test/x"}) == ("p4ss Word!zz", "p4ss%20Word!zz")


@pytest.mark.parametrize(
    "word", ["completed", "arguments", "assistant", "toolCalls", "run/start", "ool/resu", "trajectory/header"]
)
def test_a_word_of_the_format_is_no_secret(word: str) -> None:
    assert known_secrets({"AUTH_TOKEN": word}) == ()
    assert known_secrets({"AUTH_TOKEN": f"{word}-canary"}) == (f"{word}-canary",)


def test_every_word_of_the_golden_file_is_a_word_of_the_format() -> None:
    golden = (Path(__file__).parents[1] / "golden" / "trajectory.schema.json").read_text("utf-8")
    schema = json.loads(golden)
    records = [*schema["oneOf"][:-1], *schema["$defs"].values()]
    keys = {key for record in records for key in record["properties"]}
    words = {
        word
        for record in records
        for field in record["properties"].values()
        for word in (*field.get("enum", ()), field.get("const", ""))
    }
    assert {word for word in keys | words if isinstance(word, str)} - format_words() <= {"", "seq"}


SECRETS = st.text(
    st.characters(min_codepoint=33, max_codepoint=0x2FF, exclude_categories=("Cs",)), min_size=8, max_size=40
)


@given(SECRETS, st.text(max_size=30), st.text(max_size=30), st.sampled_from(sorted(spelled(CANARY))))
def test_no_spelling_of_any_secret_goes_unseen(secret: str, before: str, after: str, way: str) -> None:
    data = f"{before} ".encode("utf-8", "replace") + spelled(secret)[way] + f" {after}".encode("utf-8", "replace")
    assert find_secrets(data, (secret,))


@given(SECRETS, st.sampled_from(["plain", "base64-shifted-1", "base64-urlsafe", "hex", "HEX", "percent"]))
def test_a_masked_text_holds_the_secret_no_more(secret: str, way: str) -> None:
    text = "before " + spelled(secret)[way].decode() + " after"
    clean = redact_text(text, secrets=(secret,))
    assert find_secrets(clean.encode(), (secret,)) == ()
    assert clean.startswith("before ")
    assert clean.endswith(" after")


def disguised(secret: str) -> dict[str, str]:
    """Texts in which a model, a tool or an error may carry a secret."""
    units = struct.unpack(f">{len(secret.encode('utf-16-be')) // 2}H", secret.encode("utf-16-be"))
    every = "".join(f"\\u{unit:04x}" for unit in units)
    return {
        "plain": secret,
        "json": json.dumps({"t": secret}),
        "json-not-ascii": json.dumps({"t": secret}, ensure_ascii=False),
        "json-in-json": json.dumps(json.dumps({"t": secret})),
        "json-in-json-not-ascii": json.dumps(json.dumps({"t": secret}, ensure_ascii=False)),
        "every-character-escaped": f'{{"t": "{every}"}}',
        "every-character-escaped-twice": json.dumps(f'{{"t": "{every}"}}'),
        "python-repr": repr({"t": secret}),
        "form": quote_plus(secret),
        "percent-in-part": quote(secret),
        "base64-wrapped": base64.encodebytes(
            b"long enough to be wrapped, it is to be hoped: " + secret.encode()
        ).decode(),
    }


NASTY_SECRETS = (CANARY, 'q"uoted\\ and/é', "two\nlines\tlong", "\U0001f680 rocket key", "0123456789abcdef")


def leaves_of(value: object) -> list[str]:
    """Every text in a JSON value, read again as JSON where it is some."""
    if isinstance(value, str):
        try:
            inner = json.loads(value)
        except ValueError:
            inner = None
        return [value, *(leaves_of(inner) if isinstance(inner, str | dict | list) else [])]
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for item in items for text in leaves_of(item)]


@pytest.mark.parametrize("secret", NASTY_SECRETS, ids=range(len(NASTY_SECRETS)))
@pytest.mark.parametrize("way", disguised(CANARY))
def test_a_line_is_written_without_a_secret_in_whatever_disguise(way: str, secret: str) -> None:
    hidden = disguised(secret)[way]
    line = json.dumps(
        {"type": "tool/result", "arguments": json.dumps({"a": hidden}), "content": f"a {hidden} b"}, ensure_ascii=False
    )
    mask = secret_mask((secret,))
    assert mask is not None
    clean = mask(line.encode())
    texts = leaves_of(json.loads(clean))
    for text in texts:
        for view in (text, unquote(text), unquote_plus(text), "".join(text.split())):
            assert secret not in view
            assert base64.b64encode(b"xx" + secret.encode()).decode()[3:-4] not in view
    assert any("<secret>" in text for text in texts)
    assert mask(clean) is clean


def test_a_line_without_a_secret_stays_the_same_object() -> None:
    mask = secret_mask(NASTY_SECRETS)
    line = json.dumps({"a": json.dumps({"b": "50% of\n\u00e9 \\ /"})}).encode()
    assert mask is not None
    assert mask(line) is line


@pytest.mark.parametrize(
    "piece",
    ["\\", "\\u005c", "%", "c\\", "a\n", "\\n"],
    ids=["slashes", "escapes", "percents", "mixed", "lines", "line-marks"],
)
def test_looking_for_a_disguised_secret_takes_bounded_time(piece: str) -> None:
    mask = secret_mask((*NASTY_SECRETS, '\\"\\"\\" cc'))
    assert mask is not None
    began = time.process_time()
    mask((piece * 50_000).encode())
    assert time.process_time() - began < 5
