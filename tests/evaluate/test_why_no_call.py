"""When a model calls no tool, it is said why; and a call that sits in the text is found, never run."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.evaluate.text_calls import call_in_text
from harness.evaluate.why import LEAST_EVIDENCE, ToolUse, blaming_endpoint
from harness.types.codes import FinishReason
from harness.types.evaluation import Arm
from harness.types.grades import MisfitKind, Score, WhyNoCall
from harness.types.jsontext import canonical_json
from harness.types.model_spec import ModelSpec
from tests.evaluate.lab import ASK_USER, NO_CALL, SHOP, Shown, made, said, shop, wanted

ORDER_7 = wanted(("get_order", {"id": 7}))
BARE = Arm("bare", offer_tools=False)
CHOICE_NONE = Arm("none", tool_choice=canonical_json("none"))
REQUIRED = Arm("required", tool_choice=canonical_json("required"))
NONE_BY_MODEL = shop(model=ModelSpec("m", canonical_json({"tool_choice": "none"})))
IN_TEXT = '{"name": "get_order", "arguments": {"id": 7}}'


@pytest.mark.article("36")
@pytest.mark.parametrize(
    ("shown", "why"),
    [
        pytest.param(Shown(ORDER_7, said("No."), arm=BARE), WhyNoCall.NOT_OFFERED, id="no-tools-offered"),
        pytest.param(Shown(ORDER_7, said("No."), {"tools": ("search",)}), WhyNoCall.NOT_OFFERED, id="narrowed-to-another"),
        pytest.param(Shown(ORDER_7, said(IN_TEXT), arm=BARE), WhyNoCall.NOT_OFFERED, id="not-offered-comes-before-text"),
        pytest.param(Shown(ORDER_7, said("No."), {"tools": ("get_order",)}), WhyNoCall.CHOSE_NOT_TO, id="narrowed-to-it"),
        pytest.param(Shown(wanted("get_order", "wipe"), said("No.")), WhyNoCall.CHOSE_NOT_TO, id="one-of-two-offered"),
        pytest.param(Shown(ORDER_7, said("No."), arm=CHOICE_NONE), WhyNoCall.TOOL_CHOICE_NONE, id="tool-choice-of-the-arm"),
        pytest.param(Shown(ORDER_7, said("No."), evaluation=NONE_BY_MODEL), WhyNoCall.TOOL_CHOICE_NONE, id="tool-choice-of-the-model"),
        pytest.param(Shown(ORDER_7, said("No."), arm=REQUIRED, evaluation=NONE_BY_MODEL), WhyNoCall.CHOSE_NOT_TO, id="the-arms-choice-wins"),
        pytest.param(Shown(ORDER_7, said(IN_TEXT)), WhyNoCall.IN_TEXT, id="in-the-text"),
        pytest.param(Shown(ORDER_7, said('{"name": "other"}')), WhyNoCall.CHOSE_NOT_TO, id="another-name-in-the-text"),
        pytest.param(Shown(ORDER_7, said("get_order"), arm=Arm("r", rename=(("get_order", "lookup"),))), WhyNoCall.CHOSE_NOT_TO, id="the-name-that-it-does-not-have-here"),
        pytest.param(Shown(ORDER_7, said("lookup"), arm=Arm("r", rename=(("get_order", "lookup"),))), WhyNoCall.IN_TEXT, id="the-name-that-it-has-here"),
        pytest.param(Shown(ORDER_7, said("Well, I", finish_reason=FinishReason.LENGTH)), WhyNoCall.CUT, id="cut"),
        pytest.param(Shown(ORDER_7, said("Well, I", finish_reason=FinishReason.CONTENT_FILTER)), WhyNoCall.CUT, id="filtered"),
        pytest.param(Shown(ORDER_7, said("Well, I", finish_reason=None)), WhyNoCall.CUT, id="does-not-say-how-it-ended"),
        pytest.param(Shown(ORDER_7, said('<tool_call>{"name": "get_order", "arg', finish_reason=FinishReason.LENGTH)), WhyNoCall.IN_TEXT, id="cut-in-a-call-in-the-text"),
        pytest.param(Shown(ORDER_7, said(None, refusal="I cannot help.")), WhyNoCall.REFUSED, id="refused"),
        pytest.param(Shown(ORDER_7, said(None, finish_reason=FinishReason.REFUSAL)), WhyNoCall.REFUSED, id="refused-by-its-reason"),
        pytest.param(Shown(ORDER_7, said("Order 7 is on its way.")), WhyNoCall.CHOSE_NOT_TO, id="chose-not-to"),
        pytest.param(Shown(ASK_USER, said("Which?"), arm=BARE), WhyNoCall.NOT_OFFERED, id="nothing-to-ask-with"),
    ],
)
def test_silence_has_a_reason(shown, why):
    graded = shown.grade
    assert graded.why_no_call is why
    assert [misfit.why for misfit in graded.misfits] == [why]


@pytest.mark.parametrize(
    ("shown", "why"),
    [
        pytest.param(Shown(ORDER_7, made(("search", {}))), None, id="something-was-called"),
        pytest.param(Shown(ASK_USER, made(("ask_user", {}))), None, id="the-user-was-asked"),
        pytest.param(Shown(NO_CALL, said("Bye.")), WhyNoCall.CHOSE_NOT_TO, id="silence-was-right"),
        pytest.param(Shown(NO_CALL, said(IN_TEXT)), WhyNoCall.IN_TEXT, id="a-text-is-no-call-but-is-seen"),
    ],
)
def test_only_silence_has_a_reason_also_where_it_is_right(shown, why):
    graded = shown.grade
    assert graded.why_no_call is why
    assert all(misfit.why is None for misfit in graded.misfits)


# ---------------------------------------------------------------- calls in the text

NAMES = ("get_order", "search", "files.read")


@pytest.mark.article("36")
@pytest.mark.parametrize(
    ("text", "name"),
    [
        pytest.param(IN_TEXT, "get_order", id="json"),
        pytest.param(f"```json\n{IN_TEXT}\n```", "get_order", id="json-in-a-fence"),
        pytest.param(f"Let me look. {IN_TEXT} There.", "get_order", id="json-in-prose"),
        pytest.param('{"tool_calls": [{"function": {"name": "search", "arguments": "{}"}}]}', "search", id="the-wire's-own-shape"),
        pytest.param('{"recipient_name": "functions.get_order", "parameters": {}}', "get_order", id="with-a-name-space"),
        pytest.param('{"get_order": {"id": 7}}', "get_order", id="name-as-key"),
        pytest.param('[{"tool": "search"}]', "search", id="in-a-list"),
        pytest.param('<tool_call>\n{"name": "get_order", "arguments": {"id": 7}}\n</tool_call>', "get_order", id="tag"),
        pytest.param("<tool_call>{'name': 'get_order'}</tool_call>", "get_order", id="tag-without-json"),
        pytest.param("<function=get_order><parameter=id>7</parameter></function>", "get_order", id="function-tag"),
        pytest.param("<|python_tag|>search.call(q=1)", "search", id="python-tag"),
        pytest.param('[TOOL_CALLS] [{"name": "files.read"}]', "files.read", id="bracket-tag"),
        pytest.param("I call get_order(id=7) now", "get_order", id="as-a-function"),
        pytest.param("print(get_order(id=int('7')))", "get_order", id="nested-brackets"),
        pytest.param("search(q='x')", "search", id="a-plain-word-at-the-line's-begin"),
        pytest.param("`get_order`", "get_order", id="bare-name"),
        pytest.param("search", "search", id="bare-plain-word"),
        pytest.param("files.read(path='x')", "files.read", id="dotted-name"),
        pytest.param("The order is on its way.", None, id="prose"),
        pytest.param("I would use get_order for this.", None, id="a-name-in-prose"),
        pytest.param("I search (thoroughly) for it; my search(es) fail.", None, id="a-plain-word-in-prose"),
        pytest.param('{"name": "other", "arguments": {}}', None, id="a-tool-that-is-not-offered"),
        pytest.param('{"id": 7, "status": "shipped"}', None, id="json-that-calls-nothing"),
        pytest.param('{"city": "get_order"}', None, id="name-under-another-key"),
        pytest.param("get_orders(1) and forget_order(2)", None, id="longer-names"),
        pytest.param("", None, id="empty"),
        pytest.param(None, None, id="no-text"),
    ],
)
def test_a_call_in_a_text_is_found(text, name):
    assert call_in_text(text, NAMES) == name


@given(st.text(alphabet='{}[]"():,<>` \n\\get_order7', max_size=400), st.integers(1, 60))
def test_no_text_breaks_the_search(text, times):
    assert call_in_text(text * times, NAMES) in {None, *NAMES}


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 50_000, "get_order(" * 20_000, "<tool_call>" * 20_000], ids=["lists", "objects", "calls", "tags"])
def test_a_hostile_text_is_searched_in_bounded_time(text):
    assert call_in_text(text, NAMES) in {None, *NAMES}


def test_a_text_is_never_run(tmp_path):
    victim = tmp_path / "victim"
    assert call_in_text(f"get_order(open({str(victim)!r}, 'w'))", NAMES) == "get_order"
    assert not victim.exists()


# ---------------------------------------------------------------- over a whole arm

SILENT = Shown(ORDER_7, said("On its way.")).grade


@pytest.mark.article("36")
@pytest.mark.parametrize(
    ("grades", "ignoring"),
    [
        pytest.param([SILENT] * LEAST_EVIDENCE, True, id="silence-throughout"),
        pytest.param([SILENT] * (LEAST_EVIDENCE - 1), False, id="too-few-to-tell"),
        pytest.param([SILENT], False, id="one-trial-never-tells"),
        pytest.param([SILENT] * 50 + [Shown(ORDER_7, made(("search", {}))).grade], False, id="one-call"),
        pytest.param([SILENT] * 50 + [Shown(ORDER_7, said(IN_TEXT)).grade], False, id="one-call-in-the-text"),
        pytest.param([SILENT] * 50 + [Shown(ORDER_7, made(("find", {}))).grade], False, id="one-hallucinated"),
        pytest.param([Shown(NO_CALL, said("Bye.")).grade] * 50, False, id="silence-was-right"),
        pytest.param([Shown(ORDER_7, said("No."), arm=BARE).grade] * 50, False, id="none-were-offered"),
        pytest.param([SILENT] * 50 + [Shown(NO_CALL, said("Bye.")).grade], True, id="and-right-silence"),
    ],
)
def test_that_an_endpoint_ignores_tools_is_told_by_all_trials_of_an_arm(grades, ignoring):
    for order in (grades, grades[::-1]):
        use = ToolUse()
        for grade in order:
            use.add(grade)
        assert use.ignores_tools is ignoring


def test_then_silence_was_no_choice_of_the_model():
    blamed = blaming_endpoint(SILENT)
    assert (blamed.why_no_call, blamed.misfits[0].why) == (WhyNoCall.IGNORES_TOOLS, WhyNoCall.IGNORES_TOOLS)
    assert blamed.misfits[0].kind is MisfitKind.NO_CALL
    assert blamed.misfits[0].message.endswith("was no call: the endpoint ignores tools")
    assert blamed.score is Score.FAILED


def test_other_reasons_stay():
    cut = Shown(ORDER_7, said("I", finish_reason=FinishReason.LENGTH), evaluation=SHOP).grade
    assert blaming_endpoint(cut) is cut
