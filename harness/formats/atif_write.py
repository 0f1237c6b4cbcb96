"""ATIF v1.8 out of a trajectory: a step for each message, results with the answer that asked for them.

What the format has no field for stands under ``extra.harness`` (other readers pass over it), the rest is told by
:func:`harness.formats.losses.losses_of`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from harness.folds import sent_ids
from harness.formats.atif_shape import WRITTEN
from harness.formats.atif_steps import answer_to, content_of, content_to, kept_content, plain_json, result_to, with_ours
from harness.formats.ends import end_to_plain
from harness.formats.patching import patched
from harness.types.events import ROOT_AGENT, Trajectory
from harness.types.exchange import UNKNOWN_TOOLS, AssistantMessage, RequestHeader, ToolResult, UserMessage
from harness.types.facts import Fact
from harness.types.lifecycle import MESSAGE_NOTE, Note, RunEnd
from harness.types.messages import CallId, ChatUser
from harness.wire.chat import message_to_wire, render_tools

BESIDE_NOTE: Final = "atif/beside"
"""Name of the note with what an ATIF document said and no fact holds, as a difference (``patching``)."""
OBSERVATION_NOTE: Final = "atif/observation"
"""Name of the note before user input that a document calls an observation of the step before it."""
_TOTALS: Final = {
    "prompt_tokens": "total_prompt_tokens",
    "completion_tokens": "total_completion_tokens",
    "cached_tokens": "total_cached_tokens",
    "cost_usd": "total_cost_usd",
}


def atif_document(trajectory: Trajectory) -> dict[str, Any]:
    """The document of the root agent's conversation, as plain JSON values of ATIF v1.8."""
    writer = _Writer()
    kept: dict[str, Any] = {}
    for event in trajectory.events:
        if event.agent == ROOT_AGENT:
            if isinstance(event.fact, Note) and event.fact.name == BESIDE_NOTE:
                kept = plain_json(event.fact.data)
            else:
                writer.take(event.fact)
    return _versioned(patched(_root(trajectory, writer), kept))


def _versioned(document: Any) -> dict[str, Any]:
    return dict(document) | {"schema_version": WRITTEN}


def _root(trajectory: Trajectory, writer: _Writer) -> dict[str, Any]:
    header = trajectory.header
    agent: dict[str, Any] = {"name": header.subject, "version": header.version}
    model = dict(header.models).get("main")
    if model:
        agent["model_name"] = model
    if writer.header is not None:
        if writer.header.tools != UNKNOWN_TOOLS:
            agent["tool_definitions"] = render_tools(writer.header.tools)
        parameters = plain_json(writer.header.parameters)
        agent = with_ours(agent, {"parameters": parameters} if parameters else {})
    root = {"schema_version": WRITTEN, "trajectory_id": header.run_id, "agent": agent, "steps": writer.steps}
    root["final_metrics"] = _totals(writer.steps)
    kept: dict[str, Any] = {"runId": header.run_id}
    if header.trial != 1:
        kept["trial"] = header.trial
    if writer.end is not None:
        kept["end"] = end_to_plain(writer.end.status, writer.end.reason)
    return with_ours(root, kept)


def _totals(steps: Iterable[dict[str, Any]]) -> dict[str, Any]:
    measured = [step["metrics"] for step in steps if "metrics" in step]
    totals: dict[str, Any] = {"total_steps": len(list(steps))}
    for name, total in _TOTALS.items():
        values = [metrics[name] for metrics in measured if name in metrics]
        if values:
            totals[total] = sum(values)
    return totals


class _Writer:
    """Collects the steps of one conversation."""

    def __init__(self) -> None:
        self.steps: list[dict[str, Any]] = []
        self.header: RequestHeader | None = None
        self.end: RunEnd | None = None
        self._asked: dict[CallId, tuple[str, str, dict[str, Any]]] = {}
        self._observed = False

    def take(self, fact: Fact) -> None:
        """Add one fact; those that ATIF has no place for change nothing."""
        match fact:
            case RequestHeader() if self.header is None:
                self.header = fact
                for message in fact.system if not self.steps else ():
                    self._system(message_to_wire(message))
            case Note(name=name) if name == MESSAGE_NOTE:
                self._system(plain_json(fact.data))
            case Note(name=name) if name == OBSERVATION_NOTE:
                self._observed = True
            case UserMessage(message=message):
                self._user(message)
            case AssistantMessage():
                step = self._add(answer_to(fact))
                for call, source in zip(fact.tool_calls, sent_ids(fact.tool_calls), strict=True):
                    self._asked[call.id] = (source, call.name, step)
            case ToolResult():
                self._result(fact)
            case RunEnd():
                self.end = fact
            case _:
                pass

    def _add(self, step: dict[str, Any]) -> dict[str, Any]:
        self.steps.append({"step_id": len(self.steps) + 1, **step})
        return self.steps[-1]

    def _system(self, raw: Any) -> None:
        content = raw.get("content") if isinstance(raw, dict) else None
        message = content_to(content_of(content)) if isinstance(content, str) or _are_parts(content) else ""
        step = {"source": "system", "message": message}
        plain = {"role": "system", "content": message}
        self._add(step if raw == plain else with_ours(step, {"message": raw}))

    def _user(self, message: ChatUser) -> None:
        content = content_to(message.content)
        if self._observed and self.steps:
            self._observed = False
            _results_of(self.steps[-1]).append({"source_call_id": None, "content": content})
            return
        kept = {} if message.extra is None else {"extra": plain_json(message.extra)}
        if content_of(content) != message.content:
            kept["content"] = kept_content(message.content)
        self._add(with_ours({"source": "user", "message": content}, kept))

    def _result(self, result: ToolResult) -> None:
        """A call answered for the first time has its result in its own step; any other stands where it came."""
        source, name, step = self._asked.pop(result.call_id, (None, None, None))
        if step is None:
            step = self.steps[-1] if self.steps else self._add({"source": "system", "message": ""})
        _results_of(step).append(result_to(result, source, name))


def _are_parts(content: Any) -> bool:
    return isinstance(content, list) and all(
        isinstance(part, dict) and isinstance(part.get("type"), str) for part in content
    )


def _results_of(step: dict[str, Any]) -> list[Any]:
    results: list[Any] = step.setdefault("observation", {"results": []})["results"]
    return results
