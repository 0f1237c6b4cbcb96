"""Statistics of evaluations: pure functions on counts and differences; the case, or its group, is the unit.

Chance is an argument (a seed). numpy and scipy are imported where they are used, never by importing this room.
"""

from harness.statistics.difference import MIN_DIFFERENCES, mean_difference
from harness.statistics.exact import PValues, mcnemar, sign_flip, stratified_exact
from harness.statistics.growth import growth
from harness.statistics.noise import (
    FalseAlarms,
    false_alarm_rate,
    false_alarm_rate_within,
    flakes,
    intraclass_correlation,
    repeatability,
    worth,
)
from harness.statistics.rates import MIN_UNITS, Interval, pass_at_k, pass_hat_k, wilson
from harness.statistics.regions import (
    Reach,
    Region,
    fewest_units,
    holm,
    holm_can_reject,
    reach_of_gate,
    reach_within,
    region,
    smallest_sign_flip,
    smallest_stratified,
)
from harness.statistics.within import within_cases

__all__ = [
    "MIN_DIFFERENCES",
    "MIN_UNITS",
    "FalseAlarms",
    "Interval",
    "PValues",
    "Reach",
    "Region",
    "false_alarm_rate",
    "false_alarm_rate_within",
    "fewest_units",
    "flakes",
    "growth",
    "holm",
    "holm_can_reject",
    "intraclass_correlation",
    "mcnemar",
    "mean_difference",
    "pass_at_k",
    "pass_hat_k",
    "reach_of_gate",
    "reach_within",
    "region",
    "repeatability",
    "sign_flip",
    "smallest_sign_flip",
    "smallest_stratified",
    "stratified_exact",
    "wilson",
    "within_cases",
    "worth",
]
