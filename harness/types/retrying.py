"""Whether and when a failed request is made again, and who is asked when that is in vain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from harness.types.codes import Code

TRANSIENT: Final = (Code.RATE_LIMIT, Code.SERVER, Code.TIMEOUT, Code.TRANSPORT, Code.EMPTY_RESPONSE)
"""Failures that may be gone at the next attempt (CONFORMANCE 151)."""
FALLBACK: Final = "fallback"
"""The role of the model that is asked when the main one has failed for good (ARTICLES 20)."""
MODEL_ROLE_NOTE: Final = "model/role"
"""Name of the note behind a ``model/request`` that goes to another model than the main one: its role."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """``attempts`` are all attempts of a request together; 1 never tries again.

    Attempt n + 1 waits ``base_ms * factor ** (n - 1)``, at most ``cap_ms``; a provider's Retry-After takes the
    place of that wait, as long as it is (152). ``codes`` are the failures that are tried again. With
    ``fallback`` a request whose last attempt failed with one of ``codes``, or that is not worth another try
    because of AUTH or QUOTA, goes once to the model of that role.
    """

    attempts: int = 1
    base_ms: int = 500
    cap_ms: int = 30_000
    factor: int = 2
    codes: tuple[Code, ...] = TRANSIENT
    fallback: bool = False

    def delay_ms(self, attempt: int, code: Code, retry_after_ms: int | None) -> int | None:
        """How long to wait after failed ``attempt`` (from 1); None: it is not tried again."""
        if attempt >= self.attempts or code not in self.codes:
            return None
        if retry_after_ms is not None:
            return retry_after_ms
        return min(self.base_ms * int(self.factor ** min(attempt - 1, 64)), self.cap_ms)

    def falls_back(self, code: Code) -> bool:
        """Whether a failure that stands is a reason to ask the other model."""
        return self.fallback and (code in self.codes or code in (Code.AUTH, Code.QUOTA))


NO_RETRIES: Final = RetryPolicy()
