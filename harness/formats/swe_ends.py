"""Why runs of SWE-agent and mini-swe-agent ended: their words of ``exit_status`` in ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from harness.formats.values import whole_or_none
from harness.types.codes import CancelBy, Code, LimitKind, Status
from harness.types.reasons import Cancelled, Concluded, Failed, LimitHit, Reason

End = tuple[Status, Reason]

_SWE_LIMITS: Final = {
    "exit_cost": LimitKind.COST,
    "exit_total_cost": LimitKind.COST,
    "exit_total_execution_time": LimitKind.WALL_TIME,
}
_SWE_CODES: Final = {
    "exit_context": Code.CONTEXT_OVERFLOW,
    "exit_api": Code.SERVER,
    "exit_format": Code.DAMAGED_RESPONSE,
    "exit_command_timeout": Code.TOOL_TIMEOUT,
}
_MINI_CODES: Final = {
    "ContextWindowExceededError": Code.CONTEXT_OVERFLOW,
    "RateLimitError": Code.RATE_LIMIT,
    "AuthenticationError": Code.AUTH,
    "Timeout": Code.TIMEOUT,
    "APIConnectionError": Code.TRANSPORT,
    "BadRequestError": Code.INVALID_REQUEST,
    "RepeatedFormatError": Code.DAMAGED_RESPONSE,
}


def swe_end(info: Any) -> End | None:
    """The end of a run of SWE-agent; None where the file does not tell.

    A run that was stopped and whose patch was submitted all the same says ``submitted (exit_cost)``: the stop counts.
    """
    word = _word(info)
    if word is None:
        return None
    inner = word.removeprefix("submitted (").removesuffix(")") if word.startswith("submitted (") else word
    if inner == "submitted":
        return Status.COMPLETED, Concluded()
    if inner in _SWE_LIMITS:
        return Status.LIMIT_REACHED, LimitHit(_SWE_LIMITS[inner], 0, message=f"exit_status {word!r}")
    if inner in ("exit_forfeit", "early_exit", "exit_command"):
        return Status.CANCELLED, Cancelled(CancelBy.HOOK)
    return Status.FAILED, Failed(_SWE_CODES.get(inner, Code.UNKNOWN), f"exit_status {word!r}")


def mini_end(info: Any, messages: Sequence[Any]) -> End | None:
    """The end of a run of mini-swe-agent: of ``info``, else of its last message; None where neither tells."""
    last = messages[-1] if messages and isinstance(messages[-1], Mapping) else {}
    word = _word(info) or (_word(last.get("extra")) if last.get("role") == "exit" else None)
    match word:
        case None:
            return None
        case "Submitted":
            return Status.COMPLETED, Concluded()
        case "LimitsExceeded":  # of steps or of money: the file does not say which
            return Status.LIMIT_REACHED, LimitHit(*_mini_limit(info), message=f"exit_status {word!r}")
        case "TimeExceeded":
            return Status.LIMIT_REACHED, LimitHit(LimitKind.WALL_TIME, 0, message=f"exit_status {word!r}")
        case "UserInterruption" | "KeyboardInterrupt":
            return Status.CANCELLED, Cancelled(CancelBy.USER)
        case _:
            return Status.FAILED, Failed(_MINI_CODES.get(word, Code.UNKNOWN), f"exit_status {word!r}")


def _mini_limit(info: Any) -> tuple[LimitKind, int]:
    """The limit of steps where one was configured and reached, else money."""
    config = _inner(_inner(info, "config"), "agent")
    n_calls, limit = _inner(info, "model_stats").get("api_calls"), whole_or_none(config.get("step_limit"))
    reached = isinstance(n_calls, int) and limit is not None and 0 < limit <= n_calls
    return (LimitKind.STEPS, limit or 0) if reached else (LimitKind.COST, 0)


def _inner(value: Any, name: str) -> Mapping[str, Any]:
    inner = value.get(name) if isinstance(value, Mapping) else None
    return inner if isinstance(inner, Mapping) else {}


def _word(info: Any) -> str | None:
    word = info.get("exit_status") if isinstance(info, Mapping) else None
    return word if isinstance(word, str) and word else None
