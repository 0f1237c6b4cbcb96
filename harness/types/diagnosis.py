"""What a look at an installation or an endpoint found, one record a question."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    """How a question came out; UNKNOWN: it could not be asked, or the answer tells nothing."""

    OK = "ok"
    LACKS = "lacks"
    WARNING = "warning"
    FAULT = "fault"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """One finding: the question in a word or two, how it came out, what was seen, and what to do about it.

    LACKS: the endpoint does not do it, and scenarios may not rely on it. FAULT: nothing can work like this.
    """

    name: str
    state: State
    seen: str
    hint: str = ""
