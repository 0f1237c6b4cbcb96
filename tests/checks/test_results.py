"""Results beside what their bodies gave: of a loop that tells all text for text, of any other only what is surely false."""

import pytest

from harness.types.codes import Code, Origin, Outcome, ToolOutcome
from harness.types.exchange import ModelRequest, ToolEnd, ToolStart
from harness.types.jsontext import text_digest
from harness.types.lifecycle import CHANGED_RESULT_NOTE, Note
from harness.types.messages import CallId, JsonText, Messages
from harness.types.profile import Profile
from harness.types.profile_run import ResultAfterCancel
from tests.checks.build import answer, call, messages, result, trajectory, verdict

CHECK = "result_truth"


def body(seq, call_id, gave, *, outcome=ToolOutcome.OK, arguments=None, name="look"):
    """The two events of a body whose start gets number ``seq``; ``gave`` None: it tells nothing."""
    arguments = f'{{"q":"{call_id}"}}' if arguments is None else arguments
    start = ToolStart(call_id and CallId(call_id), name, JsonText(arguments))
    end = ToolEnd(seq, outcome, digest=None if gave is None else text_digest(gave))
    return [(start, {"origin": Origin.PROBE}), (end, {"origin": Origin.PROBE})]


def told(gave="found", shown="found", note=None, profile=None, **fields):
    rows = [answer(None, call("c1", arguments='{"q":"c1"}')), *body(1, "c1", gave)]
    rows += [(Note(*note), {})] if note else []
    header = {} if profile is None else {"profile": profile}
    return trajectory(*rows, result("c1", shown, **fields), **header)


def test_a_result_that_is_what_the_body_gave_passes():
    assert verdict(CHECK, told()).outcome is Outcome.PASS


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"shown": "other"}, id="another-text"),
        pytest.param({"shown": "found "}, id="a-blank-more"),
        pytest.param({"shown": "no", "is_error": True, "code": Code.TOOL_FAILED}, id="told-as-failed"),
        pytest.param({"shown": "no", "is_error": True, "code": Code.ABORTED}, id="told-as-aborted"),
        pytest.param({"shown": "no", "is_error": True, "code": Code.SKIPPED}, id="told-as-skipped"),
        pytest.param({"shown": "other", "note": (CHANGED_RESULT_NOTE, '{"call":"c2"}')}, id="changed-for-another-call"),
    ],
)
def test_another_text_than_the_body_gave_is_refused(fields):
    (message,) = messages(CHECK, told(**fields))
    assert message.startswith("the result of call 'c1'")
    assert message.endswith("does not show what its body gave")


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"shown": "fo", "truncated": True, "code": Code.TRUNCATED}, id="cut"),
        pytest.param({"shown": "short", "truncated": True, "code": Code.SUMMARISED}, id="summed-up"),
        pytest.param({"shown": "late", "is_error": True, "code": Code.TOOL_TIMEOUT}, id="out-of-time"),
        pytest.param({"shown": "?", "is_error": True, "code": Code.TOOL_OUTCOME_UNKNOWN}, id="repaired"),
        pytest.param({"shown": "x", "note": (CHANGED_RESULT_NOTE, '{"call":"c1"}')}, id="changed-by-a-hook"),
        pytest.param({"gave": None, "shown": "x"}, id="nothing-known"),
        pytest.param(
            {
                "shown": "gone",
                "is_error": True,
                "code": Code.ABORTED,
                "profile": Profile(result_after_cancel=ResultAfterCancel.ABORTED),
            },
            id="aborted-by-declaration",
        ),
    ],
)
def test_another_text_that_says_why_is_taken(fields):
    assert messages(CHECK, told(**fields)) == []


def test_a_good_result_without_a_body_is_invented():
    calls = [call("c1", arguments='{"q":"c1"}'), call("c2")]
    run = trajectory(answer(None, *calls), *body(1, "c1", "x"), result("c1"), result("c2"))
    assert messages(CHECK, run) == ["the result of call 'c2' is invented: no body ran for it"]
    refused = result("c2", "no", is_error=True, code=Code.UNKNOWN_TOOL)
    assert messages(CHECK, trajectory(answer(None, *calls), *body(1, "c1", "x"), result("c1"), refused)) == []


def test_the_last_of_several_bodies_of_a_call_counts():
    def shown(text):
        rows = [answer(None, call("c1", arguments='{"q":"c1"}')), *body(1, "c1", "one"), *body(3, "c1", "two")]
        return messages(CHECK, trajectory(*rows, result("c1", text)))

    assert shown("two") == []
    assert len(shown("one")) == 1


def test_a_file_whose_ends_tell_nothing_is_not_judged():
    assert verdict(CHECK, told(gave=None)).outcome is Outcome.NOT_APPLICABLE


# ---------------------------------------------------------------- seen at two doors


