"""What the kill test finds and what it distrusts (the long form is `make crash`)."""

import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.laws.crash import Totals, verdict

GOOD = Totals(kills=40, acknowledged=900, recorded=905, torn=3)
LOSING = replace(GOOD, lost=12)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="kill -9 needs a system with fork")
@pytest.mark.conformance("10", "130")
def test_forty_kills_lose_nothing_that_was_acknowledged() -> None:
    script = Path(__file__).with_name("crash.py")
    done = subprocess.run([sys.executable, str(script), "40"], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    acknowledged = re.search(r"PASS: (\d+) acknowledged, 0 lost", done.stdout)
    assert acknowledged is not None, done.stdout
    assert int(acknowledged[1]) > 1000


def test_sound_totals_pass() -> None:
    assert verdict(GOOD, GOOD, LOSING) == []


@pytest.mark.parametrize(
    ("sound", "piecewise", "buffered", "words"),
    [
        pytest.param(LOSING, GOOD, LOSING, "lost 12 acknowledged events", id="loss"),
        pytest.param(GOOD, LOSING, LOSING, "slow disk lost 12", id="loss-on-a-slow-disk"),
        pytest.param(replace(GOOD, refused=1), GOOD, LOSING, "cannot be read", id="unreadable"),
        pytest.param(replace(GOOD, wrong=["x.jsonl: odd"]), GOOD, LOSING, "x.jsonl: odd", id="wrong-events"),
        pytest.param(replace(GOOD, finished=40), GOOD, LOSING, "never killed at work", id="too-late"),
        pytest.param(replace(GOOD, acknowledged=0), GOOD, LOSING, "never killed at work", id="too-early"),
        pytest.param(GOOD, replace(GOOD, torn=0), LOSING, "no torn tail", id="no-torn-line"),
        pytest.param(GOOD, GOOD, GOOD, "buffers was not seen to lose", id="blind"),
    ],
)
def test_totals_that_show_a_loss_or_show_nothing_fail(sound: Totals, piecewise: Totals, buffered: Totals, words: str) -> None:
    assert words in " | ".join(verdict(sound, piecewise, buffered))
