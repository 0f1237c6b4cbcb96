"""Every class of mismatch is shown a decision that it must name, with its place, and a near one that is right."""

import pytest

from harness.types.evaluation import Arm
from harness.types.expectations import CallOrder
from harness.types.grades import MisfitKind as K
from harness.types.grades import Score, Stage
from tests.evaluate.lab import ASK_STATUS, ASK_USER, NO_CALL, Shown, found, made, said, shop, wanted

ORDER_7 = wanted(("get_order", {"id": 7}))
BOTH = (("get_order", {"id": 7}), ("get_order", {"id": 8}))
SEVEN, EIGHT = (("get_order", {"id": 7}), ("get_order", {"id": 8}))
OSLO = wanted(("get_weather", {"city": "Oslo"}))
RENAMED = Arm("renamed", rename=(("get_order", "lookup"),))
BY_STATUS = shop(asking=ASK_STATUS)
SEARCH = ("search", {})
QUESTION = ("ask_user", {"question": "Which?"})


def told(text, **fields):
    return Shown(**{"accept": ORDER_7, "answer": said(text), **fields})


def by_status(accept, *calls):
    """The calls, and a question to the user as a status in the text."""
    return Shown(accept, made(*calls, content='{"status": "need_input"}'), evaluation=BY_STATUS)


def rows(*table):
    return [pytest.param(*row[1:], id=row[0]) for row in table]


