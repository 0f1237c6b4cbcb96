"""Would the verdict stand whatever the provider's errors hid? If not, it is no verdict.

A trial that the provider failed for good has no outcome. Leaving such trials out takes them to be like the others,
which nobody knows: a provider may well fail on the long prompts. So the comparison is judged under every extreme: all
of them passed and all of them failed, in either arm. Where these do not agree, the comparison is INVALID.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Extreme(NamedTuple):
    """What the provider's errors are taken to be in each arm: all passed, or all failed."""

    base_passes: bool
    candidate_passes: bool

    def __str__(self) -> str:
        words = {True: "all passed", False: "all failed"}
        return f"base {words[self.base_passes]}, candidate {words[self.candidate_passes]}"


EXTREMES: Final = tuple(Extreme(base, candidate) for base in (True, False) for candidate in (True, False))
