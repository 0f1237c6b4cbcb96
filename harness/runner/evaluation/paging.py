"""An evaluation that was judged as the one HTML file: its trials are read again for the cases that fail."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from harness.evaluate.stories import stories
from harness.report.html.evaluation import evaluation_page
from harness.runner.evaluation.folder import files_of, headers_of, trials_in
from harness.runner.evaluation.judging import Judged, as_asked
from harness.runner.evaluation.preparing import Prepared


def evaluation_html(prepared: Prepared, judged: Judged, folders: Sequence[Path], *, command: str = "") -> bytes:
    """The file; ``folders`` hold the trials that were judged, ``command`` makes it again. Raises as judging does."""
    paths = files_of(folders)
    planned = as_asked(prepared.evaluation, headers_of(paths))
    told = stories(planned, prepared.snapshot, lambda: trials_in(paths), prepared.distractors)
    return evaluation_page(judged.summary, told, command=command, before=judged.before)
