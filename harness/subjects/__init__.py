"""Loops under test: the built-in one, and a user's own function."""

from harness.subjects.builtin import BUILT_IN_PROFILE, BuiltInLoop
from harness.subjects.doors import Door, OtherDoor
from harness.subjects.ending import Ending
from harness.subjects.env import Env
from harness.subjects.function import FunctionSubject

__all__ = ["BUILT_IN_PROFILE", "BuiltInLoop", "Door", "Ending", "Env", "FunctionSubject", "OtherDoor"]
