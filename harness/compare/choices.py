"""How often the base chose as the candidate did: what its trials answered to the very same input."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final

from harness.compare.bodies import view_of
from harness.compare.essence import essence
from harness.compare.setup import setup_of
from harness.folds import committed_view
from harness.types.events import Header, Trajectory, Volatile
from harness.types.messages import RunId
from harness.types.records import Divergence, Share

_IDENTITY: Final[dict[str, Any]] = {
    "version": "",
    "run_id": RunId(""),
    "arm": "",
    "trial": 0,
    "volatile": Volatile(),
}
Answer = tuple[str, str]
"""What was called, and all that was said, as digests."""


class Choices:
    """Every answer of some trials by what came before it; each trial is read once and dropped."""

    def __init__(self, trials: Iterable[Trajectory]) -> None:
        self._answers: dict[str, list[Answer]] = {}
        for trial in trials:
            for _, before, answer in _answers(trial):
                self._answers.setdefault(before, []).append(answer)

    def share(self, base: Trajectory, candidate: Trajectory, effect: Divergence) -> Share | None:
        """Of the trials that came to the same input, how many chose as the candidate did.

        Calls alone count where they differ from the base's (or the base gave no answer), else the whole answer.
        None where no answer of the candidate is at that place, or no trial came to that input.
        """
        chosen = next((one for one in _answers(candidate) if one[0] == effect.candidate_seq), None)
        if chosen is None:
            return None
        _, before, answer = chosen
        seen = self._answers.get(before, [])
        was = next((one[2] for one in _answers(base) if one[0] == effect.base_seq), None)
        calls_tell = was[0] != answer[0] if was is not None else answer[0] != _NO_CALLS
        by = 0 if calls_tell else 1
        return Share(sum(one[by] == answer[by] for one in seen), len(seen)) if seen else None


def _answers(trajectory: Trajectory) -> Iterator[tuple[int, str, Answer]]:
    """Number of the event, digest of all before it, and the answer, for each answer of a run."""
    before = hashlib.blake2b(digest_size=16)
    for viewed in committed_view(trajectory):
        content = essence(viewed)
        if viewed.kind == "assistant/message":
            yield viewed.seq, before.hexdigest(), (_digest(content["tool_calls"]), _digest(content))
        before.update(_text([viewed.kind, viewed.agent, viewed.turn, viewed.step, content]))


def _digest(value: Any) -> str:
    return hashlib.blake2b(_text(value), digest_size=16).hexdigest()


def _text(value: Any) -> bytes:
    return json.dumps(_one_spelling(value), sort_keys=True).encode("utf-8", "surrogatepass")


def _one_spelling(value: Any) -> Any:
    """The value with whole numbers spelled as such: 1.0 is 1 (INVARIANTS 18), so it must not give another digest."""
    if isinstance(value, dict):
        return {key: _one_spelling(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_one_spelling(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


_NO_CALLS: Final = _digest([])


@lru_cache(maxsize=64)
def _setup(header: Header) -> bytes:
    """What of a header is compared; the runs of a folder share it, but for their names."""
    return _text(setup_of(header))


def digest_of(trajectory: Trajectory) -> bytes:
    """A digest of all that is compared: runs that have the same one have no difference.

    The other way round it says less: runs with other digests may still be the same (1 and 1.0, say).
    """
    header = trajectory.header
    whole = hashlib.blake2b(_setup(replace(header, scenario=None, **_IDENTITY)), digest_size=16)
    whole.update(repr(header.scenario).encode("utf-8", "surrogatepass"))
    for viewed in view_of(trajectory):
        whole.update(repr(viewed.key).encode("utf-8", "surrogatepass"))
    return whole.digest()


def behaviour_of(trajectory: Trajectory) -> bytes:
    """A digest of what a run did: runs that have the same one differ in bookkeeping and setup at most."""
    whole = hashlib.blake2b(digest_size=16)
    for viewed in view_of(trajectory):
        whole.update(repr(viewed.key[:-1]).encode("utf-8", "surrogatepass"))
        whole.update(_text(essence(viewed)))
    return whole.digest()
