"""A public benchmark as an evaluation: its tools, its cases, and what was changed on the way."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from jsonschema_rs import validator_for

from harness.documents import load_document
from harness.errors import ForeignFormatError
from harness.evaluate.bfcl import BfclNames, grade_bfcl
from harness.evaluate.bfcl_case import item_of_case
from harness.evaluate.bfcl_truth import defects_of
from harness.formats.bfcl import read_bfcl
from harness.formats.bfcl_cases import Grading, bfcl_document, import_bfcl
from harness.formats.bfcl_expect import expected_call
from harness.formats.bfcl_files import evaluation_files
from harness.formats.bfcl_schema import json_schema
from harness.matching import match_value
from harness.types.bfcl import BfclItem, Language, language_of
from tests.evaluate.bfcl_lab import Called
from tests.formats.test_bfcl_files import ANSWER, FUNCTION, ROW, changed, written
from tests.laws.bfcl_answers import right

NAME = "get_weather"


# ---------------------------------------------------------------- types


@pytest.mark.parametrize(
    ("schema", "language", "mapped"),
    [
        pytest.param({"type": "string"}, Language.PYTHON, {"type": "string"}, id="string"),
        pytest.param({"type": "float"}, Language.PYTHON, {"type": "number"}, id="float"),
        pytest.param({"type": "any"}, Language.PYTHON, {}, id="any"),
        pytest.param({"type": "tuple", "items": {"type": "float"}}, Language.PYTHON, {"type": "array", "items": {"type": "number"}}, id="tuple"),
        pytest.param({"type": "dict", "properties": {"a": {"type": "float"}}}, Language.PYTHON, {"type": "object", "properties": {"a": {"type": "number"}}}, id="dict"),
        pytest.param({"type": "boolean", "optional": True, "default": False}, Language.PYTHON, {"type": "boolean", "default": False}, id="what-is-no-schema-goes"),
        pytest.param({"type": "Bigint"}, Language.JAVASCRIPT, {"type": "integer"}, id="bigint"),
        pytest.param({"type": "ArrayList", "items": {"type": "char"}}, Language.JAVA, {"type": "array", "items": {"type": "string"}}, id="array-list"),
        pytest.param({"type": "HashMap"}, Language.JAVA, {"type": "object"}, id="hash-map"),
        pytest.param({"type": "double"}, Language.JAVA, {"type": "number"}, id="double"),
    ],
)
def test_types_become_those_of_json_schema(schema: dict[str, Any], language: Language, mapped: dict[str, Any]) -> None:
    whole = json_schema({"type": "dict", "properties": {"x": schema}, "required": ["x"]}, language)
    assert whole == {"type": "object", "properties": {"x": mapped}, "required": ["x"]}


def test_java_values_are_offered_as_text_where_the_benchmark_grades() -> None:
    schema = {"type": "ArrayList", "items": {"type": "long"}, "description": "Ids."}
    whole = json_schema({"type": "dict", "properties": {"x": schema}}, Language.JAVA, as_text=True)
    assert whole["properties"]["x"] == {"type": "string", "description": "Ids. A Java ArrayList of long, as text in the syntax of Java."}
    assert json_schema({"type": "dict", "properties": {"x": {"type": "any"}}}, Language.PYTHON, as_text=True)["properties"] == {"x": {"type": "string"}}


# ---------------------------------------------------------------- expectations


@pytest.mark.parametrize(
    ("choices", "matcher"),
    [
        pytest.param([5], 5, id="one"),
        pytest.param(["a", "b"], {"$one_of": ["a", "b"]}, id="one-of-several"),
        pytest.param(["", "C"], {"$optional": "C"}, id="may-be-left-out"),
        pytest.param(["C", "F", ""], {"$optional": {"$one_of": ["C", "F"]}}, id="several-or-left-out"),
        pytest.param([""], {"$optional": ""}, id="left-out-or-empty"),
        pytest.param([], {"$optional": []}, id="nothing-at-all"),
        pytest.param([["a", "b"]], ["a", "b"], id="a-list"),
        pytest.param([{"size": ["S", "M"], "milk": ["", "oat"]}], {"size": {"$one_of": ["S", "M"]}, "milk": {"$optional": "oat"}}, id="an-object"),
        pytest.param([[{"a": [1]}, {"a": [2, 3]}]], [{"a": 1}, {"a": {"$one_of": [2, 3]}}], id="a-list-of-objects"),
        pytest.param([{"a": [{"b": [1, 2]}]}], {"a": {"b": [1, 2]}}, id="deeper-is-literal"),
        pytest.param([{"a": [{"$gt": 1}]}], {"a": {"$equal": {"$gt": 1}}}, id="what-reads-like-a-matcher"),
        pytest.param(["", None], {"$optional": None}, id="null"),
    ],
)
def test_acceptable_values_become_matchers(choices: list[Any], matcher: Any) -> None:
    assert expected_call({"x": choices}) == {"x": matcher}


def without_optional(matcher: Any, value: Any) -> Any:
    """The matcher with ``$optional`` taken off what is there, and away where nothing is."""
    if isinstance(matcher, dict):
        if set(matcher) == {"$optional"}:
            return without_optional(matcher["$optional"], value)
        if set(matcher) == {"$one_of"}:
            return {"$one_of": [without_optional(one, value) for one in matcher["$one_of"]]}
        held = value if isinstance(value, dict) else {}
        return {
            key: without_optional(one, held.get(key))
            for key, one in matcher.items()
            if key in held or not (isinstance(one, dict) and set(one) == {"$optional"})
        }
    if isinstance(matcher, list) and isinstance(value, list) and len(matcher) == len(value):
        return [without_optional(one, part) for one, part in zip(matcher, value, strict=True)]
    return matcher


def test_every_right_answer_of_the_real_items_is_matched(shared: Path) -> None:
    n_tried = 0
    for item in real_items(shared):
        if language_of(item.category) is Language.PYTHON:
            for how in ("first", "short", "any"):
                for call, (_, arguments) in zip(item.truth, right(item, how, random.Random(n_tried)), strict=True):
                    matcher = expected_call(json.loads(call.answers))
                    assert match_value(without_optional(matcher, arguments), arguments) == [], item.id
                    n_tried += 1
    assert n_tried > 4000


def real_items(shared: Path) -> list[BfclItem]:
    found = [item for path in sorted((shared / "data" / "bfcl").glob("*.json")) for item in read_bfcl(path)]
    return [item for item in found if isinstance(item, BfclItem)]


# ---------------------------------------------------------------- the document


def test_an_item_is_a_case_that_is_offered_its_own_tools(tmp_path: Path) -> None:
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"}]
    row = changed(ROW, "question", [[*messages, {"role": "user", "content": "Oslo?"}]])
    assert bfcl_document([written(tmp_path, [row])]) == {
        "format": "harness-evaluation/1",
        "id": "bfcl-multiple",
        "title": "BFCL v4: multiple",
        "tools": {
            "schemas": [
                {
                    "name": NAME,
                    "description": "Tells the weather.",
                    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
                }
            ]
        },
        "arms": {"now": {}},
        "cases": [
            {
                "id": "multiple_7",
                "ask": "Oslo?",
                "system": "Be brief.",
                "history": [{"user": "Hello"}, {"assistant": "Hi"}],
                "tools": [NAME],
                "expect": {NAME: {"city": "Oslo"}},
                "tags": ["multiple"],
            }
        ],
    }


OTHER = changed(changed(FUNCTION, "name", "get_weather"), "description", "Another.")
LONGER = changed(FUNCTION, "parameters.properties.days", {"type": "integer"})


def test_functions_that_only_share_a_name_get_a_number_and_a_note(tmp_path: Path) -> None:
    rows = [changed(changed(ROW, "id", f"multiple_{i}"), "function", [one]) for i, one in enumerate((FUNCTION, LONGER, FUNCTION))]
    clash = changed(changed(ROW, "id", "multiple_3"), "function", [FUNCTION, OTHER])
    answers = [changed(ANSWER, "id", f"multiple_{i}") for i in range(4)]
    done = import_bfcl([written(tmp_path, [*rows, clash], answers)])
    offered = [case["tools"] for case in done.document["cases"]]
    assert offered == [[NAME], [f"{NAME}_2"], [NAME], [NAME, f"{NAME}_3"]]
    assert [next(iter(case["expect"])) for case in done.document["cases"]] == [NAME, f"{NAME}_2", NAME, NAME]
    assert [tool["name"] for tool in done.document["tools"]["schemas"]] == [NAME, f"{NAME}_2", f"{NAME}_3"]
    assert done.notes == (f"3 different functions share the name {NAME!r}: offered as {NAME} to {NAME}_3",)


def test_a_number_never_makes_the_name_of_another_function(tmp_path: Path) -> None:
    taken = changed(FUNCTION, "name", f"{NAME}_2")
    row = changed(ROW, "function", [FUNCTION, OTHER, taken])
    [case] = bfcl_document([written(tmp_path, [row])])["cases"]
    assert case["tools"] == [NAME, f"{NAME}_3", f"{NAME}_2"]


@pytest.mark.parametrize(
    ("identity", "expect"),
    [
        pytest.param("irrelevance_1", "no_call", id="nothing-is-right"),
        pytest.param("live_relevance_1", {"any_of": [{"superset": [NAME]}, {"superset": ["b"]}]}, id="anything-is-right"),
    ],
)
def test_categories_without_a_ground_truth_expect_no_call_or_any(tmp_path: Path, identity: str, expect: Any) -> None:
    row = changed(changed(ROW, "id", identity), "function", [FUNCTION, changed(FUNCTION, "name", "b")])
    [case] = bfcl_document([written(tmp_path, [row], [])])["cases"]
    assert case["expect"] == expect


def test_several_calls_are_expected_in_any_order(tmp_path: Path) -> None:
    truth = [{"get.weather": {"city": ["Oslo"]}}, {"get.weather": {"city": ["Lima"]}}]
    answer = {"id": "parallel_1", "ground_truth": truth}
    [case] = bfcl_document([written(tmp_path, [changed(ROW, "id", "parallel_1")], [answer])])["cases"]
    assert case["expect"] == [{NAME: {"city": "Oslo"}}, {NAME: {"city": "Lima"}}]


@pytest.mark.parametrize(
    ("messages", "told"),
    [
        pytest.param([{"role": "assistant", "content": "Hi"}], "last message is not the user's", id="nothing-asked"),
        pytest.param([{"role": "user", "content": "a"}, {"role": "system", "content": "b"}, {"role": "user", "content": "c"}], "a system message stands behind others", id="system-behind"),
    ],
)
def test_a_conversation_that_is_no_case_is_refused(tmp_path: Path, messages: Any, told: str) -> None:
    with pytest.raises(ForeignFormatError, match=told):
        bfcl_document([written(tmp_path, [changed(ROW, "question", [messages])])])


def test_items_of_several_turns_are_left_out_with_a_note_and_alone_are_refused(shared: Path) -> None:
    folder = shared / "data" / "bfcl"
    turns = folder / "BFCL_v4_multi_turn_base.json"
    done = import_bfcl([turns, folder / "BFCL_v4_parallel.json"])
    assert done.notes[0] == "134 items of several turns are left out: they are judged by simulated state"
    with pytest.raises(ForeignFormatError, match="only those can be judged by one decision"):
        import_bfcl([turns])


def test_a_folder_without_files_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ForeignFormatError, match=r"no file in it ends in \.json"):
        import_bfcl([tmp_path])


@pytest.mark.parametrize("grading", list(Grading))
def test_the_real_items_become_one_document_with_valid_schemas(shared: Path, grading: Grading) -> None:
    done = import_bfcl([shared / "data" / "bfcl"], grading, defects_of)
    document = done.document
    names = [tool["name"] for tool in document["tools"]["schemas"]]
    assert (len(document["cases"]), len(set(names))) == (1500, len(names))
    assert all(set(case["tools"]) <= set(names) for case in document["cases"])
    assert {case["tags"][0] for case in document["cases"] if not case["tools"]} == {"live_irrelevance"}
    assert all(len(name) <= 64 and "." not in name for name in names)
    for tool in document["tools"]["schemas"]:
        validator_for(tool["parameters"])
    defective = [case["id"] for case in document["cases"] if "defective" in case["tags"]]
    assert defective == ["live_simple_106-63-0", "live_simple_112-68-0", "simple_java_36"]
    assert sum("cannot be passed" in note for note in done.notes) == 8
    assert document.get("grading") == ("bfcl" if grading is Grading.BFCL else None)


def test_a_case_that_the_benchmark_grades_carries_its_item_under_the_names_offered(shared: Path) -> None:
    document = bfcl_document([shared / "data" / "bfcl"], Grading.BFCL)
    by_id = {item.id: item for item in real_items(shared)}
    n_valid = 0
    for case in document["cases"]:
        item = by_id[case["id"]]
        again = item_of_case(case["id"], case["bfcl"])
        offered = dict(zip([function.name for function in item.functions], case["tools"], strict=True))
        calls = [Called(name, json.dumps(arguments)) for name, arguments in right(item, "first", random.Random(0))]
        renamed = [Called(offered[one.name], one.arguments) for one in calls]
        verdict = grade_bfcl(again, renamed, BfclNames.AS_WRITTEN)
        assert verdict.fault is grade_bfcl(item, calls, BfclNames.AS_WRITTEN).fault
        n_valid += verdict.valid
    assert n_valid > 1000


# ---------------------------------------------------------------- files


def test_an_import_is_three_files_of_which_the_document_stays_small(tmp_path: Path) -> None:
    document = bfcl_document([written(tmp_path, [ROW])])
    files = evaluation_files(document, "bfcl")
    assert list(files) == ["bfcl.yaml", "bfcl-tools.json", "bfcl-cases.jsonl"]
    small = load_document(files["bfcl.yaml"], "bfcl.yaml").value
    assert small["tools"] == {"schemas": "bfcl-tools.json"}
    assert small["cases"] == {"from": "bfcl-cases.jsonl"}
    assert {**small, "tools": document["tools"], "cases": document["cases"]} == document
    assert json.loads(files["bfcl-tools.json"]) == document["tools"]["schemas"]
    assert [json.loads(line) for line in files["bfcl-cases.jsonl"].splitlines()] == document["cases"]
