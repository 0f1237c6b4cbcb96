"""A trajectory as a baseline keeps it: its committed view, as a trajectory file that everything else reads.

Without what is volatile: events that the committed view leaves out, times, ids (named by first appearance), token
counts, fingerprints, spellings of a provider, streaming, names that count tasks; of the header only who ran what.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from harness.folds import committed_view
from harness.folds.view import IdLabels, without_streaming
from harness.store import dump_trajectory, read_bytes
from harness.types.codes import ClockKind
from harness.types.events import Event, Header, ScenarioRef, Trajectory, Volatile
from harness.types.exchange import AssistantMessage, ContextReplaced, RequestHeader
from harness.types.facts import Fact
from harness.types.lifecycle import RunQuiescent
from harness.types.messages import JsonText
from harness.types.profile import Profile
from harness.wire.responses_items import without_kept_items

_IDS: Final = frozenset({"callId", "wireId", "id"})
_NAMED: Final = frozenset({"inbox/queued", "inbox/claimed", "inbox/discarded"})


def accepted_bytes(trajectory: Trajectory, scenario: str) -> bytes:
    """The file of a variant: header, then one line for each event of the committed view, numbered anew.

    Two runs that behave the same give the same lines but for the header; what was read back gives itself.
    """
    whole = Trajectory(accepted_header(trajectory.header, scenario), tuple(_events(trajectory)))
    lines = dump_trajectory(whole).split(b"\n")[:-1]
    labels = IdLabels()
    kept = [lines[0], *(_relabelled(line, labels) for line in lines[1:])]
    return b"".join(line + b"\n" for line in kept)


def accepted(trajectory: Trajectory, scenario: str) -> Trajectory:
    """The same, read back."""
    return read_bytes(accepted_bytes(trajectory, scenario), scenario)


def accepted_header(header: Header, scenario: str) -> Header:
    """Of a header what says which run it was, and its limits; the rest stands in the events or is not compared."""
    return replace(
        header,
        scenario=ScenarioRef(scenario, header.scenario.digest if header.scenario else ""),
        expectations=None,
        tools=(),
        profile=Profile(),
        clock=ClockKind.UNKNOWN,
        seed=None,
        observed=(),
        parent=None,
        volatile=Volatile(),
    )


def _events(trajectory: Trajectory) -> Iterator[Event]:
    by_seq = {event.seq: event for event in trajectory}
    for seq, viewed in enumerate(committed_view(trajectory)):
        event = by_seq[viewed.seq]
        yield replace(event, seq=seq, time=None, fact=_kept(event.fact, viewed.fields))


def _kept(fact: Fact, viewed: dict[str, Any]) -> Fact:
    match fact:
        case AssistantMessage():
            extra = without_kept_items(fact.extra)
            return replace(fact, usage=None, fingerprint=None, raw_finish_reason=None, attempt=1, extra=extra)
        case RequestHeader():
            return replace(fact, parameters=without_streaming(fact.parameters))
        case ContextReplaced():
            return replace(fact, start=viewed["start"], end=viewed["end"])
        case RunQuiescent():
            pairs = zip(fact.alive, viewed["alive"], strict=True)
            alive = tuple(replace(one, name=shown["name"], start=None) for one, shown in pairs)
            return RunQuiescent(alive)
        case _:
            return fact


def _relabelled(line: bytes, labels: IdLabels) -> bytes:
    event = json.loads(line)
    if "agent" in event:
        event["agent"] = labels.agent(event["agent"])
    kind = event["type"]
    if "messageIds" in event:
        event["messageIds"] = labels.label(tuple(event["messageIds"]), "message")
    named = event["messages"] if kind in _NAMED and "messages" in event else ()
    for queued in named:
        queued["id"] = labels.label(queued["id"], "message")
        _label(queued["message"], labels)
    if not named:
        _label(event, labels)
    return json.dumps(event, ensure_ascii=False, separators=(",", ":")).encode("utf-8")


def _keep(message: dict[str, Any], extra: str | None) -> None:
    if extra is None:
        del message["extra"]
    else:
        message["extra"] = extra


def _label(value: Any, labels: IdLabels) -> None:
    """Name every id in place. Free JSON is text inside a line, so no key of a user's is met."""
    for item in value if isinstance(value, list) else ():
        _label(item, labels)
    for key, item in tuple(value.items()) if isinstance(value, dict) else ():
        if key in _IDS:
            value[key] = labels.label(item)
        elif key == "extra" and isinstance(item, str):
            _keep(value, without_kept_items(JsonText(item)))
        else:
            _label(item, labels)
