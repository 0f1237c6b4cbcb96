"""Cases in files of lines: read one at a time, refused with file and line, never held in memory."""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import ScenarioError
from harness.scenarios.evaluation_document import case_document, case_line
from harness.scenarios.evaluation_lines import MAX_LINE
from harness.scenarios.evaluation_loading import evaluation, load_evaluation
from harness.types.evaluation import CASES_FORMAT, Case, Evaluation

HEAD = "format: harness-evaluation/1\ntools: {use: [calculator]}\n"


def loaded(folder: Path, *lines: Any, body: str = "cases: {from: cases.jsonl}\n") -> Evaluation:
    texts = [line if isinstance(line, str) else json.dumps(line, ensure_ascii=False) for line in lines]
    folder.joinpath("cases.jsonl").write_text("".join(f"{text}\n" for text in texts), "utf-8")
    folder.joinpath("x.yaml").write_text(HEAD + body, "utf-8")
    return load_evaluation(folder / "x.yaml")


def ask(text: str, **more: Any) -> dict[str, Any]:
    return {"ask": text, "expect": "no_call", **more}


def test_each_line_is_a_case_with_its_line(tmp_path: Path) -> None:
    value = loaded(tmp_path, ask("one"), "", ask("two", expect={"get": {"id": 7}}), "   ", ask("三"))
    assert [(case.id, case.line) for case in value.cases] == [("one", 1), ("two", 3), ("三", 5)]
    assert [value.cases[at].line for at in (2, 0, 1, -1)] == [5, 1, 3, 5]


def test_a_header_may_stand_first(tmp_path: Path) -> None:
    value = loaded(tmp_path, {"format": CASES_FORMAT}, ask("one"))
    assert [case.line for case in value.cases] == [2]


def test_a_template_in_a_line_is_several_cases_of_one_group(tmp_path: Path) -> None:
    value = loaded(tmp_path, ask("in {c}", each=[{"c": "Oslo"}, {"c": "Rio"}]), ask("last"))
    assert [(case.id, case.group, case.line) for case in value.cases] == [("in-oslo", "in-c", 1), ("in-rio", "in-c", 1), ("last", None, 2)]
    assert value.cases[1].ask == "in Rio"


def test_cases_of_lines_and_of_the_document_are_one_list(tmp_path: Path) -> None:
    tmp_path.joinpath("empty.jsonl").write_text("\n", "utf-8")
    body = "cases:\n  - {from: empty.jsonl}\n  - {ask: here, expect: no_call}\n  - {from: cases.jsonl}\n  - {ask: last, expect: no_call}\n"
    value = loaded(tmp_path, ask("one"), ask("here"), body=body)
    assert [case.id for case in value.cases] == ["here", "one", "here-2", "last"]
    assert [value.cases[at].id for at in range(4)] == ["here", "one", "here-2", "last"]
    with pytest.raises(IndexError):
        value.cases[4]


