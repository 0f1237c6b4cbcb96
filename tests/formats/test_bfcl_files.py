"""The files of a public benchmark: all of them are read, and what is damaged in one is told with its place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness.errors import ForeignFormatError
from harness.formats.bfcl import category_of, read_bfcl
from harness.types.bfcl import BfclCategory, BfclItem, BfclTurnsItem, Language, language_of
from harness.types.messages import ChatSystem, ChatUser

FUNCTION: dict[str, Any] = {
    "name": "get.weather",
    "description": "Tells the weather.",
    "parameters": {"type": "dict", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}
ROW: dict[str, Any] = {"id": "multiple_7", "question": [[{"role": "user", "content": "Oslo?"}]], "function": [FUNCTION]}
ANSWER: dict[str, Any] = {"id": "multiple_7", "ground_truth": [{"get.weather": {"city": ["Oslo"]}}]}


def written(folder: Path, rows: Any, answers: Any = (ANSWER,)) -> Path:
    (folder / "possible_answer").mkdir()
    for place, lines in ((folder, rows), (folder / "possible_answer", answers)):
        (place / "BFCL_v4_some.json").write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return folder / "BFCL_v4_some.json"


def test_an_item_has_its_functions_and_what_is_right(tmp_path: Path) -> None:
    [item] = read_bfcl(written(tmp_path, [ROW]))
    assert isinstance(item, BfclItem)
    assert (item.id, item.category, item.line) == ("multiple_7", BfclCategory.MULTIPLE, 1)
    assert item.messages == (ChatUser(content="Oslo?"),)
    assert [function.name for function in item.functions] == ["get.weather"]
    assert [(call.name, json.loads(call.answers)) for call in item.truth] == [("get.weather", {"city": ["Oslo"]})]


def changed(row: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """A copy with the value at ``a.0.b`` replaced; ``...`` takes it away."""
    whole: dict[str, Any] = json.loads(json.dumps(row))
    *way, last = path.split(".")
    place: Any = whole
    for key in way:
        place = place[int(key)] if isinstance(place, list) else place[key]
    where: Any = int(last) if isinstance(place, list) else last
    if value is ...:
        del place[where]
    else:
        place[where] = value
    return whole


@pytest.mark.parametrize(
    ("path", "value", "told"),
    [
        pytest.param("id", 7, "id must be text", id="id"),
        pytest.param("id", "memory_7", "begins with no category", id="category"),
        pytest.param("id", "multiple_8", "no line of possible_answer/ has this id", id="unanswered"),
        pytest.param("function", ..., "lacks function", id="no-functions"),
        pytest.param("extra", 1, "fields that are not known: extra", id="unknown-field"),
        pytest.param("question", [], "question must have one turn, has 0", id="no-turn"),
        pytest.param("question", [[], []], "question must have one turn, has 2", id="two-turns"),
        pytest.param("question.0.0.role", "tool", "question[0][0].role must be system, user, assistant", id="role"),
        pytest.param("question.0.0.content", [], "question[0][0].content must be text", id="content"),
        pytest.param("question.0.0.name", "x", "role and content and nothing else", id="message-with-more"),
        pytest.param("function.0.name", "", "function[0].name must be text", id="no-name"),
        pytest.param("function.0.parameters", None, "function[0].parameters must be an object", id="no-parameters"),
        pytest.param("function.0.parameters.type", "object", "parameters.type must be 'dict'", id="not-a-dict"),
        pytest.param("function.0.parameters.properties.city.type", "String", "city.type must be a type of Python", id="another-languages-type"),
        pytest.param("function.0.parameters.properties.city", {"type": "array"}, "city.items must be an object", id="a-list-of-nothing"),
        pytest.param("function.0.parameters.properties.city", {"type": "dict", "properties": {"a": {}}}, "city.properties.a.type must be", id="inside-an-object"),
        pytest.param("function.0.parameters.required", "city", "required must be a list", id="required"),
        pytest.param("function", [FUNCTION, FUNCTION], "two functions of the name 'get.weather'", id="same-name"),
    ],
)
def test_a_damaged_item_is_refused_with_its_file_line_and_place(tmp_path: Path, path: str, value: Any, told: str) -> None:
    file = written(tmp_path, [changed(ROW, path, value)])
    with pytest.raises(ForeignFormatError) as caught:
        list(read_bfcl(file))
    assert told in str(caught.value)
    assert f"{file}:1: " in str(caught.value)


@pytest.mark.parametrize(
    ("path", "value", "told"),
    [
        pytest.param("id", "multiple_9", "no line of possible_answer/ has this id", id="of-no-item"),
        pytest.param("ground_truth", ..., "lacks ground_truth", id="no-truth"),
        pytest.param("ground_truth", [], "expected one call", id="no-call"),
        pytest.param("ground_truth.0", {"get.weather": {}, "b": {}}, "must have one name, has 2", id="two-names"),
        pytest.param("ground_truth.0", {"other": {}}, "calls 'other', which is not offered", id="not-offered"),
        pytest.param("ground_truth.0", {"get.weather": []}, "ground_truth[0].get.weather must be an object", id="no-object"),
        pytest.param("ground_truth.0", {"get.weather": {"city": "Oslo"}}, "city must be a list", id="no-list-of-values"),
    ],
)
def test_a_damaged_answer_is_refused(tmp_path: Path, path: str, value: Any, told: str) -> None:
    file = written(tmp_path, [ROW], [changed(ANSWER, path, value)])
    with pytest.raises(ForeignFormatError, match=r"BFCL_v4_some\.json:1: ") as caught:
        list(read_bfcl(file))
    assert told in str(caught.value)


@pytest.mark.parametrize(
    ("rows", "answers", "told"),
    [
        pytest.param([ROW, ROW], [ANSWER], "'multiple_7': this id is there twice", id="item-twice"),
        pytest.param([ROW], [ANSWER, ANSWER], "'multiple_7': this id is there twice", id="answer-twice"),
        pytest.param([ROW], [ANSWER, changed(ANSWER, "id", "multiple_8")], "'multiple_8': answers no item", id="answer-too-many"),
        pytest.param([[ROW]], [ANSWER], "expected an object with an id", id="a-list"),
    ],
)
def test_items_and_answers_are_one_to_one(tmp_path: Path, rows: Any, answers: Any, told: str) -> None:
    with pytest.raises(ForeignFormatError) as caught:
        list(read_bfcl(written(tmp_path, rows, answers)))
    assert told in str(caught.value)


def test_a_file_that_was_cut_off_is_refused(tmp_path: Path) -> None:
    file = written(tmp_path, [ROW, changed(ROW, "id", "multiple_8")])
    file.write_bytes(file.read_bytes()[:-40])
    with pytest.raises(ForeignFormatError, match="never finished"):
        list(read_bfcl(file))


def test_an_item_without_an_answer_file_is_refused_unless_its_category_has_none(tmp_path: Path) -> None:
    file = written(tmp_path, [changed(ROW, "id", "irrelevance_1")])
    (tmp_path / "possible_answer" / file.name).unlink()
    assert len(list(read_bfcl(file))) == 1
    file.write_text(json.dumps(ROW), "utf-8")
    with pytest.raises(ForeignFormatError, match="cannot be read"):
        list(read_bfcl(file))


@pytest.mark.parametrize(
    ("identity", "category"),
    [
        ("live_parallel_multiple_0-0-0", BfclCategory.LIVE_PARALLEL_MULTIPLE),
        ("parallel_multiple_3", BfclCategory.PARALLEL_MULTIPLE),
        ("parallel_3", BfclCategory.PARALLEL),
        ("live_irrelevance_1-0-0", BfclCategory.LIVE_IRRELEVANCE),
        ("parallel", None),
        ("parallel_x", None),
        ("memory_kv_1", None),
    ],
)
def test_the_category_is_what_an_id_begins_with(identity: str, category: BfclCategory | None) -> None:
    assert category_of(identity) is category


# ---------------------------------------------------------------- the real files

COUNTS = {
    "irrelevance": (160, 160, 0), "live_irrelevance": (160, 258, 0), "live_multiple": (200, 896, 200), "live_parallel": (11, 13, 27),
    "live_parallel_multiple": (16, 62, 33), "live_relevance": (11, 30, 0), "live_simple": (172, 172, 172), "multiple": (134, 362, 134),
    "parallel": (134, 134, 363), "parallel_multiple": (134, 339, 406), "simple_java": (67, 67, 67),
    "simple_javascript": (34, 34, 34), "simple_python": (267, 267, 267),
}  # fmt: skip


@pytest.mark.parametrize("category", COUNTS)
def test_every_real_file_of_one_turn_is_read_whole(shared: Path, category: str) -> None:
    items = [item for item in read_bfcl(shared / "data" / "bfcl" / f"BFCL_v4_{category}.json") if isinstance(item, BfclItem)]
    assert {item.category for item in items} == {BfclCategory(category)}
    n_functions, n_calls = sum(len(item.functions) for item in items), sum(len(item.truth) for item in items)
    assert (len(items), n_functions, n_calls) == COUNTS[category]
    assert language_of(BfclCategory(category)) is {"simple_java": Language.JAVA, "simple_javascript": Language.JAVASCRIPT}.get(category, Language.PYTHON)


def test_messages_before_the_last_are_kept(shared: Path) -> None:
    items = read_bfcl(shared / "data" / "bfcl" / "BFCL_v4_live_multiple.json")
    assert sum(isinstance(item, BfclItem) and isinstance(item.messages[0], ChatSystem) for item in items) == 18


@pytest.mark.parametrize("category", ["multi_turn_base", "multi_turn_miss_func", "multi_turn_miss_param"])
def test_every_real_file_of_several_turns_is_read_whole(shared: Path, category: str) -> None:
    items = [item for item in read_bfcl(shared / "data" / "bfcl" / f"BFCL_v4_{category}.json") if isinstance(item, BfclTurnsItem)]
    assert len(items) == 134
    for item in items:
        names = {function.name for function in item.functions}
        assert len(item.turns) == len(item.truth)
        assert not names & set(item.excluded)
        assert all(set(held) <= names for _, held in item.missed)
    assert all(item.missed for item in items) is (category == "multi_turn_miss_func")
