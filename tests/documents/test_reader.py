"""Documents mean what YAML 1.2 says, are located, and are refused by name where they are not plain JSON."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.documents import MAX_BYTES, MAX_DEPTH, MAX_NODES, load_document, read_document, reader
from harness.errors import ScenarioError

PARSERS = [
    pytest.param(yaml.SafeLoader, id="pure-parser"),
    pytest.param(getattr(yaml, "CSafeLoader", yaml.SafeLoader), id="c-parser"),
]


@pytest.fixture(params=PARSERS)
def parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Both parsers of the library, one after the other."""
    monkeypatch.setattr(reader, "LOADER", request.param)
    return request.param


@pytest.mark.usefixtures("parser")
@pytest.mark.parametrize(
    ("text", "value"),
    [
        pytest.param("on", "on", id="on-is-text"),
        pytest.param("no", "no", id="no-is-text"),
        pytest.param("yes", "yes", id="yes-is-text"),
        pytest.param("y", "y", id="y-is-text"),
        pytest.param("12:30", "12:30", id="a-time-is-text"),
        pytest.param("190:20:30", "190:20:30", id="base-sixty-is-text"),
        pytest.param("2024-01-01", "2024-01-01", id="a-date-is-text"),
        pytest.param("0b11", "0b11", id="binary-is-text"),
        pytest.param("1_000", "1_000", id="underscores-are-text"),
        pytest.param("=", "=", id="equals-is-text"),
        pytest.param("tRue", "tRue", id="odd-case-is-text"),
        pytest.param("0o17", 15, id="octal"),
        pytest.param("017", 17, id="a-leading-zero-stays-decimal"),
        pytest.param("0x1F", 31, id="hex"),
        pytest.param("-12", -12, id="negative"),
        pytest.param("+3", 3, id="plus"),
        pytest.param("9007199254740993", 9007199254740993, id="whole-numbers-stay-exact"),
        pytest.param("1.", 1.0, id="float-with-a-bare-point"),
        pytest.param(".5", 0.5, id="float-without-a-head"),
        pytest.param("1e3", 1000.0, id="exponent-without-a-point"),
        pytest.param("-1.5E-2", -0.015, id="float"),
        pytest.param(".", ".", id="a-point-is-text"),
        pytest.param("-", None, id="a-list-of-nothing"),
        pytest.param("1.2.3", "1.2.3", id="a-version-is-text"),
        pytest.param("true", True, id="true"),
        pytest.param("FALSE", False, id="false"),
        pytest.param("~", None, id="tilde"),
        pytest.param("Null", None, id="null"),
        pytest.param("'12'", "12", id="quoted-number"),
        pytest.param('"null"', "null", id="quoted-null"),
        pytest.param("'<<'", "<<", id="quoted-merge"),
        pytest.param("|\n  a\n  b\n", "a\nb\n", id="block"),
        pytest.param("模型 🚀 äß", "模型 🚀 äß", id="any-script"),
    ],
)
def test_a_plain_scalar_means_what_yaml_1_2_says(text: str, value: object) -> None:
    expected = [value] if text == "-" else value
    got = load_document(text, "x.yaml").value
    assert got == expected
    assert type(got) is type(expected)


BOMB = "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n"
TOO_LONG = "1" * 5_000


@pytest.mark.usefixtures("parser")
@pytest.mark.public_case("PB-048")
@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        pytest.param("a: 1\nb: 2\na: 3\n", 3, ("'a'", "line 1", "keep one"), id="duplicate-key"),
        pytest.param("x:\n  {k: 1, 'k': 2}\n", 2, ("'k'", "twice"), id="duplicate-key-quoted"),
        pytest.param(BOMB, 1, ("&a", "anchor", "write the value out"), id="alias-bomb"),
        pytest.param("a: 1\nb: *a\n", 2, ("*a", "alias"), id="alias"),
        pytest.param("a: 1\n<<: {b: 1}\n", 2, ("merge key", "write the fields out"), id="merge-key"),
        pytest.param("a: !!python/object:os.system x\n", 1, ("tag", "refused"), id="tag"),
        pytest.param("a: !!str 1\n", 1, ("tag",), id="standard-tag"),
        pytest.param("a: ! 1\n", 1, ("tag",), id="bare-tag"),
        pytest.param("t: !!set {a, b}\n", 1, ("tag",), id="set"),
        pytest.param("t: !!binary aGk=\n", 1, ("tag",), id="binary-tag"),
        pytest.param("%TAG ! tag:x,2000:\n---\na: 1\n", None, ("%TAG",), id="tag-directive"),
        pytest.param("%YAML 1.1\n---\na: 1\n", None, ("YAML 1.2",), id="yaml-1-1"),
        pytest.param("a: 1\n---\nb: 2\n", 2, ("second document",), id="two-documents"),
        pytest.param("a: 1\n\nb: .inf\n", 3, (".inf", "not JSON"), id="infinity"),
        pytest.param("a: .NaN\n", 1, (".NaN",), id="nan"),
        pytest.param("a: 1e400\n", 1, ("1e400", "range"), id="float-out-of-range"),
        pytest.param(f"a: {TOO_LONG}\n", 1, ("4300", "quotes"), id="whole-number-too-long"),
        pytest.param("1: a\n", 1, ("key 1", "quotes"), id="number-as-key"),
        pytest.param("true: a\n", 1, ("key true", "quotes"), id="truth-as-key"),
        pytest.param("~: a\n", 1, ("key null",), id="null-as-key"),
        pytest.param("? [a]\n: b\n", 1, ("not text",), id="list-as-key"),
        pytest.param("", None, ("empty",), id="nothing"),
        pytest.param("# only a remark\n", None, ("empty",), id="only-a-comment"),
        pytest.param("a: [1,\nb: 2\n", 3, ("not YAML",), id="unclosed"),
        pytest.param("a: 'x\n", 2, ("not YAML",), id="unclosed-quote"),
        pytest.param("a: b: c\n", 1, ("not YAML", "colons"), id="two-colons"),
        pytest.param("a:\n\t- b\n", 2, ("not YAML",), id="tab"),
        pytest.param("a: 1\nb: x\u2028y\n", 2, ("U+2028", "\\u2028", "double quotes"), id="line-separator"),
        pytest.param("a: x\x85y\n", 1, ("U+0085",), id="next-line"),
        pytest.param("a: x\x1by\n", 1, ("U+001B",), id="escape"),
        pytest.param("a: \ud800\n", 1, ("surrogate",), id="half-a-pair"),
        pytest.param('a: 1\nb: "\\ud800"\n', 2, (), id="half-a-pair-escaped"),
        pytest.param("a: 1\nb: x\0y\n", 2, ("binary",), id="nul-in-text"),
        pytest.param(b"a: 1\nb: x\0y\n", 2, ("binary",), id="nul-in-bytes"),
        pytest.param(b"a: 1\nb: \xe4\xf6\n", 2, ("UTF-8",), id="latin-1"),
        pytest.param("a: 1\n".encode("utf-16"), None, ("UTF-16", "UTF-8"), id="utf-16"),
    ],
)
def test_what_is_not_one_plain_document_is_refused_with_file_line_and_remedy(
    text: str | bytes, line: int | None, words: tuple[str, ...]
) -> None:
    with pytest.raises(ScenarioError) as caught:
        load_document(text, "some/x.yaml")
    assert caught.value.file == "some/x.yaml"
    assert str(caught.value).startswith("some/x.yaml:")
    if line is not None:
        assert caught.value.line == line
    for word in words:
        assert word in str(caught.value)


