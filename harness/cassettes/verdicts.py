"""What a recording has to say when its run is over: followed, out of date, left over, untouched."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any, Final

from harness.cassettes.differ import Miss
from harness.cassettes.exchange import EVALUATIONS, Cassette
from harness.types.codes import Outcome
from harness.types.jsontext import parse_json
from harness.types.reasons import Usage
from harness.types.records import Finding, Verdict
from harness.types.verdict_names import OUT_OF_DATE
from harness.wire.completions import usage_in

CHECK: Final = "recording"
LEFT_OVER: Final = "recording-left-over"
UNTOUCHED: Final = "recording-untouched"


def how_to_record(cassette: Cassette) -> str:
    """The command that makes the recording again, and what it cost the last time."""
    recorded = cassette.about.info.scenario if cassette.about is not None else ""
    command = "harness record"
    if recorded.startswith(EVALUATIONS):
        command = "harness evaluate FILE --record --out NEW-FOLDER"
    elif recorded:
        command += " -k " + shlex.quote(recorded)
    n = len(cassette.exchanges)
    cost = f"{n} request{'s' if n != 1 else ''}"
    usage = recorded_usage(cassette)
    if usage is not None:
        cost += f", {usage.input_tokens} input and {usage.output_tokens} output tokens"
    return f"{command} ({cost} when it was recorded)"


def recorded_usage(cassette: Cassette) -> Usage | None:
    """Tokens and cost that the recorded responses state, added up; None where none states any.

    The cost is None where none is stated.
    """
    found = [usage for exchange in cassette.exchanges if (usage := _usage(exchange.response.body)) is not None]
    if not found:
        return None
    costs = [usage.cost_micro_usd for usage in found if usage.cost_micro_usd is not None]
    return Usage(
        input_tokens=sum(usage.input_tokens or 0 for usage in found),
        output_tokens=sum(usage.output_tokens or 0 for usage in found),
        cost_micro_usd=sum(costs) if costs else None,
    )


def _usage(body: bytes) -> Usage | None:
    """What one response used: of a stream the last count, of either dialect."""
    text = body.decode("utf-8", "replace")
    frames = [line[5:] for line in text.split("\n") if line.startswith("data:")] or [text]
    for frame in reversed(frames):
        value = parse_json(frame)
        if isinstance(value, dict):
            inner = value.get("response")
            usage = value.get("usage") or (inner.get("usage") if isinstance(inner, dict) else None)
            if isinstance(usage, dict):
                return usage_in({**_in_chat_words(usage), **usage})
    return None


def _in_chat_words(usage: dict[str, Any]) -> dict[str, Any]:
    return {"prompt_tokens": usage.get("input_tokens"), "completion_tokens": usage.get("output_tokens")}


def out_of_date(source: str, cassette: Cassette, misses: Sequence[tuple[Miss, str]], n_followed: int) -> Verdict:
    """FAIL: the run asked what was not recorded. ``why`` names what changed at the first miss, for grouping."""
    change = misses[0][0].change
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
        why=f"recording out of date: {change}",
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


def followed(cassette: Cassette, ignored: Sequence[str], *, n_unused: int = 0) -> Verdict:
    """PASS: each recording was asked for once, but for ``n_unused`` that may be left over.

    ``ignored`` tells what differed where that is declared.
    """
    n = len(cassette.exchanges) - n_unused
    why = f"{n} recorded request{'s' if n != 1 else ''} followed"
    if n_unused:
        why += f"; {n_unused} left over, as allowed"
    if ignored:
        why += "; ignored as declared: " + "; ".join(ignored)
    return Verdict(CHECK, Outcome.PASS, why=why)
