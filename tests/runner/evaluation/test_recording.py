"""What was asked of a live model can be asked of its recordings, as often as one likes; nothing that was paid is lost."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from vcr.persisters.filesystem import FilesystemPersister
from vcr.serializers import yamlserializer

from harness.cassettes import read_cassette, read_journal
from harness.errors import CassetteError, RecordingFailed
from harness.runner.specs import ModelSource
from harness.types.doors import ModelCall
from harness.types.trials import AnswerOrigin, Trial
from tests.runner.evaluation.lab import (
    NOW,
    Endpoint,
    ListedCases,
    answers,
    case,
    evaluation,
    lines,
    order_of,
    plan,
    request_of,
    run,
    status,
    with_running,
)

RECORD, CASSETTE = ModelSource.RECORD, ModelSource.CASSETTE


def decisions(trials: list[Trial]) -> dict[Any, Any]:
    return {one.key: (one.answer, one.usage, one.request) for one in trials}


def test_the_recordings_give_the_same_decisions_without_a_request(tmp_path: Path) -> None:
    run(plan(tmp_path, source=RECORD))
    live = lines(tmp_path)
    endpoint = Endpoint()
    ran = run(plan(tmp_path, source=CASSETTE, folder=tmp_path / "again"), endpoint)
    replayed = lines(tmp_path, "../again/trials.jsonl")
    assert endpoint.asked == []
    assert (ran.n_now, ran.out_of_date) == (16, [])
    assert decisions(replayed) == decisions(live)
    by = replayed[0].by
    assert by is not None
    assert (by.origin, by.at, by.model, by.server) == (AnswerOrigin.RECORDED, NOW, "m-7", "llama.cpp")


def test_there_is_one_file_for_each_arm_and_trial_with_all_cases_in_their_order(tmp_path: Path) -> None:
    run(plan(tmp_path, source=RECORD))
    folder = tmp_path / "cassettes" / "evaluations" / "shop"
    assert sorted(path.name for path in folder.iterdir()) == ["new.2.yaml", "new.yaml", "now.2.yaml", "now.yaml"]
    cassette = read_cassette(folder / "now.yaml")
    assert [one.label for one in cassette.exchanges] == ["case-0", "case-1", "case-2", "case-3"]
    assert cassette.about is not None
    assert (cassette.about.model, cassette.about.fingerprint, cassette.about.info.recorded_at) == ("m-7", "b1", NOW)


def test_vcrpy_reads_what_was_recorded(tmp_path: Path) -> None:
    run(plan(tmp_path, source=RECORD))
    path = tmp_path / "cassettes" / "evaluations" / "shop" / "now.yaml"
    requests, responses, *_ = FilesystemPersister.load_cassette(path, yamlserializer)
    assert (len(requests), len(responses)) == (4, 4)


def test_a_description_that_changed_is_a_recording_out_of_date_that_names_the_field(tmp_path: Path) -> None:
    run(plan(tmp_path, source=RECORD))
    changed = evaluation()
    arms = (changed.arms[0], replace(changed.arms[1], system="Be brief."))
    made = replace(changed, arms=arms, digest="d" * 64)
    ran = run(plan(tmp_path, made, source=CASSETTE, folder=tmp_path / "again"))
    assert (ran.n_missed, ran.n_now) == (8, 8)
    assert [(arm, trial) for arm, trial, _ in ran.out_of_date] == [("new", 1), ("new", 2)]
    verdict = ran.out_of_date[0][2]
    assert "recording out of date" in verdict.why
    assert "Be brief." in verdict.findings[0].message


def test_two_cases_with_the_same_question_keep_their_own_answers(tmp_path: Path) -> None:
    made = replace(evaluation(1, trials=1), cases=ListedCases([case(1), replace(case(1), id="same")]))

    def numbered(body: dict[str, Any], number: int) -> dict[str, Any]:
        return {**answers(body, number), "system_fingerprint": f"b{number}"}

    run(plan(tmp_path, with_running(made, at_once=1), source=RECORD), Endpoint(numbered))
    run(plan(tmp_path, replace(made, seed=3), source=CASSETTE, folder=tmp_path / "again"))
    live, again = lines(tmp_path), lines(tmp_path, "../again/trials.jsonl")
    assert {one.key: one.by.fingerprint for one in live if one.by} == {one.key: one.by.fingerprint for one in again if one.by}


def test_without_recordings_it_says_how_they_are_made(tmp_path: Path) -> None:
    with pytest.raises(CassetteError, match="--record"):
        plan(tmp_path, source=CASSETTE)


def test_failures_of_the_provider_are_not_recorded(tmp_path: Path) -> None:
    endpoint = Endpoint(lambda body, number: status(500) if number == 1 else answers(body, number))
    run(plan(tmp_path, evaluation(2, arms=("now",), trials=1), source=RECORD), endpoint)
    cassette = read_cassette(tmp_path / "cassettes" / "evaluations" / "shop" / "now.yaml")
    assert [one.response.status for one in cassette.exchanges] == [200, 200]


def test_a_case_that_the_endpoint_refuses_is_refused_by_its_recording_too(tmp_path: Path) -> None:
    endpoint = Endpoint(lambda body, number: status(400, "too odd") if order_of(body) == 1 else answers(body, number))
    run(plan(tmp_path, evaluation(3, arms=("now",), trials=1), source=RECORD), endpoint)
    run(plan(tmp_path, evaluation(3, arms=("now",), trials=1), source=CASSETTE, folder=tmp_path / "again"))
    errors = [[one.error for one in sorted(found, key=lambda one: one.case)] for found in (lines(tmp_path), lines(tmp_path, "../again/trials.jsonl"))]
    assert errors[0] == errors[1]
    assert [one is None for one in errors[0]] == [True, False, True]


def test_recording_again_replaces_what_it_asked_and_keeps_the_rest(tmp_path: Path) -> None:
    made = evaluation(3, arms=("now",), trials=1)
    run(plan(tmp_path, made, source=RECORD))
    two = replace(made, cases=ListedCases(list(made.cases)[:2]), digest="d" * 64)
    later = Endpoint(lambda body, number: {**answers(body, number), "system_fingerprint": "b2"})
    run(plan(tmp_path, two, source=RECORD, folder=tmp_path / "again"), later)
    cassette = read_cassette(tmp_path / "cassettes" / "evaluations" / "shop" / "now.yaml")
    assert ["b2" in one.response.body.decode() for one in cassette.exchanges] == [True, True, False]


def test_recordings_of_an_evaluation_are_in_use_and_never_pruned(tmp_path: Path) -> None:
    from harness.cassettes.library import audit, read_folder, unused

    run(plan(tmp_path, source=RECORD))
    held = read_folder(tmp_path / "cassettes", {})
    assert (unused(held), audit(held, (), ())) == ((), ())


def test_what_is_out_of_date_says_how_an_evaluation_is_recorded_again(tmp_path: Path) -> None:
    run(plan(tmp_path, source=RECORD))
    changed = replace(evaluation(), arms=tuple(replace(arm, system="Other.") for arm in evaluation().arms), digest="d" * 64)
    ran = run(plan(tmp_path, changed, source=CASSETTE, folder=tmp_path / "again"))
    assert any("harness evaluate FILE --record" in finding.message for finding in ran.out_of_date[0][2].findings)


# ---------------------------------------------------------------- a process that dies


class Killed(BaseException):
    """Stands for the death of the process: nothing of ours runs behind it."""


def journal_of(tmp_path: Path) -> Path:
    return tmp_path / "cassettes" / "evaluations" / "shop" / "now.yaml"


def dies_after(n: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Record until ``n`` answers are in the journal; then die without closing anything."""
    made = with_running(evaluation(6, arms=("now",), trials=1), at_once=1)

    def no_end(*_: Any, **__: Any) -> None:
        raise Killed

    def dying(body: dict[str, Any], number: int) -> dict[str, Any]:
        if number > n:
            raise Killed
        return answers(body, number)

    with monkeypatch.context() as patched:
        patched.setattr("harness.runner.evaluation.answerers.JournalKeeper.close", no_end)
        with pytest.raises(BaseException):  # noqa: B017, PT011  # whatever the loop makes of it
            run(plan(tmp_path, made, source=RECORD), Endpoint(dying))


