"""What a host decides about a driver beyond its limits: one field for each thing that it may decide."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from harness.protocols import Approver
from harness.types.policy import Judgement

Rules: TypeAlias = Callable[[str, str], Judgement]
"""What the policy says of a tool's name and its arguments (JSON text of an object)."""


@dataclass(frozen=True, slots=True)
class Guard:
    """What calls may do: the rules (None: everything), and who is asked (None: nobody is there)."""

    rules: Rules | None = None
    approver: Approver | None = None


@dataclass(frozen=True, slots=True)
class Policies:
    """The choices of one driver. Every default leaves the plain loop as it is."""

    guard: Guard = Guard()
