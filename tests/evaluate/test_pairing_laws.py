"""Expected and made calls are paired as well as can be, whatever order anything is listed in (INVARIANTS 29)."""

import json
from itertools import combinations, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.evaluate.decision import decision_of
from harness.evaluate.menu import menu_of
from harness.evaluate.pairing import asked_for, extra_misfits, in_any_order, missing, out_of_order, pair_misfits
from harness.evaluate.severity import STAGES, stage_of, weight
from harness.types.evaluation import Acceptable, Case, Wanted
from harness.types.expectations import CallOrder, ExpectedCall
from harness.types.grades import Misfit, MisfitKind, Score, Stage
from harness.types.trials import TrialAnswer, TrialCall
from tests.evaluate.lab import ASK_USER, NO_CALL, NOW, SHOP, TOOLS, Shown, made

VALUES = st.sampled_from([1, 1.0, 2, True, "1", None, [1], {"a": 1, "b": 2}])
MATCHERS = st.one_of(VALUES, st.sampled_from([{"$any": True}, {"$near": {"value": 1, "tolerance": 1}}, {"$optional": 1}]))
NAMES = st.sampled_from(["search", "ask_user", "get_order"])
EXPECTED = st.builds(
    lambda name, args: ExpectedCall(name, None if args is None else json.dumps(args)),
    NAMES, st.none() | st.dictionaries(st.sampled_from("abc"), MATCHERS, max_size=2),
)
CALLS = st.tuples(
    NAMES | st.just("find"), st.dictionaries(st.sampled_from("abc"), VALUES, max_size=2) | st.sampled_from(["{", '{"a": NaN}', ""])
)
ANSWERS = st.lists(CALLS, max_size=4).map(lambda calls: made(*calls))
UNORDERED = st.sampled_from([CallOrder.ANY_ORDER, CallOrder.SUBSET, CallOrder.SUPERSET])
ORDERS = st.sampled_from(list(CallOrder))


def acceptables(orders=ORDERS):
    calls = st.lists(EXPECTED, min_size=1, max_size=4).map(tuple)
    return st.builds(lambda calls, order: Acceptable(Wanted.CALLS, calls, order), calls, orders)


def read(answer):
    menu = menu_of(Case("c", "", ()), NOW, TOOLS, SHOP)
    return decision_of(answer, menu, SHOP.asking).calls


def kinds(grade):
    return sorted(misfit.kind for misfit in grade.misfits)


@given(acceptables(UNORDERED), ANSWERS, st.randoms())
def test_the_order_of_expectations_changes_nothing_where_none_is_asked_for(acceptable, answer, random):
    shuffled = list(acceptable.calls)
    random.shuffle(shuffled)
    other = Acceptable(Wanted.CALLS, tuple(shuffled), acceptable.order)
    assert Shown(other, answer).grade == Shown(acceptable, answer).grade


@given(acceptables(UNORDERED), ANSWERS, st.randoms())
def test_the_order_of_calls_changes_no_class_where_none_is_asked_for(acceptable, answer, random):
    shuffled = list(answer.calls)
    random.shuffle(shuffled)
    other = TrialAnswer(calls=tuple(shuffled), finish_reason=answer.finish_reason)
    grade = Shown(acceptable, answer).grade
    assert kinds(Shown(acceptable, other).grade) == kinds(grade)


def turned(text):
    """The same JSON with its keys the other way round."""
    value = json.loads(text)
    return json.dumps(dict(reversed(value.items()))) if isinstance(value, dict) else text


@given(acceptables(), ANSWERS)
def test_the_order_of_keys_changes_nothing(acceptable, answer):
    calls = tuple(
        ExpectedCall(c.name, None if c.arguments is None else turned(c.arguments)) for c in acceptable.calls
    )
    other = Acceptable(Wanted.CALLS, calls, acceptable.order)
    assert Shown(other, answer).grade == Shown(acceptable, answer).grade


@given(st.lists(acceptables() | st.sampled_from([ASK_USER, NO_CALL]), min_size=1, max_size=4), ANSWERS, st.randoms())
def test_the_order_of_acceptable_decisions_changes_nothing(accept, answer, random):
    shuffled = list(accept)
    random.shuffle(shuffled)
    assert Shown(tuple(shuffled), answer).grade == Shown(tuple(accept), answer).grade


@given(st.lists(acceptables() | st.sampled_from([ASK_USER, NO_CALL]), min_size=1, max_size=4), ANSWERS)
def test_a_decision_passes_where_it_passes_against_any_acceptable_one_alone(accept, answer):
    passes = [Shown(one, answer).grade.score is Score.PASSED for one in accept]
    assert (Shown(tuple(accept), answer).grade.score is Score.PASSED) is any(passes)


# ---------------------------------------------------------------- against all ways to pair


def every_pairing(n_wanted, n_calls):
    for n in range(min(n_wanted, n_calls) + 1):
        for rows in combinations(range(n_wanted), n):
            for columns in permutations(range(n_calls), n):
                yield dict(zip(rows, columns, strict=True))


def goodness(wanted, calls, pairs):
    """How many fit, and how many are of the right tool."""
    right = sum(wanted[i].name == calls[j].name for i, j in pairs.items())
    return sum(not pair_misfits(wanted[i], calls[j]) for i, j in pairs.items()), right