def test_what_was_answered_before_the_process_died_is_in_the_recording_afterwards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dies_after(4, tmp_path, monkeypatch)
    assert len(read_journal(journal_of(tmp_path))) == 4
    assert len(lines(tmp_path)) == 4
    endpoint = Endpoint()
    made = with_running(evaluation(6, arms=("now",), trials=1), at_once=1)
    run(plan(tmp_path, made, source=RECORD), endpoint)
    assert len(endpoint.asked) == 2
    assert len(read_cassette(journal_of(tmp_path)).exchanges) == 6
    assert not journal_of(tmp_path).with_suffix(".yaml.journal").exists()


def test_an_answer_that_was_recorded_and_not_acknowledged_is_not_paid_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dies_after(4, tmp_path, monkeypatch)
    path = tmp_path / "out" / "trials.jsonl"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))  # died between journal and line
    endpoint = Endpoint()
    made = with_running(evaluation(6, arms=("now",), trials=1), at_once=1)
    run(plan(tmp_path, made, source=RECORD), endpoint)
    assert len(endpoint.asked) == 2
    assert len(lines(tmp_path)) == 6


def test_a_torn_journal_loses_only_what_was_never_acknowledged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dies_after(4, tmp_path, monkeypatch)
    journal = journal_of(tmp_path).with_suffix(".yaml.journal")
    journal.write_bytes(journal.read_bytes() + b'{"request":{"meth')
    made = with_running(evaluation(6, arms=("now",), trials=1), at_once=1)
    run(plan(tmp_path, made, source=RECORD))
    assert len(read_cassette(journal_of(tmp_path)).exchanges) == 6


