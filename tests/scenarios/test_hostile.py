"""Whatever a file holds, loading gives a scenario or a ScenarioError: no other exception (RELIABILITY P7)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.documents import dump_yaml
from harness.errors import ScenarioError
from harness.scenarios import parse_scenario, scenario
from harness.types.scenario import Scenario
from tests.scenarios.strategies import DOCUMENTS, JSON

FIELDS = st.sampled_from(
    ["format", "id", "title", "tags", "covers", "skip", "system", "task", "tasks", "tools", "model", "script", "limits",
     "inject", "expect", "checks", "clock", "seed", "allow_leftovers", "call", "calls", "say", "fail", "branch", "when",
     "otherwise", "at", "do", "use", "stub", "returns", "kind", "steps", "results", "answer", "name", "id", "arguments"]
)  # fmt: skip
JUNK = st.recursive(
    JSON, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(FIELDS, inner, max_size=4), max_leaves=12
)
PIECES = st.sampled_from(
    ["format: harness-scenario/1\n", "task: t\n", "script:\n", "  - ", "say: ", "call: ", "{", "}", "[", "]", ": ", "\n", "&a ",
     "*a", "!!x ", "<<: ", "|\n", ">-\n", "---\n", "...\n", "%YAML 1.2\n", "'", '"', "# ", "? ", "\t", "\0", "\r", "\u2028", "\ufeff", "0o17 ", "é"]
)  # fmt: skip


def loads_or_says_why(text: str | bytes) -> None:
    found: Scenario | str
    try:
        found = parse_scenario(text, "x.yaml")
    except ScenarioError as error:
        found = str(error)
    assert isinstance(found, Scenario) or found.startswith("x.yaml")


@given(st.dictionaries(FIELDS, JUNK, max_size=5).map(lambda junk: {"format": "harness-scenario/1", "task": "t", **junk}))
def test_fields_of_any_shape(document: dict[str, Any]) -> None:
    loads_or_says_why(dump_yaml(document))


@given(st.lists(PIECES, max_size=25).map("".join))
def test_text_of_any_shape(text: str) -> None:
    loads_or_says_why(text)


@given(st.binary(max_size=60))
def test_bytes_of_any_kind(data: bytes) -> None:
    loads_or_says_why(b"format: harness-scenario/1\ntask: " + data)


@given(DOCUMENTS.map(dump_yaml), st.data())
def test_a_good_document_that_was_cut_or_hit(text: str, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(text)))
    loads_or_says_why(text[:place])
    loads_or_says_why(text[:place] + data.draw(PIECES) + text[place + 1 :])


@given(st.dictionaries(FIELDS, JUNK | st.sets(st.integers()) | st.tuples(JUNK) | st.binary(max_size=3), max_size=5))
def test_python_fields_of_any_shape(fields: dict[str, Any]) -> None:
    try:
        assert isinstance(scenario(**fields), Scenario)
    except ScenarioError:
        return


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("format: harness-scenario/1\ntask: t\nscript:\n  - call: {a: " + '{"x":' * 99 + "1" + "}" * 99 + "}\n", id="deep-arguments"),
        pytest.param("format: harness-scenario/1\ntask: t\nscript: " + "[{branch: [{otherwise: " * 24 + "[say: x]" + "}]}]" * 24 + "\n", id="deep-branches"),
        pytest.param("format: harness-scenario/1\ntask: t\nscript:\n" + "  - say: x\n" * 20_000, id="twenty-thousand-replies"),
        pytest.param("format: harness-scenario/1\ntask: t\n" + "".join(f"k{n}: 1\n" for n in range(20_000)), id="twenty-thousand-unknown-fields"),
        pytest.param("format: harness-scenario/1\ntask: t\nexpect: {answer: {regex: '" + "(" * 5_000 + ")" * 5_000 + "'}}\n", id="deep-regex"),
        pytest.param("format: harness-scenario/1\ntask: " + "9" * 5_000 + "\n", id="long-number"),
    ],
)  # fmt: skip
def test_large_and_deep_documents(text: str) -> None:
    loads_or_says_why(text)


@pytest.mark.parametrize(
    "line",
    ["expect: {status: LONG}", "LONG: 1", "task: !LONG x", "clock: LONG", "LONG: 1\nLONG: 2", "limits: {LONG: 1}", "expect: {answer: {regex: (LONG}}", "script: [{call: {LONG: 1}}]\ninject: [{at: LONG, do: LONG}]"],
    ids=["word", "field", "tag", "clock", "twice", "inner-field", "regex", "boundary"],
)
def test_a_message_does_not_repeat_a_hostile_document(line: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        parse_scenario("format: harness-scenario/1\ntask: t\n" + line.replace("LONG", "9" * 50_000 + "x"), "x.yaml")
    assert len(str(caught.value)) < 5_000
