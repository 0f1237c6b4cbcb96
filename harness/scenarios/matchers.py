"""Matchers inside expectations, checked when a scenario is loaded: one that is none could never fail rightly."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

from pydantic import AfterValidator

from harness.matching import matcher_problems
from harness.scenarios.base import complaint


def matcher_complaint(value: Any) -> str:
    """What is wrong with a matcher; "": nothing."""
    problems = matcher_problems(value)
    return f"is no matcher: {problems[0]}" if problems else ""


def _check(value: Any) -> Any:
    problem = matcher_complaint(value)
    if problem:
        raise complaint(problem)
    return value


Matchers: TypeAlias = Annotated[dict[str, Any], AfterValidator(_check)]
"""An object whose values are plain JSON or matchers such as ``{$near: {value: 1, tolerance: 0.1}}``."""
