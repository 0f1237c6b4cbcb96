"""Long results are cut between whole characters and marked; broken arguments climb a ladder of named rungs."""

import hashlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.tools.cutting import boundary_before, cut
from harness.types.codes import Code
from harness.types.exchange import ToolStart
from harness.types.lifecycle import Note
from harness.types.tool_policy import ResultLimit, ResultUnit, Rung, ToolPolicy, ToolRules
from tests.tools.lab import Lab, in_lab, made

LADDER = (Rung.TRAILING_COMMA, Rung.SINGLE_QUOTES, Rung.LONE_STRING)
BIG = "head-" + "é" * 300_000 + "-tail"


@pytest.mark.conformance("60")
@pytest.mark.article("6")
@pytest.mark.public_case("PB-030")
@pytest.mark.parametrize("unit", ResultUnit)
def test_a_long_result_fits_the_limit_with_its_notice_and_the_whole_one_is_told(unit: ResultUnit) -> None:
    limit = ResultLimit(1000, unit)

    async def main(lab: Lab) -> Any:
        return await lab.call("big"), [e.fact for e in lab.log.events if isinstance(e.fact, Note)]

    reply, (note,) = in_lab([made(lambda: BIG, name="big")], main, policy=ToolPolicy(ToolRules(results=limit)))
    assert (reply.code, reply.is_error, reply.truncated) == (Code.TRUNCATED, False, True)
    size = len(reply.content) if unit is ResultUnit.CHARS else len(reply.content.encode())
    assert 950 < size <= 1000
    assert ("\N{REPLACEMENT CHARACTER}" in reply.content, reply.content.startswith("head-éé")) == (False, True)
    assert "of 300010 characters; 600010 bytes in all" in reply.content
    assert json.loads(note.data) == {
        "callId": "c1", "chars": 300_010, "bytes": 600_010, "most": 1000, "unit": unit.value,
        "sha256": hashlib.sha256(BIG.encode()).hexdigest(),
    }  # fmt: skip


def test_a_result_at_the_limit_stays_whole_and_an_error_keeps_its_code() -> None:
    def fail() -> None:
        raise ValueError("x" * 1000)

    async def main(lab: Lab) -> Any:
        return await lab.call("even"), await lab.call("fail")

    policy = ToolPolicy(ToolRules(results=ResultLimit(200)))
    even, failed = in_lab([made(lambda: "y" * 200, name="even"), made(fail)], main, policy=policy)
    assert (even.content, even.code, even.truncated) == ("y" * 200, None, False)
    assert (failed.code, failed.is_error, failed.truncated, len(failed.content) <= 200) == (
        Code.TOOL_FAILED,
        True,
        True,
        True,
    )


@given(st.text(min_size=200, max_size=600), st.sampled_from(ResultUnit), st.integers(200, 300))
def test_what_is_cut_always_fits_and_begins_as_the_whole(text: str, unit: ResultUnit, most: int) -> None:
    text = "é" * 400 + text
    said = cut(text, ResultLimit(most, unit))
    kept, notice = said.rsplit("\n[TRUNCATED: ", 1)
    assert text.startswith(kept)
    assert f"first {len(kept)} of {len(text)}" in notice
    assert (len(said) if unit is ResultUnit.CHARS else len(said.encode())) <= most


@pytest.mark.conformance("60")
@pytest.mark.parametrize(
    ("text", "end", "place"),
    [
        pytest.param("ab", 1, 1, id="plain"),
        pytest.param("ae\u0301b", 2, 1, id="combining-mark"),
        pytest.param("a👨\u200d👩\u200d👧b", 3, 1, id="joined-emoji"),
        pytest.param("a👍🏽b", 2, 1, id="skin-tone"),
        pytest.param("a🇩🇪🇫🇷b", 4, 3, id="inside-the-second-flag"),
        pytest.param("a🇩🇪🇫🇷b", 3, 3, id="between-flags"),
        pytest.param("a\r\nb", 2, 1, id="cr-lf"),
        pytest.param('a\\n"', 2, 1, id="json-escape"),
        pytest.param("a\\\\b", 3, 3, id="behind-an-escaped-backslash"),
        pytest.param("a\\u00e9b", 5, 1, id="inside-a-unicode-escape"),
        pytest.param("a\\u00e9b", 7, 7, id="behind-a-unicode-escape"),
        pytest.param("a" + "\u0301" * 99, 60, 60, id="more-marks-than-anybody-reads"),
    ],
)
def test_nothing_is_cut_inside_what_is_read_as_one(text: str, end: int, place: int) -> None:
    assert boundary_before(text, end) == place


def find(city: str) -> str:
    return city


def add(a: int, b: int) -> int:
    return a + b


@pytest.mark.article("31")
@pytest.mark.parametrize(
    ("tool", "raw", "used", "rungs"),
    [
        pytest.param("find", '{"city":"a,}",}', '{"city":"a,}"}', ["trailing-comma"], id="comma-outside-of-texts"),
        pytest.param("find", "{'city': 'Oslo'}", '{"city":"Oslo"}', ["single-quotes"], id="quotes"),
        pytest.param("find", "{'city': 'a\"b\\'c',}", '{"city":"a\\"b\'c"}', ["trailing-comma", "single-quotes"], id="both"),
        pytest.param("find", '"Oslo"', '{"city":"Oslo"}', ["lone-string"], id="lone-text"),
        pytest.param("find", "'Oslo'", '{"city":"Oslo"}', ["single-quotes", "lone-string"], id="lone-quoted"),
        pytest.param("add", '{"a":1,"b":2,}', '{"a":1,"b":2}', ["trailing-comma"], id="numbers"),
        pytest.param("add", '"1"', None, [], id="lone-text-for-two-parameters"),
        pytest.param("find", '{"city":"a"}{"city":"b"}', None, [], id="two-objects"),
        pytest.param("find", '{"city":"a"},', None, [], id="comma-behind"),
        pytest.param("find", "{,}", None, [], id="never-nothing"),
        pytest.param("find", '{"city":"a",,}', None, [], id="two-commas"),
        pytest.param("find", "{'city': 'it's'}", None, [], id="apostrophe"),
        pytest.param("find", '{"city":"a', None, [], id="cut"),
        pytest.param("find", "{'town': 'a'}", None, [], id="repaired-but-wrong"),
    ],
)  # fmt: skip
def test_arguments_are_repaired_rung_by_rung_and_told(tool: str, raw: str, used: str | None, rungs: list[str]) -> None:
    async def main(lab: Lab) -> Any:
        reply, facts = await lab.call(tool, raw), [event.fact for event in lab.log.events]
        notes = [json.loads(fact.data or "") for fact in facts if isinstance(fact, Note)]
        return reply, notes, [fact.arguments for fact in facts if isinstance(fact, ToolStart)]

    tools = [made(find), made(add)]
    assert in_lab(tools, main)[0].code is Code.INVALID_ARGS, "off by default"
    reply, notes, started = in_lab(tools, main, policy=ToolPolicy(repair=LADDER))
    if used is None:
        assert (reply.code, notes, started) == (Code.INVALID_ARGS, [], [])
    else:
        assert (reply.code, started) == (None, [used])
        assert notes == [{"callId": "c1", "raw": raw, "rungs": rungs, "used": used}]