WRONG = rows(
    ("another-tool", Shown(ORDER_7, made(SEARCH)), [(K.WRONG_TOOL, "calls[1]")], Stage.SELECTION),
    ("nothing", Shown(ORDER_7, said("It is here.")), [(K.NO_CALL, "calls")], Stage.SELECTION),
    ("a-call-too-many-for-none", Shown(NO_CALL, made(SEVEN)), [(K.UNWANTED, "calls[1]")], Stage.SELECTION),
    ("forbidden", Shown(ORDER_7, made(SEVEN, ("refund_order", {"id": 7})), {"never": ("refund_order",)}),
     [(K.EXTRA_CALL, "calls[2]"), (K.FORBIDDEN, "calls[2]")], Stage.SELECTION),
    ("forbidden-though-expected", Shown(ORDER_7, made(SEVEN), {"never": ("get_order",)}),
     [(K.FORBIDDEN, "calls[1]")], Stage.SELECTION),
    ("forbidden-where-others-may-come",
     Shown(wanted(SEVEN, order=CallOrder.SUPERSET), made(SEVEN, ("refund_order", {"id": 7})), {"never": ("refund_order",)}),
     [(K.FORBIDDEN, "calls[2]")], Stage.SELECTION),
    ("forbidden-and-not-offered", Shown(NO_CALL, made(("wipe", {})), {"never": ("wipe",)}),
     [(K.FORBIDDEN, "calls[1]"), (K.HALLUCINATED, "calls[1]")], Stage.SELECTION),
    ("hallucinated", Shown(ORDER_7, made(("find_order", {"id": 7}))), [(K.HALLUCINATED, "calls[1]")], Stage.SELECTION),
    ("hallucinated-beside", Shown(ORDER_7, made(SEVEN, ("find", {}))), [(K.HALLUCINATED, "calls[2]")], Stage.SELECTION),
    ("hallucinated-where-others-may-come", Shown(wanted(SEVEN, order=CallOrder.SUPERSET), made(SEVEN, ("find", {}))),
     [(K.HALLUCINATED, "calls[2]")], Stage.SELECTION),
    ("hallucinated-since-narrowed", Shown(ORDER_7, made(SEVEN), {"tools": ("search",)}),
     [(K.HALLUCINATED, "calls[1]")], Stage.SELECTION),
    ("hallucinated-since-renamed", Shown(ORDER_7, made(SEVEN), arm=RENAMED), [(K.HALLUCINATED, "calls[1]")], Stage.SELECTION),
    ("hallucinated-since-none-offered", Shown(ORDER_7, made(SEVEN), arm=Arm("bare", offer_tools=False)),
     [(K.HALLUCINATED, "calls[1]")], Stage.SELECTION),
    ("not-json", Shown(ORDER_7, made(("get_order", "{id: 7}"))), [(K.INVALID_ARGUMENTS, "calls[1].arguments")], Stage.ARGUMENTS),
    ("nan", Shown(wanted(("get_weather", {"days": {"$any": True}})), made(("get_weather", '{"days": NaN}'))),
     [(K.INVALID_ARGUMENTS, "calls[1].arguments")], Stage.ARGUMENTS),
    ("a-list", Shown(wanted("search"), made(("search", "[]"))), [(K.INVALID_ARGUMENTS, "calls[1].arguments")], Stage.ARGUMENTS),
    ("text-for-a-number", Shown(ORDER_7, made(("get_order", {"id": "7"}))),
     [(K.INVALID_ARGUMENTS, "calls[1].arguments.id")], Stage.ARGUMENTS),
    ("true-for-one", Shown(wanted(("get_order", {"id": 1})), made(("get_order", {"id": True}))),
     [(K.INVALID_ARGUMENTS, "calls[1].arguments.id")], Stage.ARGUMENTS),
    ("refused-by-the-tool-though-as-expected", Shown(wanted(("get_order", {"id": "7"})), made(("get_order", {"id": "7"}))),
     [(K.INVALID_ARGUMENTS, "calls[1].arguments.id")], Stage.ARGUMENTS),
    ("required-one-left-out", Shown(wanted("get_order"), made(("get_order", {}))),
     [(K.INVALID_ARGUMENTS, "calls[1].arguments")], Stage.ARGUMENTS),
    ("invalid-where-others-may-come", Shown(wanted(SEVEN, order=CallOrder.IN_ORDER), made(("get_order", {}), SEVEN)),
     [(K.INVALID_ARGUMENTS, "calls[1].arguments")], Stage.ARGUMENTS),
    ("wrong-value", Shown(ORDER_7, made(EIGHT)), [(K.WRONG_VALUE, "calls[1].arguments.id")], Stage.ARGUMENTS),
    ("big-integers-are-exact", Shown(wanted(("get_order", {"id": 2**53 + 1})), made(("get_order", {"id": 2**53}))),
     [(K.WRONG_VALUE, "calls[1].arguments.id")], Stage.ARGUMENTS),
    ("true-is-not-1", Shown(wanted(("search", {"q": 1})), made(("search", {"q": True}))),
     [(K.WRONG_VALUE, "calls[1].arguments.q")], Stage.ARGUMENTS),
    ("wrong-value-at-depth", Shown(wanted(("get_weather", {"place": {"at": [1, 2]}})), made(("get_weather", {"place": {"at": [1, 3]}}))),
     [(K.WRONG_VALUE, "calls[1].arguments.place.at[1]")], Stage.ARGUMENTS),
    ("missing-argument", Shown(OSLO, made(("get_weather", {}))), [(K.MISSING_ARGUMENT, "calls[1].arguments.city")], Stage.ARGUMENTS),
    ("missing-at-depth", Shown(wanted(("get_weather", {"place": {"zip": 1}})), made(("get_weather", {"place": {}}))),
     [(K.MISSING_ARGUMENT, "calls[1].arguments.place.zip")], Stage.ARGUMENTS),
    ("extra-argument", Shown(OSLO, made(("get_weather", {"city": "Oslo", "days": 1}))),
     [(K.EXTRA_ARGUMENT, "calls[1].arguments.days")], Stage.ARGUMENTS),
    ("missing-call", Shown(wanted(*BOTH), made(EIGHT)), [(K.MISSING_CALL, "calls")], Stage.SELECTION),
    ("repeats-count", Shown(wanted(SEVEN, SEVEN), made(SEVEN)), [(K.MISSING_CALL, "calls")], Stage.SELECTION),
    ("extra-call", Shown(ORDER_7, made(SEVEN, SEVEN)), [(K.EXTRA_CALL, "calls[2]")], Stage.SELECTION),
    ("extra-in-subset", Shown(wanted(SEVEN, order=CallOrder.SUBSET), made(SEARCH)), [(K.EXTRA_CALL, "calls[1]")], Stage.SELECTION),
    ("swapped", Shown(wanted(*BOTH, order=CallOrder.EXACT), made(EIGHT, SEVEN)), [(K.ORDER, "calls[1]")], Stage.SELECTION),
    ("one-out-of-order", Shown(wanted(SEVEN, EIGHT, SEARCH, order=CallOrder.IN_ORDER), made(SEARCH, SEVEN, EIGHT)),
     [(K.ORDER, "calls[1]")], Stage.SELECTION),
    ("another-before-exact", Shown(wanted(SEVEN, order=CallOrder.EXACT), made(SEARCH, SEVEN)),
     [(K.EXTRA_CALL, "calls[1]")], Stage.SELECTION),
    ("wrong-value-in-order", Shown(wanted(*BOTH, order=CallOrder.IN_ORDER), made(SEVEN, ("get_order", {"id": 9}))),
     [(K.WRONG_VALUE, "calls[2].arguments.id")], Stage.ARGUMENTS),
    ("the-right-tool-stands-for-it-rather-than-none", Shown(wanted(SEARCH, SEARCH, order=CallOrder.SUPERSET), made(("find", {}), SEARCH, ("search", {"a": 1}))),
     [(K.HALLUCINATED, "calls[1]"), (K.EXTRA_ARGUMENT, "calls[3].arguments.a")], Stage.SELECTION),
    ("a-call-that-would-be-wrong-anyway-stands-for-it", Shown(wanted(SEVEN, order=CallOrder.SUPERSET), made(EIGHT, ("get_order", "{"))),
     [(K.INVALID_ARGUMENTS, "calls[2].arguments")], Stage.ARGUMENTS),
    ("wrong-values-are-milder-than-no-json",
     Shown(wanted(("get_weather", {"city": "Oslo", "days": 1})), made(("get_weather", "{"), ("get_weather", {"city": "Rome", "days": 2}))),
     [(K.EXTRA_CALL, "calls[1]"), (K.WRONG_VALUE, "calls[2].arguments.city"), (K.WRONG_VALUE, "calls[2].arguments.days")], Stage.SELECTION),
    ("asked-as-expected-but-no-more", Shown(wanted(SEVEN, "ask_user"), made(QUESTION)), [(K.MISSING_CALL, "calls")], Stage.SELECTION),
    ("asked-with-bad-arguments", Shown(ASK_USER, made(("ask_user", "["))), [(K.INVALID_ARGUMENTS, "calls[1].arguments")], Stage.ARGUMENTS),
    ("asked-instead", Shown(ORDER_7, made(QUESTION)), [(K.ASKED, "calls")], Stage.SELECTION),
    ("asked-instead-of-one-of-two", Shown(wanted(*BOTH), made(SEVEN, QUESTION)), [(K.ASKED, "calls[2]")], Stage.SELECTION),
    ("asked-by-status-instead", Shown(ORDER_7, said('{"status": "need_input"}'), evaluation=BY_STATUS),
     [(K.ASKED, "content")], Stage.SELECTION),
    ("asked-by-status-beside", by_status(ORDER_7, SEVEN), [(K.ASKED, "content")], Stage.SELECTION),
    ("asked-by-status-beside-exactly", by_status(wanted(*BOTH, order=CallOrder.EXACT), *BOTH), [(K.ASKED, "content")], Stage.SELECTION),
    ("asked-by-status-though-nothing-is-owed", by_status(wanted(SEVEN, order=CallOrder.SUBSET)), [(K.ASKED, "content")], Stage.SELECTION),
    ("asked-by-status-beside-some-of-these", by_status(wanted(*BOTH, order=CallOrder.SUBSET), SEVEN), [(K.ASKED, "content")], Stage.SELECTION),
    ("asked-by-status-instead-of-one-of-two", by_status(wanted(*BOTH), SEVEN), [(K.ASKED, "content")], Stage.SELECTION),
    ("asked-by-status-instead-of-the-second", by_status(wanted(*BOTH, order=CallOrder.IN_ORDER), SEVEN), [(K.ASKED, "content")], Stage.SELECTION),
    ("asked-by-status-beside-an-invention", by_status(ORDER_7, ("find", {})), [(K.HALLUCINATED, "calls[1]"), (K.ASKED, "content")], Stage.SELECTION),
    ("asked-for-nothing", Shown(NO_CALL, made(QUESTION)), [(K.ASKED, "calls[1]")], Stage.SELECTION),
    ("asked-by-status-for-nothing", Shown(NO_CALL, said('{"status": "need_input"}'), evaluation=BY_STATUS),
     [(K.ASKED, "content")], Stage.SELECTION),
    ("did-not-ask-but-wrote", Shown(ASK_USER, said("Which order do you mean?")), [(K.DID_NOT_ASK, "content")], Stage.SELECTION),
    ("did-not-ask-but-called", Shown(ASK_USER, made(SEVEN)), [(K.DID_NOT_ASK, "calls[1]")], Stage.SELECTION),
    ("did-not-ask-but-called-twice", Shown(ASK_USER, made(SEVEN, SEARCH)),
     [(K.DID_NOT_ASK, "calls[1]"), (K.UNWANTED, "calls[2]")], Stage.SELECTION),
    ("asked-and-called", Shown(ASK_USER, made(SEVEN, QUESTION)), [(K.UNWANTED, "calls[1]")], Stage.SELECTION),
    ("another-status", Shown(ASK_USER, said('{"status": "done"}'), evaluation=BY_STATUS), [(K.DID_NOT_ASK, "content")], Stage.SELECTION),
    ("status-inside-prose", Shown(ASK_USER, said('I say {"status": "need_input"}'), evaluation=BY_STATUS),
     [(K.DID_NOT_ASK, "content")], Stage.SELECTION),
)

