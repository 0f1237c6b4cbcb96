"""Faults of a scripted server, by the number of a request: what goes wrong on the wire, whatever the script says."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from harness.types.script import ScriptFailure


class FaultKind(StrEnum):
    """What a server does in place of answering well. The names are those of the scenario's fields."""

    FAIL = "fail"
    STATUS = "status"
    RESET = "reset"
    CUT_AFTER = "cut_after"
    MALFORMED_AFTER = "malformed_after"
    STALL_AFTER = "stall_after"
    EMPTY = "empty"
    CONTENT_TYPE = "content_type"
    DELAY = "delay_ms"


@dataclass(frozen=True, slots=True)
class WireFault:
    """What happens to the request with that number (from 1; a retry has a number of its own).

    ``fail`` is one of the model codes, ``status`` an HTTP status, with the error body that the real API
    gives; both may ask for a pause (``retry_after_ms``). Only an answer that is made and lost on its way
    takes a reply of the script, and whoever asks the same again gets it. ``after`` counts the events of a
    stream that arrive well before it is cut (one that is shorter is cut before its last), malformed or
    stalls; of a whole answer it says nothing. ``delay_ms`` passes first, with any kind.
    """

    request: int
    kind: FaultKind = FaultKind.DELAY
    fail: ScriptFailure | None = None
    status: int | None = None
    message: str = ""
    retry_after_ms: int | None = None
    after: int = 0
    content_type: str = ""
    delay_ms: int = 0

    @property
    def text(self) -> str:
        """The fault in the words of the scenario: ``status 429``, ``cut_after 3``."""
        match self.kind:
            case FaultKind.FAIL:
                return f"fail {self.fail.code if self.fail else ''}"
            case FaultKind.STATUS:
                return f"status {self.status}"
            case FaultKind.CUT_AFTER | FaultKind.MALFORMED_AFTER | FaultKind.STALL_AFTER:
                return f"{self.kind} {self.after}"
            case FaultKind.CONTENT_TYPE:
                return f"content_type {self.content_type}"
            case FaultKind.DELAY:
                return f"delay_ms {self.delay_ms}"
            case FaultKind.RESET | FaultKind.EMPTY:
                return str(self.kind)
