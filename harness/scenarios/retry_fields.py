"""Fields of ``retry``: whether and when a failed request is made again."""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import Field, model_validator

from harness.scenarios.base import UNIQUE, Choice, Count, Fields, Positive, complaint
from harness.types.codes import Code
from harness.types.retrying import NO_RETRIES, TRANSIENT, RetryPolicy

RETRIED: Final = tuple(
    code.value
    for code in (
        *TRANSIENT,
        Code.DAMAGED_RESPONSE,
        Code.NO_FINISH_REASON,
        Code.PROVIDER_ABORTED,
        Code.INTERNAL,
        Code.UNKNOWN,
    )
)


class RetryFields(Fields):
    """Attempts of one request, the pauses between them, the failures that they are for."""

    attempts: Positive = NO_RETRIES.attempts
    base_ms: Count = NO_RETRIES.base_ms
    cap_ms: Count = NO_RETRIES.cap_ms
    factor: Positive = NO_RETRIES.factor
    codes: Annotated[list[Annotated[str, Choice(RETRIED)]], Field(min_length=1), *UNIQUE] = Field(
        default_factory=lambda: [code.value for code in TRANSIENT]
    )
    fallback: bool = False

    @model_validator(mode="after")
    def _cap_is_no_less(self) -> RetryFields:
        if self.base_ms > self.cap_ms:
            raise complaint(f"is more than cap_ms ({self.cap_ms}), so no pause would be that long", field="base_ms")
        return self

    def made(self) -> RetryPolicy:
        codes = tuple(map(Code, self.codes))
        return RetryPolicy(self.attempts, self.base_ms, self.cap_ms, self.factor, codes, self.fallback)


def retry_document(policy: RetryPolicy) -> dict[str, Any]:
    """What differs from no retries."""
    plain = {
        "attempts": policy.attempts,
        "base_ms": policy.base_ms,
        "cap_ms": policy.cap_ms,
        "factor": policy.factor,
        "codes": [code.value for code in policy.codes],
        "fallback": policy.fallback,
    }
    same = RetryFields()
    return {name: value for name, value in plain.items() if value != getattr(same, name)}
