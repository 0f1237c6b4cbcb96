"""INVARIANTS 6 as a program: every streamed body cut at every byte (`make cut-streams`).

usage: cut_streams.py [SAMPLE]

A connection may end anywhere. Up to the finish reason no cut may give an answer that counts: none that completes a
turn, none whose calls would be run; and nothing but an error of ours may come out. Bodies are those of the recordings
of this repository, of the real data beside it, and of every scripted answer in both dialects. SAMPLE takes every
n-th body only. Exit code 1 names each violation, 2 says that there was nothing to cut.

Cuts of one body share their beginnings, so a body is read once, byte by byte, and what a cut there would give is
asked whenever anything changed; a test compares that with reading each beginning anew.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

REPO = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(REPO))

from harness.errors import ModelError  # noqa: E402
from harness.folds import CallIds, committed  # noqa: E402
from harness.loop.answers import closing_reason  # noqa: E402
from harness.models.rules import normalised  # noqa: E402
from harness.models.strict import damage_of  # noqa: E402
from harness.types.model_spec import ModelApi  # noqa: E402
from harness.types.reasons import FinalAnswer  # noqa: E402
from harness.wire.responses import ResponsesStream  # noqa: E402
from harness.wire.streams import AnswerStream, ChatStream  # noqa: E402
from tests.laws.streamed_bodies import Body, finish_at, recorded_bodies, scripted_bodies  # noqa: E402

COMPLETED, TOOLS, INCOMPLETE, REFUSED, FOREIGN = "completed", "tools run", "incomplete", "refused", "foreign exception"
COUNTS = (COMPLETED, TOOLS)
Reader = Callable[[ModelApi], AnswerStream]


def reader_of(api: ModelApi) -> AnswerStream:
    """The reader that the adapter uses."""
    return ResponsesStream() if api is ModelApi.RESPONSES else ChatStream()


def outcome_of(reader: AnswerStream, body: Body) -> str:
    """What the loop would make of a connection that ended now."""
    answer = normalised(reader.answer(), body.profile, {}, is_whole=reader.is_over)
    if damage_of(answer) is not None:
        return REFUSED
    reason = closing_reason(committed(answer, CallIds(), turn=1, step=1, attempt=1))
    if reason is None:
        return TOOLS
    return COMPLETED if isinstance(reason, FinalAnswer) else INCOMPLETE


def outcomes(body: Body, make: Reader = reader_of) -> Iterator[str]:
    """What each cut gives: behind no byte, behind the first, ..., behind all of them."""
    reader, ended = make(body.api), ""
    now = _guarded(lambda: outcome_of(reader, body))
    yield now
    for at in range(len(body.data)):
        if not ended:
            was_over, changed = reader.is_over, False
            try:
                for _ in reader.feed(body.data[at : at + 1]):
                    changed = True
            except ModelError:
                ended = REFUSED
            except Exception as error:
                ended = f"{FOREIGN} {type(error).__name__}"
            if not ended and (changed or reader.is_over != was_over):
                now = _guarded(lambda: outcome_of(reader, body))
        yield ended or now


def from_the_beginning(body: Body, cut: int, make: Reader = reader_of) -> str:
    """What one cut gives, read anew and in one piece."""
    reader = make(body.api)

    def read() -> str:
        for _ in reader.feed(body.data[:cut]):
            pass
        return outcome_of(reader, body)

    return _guarded(read)


def _guarded(ask: Callable[[], str]) -> str:
    try:
        return ask()
    except ModelError:
        return REFUSED
    except Exception as error:
        return f"{FOREIGN} {type(error).__name__}"


@dataclass(slots=True)
class Totals:
    """What all cuts came to."""

    n_bodies: Counter[str] = field(default_factory=Counter)
    n_cuts: Counter[str] = field(default_factory=Counter)
    whole: Counter[str] = field(default_factory=Counter)
    violations: list[str] = field(default_factory=list)


def judge(bodies: Iterator[Body] | list[Body], make: Reader = reader_of) -> Totals:
    """Cut every body at every byte."""
    totals = Totals()
    for body in bodies:
        totals.n_bodies[body.api.value] += 1
        limit, found = finish_at(body), ""
        for cut, found in enumerate(outcomes(body, make)):
            early = cut < limit
            totals.n_cuts[("before the finish reason: " if early else "from it on: ") + found] += 1
            if found.startswith(FOREIGN) or (early and found in COUNTS):
                totals.violations.append(f"{body.name}, cut behind byte {cut} of {len(body.data)} (finish reason at {limit}): {found}")
                break
        totals.whole[found] += 1
    return totals


def all_bodies() -> Iterator[Body]:
    """Those of the repository, and of the real data beside it where it is there."""
    yield from recorded_bodies(REPO / "cassettes")
    shared = REPO.parent / "shared" / "data" / "cassettes"
    if shared.is_dir():
        yield from recorded_bodies(shared)
    yield from scripted_bodies([REPO / "scenarios"])


def main() -> int:
    every = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    totals = judge([body for number, body in enumerate(all_bodies()) if number % every == 0])
    n_cuts = totals.n_cuts.total()
    for what, number in (*sorted(totals.n_cuts.items()), *((f"whole bodies: {k}", n) for k, n in sorted(totals.whole.items()))):
        print(f"{number:>9,}  {what}")
    for line in totals.violations:
        print(f"VIOLATION {line}")
    if not n_cuts:
        print("nothing to cut", file=sys.stderr)
        return 2
    bodies = ", ".join(f"{number} {api}" for api, number in sorted(totals.n_bodies.items()))
    print(f"{'FAIL' if totals.violations else 'PASS'}: {n_cuts:,} cuts of {totals.n_bodies.total()} bodies ({bodies}), {len(totals.violations)} violations")
    return 1 if totals.violations else 0


if __name__ == "__main__":
    sys.exit(main())
