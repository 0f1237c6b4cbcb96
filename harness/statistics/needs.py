"""Libraries are imported where statistics use them; where one is missing, the text says what to install."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from harness.errors import ConfigurationError


@contextmanager
def libraries() -> Iterator[None]:
    """Around the imports of numpy, scipy and statsmodels. Raises ConfigurationError that names the missing one."""
    try:
        yield
    except ModuleNotFoundError as missing:
        raise ConfigurationError(
            f"statistics need {missing.name!r}, which is not installed: pip install 'agent-loop-harness[evaluate]'"
        ) from missing