@pytest.mark.usefixtures("parser")
@pytest.mark.public_case("PB-048")
def test_crlf_bom_and_utf_8_bytes_give_the_same_value_as_plain_text() -> None:
    text = "name: 模型 🚀 äß\nlong: |\n  a\n  b\n"
    plain = load_document(text, "x").value
    assert load_document(text.encode(), "x").value == plain
    assert load_document(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode(), "x").value == plain
    assert load_document("\ufeff" + text, "x").value == plain


@pytest.mark.usefixtures("parser")
def test_every_value_knows_its_line_and_a_path_that_leads_nowhere_the_nearest() -> None:
    document = load_document("a: 1\nb:\n  - x\n  - c:\n      d: {e: 1}\nlong: |\n  t\n", "x.yaml")
    lines = {
        (): 1, ("a",): 1, ("b",): 2, ("b", 0): 3, ("b", 1): 4, ("b", 1, "c"): 4, ("b", 1, "c", "d"): 5,
        ("b", 1, "c", "d", "e"): 5, ("b", 1, "c", "nope", 7): 4, ("long",): 6, ("nope",): 1,
    }  # fmt: skip
    assert {path: document.line_of(path) for path in lines} == lines


@pytest.mark.usefixtures("parser")
@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param("[" * 100_000, f"deeper than {MAX_DEPTH}", id="lists-100000-deep"),
        pytest.param('{"a":' * 100_000, f"deeper than {MAX_DEPTH}", id="mappings-100000-deep"),
        pytest.param("- " * 100_000 + "a", f"deeper than {MAX_DEPTH}", id="block-lists-100000-deep"),
        pytest.param("[" + "a," * 500_000 + "]", f"more than {MAX_NODES:,}", id="half-a-million-items"),
        pytest.param("a" * (MAX_BYTES + 1), "1,048,576 bytes", id="too-many-bytes"),
    ],
)
def test_a_hostile_document_is_refused_in_bounded_time(text: str, words: str) -> None:
    before = time.process_time()
    with pytest.raises(ScenarioError, match=words):
        load_document(text, "x.yaml")
    assert time.process_time() - before < (20 if reader.LOADER is yaml.SafeLoader else 1)


def test_nesting_up_to_the_cap_is_read() -> None:
    text = "[" * MAX_DEPTH + "]" * MAX_DEPTH
    assert load_document(text, "x").value is not None
    with pytest.raises(ScenarioError, match="deeper"):
        load_document(f"[{text}]", "x")


class TestFiles:
    def test_a_file_is_read_as_utf_8(self, tmp_path: Path) -> None:
        path = tmp_path / "x.yaml"
        path.write_bytes("a: 模型\r\n".encode())
        assert read_document(path).value == {"a": "模型"}
        assert read_document(path).file == str(path)

    def test_a_file_of_50_megabytes_is_refused_without_being_read(self, tmp_path: Path) -> None:
        path = tmp_path / "x.yaml"
        with path.open("wb") as stream:
            stream.truncate(50_000_000)
        with pytest.raises(ScenarioError, match="larger than 1,048,576 bytes"):
            read_document(path)

    def test_a_missing_file_and_a_folder_are_refused_by_name(self, tmp_path: Path) -> None:
        for path in (tmp_path / "none.yaml", tmp_path):
            with pytest.raises(ScenarioError, match="cannot be read") as caught:
                read_document(path)
            assert str(path) in str(caught.value)

    def test_an_empty_file_is_refused(self, tmp_path: Path) -> None:
        path = tmp_path / "x.yaml"
        path.touch()
        with pytest.raises(ScenarioError, match="is empty"):
            read_document(path)
