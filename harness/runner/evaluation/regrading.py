"""Stored answers judged by what is expected now: only where the questions are still the same."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from harness.errors import ConfigurationError
from harness.runner.evaluation.differing import undeclared
from harness.runner.evaluation.folder import trials_files
from harness.runner.evaluation.preparing import Prepared, changes, write_frozen
from harness.store import read_trials_header
from harness.store.trials import restate
from harness.types.evaluation import Case
from harness.types.jsontext import canonical_json
from harness.wire.requests import render_request


def check_same_requests(before: Prepared, now: Prepared, folder: Path) -> None:
    """Raise ConfigurationError where a case that was asked is gone, or would be asked in another way now, and where
    the gate (or what else stands for the answers) was changed after them.
    """
    what = changes(before, now)
    if what:
        raise _changed(folder, f"the tools have changed ({'; '.join(what)})")
    arms = {arm.name: arm for arm in now.evaluation.arms}
    for arm in before.evaluation.arms:
        if arm.name not in arms:
            raise _changed(folder, f"arm {arm.name!r} is gone")
    if before.evaluation.digest == now.evaluation.digest:
        return
    undecided = undeclared(before.evaluation, now.evaluation)
    if undecided:
        raise _changed(folder, f"what was declared beforehand was changed after the answers ({'; '.join(undecided)})")
    if len(before.evaluation.cases) != len(now.evaluation.cases):
        raise _changed(
            folder, f"{len(before.evaluation.cases)} cases were asked, {len(now.evaluation.cases)} are there"
        )
    for old, new in zip(before.evaluation.cases, now.evaluation.cases, strict=True):
        for arm in before.evaluation.arms:
            if old.id != new.id or _asked(before, arm.name, old) != _asked(now, arm.name, new):
                raise _changed(folder, f"case {new.id!r} is not asked in arm {arm.name!r} as it was")


def adopt(now: Prepared, folder: Path) -> None:
    """Make the folder one of the evaluation as it is now, so that it can be gone on with.

    Only behind :func:`check_same_requests`. Raises RecordingFailed where a live run writes it.
    """
    for path in trials_files(folder):
        restate(path, replace(read_trials_header(path), digest=now.evaluation.digest))
    write_frozen(now, folder)


def _asked(prepared: Prepared, arm: str, case: Case) -> str:
    evaluation = prepared.evaluation
    chosen = next(one for one in evaluation.arms if one.name == arm)
    return canonical_json(render_request(prepared.request_of(evaluation, chosen, case, prepared.snapshot), ""))


def _changed(folder: Path, what: str) -> ConfigurationError:
    return ConfigurationError(
        f"{folder}: {what}, so the stored answers cannot be judged by it. Only expectations may change for "
        "--regrade; else run it anew into another folder (--out)"
    )
