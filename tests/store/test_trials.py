"""A trial that was acknowledged is in the file whole; a torn tail is told and cut away; any other damage names its line."""

from __future__ import annotations

import errno
import os
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import ConfigurationError, RecordingFailed, TrajectoryFormatError
from harness.store import TrialKeys, open_trials, open_trials_reader, read_trials, read_trials_header, trial_line
from harness.types.codes import Code, FinishReason
from harness.types.reasons import Usage
from harness.types.trials import (
    AnswerOrigin,
    Owner,
    Provenance,
    Trial,
    TrialAnswer,
    TrialCall,
    TrialError,
    TrialKey,
    TrialsHeader,
)

HEADER = TrialsHeader("shop", "d" * 64, "t" * 64, "m", ("now", "new"), 3, 2)


def trial(number: int, text: str = "Bye") -> Trial:
    return Trial(f"case-{number}", "now", 1, "r" * 64, answer=TrialAnswer(content=text, finish_reason=FinishReason.STOP))


texts = st.text(st.characters(exclude_categories=("Cs",)), max_size=20)
calls = st.builds(TrialCall, texts, texts, st.none() | texts)
answers = st.builds(TrialAnswer, content=st.none() | texts, calls=st.lists(calls, max_size=3).map(tuple), finish_reason=st.none() | st.sampled_from(FinishReason))
errors = st.builds(TrialError, st.sampled_from(Code), texts, st.sampled_from(Owner))
origins = st.none() | st.builds(Provenance, st.sampled_from(AnswerOrigin), st.none() | texts, at=st.none() | texts)
counts = st.none() | st.integers(0, 10**6)
usages = st.none() | st.builds(Usage, counts, counts)
trials = st.one_of(
    st.builds(Trial, texts, texts, st.integers(1, 9), texts, answer=answers, usage=usages, by=origins),
    st.builds(Trial, texts, texts, st.integers(1, 9), texts, error=errors, usage=usages, n_retries=st.integers(0, 5)),
)


@given(st.lists(trials, max_size=6))
def test_what_was_written_is_read_back(tmp_path_factory: pytest.TempPathFactory, written: list[Trial]) -> None:
    path = tmp_path_factory.mktemp("trials") / "deep" / "trials.jsonl"
    with open_trials(path, HEADER) as writer:
        for one in written:
            writer.append(one)
    assert list(read_trials(path)) == written
    assert read_trials_header(path) == HEADER


def test_the_format_stands_in_the_first_line(tmp_path: Path) -> None:
    path = tmp_path / "trials.jsonl"
    open_trials(path, HEADER).close()
    assert path.read_bytes().startswith(b'{"type":"trials/header","format":"harness-trials/1","evaluation":"shop"')


def whole_file(tmp_path: Path) -> tuple[Path, bytes]:
    path = tmp_path / "trials.jsonl"
    with open_trials(path, HEADER) as writer:
        for number in range(3):
            writer.append(trial(number))
    return path, path.read_bytes()


def test_cut_at_any_byte_what_was_acknowledged_before_is_there_and_can_be_gone_on_with(tmp_path: Path) -> None:
    path, data = whole_file(tmp_path)
    header = data.index(b"\n") + 1
    for size in range(len(data)):
        path.write_bytes(data[:size])
        n_whole = data[:size].count(b"\n")
        torn = size - (data[:size].rfind(b"\n") + 1)
        if size >= header:
            with open_trials_reader(path) as reader:
                assert len(list(reader)) == n_whole - 1
            assert (reader.torn.n_bytes if reader.torn else 0) == torn
        with open_trials(path, HEADER) as writer:
            assert writer.n_cut_bytes == torn
            writer.append(trial(9))
        assert [one.case for one in read_trials(path)] == [*(f"case-{n}" for n in range(max(n_whole - 1, 0))), "case-9"]


@pytest.mark.parametrize(
    ("line", "bad"),
    [
        pytest.param(2, b'{"type":"trial","case":"a"\n', id="torn-in-the-middle"),
        pytest.param(2, b"\n", id="blank"),
        pytest.param(3, b'{"type":"note"}\n', id="another-kind"),
        pytest.param(3, trial_line(replace(trial(1), error=TrialError(Code.SERVER, "", Owner.PROVIDER))), id="answer-and-error"),
        pytest.param(4, b'{"type":"trial","case":"a","arm":"now","trial":1,"request":"r"}\n', id="neither"),
        pytest.param(4, b'{"type":"trial","case":"a","arm":"now","trial":true,"request":"r","answer":{}}\n', id="no-number"),
    ],
)
def test_damage_before_the_tail_names_its_line(line: int, bad: bytes, tmp_path: Path) -> None:
    path, data = whole_file(tmp_path)
    lines = data.splitlines(keepends=True)
    lines[line - 1] = bad
    path.write_bytes(b"".join([*lines, b'{"torn']))
    with pytest.raises(TrajectoryFormatError, match=f"trials.jsonl:{line}:"):
        list(read_trials(path))


