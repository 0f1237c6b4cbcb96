"""A sample of `make mutate-requests`, and that the program itself tells a blind key."""

from __future__ import annotations

import json
from typing import Any

import pytest

from harness.cassettes import Cassette, read_cassette
from tests.cassettes.lab import CALL, cassette, two_steps
from tests.conftest import REPO
from tests.laws import mutate_requests as law


def tried(*cassettes: tuple[str, Cassette], every: int = 1) -> law.Told:
    told = law.Told()
    for name, one in cassettes:
        law.tries(one, name, told, every)
        law.spelt_otherwise(one, name, told)
        law.all_at_once(one, name, told)
    return told


@pytest.mark.public_case("PB-033")
def test_every_change_of_a_short_run_is_a_miss_that_names_the_place() -> None:
    # INVARIANTS 21
    told = tried(("two steps", cassette(*two_steps())))
    assert told.wrong == []
    assert told.counts["misses"] > 200


def test_a_sample_of_the_shipped_recordings_holds_too() -> None:
    told = tried(*law.shipped("recorded"), every=11)
    assert told.wrong == []
    assert told.counts["misses"] > 500


def test_a_sample_of_the_recordings_of_an_evaluation_holds_too() -> None:
    told = tried(next(law.shipped("evaluations")), every=500)
    assert told.wrong == []
    assert told.counts["misses"] > 10


def test_a_sample_of_other_peoples_recordings_holds_too(shared: Any) -> None:
    told = tried(*law.imported(), every=200)
    assert told.wrong == []
    assert told.counts["misses"] > 100


@pytest.mark.public_case("PB-035")
def test_a_broken_cassette_ends_with_exit_code_4_however_it_is_broken() -> None:
    told = law.Told()
    law.broken(told, [REPO / "scenarios/recorded/weather_oslo.yaml"])
    assert told.wrong == []
    assert told.counts["broken cassettes"] == len(law.BREAKS)


def responses() -> Cassette:
    call = {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "get_weather", "arguments": "{}"}
    output = {"type": "function_call_output", "call_id": "c1", "output": "4"}
    return cassette({"model": "m", "input": [{"role": "user", "content": "hi"}, call, output]})


def test_the_law_holds_for_requests_of_the_other_dialect() -> None:
    told = tried(("responses", responses()))
    assert told.wrong == []


BLIND = {
    "a-field-left-out": ("temperature",),
    "what-a-tool-said": ("messages[*].content",),
}


@pytest.mark.parametrize("ignore", BLIND.values(), ids=BLIND)
def test_the_law_accuses_a_key_that_does_not_see_a_field(monkeypatch: pytest.MonkeyPatch, ignore: tuple[str, ...]) -> None:
    seen = law.asked
    monkeypatch.setattr(law, "asked", lambda *parts: seen(*parts[:3], ignore))
    monkeypatch.setattr(law, "Index", lambda one, _: law_index(one, ignore))
    told = law.Told()
    law.tries(cassette(*two_steps()), "blind", told)
    assert told.wrong


law_index = law.Index


# ---------------------------------------------------------------- ids of calls


def turns(*messages: dict[str, Any]) -> dict[str, Any]:
    return {"model": "m", "messages": [{"role": "user", "content": "hi"}, *messages]}


def call(*ids: str | None) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": [{**CALL, "id": one} for one in ids]}


def result(identity: str | None, content: str = "4") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": identity, "content": content}


SAME = {
    "other-ids": (turns(call("a"), result("a")), turns(call("b"), result("b"))),
    "two-at-once": (turns(call("a", "b"), result("a"), result("b")), turns(call("x", "y"), result("x"), result("y"))),
    "an-id-used-again": (
        turns(call("a"), result("a"), call("a"), result("a")),
        turns(call("a"), result("a"), call("b"), result("b")),
    ),
    "an-open-call": (turns(call("a")), turns(call("b"))),
    "empty-ids": (turns(call(""), result("")), turns(call("made-up"), result("made-up"))),
}
OTHER = {
    "results-changed-places": (
        turns(call("a", "b"), result("a"), result("b")), turns(call("a", "b"), result("b"), result("a")),
    ),
    "a-result-of-no-call": (turns(call("a"), result("a")), turns(call("a"), result("z"))),
    "two-orphans": (turns(result("a")), turns(result("b"))),
    "no-id-at-all": (turns(call("a"), result("a")), turns(call(None), result(None))),
    "another-result": (turns(call("a"), result("a", "4")), turns(call("a"), result("a", "5"))),
    "calls-under-one-id": (
        turns(call("a", "a"), result("a", "x"), result("a", "y")), turns(call("a", "b"), result("b", "x"), result("a", "y")),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("one", "other"), SAME.values(), ids=SAME)
def test_ids_count_by_the_call_that_they_name(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert law.same_request(one, other)
    assert key(one) == key(other)


@pytest.mark.parametrize(("one", "other"), OTHER.values(), ids=OTHER)
def test_ids_that_name_another_call_are_another_request(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert not law.same_request(one, other)
    assert key(one) != key(other)


def key(body: Any) -> Any:
    return law.asked("POST", "http://x.test/v1/chat/completions", json.dumps(body).encode(), ()).key


@pytest.mark.parametrize(
    ("one", "other"), [(b'{"a":"\\ud800"}', b'{"a":"\\ud801"}'), (b'{"a":"\\ud800"}', b'{"a":"\\ufffd"}')]
)
def test_texts_that_cannot_be_encoded_do_not_become_one(one: bytes, other: bytes) -> None:
    assert law.asked("POST", "http://x.test/", one, ()).key != law.asked("POST", "http://x.test/", other, ()).key


def test_ids_that_differ_in_spelling_alone_are_not_named_in_a_miss() -> None:
    recorded = turns(call("a"), result("a", "4"))
    request = law.asked("POST", "http://nowhere.invalid/v1/chat/completions", json.dumps(turns(call("b"), result("b", "5"))).encode(), ())
    text = str(law.explain(request, 1, law.Index(cassette(recorded), ())))
    assert "messages[2].content" in text
    assert "tool_call_id" not in text


def test_stock_recordings_of_ours_are_read_by_the_law() -> None:
    names = dict(law.shipped())
    assert len(names) >= 18
    assert names == {name: read_cassette(REPO / name) for name in names}
