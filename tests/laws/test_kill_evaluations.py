"""What the kill test of evaluations finds and what it distrusts (the long form is `make kill-evaluations`)."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.laws.kill_evaluations import Totals, verdict

GOOD = Totals(kills=40, folders=14, at_work=30, planned=1120, paid=1130)
PAYING_TWICE = replace(GOOD, wrong=["95 answers were paid for 80 trials and 2 kills with 3 under way"])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="kill -9 needs a system with fork")
def test_evaluations_that_are_killed_and_run_again_come_to_the_same_and_pay_nothing_twice() -> None:
    script = Path(__file__).with_name("kill_evaluations.py")
    done = subprocess.run([sys.executable, str(script), "8"], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "no trial paid twice" in done.stdout


def test_sound_totals_pass() -> None:
    assert verdict(GOOD, GOOD, PAYING_TWICE) == []


@pytest.mark.parametrize(
    ("scripted", "recording", "mutant", "words"),
    [
        pytest.param(PAYING_TWICE, GOOD, PAYING_TWICE, "scripted: 95 answers", id="paid-twice"),
        pytest.param(GOOD, PAYING_TWICE, PAYING_TWICE, "recording: 95 answers", id="paid-twice-live"),
        pytest.param(replace(GOOD, wrong=["another summary"]), GOOD, PAYING_TWICE, "another summary", id="another-summary"),
        pytest.param(replace(GOOD, at_work=3), GOOD, PAYING_TWICE, "shows nothing", id="never-at-work"),
        pytest.param(GOOD, GOOD, GOOD, "holds its lines back", id="blind-instrument"),
    ],
)
def test_whatever_is_wrong_is_told(scripted: Totals, recording: Totals, mutant: Totals, words: str) -> None:
    (told,) = verdict(scripted, recording, mutant)
    assert words in told
