"""Where an evaluation is graded by the public benchmark's rules, those decide, not the matchers."""

import pytest

from harness.errors import InvalidValueError
from harness.types.codes import FinishReason
from harness.types.evaluation import Arm, Grading
from harness.types.grades import MisfitKind as K
from harness.types.grades import Score, Stage, WhyNoCall
from harness.types.jsontext import canonical_json
from tests.evaluate.lab import NO_CALL, Shown, found, made, said, shop, wanted

BENCHMARK = shop(grading=Grading.BFCL)
PARAMETERS = {
    "type": "dict",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
    "required": ["city"],
}
FUNCTIONS = [{"name": "get_weather", "parameters": PARAMETERS}]
OSLO = {"category": "simple_python", "functions": FUNCTIONS, "truth": [{"get_weather": {"city": ["Oslo"], "days": ["", 1]}}]}
NONE = {"category": "irrelevance", "functions": FUNCTIONS, "truth": []}
ACCEPT = wanted(("get_weather", {"city": "Oslo", "days": {"$optional": 1}}))
RENAMED = Arm("renamed", rename=(("get_weather", "forecast"),))


def shown(answer, record=OSLO, accept=ACCEPT, evaluation=BENCHMARK, **fields):
    case = {"bfcl": None if record is None else canonical_json(record), **fields.pop("case", {})}
    return Shown(accept, answer, case, evaluation=evaluation, **fields)


def weather(**arguments):
    return made(("get_weather", arguments))


@pytest.mark.parametrize(
    "one",
    [
        pytest.param(shown(weather(city="Oslo")), id="right"),
        pytest.param(shown(weather(city="OSLO.")), id="text-is-read-over"),
        pytest.param(shown(made(("forecast", {"city": "Oslo"})), arm=RENAMED), id="renamed"),
        pytest.param(shown(said("Nothing fits."), NONE, NO_CALL), id="no-call"),
    ],
)
def test_what_the_benchmark_counts_as_right_passes(one):
    assert (one.grade.score, found(one.grade)) == (Score.PASSED, [])


@pytest.mark.parametrize(
    ("one", "misfits", "stage"),
    [
        pytest.param(shown(weather(city="Rome")), [(K.WRONG_VALUE, "calls[1].arguments.city")], Stage.ARGUMENTS, id="value"),
        pytest.param(shown(made(("search", {}))), [(K.HALLUCINATED, "calls[1].name")], Stage.SELECTION, id="no-function-of-the-item"),
        pytest.param(shown(said("Sunny.")), [(K.NO_CALL, "calls")], Stage.SELECTION, id="no-call"),
        pytest.param(shown(weather(city="Oslo"), NONE, NO_CALL), [(K.UNWANTED, "calls[1]")], Stage.SELECTION, id="unwanted"),
        pytest.param(shown(weather(city="Oslo"), case={"never": ("get_weather",)}), [(K.FORBIDDEN, "calls[1]")], Stage.SELECTION, id="forbidden-all-the-same"),
        pytest.param(shown(made(("get_weather", {"city": "Oslo"}), finish_reason=FinishReason.LENGTH)),
                     [(K.AGENT_ERROR, "finish_reason")], Stage.SELECTION, id="cut-all-the-same"),
    ],
)
def test_what_the_benchmark_refuses_fails_with_its_class(one, misfits, stage):
    assert (found(one.grade), one.grade.stage, one.grade.score) == (misfits, stage, Score.FAILED)


SOME = {"category": "live_relevance", "functions": FUNCTIONS, "truth": []}
TWO = {**OSLO, "category": "parallel", "truth": OSLO["truth"] * 2}
BARE = Arm("bare", offer_tools=False)
OSLO_CALL = ("get_weather", {"city": "Oslo"})


@pytest.mark.parametrize(
    ("one", "places"),
    [
        pytest.param(shown(made(OSLO_CALL), arm=RENAMED), [1], id="its-first-name"),
        pytest.param(shown(made(OSLO_CALL), arm=BARE), [1], id="no-tools-at-all"),
        pytest.param(shown(made(OSLO_CALL), case={"tools": ("search",)}), [1], id="narrowed-away"),
        pytest.param(shown(made(OSLO_CALL), SOME, wanted("get_weather"), arm=BARE), [1], id="where-any-call-is-right"),
        pytest.param(shown(made(OSLO_CALL), NONE, NO_CALL, arm=RENAMED), [1], id="where-none-is"),
        pytest.param(shown(made(("forecast", {"city": "Oslo"}), OSLO_CALL), TWO, arm=RENAMED), [2], id="one-of-two"),
        pytest.param(shown(made(("get_weather", "{")), arm=RENAMED), [1], id="with-bad-arguments-too"),
    ],
)
def test_a_call_of_a_tool_that_is_not_offered_is_hallucinated_whatever_the_benchmark_makes_of_it(one, places):
    assert found(one.grade) == [(K.HALLUCINATED, f"calls[{place}]") for place in places]
    assert one.grade.score is Score.FAILED


def test_any_offered_call_is_right_where_the_benchmark_wants_some():
    assert shown(made(OSLO_CALL), SOME, wanted("get_weather")).grade.score is Score.PASSED


def test_the_same_answer_may_fail_by_the_matchers():
    one = shown(weather(city="OSLO."), evaluation=shop())
    assert found(one.grade) == [(K.WRONG_VALUE, "calls[1].arguments.city")]


def test_silence_has_its_reason_here_too():
    assert shown(said("Sunny.")).grade.misfits[0].why is WhyNoCall.CHOSE_NOT_TO


def test_a_case_without_the_benchmarks_record_is_refused():
    with pytest.raises(InvalidValueError, match="case 'c' has no record 'bfcl'"):
        _ = shown(weather(city="Oslo"), None).grade
