"""Small trajectories by hand: facts in order, numbered and observed as asked."""

from dataclasses import replace

from harness.checks import judge
from harness.folds import expectations_to_json
from harness.types.codes import FinishReason, Origin
from harness.types.events import Event, Header, Trajectory
from harness.types.exchange import AssistantMessage, ToolResult
from harness.types.messages import CallId, RunId
from harness.types.reasons import EmittedCall
from harness.types.scenario import Expectations


def call(call_id, name="look", arguments="{}", **fields):
    return EmittedCall(CallId(call_id), name, arguments, **fields)


def answer(text=None, *calls, finish=None, **fields):
    reason = finish or (FinishReason.TOOL_CALLS if calls else FinishReason.STOP)
    return AssistantMessage(text, tool_calls=calls, finish_reason=reason, **fields)


def result(call_id, content="x", name="look", **fields):
    return ToolResult(CallId(call_id), name, content, **fields)


def trajectory(*rows, seen=None, origin=Origin.SUBJECT, expect=None, **header):
    """Rows are facts, or (fact, envelope fields); every kind that occurs is observed from its origin.

    ``seen`` names further kinds and by whom they are observed; None as origin takes one away.
    """
    events = []
    for row in rows:
        fact, fields = row if isinstance(row, tuple) else (row, {})
        events.append(
            Event(len(events), fact, fields.pop("origin", origin) if "origin" in fields else origin, **fields)
        )
    observed = {event.fact.TYPE: event.origin for event in events} | (seen or {})
    pairs = tuple((kind, who) for kind, who in observed.items() if who is not None)
    expectations = expectations_to_json(expect) if isinstance(expect, Expectations) else None
    return Trajectory(
        Header(version="0", run_id=RunId("r"), subject="s", observed=pairs, expectations=expectations, **header),
        tuple(events),
    )


def verdict(check, judged, **options):
    """The verdict of one check."""
    return next(v for v in judge(judged, names=(check,), **options) if v.check == check)


def messages(check, judged):
    """What one check says about a trajectory."""
    return [finding.message for finding in verdict(check, judged).findings]


def observed_as(judged, **kinds):
    """The same with some kinds observed by others (None: by nobody); ``tool_start`` names ``tool/start``."""
    observed = dict(judged.header.observed) | {kind.replace("_", "/", 1): who for kind, who in kinds.items()}
    pairs = tuple((kind, who) for kind, who in observed.items() if who is not None)
    return replace(judged, header=replace(judged.header, observed=pairs))
