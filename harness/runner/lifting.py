"""A recorded run made into a scenario that is shown to work: run at once, twice, and compared with the recording."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

from harness.compare import first_divergence
from harness.runner.executing import execute
from harness.runner.result import RunResult
from harness.runner.specs import RunOptions, RunSpec
from harness.scenarios import digest_of, lift, parse_scenario, scenario_text
from harness.types.codes import DivergenceKind, Origin
from harness.types.events import Trajectory
from harness.types.records import Divergence
from harness.types.scenario import BoundaryWhen, CancelAction, Injection, Scenario, SendAction

_MOST_MOVED = 3
"""At most so many injections are tried in the tick after their event, too."""


@dataclass(frozen=True, slots=True)
class LiftedRun:
    """A scenario made of a run. ``text`` is its file; ``lost`` tells what could not be carried over.

    ``passes``: running the file passes, and twice gives the same events. ``problem`` says why not. ``differs`` is
    where such a run leaves the recorded one (None: nowhere that matters, or the recording is another product's,
    which cannot be compared line by line).
    """

    scenario: Scenario
    text: str
    lost: tuple[str, ...]
    passes: bool
    problem: str = ""
    differs: str = ""


def lift_run(trajectory: Trajectory, *, source: str = "") -> LiftedRun:
    """The scenario that a recorded run is, checked by running it with the built-in loop; nothing else is executed.

    Raises NothingToRunError for a run without input or answers.
    """
    lifted = lift(trajectory)
    name = source or trajectory.source
    best: tuple[Scenario, RunResult, Divergence | None] | None = None
    for scenario in _variants(lifted.scenario):
        result = _run(scenario)
        divergence = _divergence(trajectory, result)
        if best is None or (result.passed, divergence is None) > (best[1].passed, best[2] is None):
            best = (scenario, result, divergence)
        if best[1].passed and best[2] is None:
            break
    assert best is not None, "there is one variant at least"
    scenario, result, divergence = best
    problem = "" if result.passed else _why(result)
    if result.passed and _run(scenario).trajectory.events != result.trajectory.events:
        problem = "two runs of it gave different events"
    differs = "" if divergence is None else _parting(divergence)
    return LiftedRun(
        replace(scenario, digest=digest_of(scenario)),
        scenario_text(scenario, told=_told(name, trajectory, lifted.lost, problem, differs)),
        lifted.lost,
        not problem,
        problem,
        differs,
    )


def _variants(scenario: Scenario) -> Iterator[Scenario]:
    """The scenario as it is; then with cancels and input in the tick after their event, which a file does not tell."""
    yield scenario
    movable = [at for at, one in enumerate(scenario.inject) if _is_movable(one)][:_MOST_MOVED]
    for moved in product((False, True), repeat=len(movable)):
        if any(moved):
            chosen = {at for at, is_moved in zip(movable, moved, strict=True) if is_moved}
            yield replace(
                scenario,
                inject=tuple(_next_tick(one) if at in chosen else one for at, one in enumerate(scenario.inject)),
            )


def _is_movable(one: Injection) -> bool:
    return isinstance(one.do, CancelAction | SendAction) and one.at.after_ms is None


def _next_tick(one: Injection) -> Injection:
    return replace(one, at=replace(one.at, when=BoundaryWhen.NEXT_TICK))


def _run(scenario: Scenario) -> RunResult:
    """What the written file comes to."""
    read = parse_scenario(scenario_text(scenario), f"{scenario.id}.yaml", scenario.id)
    return execute(RunSpec(read, RunOptions()))


def _divergence(recorded: Trajectory, result: RunResult) -> Divergence | None:
    if any(origin is Origin.IMPORT for _, origin in recorded.header.observed):
        return None
    found = first_divergence(recorded, result.trajectory)
    return None if found is None or found.kind in (DivergenceKind.SETUP, DivergenceKind.DETAIL) else found


def _parting(found: Divergence) -> str:
    place = "".join(f", {name} {value}" for name, value in (("turn", found.turn), ("step", found.step)) if value)
    return f"{found.path}{place}: recorded {found.base or 'nothing'}, now {found.candidate or 'nothing'}"


def _why(result: RunResult) -> str:
    return result.findings[0].message if result.findings else f"its run came to {result.outcome}"


def _told(name: str, trajectory: Trajectory, lost: tuple[str, ...], problem: str, differs: str) -> list[str]:
    told = [f"Made by `harness scenario from` of the run {trajectory.header.run_id} ({name})."]
    if lost:
        told.append("What the recording does not tell, or a scenario cannot say:")
        told += [f"- {text}" for text in lost]
    if differs:
        told.append(f"A run of this scenario leaves the recorded one at: {differs}")
    if problem:
        told.append(f"A run of this scenario does not pass: {problem}")
    return told
