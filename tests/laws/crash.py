"""Kill writers at random instants: nothing acknowledged may be lost, every file must read or name its bad line.

    python tests/laws/crash.py 1000      what `make crash N=1000` runs; exit 1 on any loss

A child records events through the real sink, commits each and only then says so through a pipe. The
parent kills it with SIGKILL at a seeded instant and reads the file. A few writers work on a disk that
takes seven bytes at a time, so that lines are really torn; and a writer that acknowledges what it still
holds back must be seen to lose, or the instrument itself is not to be trusted. Children are forked from
this warm process, so a kill costs about a hundredth of a second.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

REPO = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPO))

from harness.errors import TrajectoryFormatError  # noqa: E402
from harness.store import FileSink, open_sink, read_trajectory  # noqa: E402
from harness.types.events import Event, Header, Trajectory  # noqa: E402
from tests.strategies import small_trajectory  # noqa: E402

ACK_BYTES = 4
SHORTEST_LIFE_S = 0.0002
LONGEST_LIFE_S = 0.008
WHOLE = small_trajectory(4000)
"""More events than a writer can record in its life; all acknowledgements fit into one pipe."""

Writer = Callable[[Path, int], None]


@dataclass
class Totals:
    """What many kills came to. ``refused`` counts files that named a bad line instead of reading."""

    kills: int = 0
    acknowledged: int = 0
    recorded: int = 0
    lost: int = 0
    torn: int = 0
    refused: int = 0
    finished: int = 0
    wrong: list[str] = field(default_factory=list)

    def line(self, name: str) -> str:
        return (
            f"{name}: {self.kills} kills ({self.finished} came after the last event), {self.acknowledged} events"
            f" acknowledged, {self.lost} of them lost, {self.recorded} read back, {self.torn} torn tails,"
            f" {self.refused} files refused by line, {len(self.wrong)} files wrong"
        )


def sound_writer(path: Path, pipe: int) -> None:
    """Commit, then acknowledge: what the recorder does before each effect."""
    _record(open_sink(path, WHOLE.header), pipe, WHOLE.events)


def buffered_writer(path: Path, pipe: int) -> None:
    """Broken on purpose: acknowledges what is still held back in the process."""
    sink = open_sink(path, WHOLE.header)
    for n, event in enumerate(WHOLE.events, start=1):
        sink.append(event)
        if n % 50 == 0:
            sink.commit()
        os.write(pipe, event.seq.to_bytes(ACK_BYTES, "big"))


def piecewise_writer(path: Path, pipe: int) -> None:
    """The same on a disk that takes at most seven bytes at a time: most kills tear a line."""
    sink = open_sink(path, WHOLE.header, write=lambda descriptor, data: os.write(descriptor, data[:7]))
    _record(sink, pipe, WHOLE.events)


def _record(sink: FileSink, pipe: int, events: tuple[Event, ...]) -> None:
    for event in events:
        sink.append(event)
        sink.commit()
        os.write(pipe, event.seq.to_bytes(ACK_BYTES, "big"))


def kill_writers(writer: Writer, n_kills: int, *, seed: int, folder: Path) -> Totals:
    """Start and kill so many writers, each on its own file; the file is removed once it is judged."""
    chance = random.Random(seed)
    totals = Totals()
    for number in range(n_kills):
        path = folder / f"{writer.__name__}-{number}.jsonl"
        life = chance.uniform(SHORTEST_LIFE_S, LONGEST_LIFE_S)
        acknowledged = _kill_one(writer, path, life)
        totals.kills += 1
        totals.acknowledged += acknowledged
        totals.finished += acknowledged == len(WHOLE.events)
        _judge(path, acknowledged, totals)
        path.unlink(missing_ok=True)
    return totals


def _kill_one(writer: Writer, path: Path, life_s: float) -> int:
    """How many events one writer acknowledged, as the pipe holds it after its death."""
    heard, said = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(heard)
        status = 1
        try:
            writer(path, said)
            status = 0
            signal.pause()
        finally:
            os._exit(status)
    os.close(said)
    data = bytearray(os.read(heard, ACK_BYTES))  # the first acknowledgement: the writer is at work
    # Asleep, not listening: waking at each acknowledgement would kill only between two events.
    time.sleep(life_s)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    while piece := os.read(heard, 1 << 16):
        data += piece
    os.close(heard)
    seqs = [int.from_bytes(data[at : at + ACK_BYTES], "big") for at in range(0, len(data), ACK_BYTES)]
    if seqs != list(range(len(seqs))):
        raise AssertionError(f"the acknowledgements are not in order: {seqs[:5]} ... {seqs[-5:]}")
    return len(seqs)


def _judge(path: Path, acknowledged: int, totals: Totals) -> None:
    try:
        read = read_trajectory(path)
    except TrajectoryFormatError as error:
        totals.refused += 1
        totals.lost += acknowledged
        if error.line is None:
            totals.wrong.append(f"{path.name}: refused without a line: {error}")
        return
    totals.recorded += len(read.events)
    totals.lost += max(0, acknowledged - len(read.events))
    totals.torn += read.torn is not None
    if not _as_recorded(read, WHOLE.header):
        totals.wrong.append(f"{path.name}: what was read is not what was recorded")


def _as_recorded(read: Trajectory, header: Header) -> bool:
    return read.header == header and read.events == WHOLE.events[: len(read.events)]


def verdict(sound: Totals, piecewise: Totals, buffered: Totals) -> list[str]:
    """What is wrong with these totals; nothing: the promise holds and the instrument can see."""
    found = []
    for name, totals in (("the sink", sound), ("the sink on a slow disk", piecewise)):
        if totals.lost:
            found.append(f"{name} lost {totals.lost} acknowledged events")
        if totals.refused:
            found.append(f"{name} left {totals.refused} files that cannot be read")
        found += totals.wrong
        if not totals.acknowledged or totals.finished == totals.kills:
            found.append(f"{name} was never killed at work; nothing was shown")
    if not buffered.lost:
        found.append("a writer that buffers was not seen to lose anything: the instrument cannot be trusted")
    if not piecewise.torn:
        found.append("no torn tail was seen: the instrument cannot be trusted")
    return found


def main(arguments: list[str]) -> int:
    n_kills = int(arguments[0]) if arguments else 1000
    seed = int(arguments[1]) if len(arguments) > 1 else 1
    n_few = max(20, n_kills // 20)
    with tempfile.TemporaryDirectory(prefix="harness-crash-") as name:
        folder = Path(name)
        sound = kill_writers(sound_writer, n_kills, seed=seed, folder=folder)
        piecewise = kill_writers(piecewise_writer, n_few, seed=seed, folder=folder)
        buffered = kill_writers(buffered_writer, n_few, seed=seed, folder=folder)
    print(sound.line("the sink"))
    print(piecewise.line("the sink, seven bytes a write"))
    print(buffered.line("a writer that buffers (must lose)"))
    found = verdict(sound, piecewise, buffered)
    for line in found:
        print(f"FAIL: {line}")
    print("FAIL" if found else f"PASS: {sound.acknowledged + piecewise.acknowledged} acknowledged, 0 lost")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
