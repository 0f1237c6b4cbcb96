"""What reads the files of other products says which."""

import pytest

from harness.formats import FORMATS
from tests.cli.lab import Cli


@pytest.mark.parametrize("verb", ["check", "replay", "compare", "scenario from", "dataset from"])
def test_the_help_of_what_reads_them_names_every_format(cli: Cli, verb: str) -> None:
    told = " ".join(cli(*verb.split(), "--help").out.split())
    *others, last = sorted(FORMATS)
    assert f"instead of looking: {', '.join(others)} or {last}." in told
