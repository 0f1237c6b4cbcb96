"""What a run came to, in the words of an ``expect`` block."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from harness.errors import UsageError

if TYPE_CHECKING:
    from harness.types.events import Trajectory


_OF_ITS_END: Final = ("status", "reason", "error")


def unmet(asked: Mapping[str, Any], trajectory: Trajectory) -> list[str]:
    """Which fields of an ``expect`` block a run does not meet."""
    return [name for name, value in asked.items() if not _is_met(name, value, trajectory)]


def _is_met(name: str, value: Any, trajectory: Trajectory) -> bool:
    from harness.checks import judge
    from harness.folds import expectations_to_json
    from harness.scenarios import scenario
    from harness.types.codes import Outcome

    alone = scenario(task="one expectation", script=[{"say": "x"}], expect={name: value}).expect
    header = replace(trajectory.header, expectations=expectations_to_json(alone))
    verdicts = judge(replace(trajectory, header=header), names=())
    others = () if name in _OF_ITS_END else ("expected_end",)  # a run that failed may still have met this one
    return all(verdict.outcome is not Outcome.FAIL for verdict in verdicts if verdict.check not in others)


def failed_unexpectedly(asked: Mapping[str, Any], trajectory: Trajectory) -> bool:
    """True where the run failed and the ``expect`` block says nothing of how it should end."""
    from harness.folds import status_of
    from harness.types.codes import Status

    return status_of(trajectory) is Status.FAILED and not any(name in asked for name in _OF_ITS_END)


def observed_in(trajectory: Trajectory, names: Iterable[str], asked: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The fields ``names`` as this run came to them. Raises UsageError for one that it did not come to."""
    from harness.folds import answer_of, end_of, n_messages, n_steps, n_turns

    end = end_of(trajectory)
    found: dict[str, Any] = {}
    for name in names:
        wanted = (asked or {}).get(name)
        match name:
            case "status":
                found[name] = end.status.value if end else None
            case "reason":
                found[name] = end.reason.kind if end else None
            case "steps":
                found[name] = n_steps(trajectory)
            case "messages":
                found[name] = n_messages(trajectory)
            case "turns":
                found[name] = n_turns(trajectory)
            case "calls":
                found[name] = _calls(trajectory, wanted)
            case "results":
                found[name] = _results(trajectory, wanted or [])
            case "answer":
                found[name] = answer_of(trajectory)
            case "end_state":
                found[name] = _state(trajectory, wanted or {})
        if found.get(name) is None:
            raise UsageError(f"the run came to no {name}")
    return found


def _calls(trajectory: Trajectory, wanted: Any) -> Any:
    if isinstance(wanted, Mapping):
        orders = {order: {order: calls} for order, calls in wanted.items()}
        return {
            order: wanted[order] if _is_met("calls", alone, trajectory) else _listed(trajectory, wanted[order])
            for order, alone in orders.items()
        }
    return _listed(trajectory, wanted or [])


def _listed(trajectory: Trajectory, wanted: list[Any]) -> list[Any]:
    """Names; with arguments where the expectation had some."""
    from harness.folds import calls_of
    from harness.matching import exactly
    from harness.types.jsontext import Refusal, parse_json

    with_arguments = any(not isinstance(call, str) for call in wanted)
    found: list[Any] = []
    for trace in calls_of(trajectory):
        arguments = parse_json(trace.call.arguments)
        plain = not with_arguments or isinstance(arguments, Refusal) or not isinstance(arguments, dict)
        found.append(trace.call.name if plain else {trace.call.name: exactly(arguments)})
    return found


def _results(trajectory: Trajectory, wanted: list[Any]) -> list[Any]:
    """Codes of all results; positions that were not asked stay so."""
    from harness.folds import summarise

    codes = [call.code for call in summarise(trajectory, (), "").calls]
    return [None if i < len(wanted) and wanted[i] is None else code for i, code in enumerate(codes)]


def _state(trajectory: Trajectory, wanted: Mapping[str, Any]) -> dict[str, Any] | None:
    import json

    from harness.checks import END_STATE_NOTE
    from harness.matching import exactly
    from harness.types.lifecycle import Note

    facts = (event.fact for event in reversed(trajectory.events))
    noted = next((fact for fact in facts if isinstance(fact, Note) and fact.name == END_STATE_NOTE), None)
    if noted is None:
        return None
    state = json.loads(noted.data or "{}")
    return {part: exactly(state.get(part, {})) for part in wanted}
