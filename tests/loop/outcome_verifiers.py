"""Verifiers that the outcome tests name."""

from __future__ import annotations

from typing import Any


def needs_401(answer: str, history: Any) -> tuple[str, str]:
    """Completed where the answer names the status code."""
    return ("completed", "named") if "401" in answer else ("incomplete", f"no code after {len(history)} messages")


def throws(answer: str, history: Any) -> str:
    """A verifier that is broken."""
    raise KeyError("broken")
