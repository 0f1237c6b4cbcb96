"""Replies of the door that are not a body's plain value, and which codes a body may give itself."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Final

from harness.errors import InvalidValueError, ToolError
from harness.tools.content import output_of
from harness.types.codes import BODY_CODES, Code, ToolOutcome
from harness.types.doors import ToolReply
from harness.types.jsontext import clean_text
from harness.types.wording import listed as listed
from harness.types.wording import shortened as shortened

_NO_ERROR: Final = frozenset({Code.EMPTY, Code.TRUNCATED})
_LONGEST_MESSAGE: Final = 2_000

Redact = Callable[[str], str]


class BodyFailed(Exception):
    """The body failed where its exception could not come from (a child process): class and text."""

    def __init__(self, class_name: str, message: str) -> None:
        super().__init__(message)
        self.class_name = class_name


def error_reply(code: Code, message: str) -> ToolReply:
    """An error result: the model reads the code and what was wrong (it is not shown ``isError``)."""
    text = shortened(clean_text(message), _LONGEST_MESSAGE)
    return ToolReply(f"Error ({code}): {text}", ToolOutcome.ERROR, is_error=True, code=code, message=text)


def value_reply(name: str, value: object, hide: Redact = str) -> ToolReply:
    """The reply of a body that returned ``value``; INVALID_TOOL_OUTPUT where it is not content.

    What ``hide`` takes out of it nobody sees: neither the model nor the log (ARTICLES 1).
    """
    try:
        output = output_of(value)
    except InvalidValueError as error:
        return error_reply(
            Code.INVALID_TOOL_OUTPUT,
            f"tool {name!r} ran, but returned what is neither text nor JSON: {error}",
        )
    code = Code.EMPTY if output.empty else None
    content, context = hide(output.content), tuple(map(hide, output.context))
    return ToolReply(content, ToolOutcome.OK, code=code, concludes=output.concludes, context=context)


def failure_reply(name: str, error: BaseException, redact: Redact) -> ToolReply:
    """The reply of a body that raised: its class and redacted text, never a traceback (ARTICLES 1)."""
    if isinstance(error, ToolError):
        return _own_words(error, redact)
    return error_reply(Code.TOOL_FAILED, f"tool {name!r} failed: {redact(_described(error))}")


def _own_words(error: ToolError, redact: Redact) -> ToolReply:
    code = Code(error.code) if error.code in Code.__members__ else Code.TOOL_FAILED
    text = redact(_text_of(error))
    if code not in _NO_ERROR:
        return error_reply(code if code in BODY_CODES else Code.TOOL_FAILED, text)
    return ToolReply(
        clean_text(text),
        ToolOutcome.OK,
        code=code,
        message=clean_text(text),
        truncated=code is Code.TRUNCATED,
    )


def _described(error: BaseException) -> str:
    name = error.class_name if isinstance(error, BodyFailed) else type(error).__name__
    text = _text_of(error)
    return f"{name}: {text}" if text else name


def _text_of(error: BaseException) -> str:
    try:
        return clean_text(str(error))
    except Exception:  # an exception whose own text fails must not take the run with it
        return ""


def unknown_tool(name: str, names: Collection[str]) -> ToolReply:
    """No tool has that name; says which there are (CONFORMANCE 34)."""
    return error_reply(Code.UNKNOWN_TOOL, f"there is no tool {name!r}. Allowed tools: {listed(sorted(names))}.")


def not_allowed(name: str, allowed: Collection[str]) -> ToolReply:
    """The tool exists but may not run here (CONFORMANCE 59)."""
    return error_reply(
        Code.TOOL_NOT_ALLOWED,
        f"the tool {name!r} may not be used here. Allowed tools: {listed(sorted(allowed))}.",
    )


def bad_arguments(name: str, fault: str) -> ToolReply:
    """The arguments are not what the tool takes; ``fault`` says what would be (CONFORMANCE 35, 36)."""
    return error_reply(Code.INVALID_ARGS, f"tool {name!r} did not run. {fault}")


def timed_out(name: str, timeout_ms: int, *, still_running: bool) -> ToolReply:
    """The body did not end in time (CONFORMANCE 41)."""
    after = "it ignores being stopped and is still running" if still_running else "it was stopped"
    return error_reply(Code.TOOL_TIMEOUT, f"tool {name!r} did not end within {timeout_ms} ms; {after}.")