def seen(*calls, arguments=None):
    """Calls as (what the body gave, what is shown); all of one answer, bodies in order."""
    used = [f'{{"q":"c{n}"}}' if arguments is None else arguments for n, _ in enumerate(calls)]
    made = [call(f"c{n}", arguments=text) for n, text in enumerate(used)]
    rows = [(answer(None, *made), {"origin": Origin.PROBE})]
    for n, one in enumerate(calls):
        outcome = one[2] if len(one) > 2 else ToolOutcome.OK
        if one[0] is not None:
            rows += body(len(rows), f"c{n}", one[0], outcome=outcome, arguments=used[n])
    rows.append((ModelRequest(Messages.of([])), {"origin": Origin.PROBE}))
    rows += [(result(f"c{n}", one[1]), {"origin": Origin.PROBE}) for n, one in enumerate(calls)]
    return trajectory(*rows)


@pytest.mark.parametrize(
    ("calls", "accused"),
    [
        pytest.param([("seven", "eight"), ("eight", "seven")], ["c0", "c1"], id="exchanged"),
        pytest.param([("7", "8"), ("8", "7")], ["c0", "c1"], id="exchanged-and-short"),
        pytest.param([("a", "b"), ("b", "c"), ("c", "a")], ["c0", "c1", "c2"], id="in-a-circle"),
        pytest.param([('{"id":7}', '{"id": 8}'), ('{"id":8}', '{\n "id": 7}')], ["c0", "c1"], id="exchanged-as-json"),
        pytest.param([("seven", "eight"), ("eight", "eight")], ["c0"], id="the-last-for-all"),
        pytest.param([("seven", "seven"), ("eight", "seven")], ["c1"], id="that-of-before"),
    ],
)
def test_the_text_of_another_call_is_refused(calls, accused):
    told_of = messages(CHECK, seen(*calls))
    assert [text.split("'")[1] for text in told_of] == accused


@pytest.mark.parametrize(
    "calls",
    [
        pytest.param([("seven", "seven"), ("eight", "eight")], id="as-given"),
        pytest.param([('{"id":7}', '{"id": 7}'), ("null", "None"), ("true", "True")], id="in-other-spelling"),
        pytest.param([("seven", "seven\n"), ("eight", "  eight")], id="with-blanks"),
        pytest.param([("seven", "Result: seven"), ("eight", "Result: eight")], id="behind-a-prefix"),
        pytest.param([("seven", "ok"), ("ok", "ok")], id="one-word-for-all"),
        pytest.param([("", "(nothing)"), ("null", "")], id="empty-in-own-words"),
        pytest.param([("boom", "error: RuntimeError", ToolOutcome.ERROR), ("eight", "eight")], id="failed"),
        pytest.param([("boom", "eight", ToolOutcome.ERROR), ("eight", "eight")], id="another-took-over"),
        pytest.param([("a long story", "a long"), ("eight", "eight")], id="cut"),
        pytest.param([("seven", "pending"), ("eight", "pending")], id="placeholders"),
        pytest.param([(None, "seven"), ("seven", "seven")], id="remembered-without-a-body"),
        pytest.param([('{"m":"found it"}', "found it"), ("found it", "Said: found it")], id="one-field-of-it"),
    ],
)
def test_a_loops_own_way_to_tell_results_is_not_accused(calls):
    assert messages(CHECK, seen(*calls)) == []


def test_of_calls_that_say_the_same_nobody_knows_whose_body_is_whose():
    assert messages(CHECK, seen(("first", "second"), ("second", "first"), arguments='{"q":"a"}')) == []


def test_a_text_that_stands_for_another_is_accused_only_where_the_tool_is_seen_to_show_its_texts_as_they_are():
    rendered = [("seven", "eight"), ("eight", "eight"), ("nine", "nine")]
    assert len(messages(CHECK, seen(*rendered))) == 1
    alone = trajectory(
        (answer(None, call("c0", "one", '{"q":"c0"}'), call("c1", "two", '{"q":"c1"}')), {"origin": Origin.PROBE}),
        *body(1, "c0", "seven", name="one"),
        *body(3, "c1", "eight", name="two"),
        (result("c0", "eight", "one"), {"origin": Origin.PROBE}),
        (result("c1", "eight", "two"), {"origin": Origin.PROBE}),
    )
    assert messages(CHECK, alone) == []


@pytest.mark.parametrize(
    "words",
    [pytest.param("{}", id="as-given"), pytest.param("Result: {}", id="in-own-words")],
)
def test_bodies_are_looked_up_by_what_they_gave_so_arguments_are_compared_for_what_is_doubtful_alone(
    words, monkeypatch
):
    compared = []
    monkeypatch.setattr("harness.checks.results.ran_with", lambda sent, used: compared.append(sent))
    assert messages(CHECK, seen(*((f"found {n}", words.format(f"found {n}")) for n in range(50)))) == []
    assert compared == []
