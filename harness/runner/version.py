"""The version of this distribution, as headers and cassettes name it."""

from __future__ import annotations

from importlib import metadata


def _version() -> str:
    try:
        return metadata.version("agent-loop-harness")
    except metadata.PackageNotFoundError:
        return "0"  # run from a checkout that was never installed


VERSION = _version()