RIGHT = rows(
    ("the-tool", Shown(ORDER_7, made(SEVEN))),
    ("no-call", Shown(NO_CALL, said("You are welcome."))),
    ("no-call-and-no-text", Shown(NO_CALL, said(None))),
    ("forbidden-not-called", Shown(ORDER_7, made(SEVEN), {"never": ("refund_order",)})),
    ("renamed", Shown(ORDER_7, made(("lookup", {"id": 7})), arm=RENAMED)),
    ("narrowed-to-it", Shown(ORDER_7, made(SEVEN), {"tools": ("get_order",)})),
    ("one-number-in-two-spellings", Shown(ORDER_7, made(("get_order", '{"id": 7.0}')))),
    ("a-big-integer", Shown(wanted(("get_order", {"id": 2**70 + 1})), made(("get_order", {"id": 2**70 + 1})))),
    ("no-arguments-are-an-empty-object", Shown(wanted(("search", {})), made(("search", "")))),
    ("arguments-not-asked-for", Shown(wanted("get_order"), made(SEVEN))),
    ("keys-in-another-order", Shown(wanted(("get_weather", {"city": "Oslo", "days": 1})), made(("get_weather", '{"days": 1, "city": "Oslo"}')))),
    ("matcher", Shown(wanted(("get_weather", {"city": {"$regex": "^Os"}})), made(("get_weather", {"city": "Oslo"})))),
    ("subset", Shown(wanted(("get_weather", {"$subset": {"city": "Oslo"}})), made(("get_weather", {"city": "Oslo", "days": 1})))),
    ("optional-left-out", Shown(wanted(("get_weather", {"city": "Oslo", "days": {"$optional": 1}})), made(("get_weather", {"city": "Oslo"})))),
    ("optional-there", Shown(wanted(("get_weather", {"city": "Oslo", "days": {"$optional": 1}})), made(("get_weather", {"city": "Oslo", "days": 1})))),
    ("two-in-any-order", Shown(wanted(*BOTH), made(EIGHT, SEVEN))),
    ("two-in-order-with-others", Shown(wanted(*BOTH, order=CallOrder.IN_ORDER), made(SEARCH, SEVEN, SEARCH, EIGHT, SEARCH))),
    ("in-order-with-a-repeat-before", Shown(wanted(SEVEN, "get_order", order=CallOrder.IN_ORDER), made(EIGHT, SEVEN, EIGHT))),
    ("exact", Shown(wanted(*BOTH, order=CallOrder.EXACT), made(SEVEN, EIGHT))),
    ("superset-with-others", Shown(wanted(SEVEN, order=CallOrder.SUPERSET), made(SEARCH, SEVEN))),
    ("subset-of-calls", Shown(wanted(*BOTH, order=CallOrder.SUBSET), made(EIGHT))),
    ("subset-with-none", Shown(wanted(*BOTH, order=CallOrder.SUBSET), said("No."))),
    ("the-particular-one-is-left-to-who-needs-it", Shown(wanted("get_order", SEVEN), made(SEVEN, EIGHT))),
    ("asked-by-tool", Shown(ASK_USER, made(QUESTION))),
    ("asked-by-tool-among-expected-calls", Shown(wanted(SEVEN, "ask_user"), made(QUESTION, SEVEN))),
    ("asked-by-status", Shown(ASK_USER, said(' {"status": "need_input", "question": "Which?"} '), evaluation=BY_STATUS)),
    ("asked-by-status-in-a-fence", Shown(ASK_USER, said('```json\n{"status": "need_input"}\n```'), evaluation=BY_STATUS)),
    ("asked-by-status-where-others-may-come", by_status(wanted(SEVEN, order=CallOrder.SUPERSET), SEVEN)),
    ("asked-by-status-behind-calls-in-order", by_status(wanted(*BOTH, order=CallOrder.IN_ORDER), *BOTH)),
    ("another-status-beside-the-call", Shown(ORDER_7, made(SEVEN, content='{"status": "done"}'), evaluation=BY_STATUS)),
    ("any-of-several", Shown((ORDER_7, ASK_USER), made(QUESTION))),
    ("the-other-of-several", Shown((ORDER_7, ASK_USER), made(SEVEN))),
)


