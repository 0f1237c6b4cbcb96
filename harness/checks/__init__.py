"""Checks: pure functions from a trajectory to verdicts whose findings cite event numbers."""

from harness.checks.base import BuiltCheck, Found, found, unseen
from harness.checks.expectations import END_STATE_NOTE
from harness.checks.judging import CHECKS, INFORMATION, judge
from harness.checks.refusals import provider_refusals
from harness.checks.table import checks_table

__all__ = [
    "CHECKS",
    "END_STATE_NOTE",
    "INFORMATION",
    "BuiltCheck",
    "Found",
    "checks_table",
    "found",
    "judge",
    "provider_refusals",
    "unseen",
]
