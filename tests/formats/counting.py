"""The counts of a trajectory, by the names of the independent table (tests/data/format-counts.toml)."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

from harness.types.events import Trajectory
from harness.types.exchange import AssistantMessage, ContextReplaced, ToolResult, UserMessage
from harness.types.jsontext import Refusal, parse_json

Message = UserMessage | AssistantMessage | ToolResult | ContextReplaced


def counts_of(trajectory: Trajectory) -> Counter[str]:
    """Every measure that a trajectory of ours still shows."""
    facts = [event.fact for event in trajectory if isinstance(event.fact, Message)]
    answers = [fact for fact in facts if isinstance(fact, AssistantMessage)]
    found: Counter[str] = Counter(trajectories=1, assistant=len(answers))
    found["max_parallel"] = max((len(answer.tool_calls) for answer in answers), default=0)
    for answer in answers:
        found["calls"] += len(answer.tool_calls)
        found["parallel_msgs"] += len(answer.tool_calls) > 1
        found["null_content"] += bool(answer.tool_calls) and answer.content is None
        found["void_assistant"] += not (answer.tool_calls or answer.content or answer.refusal)
    found["consec_assistant"] = sum(isinstance(a, AssistantMessage) and isinstance(b, AssistantMessage) for a, b in pairwise(facts))
    _pairing(facts, found)
    _ids(answers, found)
    _arguments(answers, found)
    return found


def _pairing(facts: list[Message], found: Counter[str]) -> None:
    asked: dict[str, int] = {}
    answered: set[str] = set()
    last_answer = max((at for at, fact in enumerate(facts) if isinstance(fact, AssistantMessage)), default=-1)
    order: list[tuple[int, int]] = []
    for at, fact in enumerate(facts):
        if isinstance(fact, AssistantMessage):
            asked |= {call.id: at for call in fact.tool_calls}
        if not isinstance(fact, ToolResult):
            continue
        found["results"] += 1
        found["error_results"] += fact.is_error
        if fact.call_id not in asked:
            found["orphan_results"] += 1
        elif fact.call_id in answered:
            found["dup_results"] += 1
        else:
            order.append((asked[fact.call_id], list(asked).index(fact.call_id)))
            between = facts[asked[fact.call_id] + 1 : at]
            found["late_results"] += any(not isinstance(one, ToolResult) for one in between)
        answered.add(fact.call_id)
    for call_id, at in asked.items():
        found["unpaired"] += call_id not in answered
        found["unpaired_tail"] += call_id not in answered and at == last_answer
    found["ooo_batches"] = len({a[0] for a, b in pairwise(order) if a[0] == b[0] and a[1] > b[1]})


def _ids(answers: list[AssistantMessage], found: Counter[str]) -> None:
    seen: set[str] = set()
    for answer in answers:
        for call in answer.tool_calls:
            wire = call.id if call.wire_id is None else call.wire_id
            found["missing_id"] += not wire
            found["dup_ids"] += bool(wire) and wire in seen
            seen.add(wire)


def _arguments(answers: list[AssistantMessage], found: Counter[str]) -> None:
    made = [(call.name, call.arguments) for answer in answers for call in answer.tool_calls]
    found["repeats3"] = sum(a == b == c for a, b, c in zip(made, made[1:], made[2:], strict=False))
    for answer in answers:
        for call in answer.tool_calls:
            value = parse_json(call.arguments)
            found["bad_json"] += isinstance(value, Refusal)
            found["nonobj_args"] += not isinstance(value, Refusal | dict)


def total(trajectories: list[Trajectory]) -> Counter[str]:
    """The counts of many; ``max_parallel`` is the greatest of them."""
    each = [counts_of(one) for one in trajectories]
    found = sum(each, Counter[str]())
    found["max_parallel"] = max((one["max_parallel"] for one in each), default=0)
    return found
