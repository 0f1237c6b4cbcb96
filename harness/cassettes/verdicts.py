"""What a recording has to say when its run is over: followed, out of date, left over, untouched."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import Any, Final

from harness.cassettes.differ import Miss
from harness.cassettes.exchange import Cassette
from harness.types.codes import Outcome
from harness.types.jsontext import Refusal, parse_json
from harness.types.records import Finding, Verdict

CHECK: Final = "recording"
OUT_OF_DATE: Final = "recording-out-of-date"
LEFT_OVER: Final = "recording-left-over"
UNTOUCHED: Final = "recording-untouched"


def how_to_record(cassette: Cassette) -> str:
    """The command that makes the recording again, and what it cost the last time."""
    command = "harness record"
    if cassette.about is not None:
        command += " -k " + shlex.quote(cassette.about.info.scenario)
    n = len(cassette.exchanges)
    cost = f"{n} request{'s' if n != 1 else ''}"
    tokens = recorded_tokens(cassette)
    if tokens is not None:
        cost += f", {tokens[0]} input and {tokens[1]} output tokens"
    return f"{command} ({cost} when it was recorded)"


def recorded_tokens(cassette: Cassette) -> tuple[int, int] | None:
    """Input and output tokens that the recorded responses state, added up; None where none does."""
    usages = [usage for exchange in cassette.exchanges for usage in _usages(exchange.response.body)]
    if not usages:
        return None
    return sum(_count(one, "prompt_tokens") for one in usages), sum(_count(one, "completion_tokens") for one in usages)


def _usages(body: bytes) -> Iterator[dict[str, Any]]:
    text = body.decode("utf-8", "replace")
    frames = [line[5:] for line in text.split("\n") if line.startswith("data:")] or [text]
    for frame in frames:
        value = parse_json(frame)
        usage = value.get("usage") if not isinstance(value, Refusal) and isinstance(value, dict) else None
        if isinstance(usage, dict):
            yield usage


def _count(usage: dict[str, Any], name: str) -> int:
    value = usage.get(name)
    return value if type(value) is int and value > 0 else 0


def out_of_date(source: str, cassette: Cassette, misses: Sequence[tuple[Miss, str]], n_followed: int) -> Verdict:
    """FAIL: the run asked what was not recorded. ``why`` names the cause of the first miss, for grouping."""
    cause = misses[0][0].cause
    findings = [
        Finding(CHECK, f"request {miss.number}, {miss.cause}: {text}", rule=OUT_OF_DATE) for miss, text in misses
    ]
    n = len(cassette.exchanges)
    advice = (
        f"cassette {source!r}: {n_followed} of {n} recorded requests still followed before that. "
        f"If the change is meant, record again: {how_to_record(cassette)}"
    )
    return Verdict(
        CHECK,
        Outcome.FAIL,
        (*findings, Finding(CHECK, advice, rule=OUT_OF_DATE)),
        why=f"recording out of date: {cause}",
    )


def left_over(source: str, cassette: Cassette, unused: Sequence[int]) -> Verdict:
    """FAIL: the run ended and recordings were not asked for."""
    numbers = ", ".join(str(position + 1) for position in unused)
    n = len(unused)
    message = (
        f"{n} recorded request{'s' if n != 1 else ''} unused in cassette {source!r} (number {numbers}): the run "
        f"asked less than was recorded. If that is meant, record again: {how_to_record(cassette)}"
    )
    finding = Finding(CHECK, message, rule=LEFT_OVER)
    return Verdict(CHECK, Outcome.FAIL, (finding,), why=f"{n} unused of {len(cassette.exchanges)}")


def untouched(source: str) -> Verdict:
    """INVALID: the run asked for nothing, so the recording shows nothing."""
    message = f"no request reached cassette {source!r}: nothing of it was checked"
    return Verdict(CHECK, Outcome.INVALID, (Finding(CHECK, message, rule=UNTOUCHED),), why="untouched")


def followed(cassette: Cassette, ignored: Sequence[str]) -> Verdict:
    """PASS: each recording was asked for once. ``ignored`` tells what differed where that is declared."""
    n = len(cassette.exchanges)
    why = f"{n} recorded request{'s' if n != 1 else ''} followed"
    if ignored:
        why += "; ignored as declared: " + "; ".join(ignored)
    return Verdict(CHECK, Outcome.PASS, why=why)
