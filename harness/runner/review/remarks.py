"""What makes a comparison worth less than its verdict looks: a base that could not show how it behaves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from harness.gates import lacks_a_file
from harness.types.codes import Outcome
from harness.types.records import RunSummary

COMMITTED: Final = (
    "The base has only what was committed: files that are untracked or ignored here are not in it, and submodules are empty."
)
_GOOD: Final = (Outcome.PASS, Outcome.NOT_APPLICABLE)


def remarks_on(base: Sequence[RunSummary], *, checked_out: bool) -> tuple[str, ...]:
    """A line for each thing that is to be told of the base's runs.

    ``checked_out``: they ran in a checkout of a commit, where files that are not committed are missing.
    """
    beside = f". {COMMITTED}" if checked_out else ""
    return tuple(f"{line}{beside}" for line in _of_base(base))


def _of_base(base: Sequence[RunSummary]) -> Iterator[str]:
    lacking = [run for run in base if lacks_a_file(run)]
    if lacking:
        n = len(lacking)
        yield f"{n} run{'' if n == 1 else 's'} of the base found no such file or module ({lacking[0].reason})"
    elif base and all(run.outcome not in _GOOD for run in base):
        why = f" ({base[0].reason})" if base[0].reason else ""
        yield f"no run of the base passed{why}: nothing can be worse than that"
