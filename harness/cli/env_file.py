"""``--env-file``: lines ``KEY=value``; a line that is none is refused with its place, and never shown."""

from __future__ import annotations

import re
from io import StringIO
from pathlib import Path
from typing import Final

_NAME: Final = re.compile(r"[A-Za-z_][\w.-]*\Z")
_LIKE_A_NAME: Final = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\Z")


def read_env_file(file: Path) -> dict[str, str]:
    """The variables of a file, nothing put in for ``$NAME``. Raises ConfigurationError.

    What stands in such a file may be a key, so a message quotes no more of it than the name of a variable.
    """
    from dotenv.parser import parse_stream

    from harness.errors import ConfigurationError

    try:
        text = file.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"--env-file {file}: cannot be read: {error}") from None
    values: dict[str, str] = {}
    for binding in parse_stream(StringIO(text)):
        source = binding.original.string
        line = binding.original.line + source[: len(source) - len(source.lstrip())].count("\n")
        place = f"--env-file {file}, line {line}"
        if binding.error or (binding.key is not None and not _NAME.match(binding.key)):
            raise ConfigurationError(f"{place}: cannot be read; allowed are lines KEY=value")
        if binding.key is not None and binding.value is None:
            name = repr(binding.key) if _LIKE_A_NAME.match(binding.key) else "a name"
            raise ConfigurationError(f"{place}: {name} has no value; allowed are lines KEY=value")
        if binding.key is not None and binding.value is not None:
            values[binding.key] = binding.value
    return values
