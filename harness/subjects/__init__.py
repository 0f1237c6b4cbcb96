"""Loops under test: the built-in one, and a user's own function."""

from harness.subjects.builtin import BUILT_IN_PROFILE, BuiltInLoop
from harness.subjects.ending import Ending
from harness.subjects.function import Env, FunctionSubject

__all__ = ["BUILT_IN_PROFILE", "BuiltInLoop", "Ending", "Env", "FunctionSubject"]
