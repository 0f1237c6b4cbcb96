"""Recorded HTTP: one file a run, vcrpy's format behind a strict door.

Record through ``open_recording`` and replay through ``open_replay``: both are transports for an
``httpx2`` client of our own; nothing is patched. A request that is not in the recording raises
CassetteMiss, and ``closing_verdicts`` tells it as *recording out of date*.
"""

from harness.cassettes.differ import Cause
from harness.cassettes.exchange import (
    About,
    Cassette,
    Chunk,
    Exchange,
    RecordedRequest,
    RecordedResponse,
    RecordingInfo,
)
from harness.cassettes.files import dump_cassette, parse_cassette, read_cassette
from harness.cassettes.paths import cassette_path
from harness.cassettes.record import RecordTransport, open_recording
from harness.cassettes.refresh import RefreshTransport, older_recording
from harness.cassettes.replay import ReplayTransport, open_replay
from harness.cassettes.verdicts import recorded_usage

__all__ = [
    "About",
    "Cassette",
    "Cause",
    "Chunk",
    "Exchange",
    "RecordTransport",
    "RecordedRequest",
    "RecordedResponse",
    "RecordingInfo",
    "RefreshTransport",
    "ReplayTransport",
    "cassette_path",
    "dump_cassette",
    "older_recording",
    "open_recording",
    "open_replay",
    "parse_cassette",
    "read_cassette",
    "recorded_usage",
]
