"""Names of verdicts and rules that mean the same wherever they are asked for."""

from __future__ import annotations

from typing import Final

OUT_OF_DATE: Final = "recording-out-of-date"
"""The rule that findings on a recording carry whose requests are no longer asked."""
REPLAY_DIFFERS: Final = "replay-differs"
"""The rule of the finding on a replay that left the recorded run."""
STALE_RULES: Final = frozenset({OUT_OF_DATE, REPLAY_DIFFERS})
"""Rules of findings on a recording that did not answer what was asked."""
ENDPOINT: Final = "endpoint"
"""Name of the verdict on an endpoint that could not be used."""
RECORDER: Final = "recorder"
"""Name of the verdict on a trajectory that could not be written."""
WORLD_CHECKS: Final = frozenset({ENDPOINT, RECORDER})
"""Verdicts that, with ERROR, say that the run went another way than it would have. With any other name ERROR says that
a check gave up judging a run that is whole."""