@pytest.mark.parametrize(
    ("line", "field", "words"),
    [
        pytest.param("{bad", "", "is no JSON object on one line", id="no-json"),
        pytest.param('{"ask": "a", "ask": "b"}', "", "duplicate key 'ask'", id="key-twice"),
        pytest.param('{"ask": "a", "expect": {"b": {"x": NaN}}}', "", "NaN is not JSON", id="nan"),
        pytest.param("[1]", "", "must be one case a line", id="list"),
        pytest.param('{"ask": "a"}', "expect", "is required", id="no-expectation"),
        pytest.param('{"ask": "a", "expct": "b"}', "expct", "did you mean 'expect'", id="typo"),
        pytest.param('{"ask": "a", "expect": {"b": {"x": {"$nera": 1}}}}', "expect.b", "is no matcher", id="matcher"),
        pytest.param('{"ask": "a", "expect": "b", "history": [{"calls": ["b"]}]}', "history[0]", "without an answer", id="history"),
        pytest.param('{"ask": "{c}", "expect": "b", "each": [{"c": 7}]}', "ask", "row 1", id="row"),
        pytest.param('{"ask": "a", "id": "first", "expect": "b"}', "id", "cases.jsonl:1", id="id-twice"),
        pytest.param('{"ask": "a", "expect": "b", "answer": "x"}', "answer", "whole loop", id="answer"),
        pytest.param('{"format": "harness-cases/1"}', "format", "unknown field 'format'", id="header-not-first"),
        pytest.param('{"ask": "' + "a" * MAX_LINE + '"}', "", "more than 1,048,576 bytes", id="long"),
    ],
)
def test_a_bad_line_is_refused_with_file_line_and_field(line: str, field: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(ScenarioError) as caught:
        loaded(tmp_path, ask("x", id="first"), "", line)
    assert (Path(caught.value.file).name, caught.value.line, caught.value.field) == ("cases.jsonl", 3, field)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        pytest.param(b"\xff\xfe", "is not UTF-8", id="not-utf-8"),
        pytest.param(b'{"format": "harness-cases/2"}\n', "did you mean 'harness-cases/1'", id="another-version"),
        pytest.param(b'{"format": "harness-cases/1", "ask": "a"}\n', "a case has no format", id="header-and-case"),
        pytest.param(b"\n\n", "has no cases", id="empty"),
    ],
)
def test_a_file_that_holds_no_cases_is_refused(data: bytes, words: str, tmp_path: Path) -> None:
    tmp_path.joinpath("c.jsonl").write_bytes(data)
    with pytest.raises(ScenarioError, match=words):
        evaluation(tools={"use": ["a"]}, cases={"from": str(tmp_path / "c.jsonl")})


def test_a_bom_is_no_part_of_the_first_case(tmp_path: Path) -> None:
    tmp_path.joinpath("c.jsonl").write_bytes(b'\xef\xbb\xbf{"ask": "a", "expect": "b"}\r\n{"ask": "c", "expect": "b"}')
    value = evaluation(tools={"use": ["a"]}, cases={"from": str(tmp_path / "c.jsonl")})
    assert [case.ask for case in value.cases] == ["a", "c"]


def test_a_file_that_changed_since_it_was_loaded_is_refused(tmp_path: Path) -> None:
    value = loaded(tmp_path, ask("one"), ask("two"))
    tmp_path.joinpath("cases.jsonl").write_text(json.dumps(ask("another")) + "\n", "utf-8")
    with pytest.raises(ScenarioError, match="has changed since the evaluation was loaded"):
        value.cases[0]
    tmp_path.joinpath("cases.jsonl").unlink()
    with pytest.raises(ScenarioError, match="cannot be read"):
        list(value.cases)


def test_cases_can_be_handed_to_another_process_and_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    value = loaded(tmp_path, ask("one"), ask("in {c}", each=[{"c": "Oslo"}, {"c": "Rio"}]))
    handed = pickle.loads(pickle.dumps(value))
    monkeypatch.chdir(os.path.sep)
    assert list(handed.cases) == list(value.cases)
    assert (handed.cases.digest, handed.digest) == (value.cases.digest, value.digest)


CASES = st.lists(
    st.fixed_dictionaries(
        {"ask": st.sampled_from(["a", "b", "a b", "文", "?"]), "expect": st.sampled_from(["no_call", "ask_user", "get", {"get": {"id": 7}}])},
        optional={"id": st.sampled_from(["x", "y", "a"]), "group": st.sampled_from(["g", "h"]), "tags": st.just(["t"])},
    ),
    min_size=1,
    max_size=8,
)


def read(folder: Path, cases: list[dict[str, Any]], *, inline: bool) -> list[Case] | str:
    path = folder / "c.jsonl"
    path.write_text("".join(json.dumps(case) + "\n" for case in cases), "utf-8")
    try:
        return [*evaluation(tools={"use": ["a"]}, cases=cases if inline else {"from": str(path)}).cases]
    except ScenarioError as error:
        return error.message.split(":")[0].split(" is taken")[0].split(" is called")[0]