def test_a_journal_is_damaged_where_a_line_before_the_last_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dies_after(4, tmp_path, monkeypatch)
    journal = journal_of(tmp_path).with_suffix(".yaml.journal")
    first, *rest = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(first[:40] + b"\n" + b"".join(rest))
    made = with_running(evaluation(6, arms=("now",), trials=1), at_once=1)
    ran = run(plan(tmp_path, made, source=RECORD))
    assert "line 1" in ran.stopped
    assert ran.exit_code == 4


def test_a_secret_in_an_answer_is_never_recorded(tmp_path: Path) -> None:
    def leaking(body: dict[str, Any], number: int) -> dict[str, Any]:
        found = answers(body, number)
        found["choices"][0]["message"]["content"] = "the key is canary-3141592653"
        return found

    environ = (("OPENAI_API_KEY", "canary-3141592653"),)
    ran = run(plan(tmp_path, evaluation(1), source=RECORD, environ=environ), Endpoint(leaking))
    assert "secret" in ran.stopped
    written = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert b"canary-3141592653" not in written


def test_two_processes_never_record_into_one_file(tmp_path: Path) -> None:
    from harness.cassettes import Journal
    from harness.store import locked

    journal = Journal(journal_of(tmp_path), ())
    with locked(journal.path):
        ran = run(plan(tmp_path, evaluation(1, arms=("now",), trials=1), source=RECORD))
    assert "live run" in ran.stopped
    assert ran.exit_code == RecordingFailed.exit_code


def test_the_request_of_a_trial_is_known_by_its_digest(tmp_path: Path) -> None:
    run(plan(tmp_path, evaluation(2, arms=("now",), trials=2)))
    by_case: dict[str, set[str]] = {}
    for one in lines(tmp_path):
        by_case.setdefault(one.case, set()).add(one.request)
    assert [len(found) for found in by_case.values()] == [1, 1]
    assert len(set.union(*by_case.values())) == 2


def test_a_request_that_cannot_be_made_stops_it(tmp_path: Path) -> None:
    def broken(*_: Any) -> ModelCall:
        from harness.errors import ConfigurationError

        raise ConfigurationError("no such tool")

    assert request_of is not broken
    ran = run(plan(tmp_path, request_of=broken))
    assert (ran.stopped, ran.exit_code, ran.n_now) == ("no such tool", 2, 0)
