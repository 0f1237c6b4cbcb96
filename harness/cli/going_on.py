"""``--resume`` and ``--fork`` of ``harness run``: what they allow beside them, and where the new run goes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from harness.cli.output import complain
from harness.errors import ConfigurationError, UsageError

if TYPE_CHECKING:
    from harness.runner import RunOptions, RunSpec
    from harness.types.policy import ApprovalReply
    from harness.types.scenario import Scenario

RESUMED: Final = Path("reports/resumed")


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the command line says about going on from a file."""

    resume: Path | None
    answers: tuple[str, ...]
    fork: Path | None
    at: int | None
    task: str | None

    @property
    def parent(self) -> Path | None:
        """The file to go on from; None for an ordinary run."""
        return self.resume or self.fork

    def check(self, *, update: bool, trials: int) -> None:
        """Raise UsageError for options that do not go together."""
        if self.resume and self.fork:
            raise UsageError("--resume and --fork exclude each other: --fork leaves the file as it is")
        if self.answers and not self.resume:
            raise UsageError("--answer answers a parked call: give its trajectory with --resume")
        answered = [_answer(text)[0] for text in self.answers]
        if len(set(answered)) < len(answered):
            raise UsageError("--answer: one call has two answers; say one")
        if (self.at is None) != (self.fork is None):
            raise UsageError("--fork and --at belong together: --fork RUN.jsonl --at EVENT")
        if self.task is not None and self.parent is None:
            raise UsageError("--task goes with --resume or --fork; a scenario says its own task")
        if self.parent is not None and (update or trials != 1):
            raise UsageError("--resume and --fork make one run: they take neither --update nor --trials")
        if self.parent is not None:
            from harness.runner import check_parent

            check_parent(self.parent)

    def plan(self, scenarios: Sequence[Scenario], options: RunOptions, out: Path | None) -> tuple[RunSpec, Path]:
        """The run, and the folder that it goes to. Says where the scenario has changed since the parent's run."""
        from harness.runner import has_changed, plan_fork, plan_resume
        from harness.store import read_trajectory

        assert self.parent is not None, "looked at by the caller"
        if out is not None and _is_inside(self.parent, out):
            raise ConfigurationError(f"{out} holds the run that is gone on from: name another folder with --out")
        header = read_trajectory(self.parent).header
        folder = out or _free_folder(header.run_id)
        options = replace(options, folder=folder)
        if self.fork is not None:
            spec = plan_fork(self.fork, scenarios, options, at=self.at or 0, task=self.task)
        else:
            answers = dict(map(_answer, self.answers))
            spec = plan_resume(self.parent, scenarios, options, answers=answers, task=self.task)
        if has_changed(header, spec.scenario):
            complain(f"the scenario {spec.scenario.id!r} has changed since that run: what is new goes by the new one")
        return spec, folder


def _answer(text: str) -> tuple[str, ApprovalReply]:
    from harness.types.policy import ApprovalReply

    call, found, reply = text.rpartition("=")
    if not (call and found and reply in (ApprovalReply.ALLOW, ApprovalReply.REJECT)):
        raise UsageError(f"--answer {text!r}: say CALL=allow or CALL=reject")
    return call, ApprovalReply(reply)


def _is_inside(path: Path, folder: Path) -> bool:
    return folder.resolve() in path.resolve().parents


def _free_folder(run_id: str) -> Path:
    """A folder of runs that nobody has used yet, named after the run that is gone on from."""
    from harness.types.names import portable_path

    name = portable_path(run_id).replace("/", "-")
    number = 1
    while (folder := RESUMED / f"{name}-{number}").exists():
        number += 1
    return folder
