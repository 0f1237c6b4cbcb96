"""Matchers inside expectations, checked when a scenario is loaded: one that is none could never fail rightly."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

from pydantic import AfterValidator

from harness.matching import matcher_problems
from harness.scenarios.base import complaint


def _check(value: Any) -> Any:
    problems = matcher_problems(value)
    if problems:
        raise complaint(f"is no matcher: {problems[0]}")
    return value


Matchers: TypeAlias = Annotated[dict[str, Any], AfterValidator(_check)]
"""An object whose values are plain JSON or matchers such as ``{$near: {value: 1, tolerance: 0.1}}``."""
