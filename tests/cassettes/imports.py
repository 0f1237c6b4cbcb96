"""What is expected of other people's recordings in ../shared/data/cassettes, and how it is written down again.

    python -m tests.cassettes.imports        writes tests/data/imported-cassettes.json from what is found now

The file holds facts about the data, none of it: for each exchange the verdict, and the calls in its answer.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path

from harness.cassettes.importing import Imported
from harness.cassettes.sorting import Sorted
from harness.runner import import_recordings
from tests.conftest import REPO

DATA = REPO.parent / "shared" / "data" / "cassettes"
EXPECTED = REPO / "tests" / "data" / "imported-cassettes.json"


def verdicts(done: Sequence[Imported]) -> dict[str, list[str]]:
    """The verdict of each exchange by file, in their order."""
    return {one.name: [_told(each) for each in one.exchanges] for one in done}


def _told(one: Sorted) -> str:
    return f"{one.verdict}: {one.n_calls} calls" if one.n_calls else one.verdict


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        found = verdicts(import_recordings([DATA], Path(folder)))
    EXPECTED.parent.mkdir(exist_ok=True)
    EXPECTED.write_text(json.dumps(found, indent=1, ensure_ascii=True) + "\n", encoding="utf-8", newline="\n")
