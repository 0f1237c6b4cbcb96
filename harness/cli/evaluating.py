"""What ``harness evaluate`` says: the plan, how far it is, what it came to."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from harness.cli.again import as_argument
from harness.cli.output import complain, hidden, say, say_json
from harness.errors import ConfigurationError, UsageError

if TYPE_CHECKING:
    from harness.runner.evaluation.judging import Judged
    from harness.runner.evaluation.plan import EvaluationPlan
    from harness.runner.evaluation.preparing import Prepared
    from harness.runner.evaluation.running import Progress, Ran

_TENTH: Final = 10
_LONG_MS: Final = 10_000
_MOST_CAUSES: Final = 5


class TrialsProgress:
    """``120/600 trials, 3 min left``: rewritten in place on a terminal, else a line each tenth of long work."""

    def __init__(self, *, quiet: bool) -> None:
        self._terminal = sys.stderr.isatty()
        self._quiet = quiet
        self._told = 0
        self._open = False

    def tell(self, progress: Progress) -> None:
        """One more trial has its line."""
        if self._terminal:
            sys.stderr.write(f"\r\x1b[K{_progress_text(progress)}")
            sys.stderr.flush()
            self._open = True
            return
        tenth = progress.n_done * _TENTH // progress.n_planned
        if not self._quiet and tenth > self._told and progress.took_ms > _LONG_MS:
            self._told = tenth
            complain(_progress_text(progress))

    def close(self) -> None:
        """Leave no counter behind."""
        if self._open:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def _progress_text(progress: Progress) -> str:
    parts = [f"{progress.n_done}/{progress.n_planned} trials"]
    if progress.left_ms is not None and progress.n_done < progress.n_planned:
        parts.append(f"{duration_text(progress.left_ms)} left")
    if progress.n_tokens:
        parts.append(f"{progress.n_tokens:,} tokens")
    if progress.micro_usd:
        parts.append(f"${progress.micro_usd / 1_000_000:.4f}")
    return ", ".join(parts)


def duration_text(ms: int) -> str:
    """A span of time for people: ``40 s``, ``3 min``, ``2 h 5 min``."""
    seconds = -(-ms // 1000)
    if seconds < 100:
        return f"{seconds} s"
    minutes = -(-seconds // 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"


# ---------------------------------------------------------------- the plan


def show_plan(plan: EvaluationPlan, *, as_json: bool) -> None:
    """Say what would be asked, and what that would take."""
    from harness.folds import to_plain
    from harness.runner.evaluation.estimating import estimate

    found = estimate(plan)
    model = plan.header.model
    if as_json:
        say_json({"model": model, "source": plan.source.value, "left": found.n_left, **to_plain(found)})
        return
    say(f"{found.n_cases} cases x {found.n_arms} arms x {found.trials} trials = {found.n_planned} requests to {model}")
    if found.n_before:
        say(f"{found.n_before} have an answer; {found.n_left} would be asked")
    say(f"answers from: {plan.source.value}{f' ({plan.own})' if plan.own else ''}; kept in {plan.options.folder}")
    how = "as the trials that are there" if found.measured else "guessed from the length of the requests"
    money = "nobody says what it costs ([tool.harness.prices])"
    if found.micro_usd is not None:
        money = f"${found.micro_usd / 1_000_000:.4f}"
    say(f"about {found.input_tokens:,} input and {found.output_tokens:,} output tokens ({how}); {money}")


# ---------------------------------------------------------------- the end


def say_end(
    prepared: Prepared, plan: EvaluationPlan, ran: Ran, html: Path | None, *, verbose: bool, as_json: bool
) -> int:
    """Judge what is there, say it, give the exit code."""
    from harness.errors import NothingToRunError
    from harness.folds import EXIT_CODES
    from harness.runner.evaluation.judging import exit_code, judge_trials, write_info

    folder = plan.options.folder
    if plan.options.shard.of > 1:
        return _say_shard(plan, ran, as_json=as_json)
    if ran.stopped and not ran.interrupted and not ran.n_before + ran.n_now:
        write_info(folder, ran, exit_code=ran.exit_code, model=plan.header.model, source=plan.source.value)
        return _say_stopped(ran, as_json=as_json)
    try:
        judged = judge_trials(prepared, [folder], into=folder)
    except NothingToRunError:
        raise _nothing(ran) from None
    code = exit_code(judged, ran)
    write_info(folder, ran, exit_code=code, model=plan.header.model, source=plan.source.value)
    decides = bool(ran.stopped) and code == ran.exit_code != EXIT_CODES[judged.summary.outcome]
    notes = [*_notes(ran, judged, stopped=not decides), *_more_than_asked(plan, judged)]
    first = f"ERROR  {ran.stopped}" if decides else ""
    _say_judged(judged, code, verbose=verbose, as_json=as_json, said=notes, first=first)
    _write_page(html, prepared, judged, folder)
    return code


def _say_stopped(ran: Ran, *, as_json: bool) -> int:
    """What ended a run before any trial had its line: there is nothing to judge."""
    message = hidden(ran.stopped)
    complain(f"error: {message}")
    if as_json:
        say_json({"error": message, "exitCode": ran.exit_code})
    return ran.exit_code


def _more_than_asked(plan: EvaluationPlan, judged: Judged) -> Iterator[str]:
    """A folder is judged as a whole: where it holds more than was asked for now, that is said."""
    summary, asked = judged.summary, plan.header
    if summary.n_trials > asked.trials:
        yield f"note: --trials {asked.trials}, but the folder holds {summary.n_trials} of each case: all are judged"
    others = [arm.name for arm in summary.arms if arm.name not in asked.arms]
    if others:
        yield f"note: the folder holds the arms {', '.join(map(repr, others))} too: all are judged"


def _write_page(html: Path | None, prepared: Prepared, judged: Judged, folder: Path) -> None:
    """The HTML file, where one was asked for; ``folder`` holds the trials that were judged."""
    from harness.cli.html_file import write_beside
    from harness.runner.evaluation.paging import evaluation_html

    if html is not None:
        command = shlex.join(["harness", "evaluate", as_argument(folder), "--html", as_argument(html)])
        write_beside(html, lambda: evaluation_html(prepared, judged, [folder], command=command))


def _nothing(ran: Ran) -> Exception:
    from harness.runner.evaluation.asking import EvaluationStopped

    return EvaluationStopped(ran.stopped or ran.spent or "nothing was answered")


def _say_shard(plan: EvaluationPlan, ran: Ran, *, as_json: bool) -> int:
    from harness.runner.evaluation.judging import FAILED, INTERRUPTED, UNDECIDED, write_info

    done = ran.n_before + ran.n_now
    code = INTERRUPTED if ran.interrupted else ran.exit_code or (FAILED if ran.n_missed else 0)
    code = code or (UNDECIDED if done < plan.n_planned else 0)
    write_info(plan.options.folder, ran, exit_code=code, model=plan.header.model, source=plan.source.value)
    if as_json:
        say_json({"shard": str(plan.options.shard), "done": done, "planned": plan.n_planned, "exitCode": code})
        return code
    for line in _notes(ran):
        say(line)
    say(f"shard {plan.options.shard}: {done} of {plan.n_planned} trials have their line in {plan.options.folder}")
    say("judge all shards together: harness evaluate --merge FOLDER... --out FOLDER")
    return code


def _notes(ran: Ran, judged: Judged | None = None, *, stopped: bool = True) -> Iterator[str]:
    """What happened beside the trials; what stopped them where that is not told first of all."""
    torn = ran.n_cut_bytes + (judged.found.n_torn_bytes if judged is not None else 0)
    if torn:
        yield f"note: a torn last line of {torn} bytes was cut away; its trial counts as not asked"
    if ran.stopped and stopped:
        yield f"stopped: {ran.stopped}"
    if ran.spent:
        yield f"stopped: {ran.spent}. Raise that bound and run it again: it goes on from here"
    if ran.decided:
        yield f"decided behind block {ran.decided}, as declared (gate.looks): nothing more was asked"
    yield from _stale_lines(ran)


def _stale_lines(ran: Ran) -> Iterator[str]:
    """Recordings that do not fit any more, told once for each cause."""
    if not ran.n_missed:
        return
    causes: dict[str, list[str]] = {}
    examples: dict[str, str] = {}
    for arm, trial, verdict in ran.out_of_date:
        causes.setdefault(verdict.why, []).append(f"{arm}#{trial}")
        examples.setdefault(verdict.why, verdict.findings[0].message)
    yield f"{ran.n_missed} trials have no recording that fits"
    for cause, where in list(causes.items())[:_MOST_CAUSES]:
        yield f"  {cause} ({', '.join(where[:_MOST_CAUSES])}{', ...' if len(where) > _MOST_CAUSES else ''})"
        yield f"    {examples[cause]}"
    if len(causes) > _MOST_CAUSES:
        yield f"  and {len(causes) - _MOST_CAUSES} more causes"
    yield "  if the change is meant, ask again: harness evaluate FILE --record --out NEW-FOLDER"


def _say_judged(
    judged: Judged, code: int, *, verbose: bool, as_json: bool, said: Sequence[str] = (), first: str = ""
) -> None:
    from harness.report.evaluation_text import evaluation_text, first_screen

    if as_json:
        import json

        summary: dict[str, Any] = json.loads(judged.summary.to_json())
        notes = [*filter(None, [first]), *(f"before: {line}" for line in judged.before), *said, *judged.unwritten]
        say_json({**summary, "notes": notes, "folder": str(judged.folder), "exitCode": code})
        return
    if first:
        say(first)
    say((evaluation_text if verbose else first_screen)(judged.summary, judged.before).rstrip("\n"))
    for line in (*said, *judged.unwritten):
        say(line)
    say(f"report  {judged.folder / 'report.md'}")


# ---------------------------------------------------------------- for nothing


def judge_again(
    folder: Path, prepared: Prepared | None, out: Path | None, html: Path | None, *, verbose: bool, as_json: bool
) -> int:
    """Judge the stored answers of a folder again: as it was run, or by what a file expects now."""
    from harness.runner.evaluation.judging import exit_code, judge_trials, restate_info
    from harness.runner.evaluation.preparing import thawed
    from harness.runner.evaluation.regrading import adopt, check_same_requests

    before = thawed(folder)
    if prepared is not None:
        check_same_requests(before, prepared, folder)
        adopt(prepared, folder)
    judged = judge_trials(prepared or before, [folder], into=out or folder)
    code = exit_code(judged)
    if prepared is not None:
        restate_info(folder, exit_code=code)
    _say_judged(judged, code, verbose=verbose, as_json=as_json)
    _write_page(html, prepared or before, judged, folder)
    return code


def judge_together(
    folders: Sequence[Path], out: Path | None, html: Path | None, *, verbose: bool, as_json: bool
) -> int:
    """Judge the shards of one evaluation together, into a folder that stands alone."""
    from harness.runner.evaluation.judging import exit_code, judge_trials
    from harness.runner.evaluation.merging import merge

    if out is None:
        raise UsageError("--merge needs a folder for the whole: --out FOLDER")
    places = [folder.resolve() for folder in folders]
    twice = next((folder for at, folder in enumerate(folders) if places[at] in places[:at]), None)
    if twice is not None:
        raise UsageError(f"--merge: {twice} is named twice; name each folder of a shard once")
    if out.resolve() in places:
        raise ConfigurationError(f"--out {out} is one of the folders that are merged; name another")
    prepared = merge(folders, out)
    judged = judge_trials(prepared, [out], into=out)
    code = exit_code(judged)
    _say_judged(judged, code, verbose=verbose, as_json=as_json)
    _write_page(html, prepared, judged, out)
    return code