def may_stand(order, wanted, calls, pairs):
    """Where nothing is owed, no call stands in the place of one of another tool."""
    return order is not CallOrder.SUBSET or all(wanted[i].name == calls[j].name for i, j in pairs.items())


def all_misfits(order, wanted, calls, pairs):
    found = [misfit for i, j in pairs.items() for misfit in pair_misfits(wanted[i], calls[j])]
    if order is not CallOrder.SUBSET:
        found += [missing(one) for i, one in enumerate(wanted) if i not in pairs]
    return found + [m for j, call in enumerate(calls) if j not in pairs.values() for m in extra_misfits(call, order)]


@given(acceptables(UNORDERED), ANSWERS)
def test_as_many_calls_fit_as_can_and_the_rest_differs_as_little_as_can(acceptable, answer):
    wanted, calls, order = [asked_for(call) for call in acceptable.calls], read(answer), acceptable.order
    chosen = {i: j for i, j in enumerate(in_any_order(wanted, calls, order)) if j is not None}
    ways = [pairs for pairs in every_pairing(len(wanted), len(calls)) if may_stand(order, wanted, calls, pairs)]
    most = max(goodness(wanted, calls, pairs) for pairs in ways)
    assert goodness(wanted, calls, chosen) == most
    least = min(weight(all_misfits(order, wanted, calls, p)) for p in ways if goodness(wanted, calls, p) == most)
    assert weight(all_misfits(order, wanted, calls, chosen)) == least


@given(acceptables(), ANSWERS)
def test_a_decision_passes_exactly_where_some_pairing_leaves_nothing_to_say(acceptable, answer):
    wanted, calls, order = [asked_for(call) for call in acceptable.calls], read(answer), acceptable.order
    in_order = order in (CallOrder.EXACT, CallOrder.IN_ORDER)

    def is_good(pairs):
        places = [pairs[i] for i in sorted(pairs)]
        return not all_misfits(order, wanted, calls, pairs) and (not in_order or places == sorted(places))

    could = any(is_good(pairs) for pairs in every_pairing(len(wanted), len(calls)))
    assert (Shown(acceptable, answer).grade.score is Score.PASSED) is could


@given(st.permutations(range(5)))
def test_no_fewer_calls_could_move_to_stand_in_order(places):
    wanted = [asked_for(ExpectedCall("search")) for _ in places]
    calls = read(made(*[("search", {})] * len(places)))
    moved = {int(misfit.path[6:-1]) - 1 for misfit in out_of_order(wanted, calls, tuple(places))}
    kept = [place for place in places if place not in moved]
    assert kept == sorted(kept)
    longest = max(n for n in range(1, 6) for some in combinations(places, n) if list(some) == sorted(some))
    assert len(kept) == longest


# ---------------------------------------------------------------- what every grade keeps to


@given(acceptables() | st.sampled_from([ASK_USER, NO_CALL]), ANSWERS, st.sampled_from([(), ("search",)]))
def test_a_grade_is_of_one_piece(acceptable, answer, never):
    grade = Shown(acceptable, answer, {"never": never}).grade
    assert (grade.score is Score.PASSED) is (not grade.misfits)
    assert (grade.stage is None) is (not grade.misfits)
    assert grade.cells
    called = sum(call.name in never for call in answer.calls)
    assert sum(misfit.kind is MisfitKind.FORBIDDEN for misfit in grade.misfits) == called
    assert (grade.why_no_call is None) is bool(answer.calls)
    n_chosen = sum(chosen not in ("(none)", "(ask_user)") for _, chosen in grade.cells)
    assert n_chosen <= len(answer.calls)


def test_every_class_has_a_stage_and_a_weight_of_its_own():
    assert set(STAGES) == set(MisfitKind)
    weights = {kind: weight([Misfit(kind, "", "")]) for kind in MisfitKind}
    assert len(set(weights.values())) == len(weights)


@pytest.mark.article("37")
@pytest.mark.parametrize(
    ("kinds", "stage"),
    [
        pytest.param([], None, id="nothing"),
        pytest.param([MisfitKind.ANSWER, MisfitKind.WRONG_VALUE], Stage.ARGUMENTS, id="arguments-before-answer"),
        pytest.param([MisfitKind.WRONG_VALUE, MisfitKind.NO_CALL], Stage.SELECTION, id="selection-before-arguments"),
        pytest.param([MisfitKind.ANSWER, MisfitKind.FAILED_CALL], Stage.EXECUTION, id="execution-before-answer"),
        pytest.param([MisfitKind.ANSWER], Stage.USE, id="answer-alone"),
    ],
)
def test_the_earliest_stage_is_the_one_that_failed(kinds, stage):
    assert stage_of([Misfit(kind, "", "") for kind in kinds]) is stage


@pytest.mark.parametrize("kinds", [[MisfitKind.WRONG_VALUE] * 500, [MisfitKind.INVALID_ARGUMENTS] * 50], ids=["values", "invalid"])
def test_no_number_of_wrong_arguments_weighs_as_much_as_a_wrong_tool(kinds):
    wrong = weight([Misfit(kind, "", "") for kind in kinds])
    assert wrong < min(weight([Misfit(kind, "", "")]) for kind, stage in STAGES.items() if stage is Stage.SELECTION)


def test_arguments_stay_the_text_that_the_model_sent():
    assert read(TrialAnswer(calls=(TrialCall("search", ' {"a":1} '),)))[0].arguments == ' {"a":1} '
