"""What a model or a reader may see of the host: nothing of it."""

from __future__ import annotations

import traceback

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.redaction import HostDetails, host_details_in, redact_text

ROOTS = ("/builds/project", "/data/site-packages", r"D:\build\agent")

HOST_PATHS = (
    "/home/ada/x.py",
    "/home/ada",
    "/Users/ada/Library/x",
    "/root/.ssh/id_ed25519",
    "/tmp/pytest-of-ada/pytest-0/run.jsonl",
    "/var/folders/zz/T/tmpabc",
    "/private/var/folders/q",
    "/usr/lib/python3.11/json/decoder.py",
    "/usr/local/bin/tool",
    "/opt/conda/lib",
    "/mnt/disk/file",
    "/nix/store/abc-python/bin",
    "/proc/self/environ",
    "/proc/4711/fd",
    "/builds/project/harness/loop.py",
    "/data/site-packages/openai/_client.py",
    r"C:\Users\ada\x.py",
    "C:/Users/ada/x.py",
    r"C:\\Users\\ada\\x.py",
    r"D:\build\agent\y.txt",
    r"\\fileserver\share\x.txt",
    "file:///home/ada/x.html",
    "file://localhost/C:/x.html",
)

AROUND = (
    "{}",
    "cannot open {}",
    "'{}'",
    '"{}": no such file',
    "({})",
    "path={}, again",
    "at {}: gone",
    "[{}]",
    "a\n{}\nb",
)

INNOCENT = (
    "and/or, 1/2, 24/7, n/a",
    "GET /v1/orders/7 and POST /v1/chat/completions",
    "https://shop.test/home/bob/cart#/tmp/x",
    "http://127.0.0.1:8091/tmp/file",
    "docs/tmp/a.txt, ./home/ada/notes.txt and ../root/x",
    "order 2026-01-31 #4711, sku A-77/B, 12:30, 1e9",
    "/etc/hosts and /etc/passwd",
    "/tmpfile, /homework, /rooted, /optional, /varnish, /user/7",
    "C: is a drive, A:1 is a cell, note: x, C:/ is short",
    "s3://bucket/tmp/key, git@host.test:team/home/x.git",
    "模型 🚀 äß / räksmörgås",
    "the file says: nothing, line 3, in total",
    "a \\d+ regex and a \\n newline, \\\\ twice",
    "at 0x7f is a byte; 0xdeadbeef too",
    "<a href='/about'>About</a>",
)


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("path", HOST_PATHS)
def test_no_host_path_is_left_in_a_text(path: str, around: str) -> None:
    text = around.format(path)
    clean = redact_text(text, roots=ROOTS)
    assert path not in clean
    assert clean == around.format("<path>")
    assert host_details_in(text, roots=ROOTS)
    assert host_details_in(clean, roots=ROOTS) == ()


@pytest.mark.parametrize("text", INNOCENT)
def test_innocent_text_stays_as_it_is(text: str) -> None:
    assert redact_text(text, roots=ROOTS, secrets=("canary-value-1",)) == text
    assert host_details_in(text, roots=ROOTS) == ()


def test_a_quoted_path_with_spaces_goes_as_a_whole() -> None:
    text = "[Errno 2] No such file or directory: '/home/ada/My Files/plan.txt'"
    assert redact_text(text) == "[Errno 2] No such file or directory: '<path>'"


def test_the_words_after_a_quoted_path_stay() -> None:
    assert redact_text('{"error": "/tmp/x is missing; try again"}') == '{"error": "<path> is missing; try again"}'


def test_of_a_traceback_only_what_was_raised_is_left() -> None:
    try:
        raise ValueError("order 7 is closed")
    except ValueError as error:
        text = "tool failed:\n" + "".join(traceback.format_exception(error))
    assert "Traceback" in text
    assert redact_text(text) == "tool failed:\n<traceback>\nValueError: order 7 is closed\n"
    assert "Python traceback" in host_details_in(text)


def test_chained_and_grouped_tracebacks_lose_all_their_frames() -> None:
    try:
        try:
            raise KeyError("inner")
        except KeyError as inner:
            raise ExceptionGroup("outer", [ValueError("one"), inner]) from inner
    except ExceptionGroup as group:
        text = "".join(traceback.format_exception(group))
    clean = redact_text(text)
    assert 'File "' not in clean
    assert ", line " not in clean
    assert host_details_in(clean) == ()


def test_a_traceback_inside_json_text_loses_its_frames() -> None:
    text = (
        r'{"error":"Traceback (most recent call last):\n  File \"/srv/app/a.py\", line 3, in go\n    x()\nKeyError: 1"}'
    )
    clean = redact_text(text)
    assert "/srv/app" not in clean
    assert "line 3" not in clean
    assert "KeyError: 1" in clean


def test_the_address_of_an_object_goes_and_its_class_stays() -> None:
    assert redact_text("<Tool object at 0x7f9c1c2d3e40>") == "<Tool object at <address>>"


@pytest.mark.parametrize("root", ["/", "", "relative/folder", "."])
def test_a_root_that_would_mask_everything_is_not_used(root: str) -> None:
    assert redact_text("see /v1/orders and relative/folder/x", roots=(root,)) == "see /v1/orders and relative/folder/x"


def test_host_details_take_roots_and_secrets_from_an_environment() -> None:
    details = HostDetails.of({"HOME": "/lab/ada", "API_KEY": "canary-value-1", "LANG": "C"}, roots=["/lab/work"])
    assert details.redact("/lab/ada/x with canary-value-1 in /lab/work/y") == "<path> with <secret> in <path>"


WORDS = st.text(alphabet="ab/\\:.'\" \n<>C~1é-=", max_size=12)


@given(st.lists(st.one_of(WORDS, st.sampled_from(HOST_PATHS + INNOCENT)), max_size=6).map("".join))
def test_masking_twice_is_masking_once_and_leaves_nothing_to_find(text: str) -> None:
    clean = redact_text(text, roots=ROOTS)
    assert redact_text(clean, roots=ROOTS) == clean
    assert host_details_in(clean, roots=ROOTS) == ()


@given(st.text(max_size=200))
def test_a_text_without_findings_is_not_changed(text: str) -> None:
    if not host_details_in(text, roots=ROOTS):
        assert redact_text(text, roots=ROOTS) == text


HOSTILE = (
    "/tmp/",
    "a://",
    "C:\\",
    "'/tmp/a",
    'File "',
    "\\",
    "bearer ",
    "eyJ",
    " at 0x",
    "-----BEGIN ",
    "-----BEGIN PRIVATE KEY-----",
    "file:/",
    "Traceback (most recent call last):\n  x",
    " \t",
    "A",
    "|+-",
)


@pytest.mark.parametrize("piece", HOSTILE)
def test_a_hostile_text_is_masked_in_linear_time(piece: str) -> None:
    # Quadratic patterns took from 3 to 47 seconds here; the suite's own patience is the clock.
    text = piece * (200_000 // len(piece))
    clean = redact_text(text + "Exception Group ", roots=ROOTS, secrets=("canary-value-1",))
    assert len(clean) <= 2 * len(text)
