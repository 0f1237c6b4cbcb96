"""Probes: tools that misbehave on purpose do so, by name in scenarios and by hand in tests."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from harness.tools import EffectLedger
from harness.tools.meeting import Gates, gated, rendezvous, turning
from harness.tools.probes import Outbox, counting, huge, non_serialisable
from harness.types.codes import Code, Mode
from harness.types.messages import JsonText
from tests.tools.lab import Lab, built, in_lab, reply_of, ticks


@pytest.mark.conformance("42")
@pytest.mark.parametrize(("at_once", "code"), [(True, None), (False, Code.TOOL_FAILED)])
def test_a_rendezvous_succeeds_only_when_bodies_overlap(at_once: bool, code: Code | None) -> None:
    async def main(lab: Lab) -> Any:
        calls = [lab.call("probe_rendezvous", call_id=f"c{n}") for n in range(3)]
        if at_once:
            return {reply.code for reply in await asyncio.gather(*calls)}
        return {(await call).code for call in calls}

    assert in_lab([rendezvous(3)], main) == {code}


@pytest.mark.conformance("47")
@pytest.mark.parametrize("waits", [True, False])
def test_a_turning_probe_tells_whether_its_mode_was_read_again(waits: bool) -> None:
    tool = turning()

    async def main(lab: Lab) -> Any:
        first = asyncio.create_task(lab.call("probe_turning", '{"label":"first","ms":10}'))
        second = asyncio.create_task(lab.call("probe_turning", '{"label":"second","ms":100}'))
        await first
        assert lab.door.mode_of("probe_turning", '{"label":"third"}') is Mode.EXCLUSIVE
        if waits:
            await second
        return (await lab.call("probe_turning", '{"label":"third"}')).content, (await second).content

    third = "third began alone" if waits else "third began beside 1"
    assert in_lab([tool], main) == (third, "second began beside 1")


def test_gates_decide_the_order_of_completion() -> None:
    gates = Gates()

    async def main(lab: Lab) -> Any:
        tasks = [asyncio.create_task(lab.call("probe_gated", json.dumps({"label": label}))) for label in "abc"]
        for label in "cab":
            await ticks()
            gates.open(label)
        await asyncio.gather(*tasks)
        return [start for start, _, _ in lab.ends()]

    assert in_lab([gated(gates)], main) == [2, 0, 1]


def test_the_outbox_counts_what_really_ran() -> None:
    outbox = Outbox()

    async def main(lab: Lab) -> Any:
        await lab.call("probe_counting", '{"label":"a"}')
        await lab.call("probe_counting", '{"label":1}')
        return (await lab.call("probe_counting", '{"label":"b"}')).content

    assert in_lab([counting(outbox)], main) == "2"
    assert outbox.entries == ["a", "b"]


def test_in_a_scenario_the_outbox_is_the_ledger_of_the_workspace(tmp_path: Path) -> None:
    tool = built(tmp_path, "probe_counting")["probe_counting"]
    reply_of(tool, '{"label":"a"}')
    reply_of(tool, '{"label":"b"}')
    ledger = EffectLedger(tmp_path)
    assert [ledger.count("probe_counting", label=label) for label in "abc"] == [1, 1, 0]
    assert ledger.count() == 2


def test_a_huge_result_has_as_many_characters_as_it_says() -> None:
    assert len(str(reply_of(huge(50_000)).content)) == 50_000


def test_what_cannot_be_serialised_is_an_error_result() -> None:
    assert reply_of(non_serialisable()).code is Code.INVALID_TOOL_OUTPUT


@pytest.mark.parametrize(
    ("name", "options", "took_ms", "code"),
    [
        ("probe_slow", {"ms": 50}, 50, None),
        ("probe_slow", {}, 100, None),
        ("probe_stubborn", {"ms": 30}, 30, None),
        ("probe_slow_cleanup", {"ms": 5, "work_ms": 20}, 25, None),
        ("probe_rendezvous", {"within_ms": 40}, 40, Code.TOOL_FAILED),
        ("probe_throwing", {}, 0, Code.TOOL_FAILED),
        ("probe_non_serialisable", {}, 0, Code.INVALID_TOOL_OUTPUT),
        ("probe_huge", {"n_chars": 7}, 0, None),
        ("probe_sync_in_thread", {}, 0, None),
    ],
)
def test_a_scenario_names_a_probe_and_sets_its_numbers(
    name: str, options: dict[str, int], took_ms: int, code: Code | None, tmp_path: Path
) -> None:
    tool = built(tmp_path, name, options=((name, JsonText(json.dumps(options))),))[name]

    async def main(lab: Lab) -> Any:
        return (await lab.call(name)).code, lab.clock.now_ms()

    assert in_lab([tool], main) == (code, took_ms)
