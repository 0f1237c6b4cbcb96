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
from harness.cassettes.journal import Journal, cut_journal, fold_journal, read_journal
from harness.cassettes.passing import Passing, passing
from harness.cassettes.paths import cassette_path
from harness.cassettes.record import RecordTransport, open_recording
from harness.cassettes.refresh import RefreshTransport, older_recording
from harness.cassettes.replay import ReplayTransport, open_replay
from harness.cassettes.verdicts import recorded_usage
from harness.cassettes.watch import WatchTransport

__all__ = [
    "About",
    "Cassette",
    "Cause",
    "Chunk",
    "Exchange",
    "Journal",
    "Passing",
    "RecordTransport",
    "RecordedRequest",
    "RecordedResponse",
    "RecordingInfo",
    "RefreshTransport",
    "ReplayTransport",
    "WatchTransport",
    "cassette_path",
    "cut_journal",
    "dump_cassette",
    "fold_journal",
    "older_recording",
    "open_recording",
    "open_replay",
    "parse_cassette",
    "passing",
    "read_cassette",
    "read_journal",
    "recorded_usage",
]
