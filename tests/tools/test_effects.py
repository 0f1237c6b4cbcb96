"""The ledger of effects: whole lines whatever dies, and nothing kept beside the file."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path

import pytest

from harness.errors import InvalidValueError
from harness.testing import EffectLedger
from harness.types.effects import Effect
from harness.types.messages import JsonText


@pytest.mark.skipif(not hasattr(os, "fork"), reason="kill -9 needs a system with fork")
@pytest.mark.conformance("140")
def test_what_took_effect_is_there_after_the_process_was_killed(tmp_path: Path) -> None:
    ledger = EffectLedger(tmp_path / "effects.jsonl")
    pid = os.fork()
    if pid == 0:
        ledger.add("refund", {"order": 7})
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(pid, 0)
    assert ledger.entries == (Effect("refund", JsonText('{"order":7}')),)


def test_in_a_folder_it_is_the_file_that_a_run_with_that_workspace_looks_into(tmp_path: Path) -> None:
    EffectLedger(tmp_path).add("refund")
    assert EffectLedger(tmp_path / "effects.jsonl").count("refund") == 1


def test_without_a_file_nothing_took_effect_and_looking_makes_none(tmp_path: Path) -> None:
    ledger = EffectLedger(tmp_path / "later" / "effects.jsonl")
    assert (ledger.entries, ledger.size, ledger.count()) == ((), 0, 0)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("length", range(1, len(b'{"arguments":{"order":8},"tool":"refund"}')))
def test_a_line_that_a_death_cut_off_stays_a_line_of_its_own(tmp_path: Path, length: int) -> None:
    ledger = EffectLedger(tmp_path)
    ledger.add("refund", {"order": 7})
    whole = ledger.path.read_bytes()
    ledger.path.write_bytes(whole + whole[:length])
    ledger.add("refund", {"order": 9})
    effects = ledger.read()
    assert ([one.arguments for one in effects.entries], effects.unreadable) == (['{"order":7}', '{"order":9}'], 1)


@pytest.mark.parametrize(
    "line",
    [b"[]", b"{}", b'{"tool":1,"arguments":{}}', b'{"tool":"x","arguments":[]}', b'{"tool":"x","arguments":{},"call":1}', b"\xff"],
)
def test_a_line_that_says_nothing_of_an_effect_is_counted_as_unreadable(tmp_path: Path, line: bytes) -> None:
    ledger = EffectLedger(tmp_path)
    ledger.path.write_bytes(line + b"\n")
    assert (ledger.entries, ledger.read().unreadable) == ((), 1)


def test_writers_at_once_leave_whole_lines(tmp_path: Path) -> None:
    ledger = EffectLedger(tmp_path)

    def write(number: int) -> None:
        for n in range(50):
            ledger.add(f"tool {number}", {"n": n, "text": "模型 \u2028 " * 20})

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ledger.read().unreadable == 0
    assert [ledger.count(f"tool {number}") for number in range(4)] == [50] * 4


def test_effects_are_counted_by_arguments_that_they_include(tmp_path: Path) -> None:
    ledger = EffectLedger(tmp_path)
    ledger.add("refund", {"order": 7, "total": 1})
    ledger.add("refund", {"order": 7.0, "total": 2})
    ledger.add("send", {"order": 7})
    assert ledger.count("refund", order=7) == 2
    assert ledger.count("refund", order=7, total=2) == 1
    assert ledger.count(order=7) == 3
    assert ledger.count("refund", order=True) == 0


def test_what_is_no_json_is_refused_and_leaves_no_line(tmp_path: Path) -> None:
    ledger = EffectLedger(tmp_path)
    with pytest.raises(InvalidValueError, match="not lossless JSON"):
        ledger.add("refund", {"order": float("nan")})
    assert ledger.size == 0
