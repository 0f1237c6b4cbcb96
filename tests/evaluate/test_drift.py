"""Another build or another day beside the change: neither PASS nor FAIL of the change."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from harness.evaluate.summary import summarise
from harness.report.evaluation_text import first_screen
from harness.types.codes import Outcome
from harness.types.evaluation import Arm, Split
from harness.types.evaluation_summary import EvaluationSummary
from harness.types.model_spec import ModelSpec
from harness.types.trials import AnswerOrigin, Provenance, Trial
from tests.evaluate.made_evaluation import case, evaluation, gate, snapshot, trial

LIVE = Provenance(AnswerOrigin.LIVE, "m-2026", "fp_1", "build 7", "2026-05-01T10:00:00Z")
N = 40


def said(now: list[Provenance], new: list[Provenance], *, letter: str = "t", **arm) -> EvaluationSummary:
    """Forty cases, one trial: the base passes all, the candidate's answers are ``letter``; sources go round."""
    made = evaluation([case(f"c{i:02}") for i in range(N)], [Arm("now"), Arm("new", **arm)], trials=1, gate=gate())

    def given() -> Iterator[Trial]:
        for i in range(N):
            yield trial(f"c{i:02}", "now", 1, "+", by=now[i % len(now)])
            yield trial(f"c{i:02}", "new", 1, letter, by=new[i % len(new)])

    return summarise(made, snapshot(), given())


@pytest.mark.parametrize(
    ("changed", "facet"),
    [
        pytest.param(replace(LIVE, model="m-2027"), "model: now m-2026, new m-2027", id="another-model"),
        pytest.param(replace(LIVE, fingerprint="fp_2"), "fingerprint: now fp_1, new fp_2", id="another-fingerprint"),
        pytest.param(replace(LIVE, fingerprint=None), "fingerprint: now fp_1, new not told", id="no-fingerprint"),
        pytest.param(replace(LIVE, server="build 8"), "server build: now build 7, new build 8", id="another-server"),
        pytest.param(replace(LIVE, at="2026-05-02T00:00:01Z"), "day: now 2026-05-01, new 2026-05-02", id="another-day"),
        pytest.param(
            replace(LIVE, origin=AnswerOrigin.RECORDED), "live or recorded: now live, new recorded", id="live-beside-recorded"
        ),
    ],
)
@pytest.mark.parametrize("letter", ["t", "+"])
def test_what_else_differs_makes_it_change_and_drift(changed: Provenance, facet: str, letter: str) -> None:
    summary = said([LIVE], [changed], letter=letter)
    assert (summary.outcome, summary.verdict) == (Outcome.INCONCLUSIVE, "change + drift")
    assert summary.comparison is not None
    assert summary.comparison.drift == (facet,)


@pytest.mark.parametrize(
    ("now", "new"),
    [
        pytest.param([LIVE], [LIVE], id="one-build-one-day"),
        pytest.param([LIVE], [replace(LIVE, at="2026-05-01T23:59:59Z")], id="later-that-day"),
        pytest.param([LIVE, replace(LIVE, fingerprint="fp_2")], [replace(LIVE, fingerprint="fp_2"), LIVE], id="builds-that-rotate"),
        pytest.param([LIVE] * 9 + [replace(LIVE, fingerprint="fp_2")], [LIVE], id="a-rare-build"),
    ],
)
def test_what_rotates_within_one_session_is_no_drift(now: list[Provenance], new: list[Provenance]) -> None:
    assert said(now, new).outcome is Outcome.FAIL


def test_a_session_whose_arms_were_run_one_after_the_other_drifts() -> None:
    night = replace(LIVE, at="2026-05-02T00:10:00Z")
    assert said([LIVE, LIVE, LIVE, night], [LIVE, night, night, night]).verdict == "change + drift"


def test_another_model_by_choice_is_the_change_itself_but_another_day_is_not() -> None:
    other = replace(LIVE, model="n-1", fingerprint="fp_9")
    assert said([LIVE], [other], model=ModelSpec("n")).outcome is Outcome.FAIL
    later = replace(other, at="2026-06-01T10:00:00Z")
    assert said([LIVE], [later], model=ModelSpec("n")).comparison.drift == ("day: now 2026-05-01, new 2026-06-01",)  # type: ignore[union-attr]


