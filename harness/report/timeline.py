"""``harness show``: a run as people read it, turn by turn, with the numbers of its events."""

from __future__ import annotations

from harness.folds import (
    boundary_text,
    end_of,
    is_interrupted,
    last_closed_boundary,
    n_messages,
    n_steps,
    real_time_of,
    state_text,
)
from harness.report.event_lines import EventLines
from harness.report.text import Verbosity, counted, torn_text, visible
from harness.types.events import Trajectory


def timeline(trajectory: Trajectory, *, verbosity: Verbosity = Verbosity.NORMAL) -> str:
    """The run line by line: event number, then turn, step, messages, calls, results, cancel marks.

    VERBOSE shows whole texts and arguments and every event. The last line tells steps, messages
    and milliseconds (ARTICLES 12); an interrupted file names its last closed boundary (14), and what the run is
    doing, or came to, stands in words before that (40).
    """
    told = EventLines(verbosity)
    lines = [_title(trajectory)]
    for event in trajectory:
        first, *more = told.of(event) or [""]
        if first:
            lines.append(f"{event.seq:>5}  {first}")
            lines.extend(f"       {line}" for line in more)
    return "\n".join([*lines, *_ending(trajectory), last_line(trajectory)])


def _title(trajectory: Trajectory) -> str:
    header = trajectory.header
    scenario = header.scenario.id if header.scenario else header.run_id
    models = ", ".join(name for _, name in header.models)
    real_time = real_time_of(trajectory)
    parts = [
        scenario,
        f"arm {header.arm}, trial {header.trial}",
        f"subject {header.subject}",
        f"model {models}" if models else "",
        f"clock {header.clock}" + (f" ({real_time})" if real_time else ""),
        f"goes on from {header.parent.run_id} event {header.parent.seq} ({header.parent.why})" if header.parent else "",
    ]
    return "  ".join(visible(part) for part in parts if part)


def _ending(trajectory: Trajectory) -> list[str]:
    lines = []
    if is_interrupted(trajectory):
        boundary = visible(boundary_text(last_closed_boundary(trajectory)))
        lines.append(f"when it broke off, it was {visible(state_text(trajectory.events))}")
        lines.append(f"interrupted: the file has no run/end. Last closed boundary: {boundary}")
    elif end_of(trajectory) is None:
        lines.append("how the run ended is not told: this format has no line for it")
    else:
        lines.append(f"state: {visible(state_text(trajectory.events))}")
    torn = trajectory.torn
    if torn is not None:
        lines.append(f"torn tail: {torn_text(torn)}")
    return lines


def last_line(trajectory: Trajectory) -> str:
    """``3 steps, 7 messages, 12 ms``."""
    duration_ms = trajectory.events[-1].time if trajectory.events else None
    time = "no times" if duration_ms is None else f"{duration_ms} ms"
    return f"{counted(n_steps(trajectory), 'step')}, {counted(n_messages(trajectory), 'message')}, {time}"