@pytest.mark.parametrize(
    ("data", "words"),
    [
        pytest.param(b"", "empty", id="empty"),
        pytest.param(b'{"type":"trials/header"', "not finished", id="torn"),
        pytest.param(b'{"type":"trajectory/header"}\n', "no trials", id="trajectory"),
        pytest.param(b'{"type":"trials/header","format":"harness-trials/9"}\n', "harness-trials/9", id="version"),
    ],
)
def test_a_file_that_holds_no_trials_is_refused(data: bytes, words: str, tmp_path: Path) -> None:
    path = tmp_path / "trials.jsonl"
    path.write_bytes(data)
    with pytest.raises(TrajectoryFormatError, match=words):
        read_trials_header(path)


@pytest.mark.parametrize("field", ["evaluation", "digest", "tools_digest", "model", "shard"])
def test_another_evaluation_never_goes_on_in_the_file(field: str, tmp_path: Path) -> None:
    path, data = whole_file(tmp_path)
    with pytest.raises(ConfigurationError, match=field):
        open_trials(path, replace(HEADER, **{field: "other"}))
    assert path.read_bytes() == data


def test_two_writers_never_share_a_file(tmp_path: Path) -> None:
    path = tmp_path / "trials.jsonl"
    with open_trials(path, HEADER), pytest.raises(RecordingFailed, match="live run"):
        open_trials(path, HEADER)
    open_trials(path, HEADER).close()  # and the lock is gone with the first


@pytest.mark.parametrize("nth", range(1, 5))
def test_a_full_disk_ends_it_and_leaves_what_was_acknowledged(nth: int, tmp_path: Path) -> None:
    path, n_writes = tmp_path / "trials.jsonl", [0]

    def write(descriptor: int, data: bytes) -> int:
        n_writes[0] += 1
        if n_writes[0] == nth:
            os.write(descriptor, data[:7])
            raise OSError(errno.ENOSPC, "No space left on device")
        return os.write(descriptor, data)

    acknowledged: list[str] = []

    def fill() -> None:
        with open_trials(path, HEADER, write=write) as writer:
            for number in range(4):
                writer.append(trial(number))
                acknowledged.append(f"case-{number}")

    with pytest.raises(RecordingFailed, match="No space left"):
        fill()
    with open_trials(path, HEADER):
        pass
    assert [one.case for one in read_trials(path)] == acknowledged


def test_a_short_write_is_gone_on_with(tmp_path: Path) -> None:
    path = tmp_path / "trials.jsonl"
    with open_trials(path, HEADER, write=lambda descriptor, data: os.write(descriptor, data[:5])) as writer:
        writer.append(trial(1))
    assert [one.case for one in read_trials(path)] == ["case-1"]


def test_a_secret_never_gets_into_the_file(tmp_path: Path) -> None:
    path = tmp_path / "trials.jsonl"
    with open_trials(path, HEADER, mask=lambda line: line.replace(b"canary", b"[secret]")) as writer:
        writer.append(trial(1, "the canary"))
    assert b"canary" not in path.read_bytes()


# ---------------------------------------------------------------- keys

keys = st.builds(TrialKey, st.sampled_from(["a", "ab", "b", "1", ""]), st.sampled_from(["now", "new", "1"]), st.integers(1, 30))


@given(st.lists(keys, max_size=80))
def test_keys_are_a_set(added: list[TrialKey]) -> None:
    found = TrialKeys()
    known: set[TrialKey] = set()
    for key in added:
        assert found.add(key) is (key not in known)
        known.add(key)
    assert len(found) == len(known)
    assert all(key in found for key in known)


def test_many_keys_take_few_bytes_and_none_is_taken_for_another() -> None:
    found = TrialKeys(TrialKey(f"case-{number}", "now", 1) for number in range(20_000))
    assert len(found) == 20_000
    assert not any(TrialKey(f"case-{number}", "new", 1) in found for number in range(20_000))
