"""Laws of evaluations: writing and reading give the value back; the schema takes what the loader takes."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness import scenarios
from harness.documents import dump_yaml, load_document
from harness.errors import ScenarioError
from harness.scenarios.evaluation_document import evaluation_document
from harness.scenarios.evaluation_loading import digest_of, evaluation, parse_evaluation
from harness.scenarios.evaluation_schema import EVALUATION_SCHEMA_FILE, evaluation_schema
from harness.types.evaluation import Case, Evaluation
from tests.scenarios.strategies import JSON, OBJECTS, POSITIVE, TEXTS, UNMATCHED, some
from tests.scenarios.test_evaluation_loading import BAD, BAD_TOOLS, HEAD, ONE

GOLDEN = Path(scenarios.__file__).parent / EVALUATION_SCHEMA_FILE
BEYOND_SHAPE = {
    "no-such-file", "model-without-a-name", "two-models", "temperature-of-a-function", "temperature-twice", "tools-as-parameter", "stubs-of-what-does-not-run",
    "stubs-without-stubs", "limits-of-one-decision", "padding-without-a-user", "padding-with-an-open-call", "costs-nothing", "two-of-one-name", "order-of-nothing",
    "choice-of-nothing", "no-distractors", "too-little-padding", "parameters-of-no-model", "no-such-descriptions", "margin-0", "margin-1", "margin-that-all-miss", "margin-that-none-misses", "id-that-climbs", "id-from-the-root", "id-with-an-empty-part", "arms-alike-but-for-case", "alpha-0", "alpha-that-is-none", "arm-name",
    "unknown-base", "unknown-candidate", "base-is-candidate", "gate-of-one-arm", "gate-of-three-arms", "gate-with-half-its-names", "more-looks-than-blocks", "gate-of-no-case",
    "case-without-a-question", "blank-question", "nothing-asked-behind-an-answer", "no-call-among-calls", "any-of-the-same", "unknown-matcher", "bad-matcher",
    "never-what-is-expected", "never-ask-where-asking-is-expected", "never-ask-where-asking-is-one-way", "never-the-tool-that-asks", "expected-and-not-offered", "the-word-for-a-tool-of-another-name", "a-status-among-calls", "answer-of-one-decision", "system-that-changes-nothing", "record-without-its-rules", "rules-without-a-record", "id-twice", "group-in-two-splits", "group-called-like-a-case",
    "unanswered-at-the-end", "unanswered-before-the-user", "result-without-a-call", "result-too-many", "result-of-an-unknown-call", "id-of-a-call-twice",
    "place-without-a-value", "value-without-a-place", "number-as-a-question", "matcher-of-a-row", "rows-of-one-case", "number-as-a-name",
    "schema-twice", "no-url", "url-as-a-command", "environment-of-a-url",
}  # fmt: skip
"""What only the loader refuses: rules between fields, and what no schema can say."""

NAMES = st.sampled_from(["get", "put_it", "subset", "name", "模"])
WORDS = st.sampled_from(["a", "on", "two\nlines", "模型 🚀", "x {y}", "{{z}}", "7"])
CALL = NAMES | st.dictionaries(NAMES, UNMATCHED, min_size=1, max_size=1)
CALLS = st.lists(CALL, min_size=1, max_size=3)
ONE_ANSWER = st.sampled_from(["no_call", "ask_user"]) | CALL | CALLS | st.dictionaries(st.sampled_from(["exact", "in-order", "superset"]), CALLS, min_size=1, max_size=1)
EXPECT = ONE_ANSWER | st.lists(ONE_ANSWER, min_size=1, max_size=3, unique_by=repr).map(lambda answers: {"any_of": answers})


@st.composite
def histories(draw: st.DrawFn) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = []
    for number in range(draw(st.integers(0, 3))):
        kind = draw(st.sampled_from(["user", "assistant", "calls", "developer", "system"]))
        if kind != "calls":
            messages.append({kind: draw(WORDS)})
            continue
        calls: list[Any] = draw(st.lists(NAMES | st.dictionaries(NAMES, st.dictionaries(TEXTS, JSON, max_size=2) | st.just("{bad"), min_size=1, max_size=1), min_size=1, max_size=2))
        calls = [{"name": call, "id": f"own_{number}"} if draw(st.booleans()) and at == 0 and isinstance(call, str) else call for at, call in enumerate(calls)]
        messages.append({**({"assistant": draw(WORDS)} if draw(st.booleans()) else {}), "calls": calls})
        messages += [{"tool": draw(WORDS | st.integers() | st.none())} for _ in calls]
    return messages


CASE = some(
    {"ask": WORDS, "expect": EXPECT}, history=histories(), never=st.just(["forbidden"]), tags=st.just(["t", "u"]), group=st.sampled_from(["g one", "g two"]), system=TEXTS,
).filter(lambda case: bool(case["ask"].strip()))  # fmt: skip
MODEL = st.just("m") | some({"name": st.just("m")}, temperature=st.sampled_from([0, 0.7]), max_tokens=POSITIVE, api=st.sampled_from(["chat", "responses"]), stream=st.booleans(), profile=st.just("p"), parameters=st.just({"x": 1}))
CHANGED = st.just("other") | some({}, name=st.just("n"), temperature=st.just(0.2), api=st.sampled_from(["chat", "responses"]), stream=st.booleans(), profile=st.just("q"), parameters=st.just({"x": [2]}))
ARM = some(
    {}, descriptions=st.just({"get": "G", "get.id": "I"}), rename=st.just({"get": "got"}), tool_choice=st.sampled_from(["auto", "required"]) | st.just({"tool": "get"}),
    order=st.sampled_from(["listed", "reversed", "shuffled"]), distractors=POSITIVE, history_turns=st.just(1), inject=WORDS, model=CHANGED,
) | st.just({"offer_tools": False})  # fmt: skip
SOURCE = some(
    {}, mcp=st.just("c") | some({"command": st.just("c")}, env=st.just(["A"]), only=st.just(["a"]), prefix=st.just("p_")) | some({"url": st.just("https://h/mcp")}, prefix=st.just("p_")),
    openapi=st.just("o.yaml") | some({"path": st.just("o.yaml")}, only=st.just(["a"])), schemas=st.just("s.yaml") | st.just([{"name": "a"}, {"name": "b", "description": "B", "parameters": {"type": "object"}}]),
    use=st.just(["calculator"]), **{"from": OBJECTS},
).filter(bool)  # fmt: skip
GATE = some({"margin": st.sampled_from([0.1, 0.05])}, base=st.just("one"), candidate=st.just("two"), metric=st.sampled_from(["case_pass_rate", "pass_hat_k"]),
            estimand=st.sampled_from(["these cases", "prompts like these"]), alpha=st.just(0.1), split=st.just("dev"))  # fmt: skip
DOCUMENTS = some(
    {"format": st.just("harness-evaluation/1"), "tools": SOURCE | st.lists(SOURCE, min_size=1, max_size=2), "model": MODEL, "arms": st.fixed_dictionaries({"one": ARM, "two": ARM}),
     "cases": st.lists(CASE, min_size=1, max_size=4), "padding": st.just([{"user": "u"}, {"calls": ["get"]}, {"tool": "r"}]), "distractor_tools": st.just({"schemas": "many.yaml"})},
    id=WORDS, title=TEXTS, system=TEXTS, trials=POSITIVE, seed=POSITIVE, execute=st.booleans(), ask_user=st.just({"tool": "ask"}) | some({"field": st.just("f"), "value": JSON.filter(lambda value: value is not None)}),
    gate=GATE, running=some({}, at_once=POSITIVE, max_cost_usd=st.just(0.5), retries=st.just(0), max_tokens=POSITIVE),
)  # fmt: skip


def loaded(document: dict[str, Any]) -> Evaluation:
    return parse_evaluation(dump_yaml(document), "x.yaml")


def cases_of(value: Evaluation) -> list[Case]:
    return [replace(case, line=None) for case in value.cases]


@cache
def validator() -> Any:
    return jsonschema_rs.validator_for(evaluation_schema())


@settings(deadline=None)
@given(DOCUMENTS)
def test_writing_an_evaluation_and_reading_it_gives_it_back(document: dict[str, Any]) -> None:
    value = loaded(document)
    written = evaluation_document(value)
    again = loaded(written)
    assert again == value
    assert cases_of(again) == cases_of(value)
    assert evaluation_document(again) == written


@pytest.mark.parametrize("expect", ["ask_user", ["ask_user"], ["get", "ask_user"], {"in-order": ["ask_user"]}, {"any_of": ["ask_user", ["ask_user"]]}], ids=repr)
def test_a_question_among_calls_is_written_so_that_it_is_read_as_one(expect: Any) -> None:
    value = loaded({"format": "harness-evaluation/1", "tools": {"use": ["calculator"]}, "cases": [{"ask": "x", "expect": expect}]})
    assert evaluation_document(value)["cases"][0]["expect"] == expect
    assert cases_of(loaded(evaluation_document(value))) == cases_of(value)


@settings(max_examples=50, deadline=None)
@given(DOCUMENTS)
def test_the_python_form_is_equal_to_the_document(document: dict[str, Any]) -> None:
    named = {"id": "x", **document}
    one, other = evaluation(**named), loaded(named)
    assert replace(one, source="") == replace(other, source="")
    assert cases_of(one) == cases_of(other)


@settings(max_examples=80, deadline=None)
@given(DOCUMENTS)
def test_the_schema_takes_what_the_loader_takes_and_writes(document: dict[str, Any]) -> None:
    assert [error.message for error in validator().iter_errors(document)] == []
    assert [error.message for error in validator().iter_errors(evaluation_document(loaded(document)))] == []


@pytest.mark.parametrize("body", [pytest.param(row.values[0], id=row.id) for row in BAD if row.id not in BEYOND_SHAPE])
def test_the_schema_refuses_what_the_loader_refuses_by_shape(body: str) -> None:
    assert not validator().is_valid(load_document(HEAD + body + ("" if "cases:" in body else ONE), "x").value)


@pytest.mark.parametrize("tools", [pytest.param(row.values[0], id=row.id) for row in BAD_TOOLS if row.id not in BEYOND_SHAPE])
def test_the_schema_refuses_sources_that_the_loader_refuses_by_shape(tools: str) -> None:
    assert not validator().is_valid(load_document(f"format: harness-evaluation/1\n{tools}{ONE}", "x").value)


def test_what_is_beyond_the_schema_is_listed_and_no_more() -> None:
    taken = {row.id for row in BAD if validator().is_valid(load_document(HEAD + row.values[0] + ("" if "cases:" in row.values[0] else ONE), "x").value)}
    taken |= {row.id for row in BAD_TOOLS if validator().is_valid(load_document(f"format: harness-evaluation/1\n{row.values[0]}{ONE}", "x").value)}
    assert taken == BEYOND_SHAPE


def test_the_published_schema_is_the_generated_one() -> None:
    """After a change of the fields: write what ``harness dataset schema`` prints to the file, and look at the difference."""
    assert json.loads(GOLDEN.read_text("utf-8")) == evaluation_schema()


# ---------------------------------------------------------------- the digest

BASE: dict[str, Any] = {"tools": {"use": ["a"]}, "arms": {"now": {}, "new": {"system": "s"}}, "cases": [{"ask": "a", "expect": "b"}], "trials": 2, "gate": {"margin": 0.1}}


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"trials": 3}, id="trials"),
        pytest.param({"seed": 1}, id="seed"),
        pytest.param({"system": "s"}, id="system"),
        pytest.param({"tools": {"use": ["c"]}}, id="tools"),
        pytest.param({"model": "m"}, id="model"),
        pytest.param({"arms": {"now": {}, "new": {"system": "t"}}}, id="arms"),
        pytest.param({"cases": [{"ask": "a", "expect": "c"}]}, id="cases"),
        pytest.param({"gate": {"margin": 0.2}}, id="gate"),
        pytest.param({"execute": True}, id="execute"),
        pytest.param({"grading": "bfcl", "cases": [{"ask": "a", "expect": "b", "bfcl": {}}]}, id="grading"),
    ],
)
def test_what_decides_is_in_the_digest(fields: dict[str, Any]) -> None:
    assert evaluation(**(BASE | fields)).digest != evaluation(**BASE).digest


@pytest.mark.parametrize("fields", [pytest.param({"title": "T"}, id="title"), pytest.param({"running": {"at_once": 1}}, id="running")])
def test_what_decides_nothing_is_not_in_the_digest(fields: dict[str, Any]) -> None:
    assert evaluation(**(BASE | fields)).digest == evaluation(**BASE).digest


def test_the_digest_can_be_told_from_the_value_alone() -> None:
    value = evaluation(**BASE)
    assert digest_of(value) == value.digest
    assert digest_of(replace(value, seed=8)) != value.digest


# ---------------------------------------------------------------- whatever a file holds

FIELDS = st.sampled_from(
    ["format", "id", "tools", "mcp", "openapi", "schemas", "use", "from", "model", "name", "arms", "cases", "ask", "expect", "history", "each", "never", "gate", "margin", "base",
     "padding", "stubs", "execute", "limits", "running", "any_of", "in-order", "user", "assistant", "calls", "tool", "descriptions", "rename", "tool_choice", "order", "ask_user"]
)  # fmt: skip
JUNK = st.recursive(JSON, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(FIELDS, inner, max_size=4), max_leaves=12)


@settings(deadline=None)
@given(st.dictionaries(FIELDS, JUNK, max_size=5).map(lambda junk: {"format": "harness-evaluation/1", "tools": {"use": ["a"]}, "cases": [{"ask": "a", "expect": "b"}], **junk}))
def test_fields_of_any_shape_load_or_say_why(document: dict[str, Any]) -> None:
    found: Evaluation | str
    try:
        found = loaded(document)
    except ScenarioError as error:
        found = str(error)
    assert isinstance(found, Evaluation) or found


@settings(deadline=None)
@given(JUNK, JUNK, st.lists(st.dictionaries(FIELDS, JUNK, max_size=3), max_size=3))
def test_a_case_of_any_shape_loads_or_says_why(ask: Any, expect: Any, each: list[Any]) -> None:
    for case in ({"ask": ask, "expect": expect}, {"ask": ask, "expect": expect, "each": each}, {"ask": "a", "expect": "b", "history": each}):
        found: Evaluation | str
        try:
            found = evaluation(tools={"use": ["a"]}, cases=[case])
        except ScenarioError as error:
            found = str(error)
        assert "evaluation()" in found if isinstance(found, str) else len(found.cases) >= 1
