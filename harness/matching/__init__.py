"""Matching of values and of calls: pure, by JSON's own notion of same."""

from harness.matching.assignment import Pairs, cheapest_alignment, cheapest_assignment
from harness.matching.calls import Called, match_arguments, match_calls
from harness.matching.used import ran_with
from harness.matching.values import Differs, Mismatch, exactly, match_value, matcher_problems, same_json

__all__ = [
    "Called",
    "Differs",
    "Mismatch",
    "Pairs",
    "cheapest_alignment",
    "cheapest_assignment",
    "exactly",
    "match_arguments",
    "match_calls",
    "match_value",
    "matcher_problems",
    "ran_with",
    "same_json",
]
