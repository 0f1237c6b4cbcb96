"""``--update``: expectations that are not met become what was observed; nothing else in the file changes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.cli.accept import rewrite
from harness.cli.expect_block import with_block
from harness.documents import dump_yaml, load_document
from harness.errors import UsageError
from harness.scenarios import load_scenario
from tests.cli.lab import BAD, GOOD, Cli

HEAD = GOOD.split("expect:")[0]
COMMENTED = HEAD.replace("script:", "# what the model says\nscript:   # two replies")


def block(text: str) -> str:
    return COMMENTED + text


@pytest.mark.parametrize(
    ("expect", "after", "wanted"),
    [
        pytest.param("expect: {status: completed, steps: 3}\n", "", {"status": "completed", "steps": 2}, id="flow"),
        pytest.param("expect:\n  # a note\n  steps: 3\n", "tags: [a]   # kept\n", {"steps": 2}, id="before-another-field"),
        pytest.param("expect: {calls: [get_weather]}\n", "\n# about the limits\nlimits: {steps: 5}\n", {"calls": ["calculator"]}, id="comment-behind"),
        pytest.param("expect: {calls: [{calculator: {expression: 1 + 1}}]}\n", "", {"calls": [{"calculator": {"expression": "6 * 7"}}]}, id="arguments"),
        pytest.param("expect:\n  calls: {in-order: [get_weather], subset: [calculator, get_weather]}\n", "", {"calls": {"in-order": ["calculator"], "subset": ["calculator", "get_weather"]}}, id="only-the-order-that-is-not-met"),
        pytest.param("expect: {answer: {contains: umbrella}, messages: 9}\n", "", {"answer": "It is 42.", "messages": 4}, id="answer"),
        pytest.param("expect: {results: [EMPTY], turns: 2}\n", "", {"results": ["OK"], "turns": 1}, id="results"),
        pytest.param("expect: {reason: limit}", "", {"reason": "final-answer"}, id="no-line-end"),
        pytest.param("", "", {"status": "completed", "steps": 2, "calls": ["calculator"]}, id="none-yet"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("newline", ["\n", "\r\n"], ids=["lf", "crlf"])
def test_what_is_not_met_is_written_down_and_all_else_keeps_its_bytes(
    expect: str, after: str, wanted: dict[str, object], newline: str, cli: Cli
) -> None:
    text = (block(expect) + after).replace("\n", newline)
    path = cli.write("x.yaml", text)
    said = cli("run", "x.yaml", "--update")
    assert said.code == 0, said.all
    now = path.read_bytes().decode("utf-8")
    head, tail = COMMENTED.replace("\n", newline), after.replace("\n", newline)
    assert now.startswith(head + "expect:")
    assert now.endswith(tail)
    assert now.count("\n") == now.count(newline)
    assert load_document(now, "x.yaml").value["expect"] == wanted
    again = cli("run", "x.yaml", "--update")
    assert again.code == 0
    assert path.read_bytes().decode("utf-8") == now


READS_LIKE_MATCHERS = """\
format: harness-scenario/1
task: x
tools: {use: [write_memory], stub: {such: {returns: ok}}, memory: {$any: 1, a: {$foo: 1}}}
script:
  - call: {such: {a: {$foo: x}, $any: [{$any: 1}]}}
  - call: {such: {$any: 1}}
  - call: {write_memory: {key: $any, value: {$foo: 1}}}
  - say: Done.
