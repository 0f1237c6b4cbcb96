"""No evidence, no pass; who asks gets an answer; a check of one's own is judged like ours."""

import pytest

from harness.checks import CHECKS, INFORMATION, BuiltCheck, checks_table, found, judge
from harness.errors import UnknownNameError
from harness.mutants import originals
from harness.types.codes import Origin, Outcome
from harness.types.lifecycle import RunStart
from harness.types.records import Finding, Verdict
from harness.types.scenario import CallOrder, Expectations, ExpectedCalls
from tests.checks.build import answer, observed_as, trajectory, verdict

ORIGINALS = originals()
DOORS = ("tool/start", "tool/end", "model/request", "run/quiescent", "cancel/delivered")


@pytest.mark.parametrize("kind", DOORS)
@pytest.mark.parametrize("who", [pytest.param(None, id="nobody"), pytest.param(Origin.SUBJECT, id="the-loop-itself")])
def test_what_was_not_seen_at_the_door_gives_no_pass(kind, who):
    judged = observed_as(ORIGINALS["cancelled"], **{kind.replace("/", "_"): who})
    ours = {name: check for name, check in CHECKS.items() if isinstance(check, BuiltCheck) and not check.expectation}
    needing = [name for name, check in ours.items() if (kind, Origin.PROBE) in check.needs]
    assert needing
    for name in needing:
        passive, asked = verdict(name, judged), verdict(name, judged, asked=True)
        assert (passive.outcome, asked.outcome) == (Outcome.NOT_APPLICABLE, Outcome.INCONCLUSIVE)
        assert kind in passive.why
        assert kind in asked.why


def test_a_promise_about_cancels_is_not_applicable_without_a_cancel_even_when_asked():
    judged = verdict("cancel_no_tool_start", ORIGINALS["completed"], asked=True)
    assert (judged.outcome, judged.why) == (Outcome.NOT_APPLICABLE, "no cancel was delivered")


def test_expectations_are_judged_where_the_header_asks_and_nowhere_else():
    names = {v.check for v in judge(ORIGINALS["cut"])}
    assert {"expected_end", "answer", "result_codes"} <= names
    assert not {"tool_order", "end_state", "expected_counts"} & names


def test_expectations_are_judged_also_when_other_checks_are_named():
    assert [v.check for v in judge(ORIGINALS["cut"], names=("pairing",))] == [
        "pairing", "expected_end", "result_codes", "answer",
    ]  # fmt: skip


def test_an_expectation_that_is_named_and_not_asked_is_not_applicable():
    assert verdict("end_state", ORIGINALS["cut"], asked=True).outcome is Outcome.NOT_APPLICABLE


@pytest.mark.parametrize(
    ("expect", "check"),
    [
        pytest.param(Expectations(status="completed"), "expected_end", id="no-run-end"),
        pytest.param(Expectations(turns=1), "expected_counts", id="no-turns"),
        pytest.param(Expectations(end_state='{"memory":{}}'), "end_state", id="no-note"),
        pytest.param(Expectations(result_codes=((1, "OK"),)), "result_codes", id="no-results"),
        pytest.param(Expectations(calls=(ExpectedCalls(CallOrder.EXACT, ()),)), "tool_order", id="no-answers"),
    ],
)
def test_what_is_expected_and_cannot_be_seen_is_inconclusive(expect, check):
    rows = (RunStart(),) if check == "tool_order" else (RunStart(), answer("hi"))
    judged = verdict(check, trajectory(*rows, expect=expect))
    assert judged.outcome is Outcome.INCONCLUSIVE
    assert judged.why


def test_an_unknown_name_is_refused_with_the_names_there_are():
    with pytest.raises(UnknownNameError, match=r"no check is named 'paring'; there are .*pairing"):
        judge(ORIGINALS["completed"], names=("paring",))


class OneAnswer:
    """A check of one's own, as anybody would write it."""

    name = "one_answer"
    needs = (("assistant/message", None),)
    rules = ("mine:1",)

    def __call__(self, judged):
        findings = tuple(
            Finding(self.name, "an answer", (e.seq,)) for e in judged if e.fact.TYPE == "assistant/message"
        )
        return Verdict(self.name, Outcome.FAIL if len(findings) != 1 else Outcome.PASS, findings)


@pytest.mark.article("18")
def test_a_check_of_ones_own_is_judged_beside_ours_and_by_its_needs():
    extra = {"one_answer": OneAnswer()}
    assert verdict("one_answer", trajectory(answer("a")), extra=extra).outcome is Outcome.PASS
    assert verdict("one_answer", trajectory(answer("a"), answer("b")), extra=extra).outcome is Outcome.FAIL
    assert verdict("one_answer", trajectory(RunStart()), extra=extra).outcome is Outcome.NOT_APPLICABLE
    assert verdict("one_answer", trajectory(RunStart()), extra=extra, asked=True).outcome is Outcome.INCONCLUSIVE
    assert {v.check for v in judge(trajectory(answer("a")), extra=extra)} > {"one_answer", "pairing"}


def broken(_):
    raise KeyError("oops")


@pytest.mark.parametrize(
    ("body", "words"),
    [
        pytest.param(broken, "raised KeyError: 'oops'", id="raises"),
        pytest.param(lambda _: True, "a bool instead", id="no-verdict"),
    ],
)
def test_a_broken_check_is_an_error_of_its_own_and_hides_no_other(body, words):
    class Broken(OneAnswer):
        name = "broken"

        def __call__(self, judged):
            return body(judged)

    verdicts = judge(ORIGINALS["completed"], extra={"broken": Broken()})
    (mine,) = [v for v in verdicts if v.check == "broken"]
    assert (mine.outcome, words in mine.why) == (Outcome.ERROR, True)
    assert Outcome.PASS in {v.outcome for v in verdicts}


def test_information_is_told_without_failing():
    told = BuiltCheck("told", "", (), (), lambda t: [found("look", t.events[0])], information=True)
    judged = told(trajectory(RunStart()))
    assert (judged.outcome, judged.findings) == (Outcome.PASS, (Finding("told", "look", (0,)),))
    assert {"reused_ids"} == INFORMATION


def test_every_check_has_words_for_the_docs_and_known_numbers():
    table = checks_table()
    for check in CHECKS.values():
        assert f"| `{check.name}` |" in table
        assert all(rule.split(":")[0] in ("conformance", "article") for rule in check.rules)
    assert len(table.splitlines()) == len(CHECKS) + 2


def test_judging_twice_says_the_same():
    for original in ORIGINALS.values():
        assert judge(original) == judge(original)
