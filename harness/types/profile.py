"""A subject's declared design choices: one enum field for each D number of the catalogue."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from harness.types.messages import OnDisk


class ResultAfterCancel(StrEnum):
    """CONFORMANCE 73: the result of a body that succeeded although a cancel had come."""

    UNDECLARED = "undeclared"
    KEPT = "kept"
    ABORTED = "aborted"


@dataclass(frozen=True, slots=True)
class Profile(OnDisk):
    """What a subject chose where a choice is legitimate. Undeclared fields are left out on disk."""

    result_after_cancel: ResultAfterCancel = ResultAfterCancel.UNDECLARED
