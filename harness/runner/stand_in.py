"""A subject that stands for another: what a sweep disturbs around it, it disturbs here."""

from __future__ import annotations

from typing import Any

from harness.protocols import Subject
from harness.types.codes import Origin
from harness.types.profile import Profile


class StandIn:
    """All but the run is the other's own."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject

    def __getattr__(self, name: str) -> Any:
        return getattr(self._subject, name)

    @property
    def name(self) -> str:
        """The subject's own."""
        return self._subject.name

    @property
    def profile(self) -> Profile:
        """The subject's own."""
        return self._subject.profile

    @property
    def observed(self) -> tuple[tuple[str, Origin], ...]:
        """The subject's own."""
        return self._subject.observed
