"""The exception tree: every error of ours, and the exit code that a door gives it.

::

    HarnessError                    5  something of ours or of the world failed
    ├── UsageError                  2  the caller asked for something that cannot be done
    │   ├── ConfigurationError      2  an option or a [tool.harness] value is wrong
    │   ├── NothingLeftError        2  a run's file has nothing to go on with: all is done, or nothing had begun
    │   ├── ScenarioError           2  a scenario cannot be loaded (file, line, field)
    │   ├── UnknownNameError        2  a check, tool, model or subject of that name does not exist
    │   └── UnsupportedError        2  asked for by name, not offered (streaming, sync client, ...)
    ├── NothingToRunError           4  no scenarios, no trials, or all of them skipped
    ├── TrajectoryFormatError       4  a trajectory is damaged before its tail, or is none
    ├── ForeignFormatError          4  a file of another product cannot be read
    ├── CassetteError               4  a cassette is missing, empty or corrupt
    ├── SecretFoundError            5  a recording would have held a secret; nothing was written
    ├── RecordingFailed             5  an event could not be written (disk full, ...)
    ├── ToolSourceError             5  a server that offers tools died, hung, or sent no list of tools
    ├── ModelError                  1  a model request failed; carries one of our codes
    │   ├── ScriptExhausted         1  a scripted model was asked for more than it has
    │   ├── CassetteMiss            1  no recorded exchange answers this request
    │   └── ReplayDiffers           1  a replayed run left the recorded one
    ├── ToolError                   1  raised by a tool on purpose: code and message for the model
    ├── DeadlockError               1  under virtual time nothing can ever happen again
    ├── InvalidValueError           1  a value that is not lossless JSON (NaN, cycle, ...)
    └── RunNotCompleted             1  what ``raise_for_status()`` raises
        ├── MaxStepsExceeded           the step limit ended the run
        ├── LimitReached               another limit ended the run
        ├── RunCancelled               the run was cancelled
        ├── RunFailed                  a model, a hook or the recorder failed
        └── RunUnfinished              blocked, incomplete or waiting for the user

Exit codes are those of the design page, Verdicts; a door maps an error by its
``exit_code`` and never shows a traceback for one of these.
"""

from __future__ import annotations

from typing import Any, ClassVar


class HarnessError(Exception):
    """Root of all errors that this package raises on purpose."""

    exit_code: ClassVar[int] = 5


class UsageError(HarnessError):
    """The caller asked for something that cannot be done; nothing ran."""

    exit_code: ClassVar[int] = 2


class ConfigurationError(UsageError):
    """An option or a ``[tool.harness]`` value is wrong."""


class NothingLeftError(UsageError):
    """A run cannot be resumed: all that it had to do is done, or nothing of it had begun."""


class ScenarioError(UsageError):
    """A scenario cannot be loaded. The text names file, line and field where they are known."""

    def __init__(self, message: str, *, file: str = "", line: int | None = None, field: str = "") -> None:
        place = ":".join(part for part in (file, str(line) if line else "") if part)
        where = ", ".join(part for part in (place, f"field {field!r}" if field else "") if part)
        super().__init__(f"{where}: {message}" if where else message)
        self.message = message
        self.file = file
        self.line = line
        self.field = field


class UnknownNameError(UsageError):
    """A check, tool, model or subject of that name does not exist; the text lists those that do."""


class UnsupportedError(UsageError):
    """Something named and known, but not offered here; the text says what to use instead."""


class NothingToRunError(HarnessError):
    """No scenarios, no trials, or everything was skipped: never a green run."""

    exit_code: ClassVar[int] = 4


class TrajectoryFormatError(HarnessError):
    """A trajectory file is damaged before its tail, or is no trajectory. Names file and line."""

    exit_code: ClassVar[int] = 4

    def __init__(self, message: str, *, file: str = "", line: int | None = None) -> None:
        place = ":".join(part for part in (file, str(line) if line else "") if part)
        super().__init__(f"{place}: {message}" if place else message)
        self.message = message
        self.file = file
        self.line = line


class ForeignFormatError(HarnessError):
    """A file of another product cannot be read by the reader that was asked for."""

    exit_code: ClassVar[int] = 4


class CassetteError(HarnessError):
    """A cassette is missing, empty, corrupt or was never touched."""

    exit_code: ClassVar[int] = 4


class SecretFoundError(HarnessError):
    """A recording would have held a secret; nothing was written."""


class RecordingFailed(HarnessError):
    """An event could not be written to its file; what was acknowledged before is safe."""


class ToolSourceError(HarnessError):
    """A server that offers tools died, did not answer in time, or answered what is no list of tools."""


class ModelError(HarnessError):
    """A model request failed.

    ``code`` is one of the model codes of :class:`harness.types.Code`; ``retry_after_ms`` is what
    the provider asked for, in milliseconds. ``body`` is the response body that a script gave, for
    doors that hand it on verbatim. ``usage`` is what the provider counted for it all the same, as a
    :class:`harness.types.Usage`.
    """

    exit_code: ClassVar[int] = 1
    body: str | None = None
    usage: Any = None

    def __init__(self, message: str, *, code: str = "UNKNOWN", retry_after_ms: int | None = None) -> None:
        super().__init__(message or f"the model failed without a message ({code})")
        self.code = code
        self.retry_after_ms = retry_after_ms


class ScriptExhausted(ModelError):
    """A scripted model was asked for one reply more than its script has."""

    def __init__(self, message: str) -> None:
        super().__init__(message, code="SCRIPT_EXHAUSTED")


class CassetteMiss(ModelError):
    """No recorded exchange answers this request; the text names the nearest and what differs."""

    def __init__(self, message: str) -> None:
        super().__init__(message, code="CASSETTE_MISS")


class ReplayDiffers(ModelError):
    """A replayed run left the recorded one; the text names the step, the place, and both sides."""

    def __init__(self, message: str) -> None:
        super().__init__(message, code="REPLAY_DIFFERS")


class ToolError(HarnessError):
    """Raised by a tool on purpose: the model sees ``code`` and the message as an error result."""

    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, *, code: str = "TOOL_FAILED") -> None:
        super().__init__(message)
        self.code = code


class DeadlockError(HarnessError):
    """Under virtual time nothing is ready and no timer is set: the run would wait for ever."""

    exit_code: ClassVar[int] = 1


class InvalidValueError(HarnessError):
    """A value that is not lossless JSON: NaN, an infinity, a cycle, an unknown type."""

    exit_code: ClassVar[int] = 1


class RunNotCompleted(HarnessError):
    """Root of what ``raise_for_status()`` raises for a run that did not complete."""

    exit_code: ClassVar[int] = 1


class MaxStepsExceeded(RunNotCompleted):
    """The step limit ended the run before the model gave a final answer."""


class LimitReached(RunNotCompleted):
    """A limit other than the step limit ended the run."""


class RunCancelled(RunNotCompleted):
    """The run was cancelled."""


class RunFailed(RunNotCompleted):
    """A model, a hook or the recorder failed."""


class RunUnfinished(RunNotCompleted):
    """The run ended blocked, incomplete or waiting for the user."""
