"""Two arms over the same units: exact tests of "no change" and intervals of the difference, one for each estimand.

"These cases" is answered within the cases by :func:`stratified_exact` and :func:`within_cases`; "prompts like these"
over the units, drawn from many, by :func:`sign_flip` and :func:`mean_difference`. :func:`mcnemar` is for one trial, or
one declared outcome, a case.
"""

from harness.statistics.difference import mean_difference
from harness.statistics.exact import PValues, mcnemar, sign_flip, stratified_exact
from harness.statistics.within import within_cases

__all__ = ["PValues", "mcnemar", "mean_difference", "sign_flip", "stratified_exact", "within_cases"]