@pytest.mark.article("34", "37")
@pytest.mark.parametrize(("shown", "misfits", "stage"), WRONG)
def test_a_wrong_decision_is_named_by_its_class_its_place_and_its_stage(shown, misfits, stage):
    grade = shown.grade
    assert (found(grade), grade.stage, grade.score) == (misfits, stage, Score.FAILED)


@pytest.mark.parametrize("shown", RIGHT)
def test_a_right_decision_has_no_misfit(shown):
    grade = shown.grade
    assert (found(grade), grade.stage, grade.score) == ([], None, Score.PASSED)


def test_every_class_of_a_first_decision_is_in_the_table():
    classes = {kind for row in WRONG for kind, _ in row.values[1]}
    assert classes == set(K) - {K.AGENT_ERROR, K.FAILED_CALL, K.ANSWER}


@pytest.mark.parametrize("order", list(CallOrder))
@pytest.mark.parametrize("calls", [pytest.param(calls, id=f"{len(calls)}-made") for calls in [(), (SEVEN,), BOTH, (SEARCH,)]])
@pytest.mark.parametrize("accept", [pytest.param(calls, id=f"{len(calls)}-expected") for calls in [(SEVEN,), BOTH]])
def test_a_question_weighs_the_same_beside_calls_whichever_way_it_was_asked(accept, calls, order):
    expected = wanted(*accept, order=order)
    by_text, by_tool = by_status(expected, *calls).grade, Shown(expected, made(*calls, QUESTION)).grade
    assert (by_text.score, by_text.stage, by_text.cells) == (by_tool.score, by_tool.stage, by_tool.cells)