"""


def test_what_reads_like_a_matcher_is_written_down_exactly(cli: Cli) -> None:
    path = cli.write("x.yaml", READS_LIKE_MATCHERS + "expect: {calls: [such: {a: 1}], end_state: {memory: {a: 1}}}\n")
    said = cli("run", "x.yaml", "--update")
    assert said.code == 0, said.all
    assert load_document(path.read_text("utf-8"), "x.yaml").value["expect"] == {
        "calls": [
            {"such": {"$equal": {"$any": [{"$any": 1}], "a": {"$foo": "x"}}}},
            {"such": {"$equal": {"$any": 1}}},
            {"write_memory": {"$equal": {"key": "$any", "value": {"$foo": 1}}}},
        ],
        "end_state": {"memory": {"$equal": {"$any": {"$foo": 1}, "a": {"$foo": 1}}}},
    }
    assert cli("run", "x.yaml").code == 0
    assert cli("scenario", "from", "reports/latest", "-o", "lifted.yaml").code == 0
    assert "$equal" in (cli.folder / "lifted.yaml").read_text("utf-8"), "arguments are expected, not names alone"


def test_a_file_that_could_not_be_read_again_is_not_written(cli: Cli) -> None:
    path = cli.write("x.yaml", GOOD)
    with pytest.raises(UsageError, match="is no matcher"):
        rewrite(load_scenario(path), {"calls": [{"calculator": {"$any": 1}}]})
    assert path.read_text("utf-8") == GOOD


def test_the_difference_is_shown_and_the_kept_runs_are_judged_by_it(cli: Cli) -> None:
    path = cli.write("x.yaml", BAD)
    said = cli("run", "x.yaml", "--update")
    assert "-expect: {status: completed, steps: 3" in said.out
    assert "+expect: {status: completed, steps: 2" in said.out
    assert "PASS  1 of 1 passed" in said.out
    assert cli("check", "reports/latest").code == 0
    assert load_scenario(path).expect.steps == 2


def test_the_difference_is_part_of_the_one_json_object(cli: Cli) -> None:
    cli.write("x.yaml", BAD)
    told = cli("run", "x.yaml", "--update", "--json").json
    assert told["exitCode"] == 0
    assert "+expect: {status: completed, steps: 2" in told["updated"][0]["difference"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        pytest.param(HEAD + "expect: {never: [calculator]}\n", "never is a rule", id="a-rule"),
        pytest.param(HEAD + "expect: {effects: {calculator: {at_most: 0}}}\n", "effects is a rule", id="effects"),
        pytest.param(HEAD + "expect: {provenance: {answer: [It]}}\n", "provenance is a rule", id="evidence"),
        pytest.param("{format: harness-scenario/1, task: x, script: [{say: x}], expect: {steps: 2}}\n", "change it by hand", id="in-braces"),
        pytest.param(HEAD + "expect: {answer: x}\nlimits: {steps: 1}\n", "came to no answer", id="nothing-observed"),
    ],
)  # fmt: skip
def test_what_cannot_be_accepted_is_told_and_the_file_stays(text: str, why: str, cli: Cli) -> None:
    path = cli.write("x.yaml", text)
    said = cli("run", "x.yaml", "--update")
    assert said.code == 1
    assert "not updated: x: " in said.out
    assert why in said.out
    assert path.read_text("utf-8") == text


def test_an_update_is_refused_where_ci_is_set(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    path = cli.write("x.yaml", BAD)
    said = cli("run", "x.yaml", "--update")
    assert said.code == 2
    assert "refused where CI is set" in said.err
    assert path.read_text("utf-8") == BAD


def test_a_python_file_is_left_to_its_author(cli: Cli) -> None:
    cli.write(
        "own.py",
        "from harness.scenarios import scenario\n\nONE = scenario(task='x', script=[{'say': 'x'}], expect={'steps': 4})\n",
    )
    said = cli("run", "own.py", "--update")
    assert said.code == 1
    assert "by hand" in said.out


def test_text_that_would_change_beside_the_block_is_refused() -> None:
    with pytest.raises(UsageError, match="does not stand alone"):
        with_block('task: x\n"expect": {steps: 1}\n', {"steps": 3}, "x")


TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"], include_characters="\n#:"), max_size=20)
VALUES = st.one_of(TEXTS, st.integers(0, 99), st.lists(TEXTS, max_size=3), st.dictionaries(TEXTS, TEXTS, max_size=2))
BLOCKS = st.dictionaries(st.sampled_from(["status", "steps", "calls", "answer"]), VALUES, min_size=1)


@given(
    before=st.dictionaries(st.sampled_from(["format", "title", "task"]), VALUES, min_size=1),
    old=BLOCKS,
    after=st.dictionaries(st.sampled_from(["limits", "tags", "script"]), VALUES),
    new=BLOCKS,
    newline=st.sampled_from(["\n", "\r\n"]),
)
def test_another_block_changes_its_own_value_and_no_byte_around_it(
    before: dict[str, Any], old: dict[str, Any], after: dict[str, Any], new: dict[str, Any], newline: str
) -> None:
    head = dump_yaml(before).replace("\n", newline)
    tail = ("# behind\n" + dump_yaml(after) if after else "").replace("\n", newline)
    text = head + dump_yaml({"expect": old}).replace("\n", newline) + tail
    rewritten = with_block(text, new, "x")
    assert rewritten.startswith(head + "expect:")
    assert rewritten.endswith(tail)
    assert load_document(rewritten, "x").value == {**load_document(text, "x").value, "expect": new}
    assert with_block(rewritten, old, "x") == text