@given(CASES)
def test_a_file_of_lines_gives_the_cases_that_a_list_gives(tmp_path_factory: pytest.TempPathFactory, cases: list[dict[str, Any]]) -> None:
    folder = tmp_path_factory.mktemp("lines")
    from_list, from_file = read(folder, cases, inline=True), read(folder, cases, inline=False)
    if isinstance(from_list, str) or isinstance(from_file, str):
        assert from_list == from_file
        return
    assert [case_document(case) for case in from_list] == [case_document(case) for case in from_file]
    ids = [case.id for case in from_file]
    assert len(set(ids)) == len(ids)


@given(CASES)
def test_written_as_lines_cases_keep_their_digest(tmp_path_factory: pytest.TempPathFactory, cases: list[dict[str, Any]]) -> None:
    folder = tmp_path_factory.mktemp("written")
    try:
        value = evaluation(tools={"use": ["a"]}, cases=cases)
    except ScenarioError:
        return
    path = folder / "cases.jsonl"
    path.write_bytes(b"".join(map(case_line, value.cases)))
    again = evaluation(tools={"use": ["a"]}, cases={"from": str(path)})
    assert (again.cases.digest, again.digest) == (value.cases.digest, value.digest)
    assert hashlib.sha256(path.read_bytes()).hexdigest() == value.cases.digest


MEASURE = """
import resource, sys
from harness.scenarios.evaluation_loading import evaluation
value = evaluation(tools={"use": ["a"]}, cases={"from": sys.argv[1]})
n = sum(1 for _ in value.cases)
print(n, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def peak_kib(path: Path, n: int) -> int:
    """The peak of memory of a process that loads and reads a file of so many cases."""
    with path.open("w", encoding="utf-8") as stream:
        for at in range(n):
            stream.write(json.dumps(ask(f"Where is order {at}?", expect={"get_order": {"id": at}}, never=["refund_order"], tags=["x" * 100])) + "\n")
    done = subprocess.run([sys.executable, "-c", MEASURE, str(path)], capture_output=True, text=True, check=True, timeout=120)
    read_cases, peak = map(int, done.stdout.split())
    assert read_cases == n
    return peak


@pytest.mark.skipif(sys.platform != "linux", reason="peaks are counted in KiB on Linux")
def test_ten_times_the_cases_take_hardly_more_memory(tmp_path: Path) -> None:
    few, many = peak_kib(tmp_path / "few.jsonl", 2_000), peak_kib(tmp_path / "many.jsonl", 20_000)
    assert many < few + 18_000 * 0.1, "100 bytes a case, and its line alone has 200"


@pytest.mark.parametrize(
    ("line", "field"),
    [
        pytest.param('{"ask": "a \\ud800", "expect": "no_call"}', "ask", id="asked"),
        pytest.param('{"ask": "a", "expect": {"get": {"id": "\\uDC00"}}}', "expect", id="expected"),
        pytest.param('{"ask": "a", "expect": {"get": {"\\udfff": 1}}}', "expect", id="name-of-an-argument"),
        pytest.param('{"ask": "a", "expect": "no_call", "history": [{"user": "\\ud83d"}]}', "history", id="history"),
        pytest.param('{"ask": "in {c}", "expect": "no_call", "each": [{"c": "\\ud83d"}]}', "each", id="row-of-a-template"),
    ],
)
def test_half_a_surrogate_pair_is_refused_with_its_line_and_field(line: str, field: str, tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match=rf"cases.jsonl:2.*{field}.*half a surrogate pair"):
        loaded(tmp_path, ask("one"), line)


def test_a_whole_surrogate_pair_is_its_character(tmp_path: Path) -> None:
    value = loaded(tmp_path, '{"ask": "a \\ud83d\\ude00", "expect": "no_call"}', '{"ask": "C:\\\\ud800", "expect": "no_call"}')
    assert [case.ask for case in value.cases] == ["a \U0001f600", "C:\\ud800"]
