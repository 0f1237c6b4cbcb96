"""The recordings that we ship: real, whole, followed by their scenarios, and free of secrets and host details."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import vcr

from harness.cassettes import Cassette, cassette_path, read_cassette
from harness.cassettes.bodies import show_path
from harness.cassettes.differ import explain
from harness.cassettes.index import Index, asked
from harness.cassettes.kinds import Dialect, kind_of
from harness.cassettes.sorting import is_streamed, read_answer
from harness.redaction import find_secrets, host_details_in
from harness.runner import ModelSource, RunOptions, execute, plan
from harness.scenarios import collect
from harness.types.codes import Outcome
from harness.types.doors import Answer
from tests.cassettes.lab import all_mutations
from tests.conftest import REPO

CASSETTES = REPO / "cassettes"
SCENARIOS = {one.id: one for one in collect([REPO / "scenarios" / "recorded"])}
IDS = sorted(SCENARIOS)
GREEN = (Outcome.PASS, Outcome.NOT_APPLICABLE)


def path_of(identity: str) -> Path:
    return cassette_path(CASSETTES, identity, "local-model")


def answers(cassette: Cassette) -> list[Answer]:
    """The answers of a recording, of either dialect, whole or streamed."""
    kinds = ((one, kind_of(one.request)) for one in cassette.exchanges)
    return [
        read_answer(kind, one.response.body, stream=is_streamed(one))[0]
        for one, kind in kinds
        if isinstance(kind, Dialect)
    ]


def test_every_recorded_scenario_has_its_cassette_and_every_cassette_its_scenario() -> None:
    assert len(IDS) >= 10
    assert sorted(path_of(identity) for identity in IDS) == sorted((CASSETTES / "recorded").rglob("*.yaml"))
    assert {read_cassette(path_of(one)).about.info.scenario for one in IDS} == set(IDS)  # type: ignore[union-attr]


def test_among_them_are_calls_two_at_once_errors_of_the_model_and_runs_without_a_call() -> None:
    n_calls = {
        one: [len(answer.calls) for answer in answers(read_cassette(path_of(one)))] for one in IDS
    }
    assert sum(any(counts) for counts in n_calls.values()) >= 8
    assert any(2 in counts for counts in n_calls.values())
    assert any(not any(counts) for counts in n_calls.values())
    assert any("model-errs" in SCENARIOS[one].tags for one in IDS)


@pytest.mark.parametrize("identity", IDS)
def test_a_shipped_recording_is_followed_to_its_end_without_a_network(
    identity: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("a socket was opened in replay")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    options = RunOptions(source=ModelSource.CASSETTE, cassettes=CASSETTES)
    result = execute(plan([SCENARIOS[identity]], options)[0])
    assert [verdict for verdict in result.verdicts if verdict.outcome not in GREEN] == []
    recording = [verdict for verdict in result.verdicts if verdict.check == "recording"]
    assert [verdict.outcome for verdict in recording] == [Outcome.PASS]


@pytest.mark.parametrize("identity", IDS)
def test_a_shipped_recording_says_who_answered(identity: str) -> None:
    about = read_cassette(path_of(identity)).about
    assert about is not None
    # Streamed Responses were recorded before their events were looked into for the name.
    assert about.model == "local-model"
    assert about.server == "llama.cpp"


@pytest.mark.parametrize("identity", IDS)
def test_any_change_of_a_shipped_request_is_a_miss_that_names_the_path(identity: str) -> None:
    # INVARIANTS 21, over real requests
    cassette = read_cassette(path_of(identity))
    index = Index(cassette, ())
    uri = cassette.exchanges[0].request.uri
    n_tried = 0
    for number, path, body in all_mutations(tuple(json.loads(one.request.body) for one in cassette.exchanges)):
        request = asked("POST", uri, json.dumps(body).encode(), ())
        assert not index.was_recorded(request), f"{path} of request {number} may change unseen"
        miss = explain(request, 1, index)
        assert any(show_path(one.path).startswith(path) for one in miss.differences), path
        n_tried += 1
    assert n_tried > 30  # a request of one message has so many places


def texts(identity: str) -> Iterator[str]:
    """The file as it is, and every body in it."""
    yield path_of(identity).read_bytes().decode("ascii")
    for one in read_cassette(path_of(identity)).exchanges:
        yield one.request.body.decode()
        yield one.response.body.decode()


@pytest.mark.parametrize("identity", IDS)
def test_a_shipped_recording_holds_no_secret_and_no_detail_of_a_host(identity: str) -> None:
    for text in texts(identity):
        assert find_secrets(text.encode(), ()) == ()
        assert host_details_in(text) == ()
        for word in ("authorization", "bearer", "set-cookie", "org-", "x-stainless", "user-agent", "127.0.0.1"):
            assert word not in text.lower()


@pytest.mark.parametrize("identity", IDS)
def test_stock_vcrpy_reads_a_shipped_recording(identity: str) -> None:
    ours = read_cassette(path_of(identity))
    with vcr.VCR(record_mode="none").use_cassette(str(path_of(identity))) as tape:
        assert [request.body for request in tape.requests] == [one.request.body for one in ours.exchanges]
        assert [said["body"]["string"] for said in tape.responses] == [one.response.body for one in ours.exchanges]