def parted(candidate: Callable[[int, int], Provenance], n_trials: int = 2, **more) -> EvaluationSummary:
    """100 cases of which the last 15 are held out; all trials pass; the base is one build of one day."""
    held = dict.fromkeys(range(85, 100), Split.HELD_OUT)
    made = evaluation([case(f"c{i:02}", split=held.get(i, Split.DEV)) for i in range(100)], trials=n_trials, gate=gate(0.3, **more))

    def given() -> Iterator[Trial]:
        for i in range(100):
            for number in range(1, n_trials + 1):
                yield trial(f"c{i:02}", "now", number, "+", by=LIVE)
                yield trial(f"c{i:02}", "new", number, "+", by=candidate(i, number))

    return summarise(made, snapshot(), given())


LATER = replace(LIVE, server="build 8", at="2026-05-02T00:00:01Z")


def test_drift_is_measured_over_the_split_that_is_compared() -> None:
    held_out_drifts = parted(lambda i, _: LATER if i >= 85 else LIVE, split=Split.HELD_OUT)
    assert held_out_drifts.verdict == "change + drift"
    assert held_out_drifts.comparison.drift == (  # type: ignore[union-attr]
        "server build: now build 7, new build 8", "day: now 2026-05-01, new 2026-05-02",
    )  # fmt: skip
    assert held_out_drifts.provenance is not None
    assert [(line.arm, line.n) for line in held_out_drifts.provenance.answered_by] == [("now", 200), ("new", 170), ("new", 30)]
    assert parted(lambda i, _: LIVE if i >= 85 else LATER, split=Split.HELD_OUT).outcome is Outcome.PASS
    assert parted(lambda i, _: LATER if i >= 85 else LIVE).outcome is Outcome.PASS, "a rare build, of all that is compared"


def test_drift_is_measured_over_the_trials_of_the_look_that_decided() -> None:
    made = evaluation([case(f"c{i:02}") for i in range(N)], trials=4, gate=gate(0.3, looks=4))

    def given(late: tuple[int, ...]) -> Iterator[Trial]:
        for i in range(N):
            for number in (1, 2, 3) if i else (1, 2):  # the third block is not whole
                yield trial(f"c{i:02}", "now", number, "+", by=LIVE)
                yield trial(f"c{i:02}", "new", number, "+", by=LATER if number in late else LIVE)

    behind, within = (summarise(made, snapshot(), given(late)) for late in ((3,), (1,)))
    for each in (behind, within):
        assert each.comparison is not None
        assert each.comparison.look.stopped_early
        assert each.comparison.look.blocks <= 2
    assert (behind.outcome, within.verdict) == (Outcome.PASS, "change + drift")


def test_recorded_answers_are_one_old_sample_and_say_so() -> None:
    recorded = replace(LIVE, origin=AnswerOrigin.RECORDED)
    summary = said([recorded], [recorded])
    assert summary.outcome is Outcome.FAIL, "both arms come from one session: they can be compared"
    assert summary.provenance is not None
    assert summary.provenance.old_sample.startswith("80 of 80 answers come from a recording of 2026-05-01: one old sample")
    live = said([LIVE], [LIVE]).provenance
    assert live is not None
    assert live.old_sample == ""


def test_the_summary_holds_days_and_no_time_of_day() -> None:
    text = said([LIVE], [LIVE]).to_json()
    assert "2026-05-01" in text
    assert "10:00" not in text
    assert [line.n for line in said([LIVE], [LIVE]).provenance.answered_by] == [N, N]  # type: ignore[union-attr]


def test_a_script_has_no_day_whatever_its_trials_say() -> None:
    scripted = Provenance(AnswerOrigin.SCRIPTED, at="2026-05-01T10:00:00Z")
    summary = said([scripted], [replace(scripted, at="2026-05-02T10:00:00Z")])
    assert (summary.outcome, summary.provenance) == (Outcome.FAIL, None)


def test_a_fingerprint_of_its_own_for_every_answer_is_drift_and_the_list_of_sources_ends() -> None:
    summary = said([replace(LIVE, fingerprint=f"a{i}") for i in range(N)], [replace(LIVE, fingerprint=f"b{i}") for i in range(N)])
    assert summary.verdict == "change + drift"
    assert summary.provenance is not None
    assert len(summary.provenance.answered_by) == 2 * 21
    assert summary.provenance.answered_by[20].n == N - 20
    assert "(2%)" in summary.comparison.drift[0]  # type: ignore[union-attr]
    assert summary.comparison.drift[0].endswith("and others")  # type: ignore[union-attr]


def test_who_answered_stands_beside_the_name_that_was_asked_for() -> None:
    assert first_screen(said([LIVE], [LIVE])).splitlines()[0].endswith(", m (answered by m-2026)")
    assert first_screen(said([replace(LIVE, model="m")], [replace(LIVE, model="m")])).splitlines()[0].endswith(", m")
