"""INVARIANTS 21 as a program: what was recorded answers its own request, and no other.

usage: mutate_requests.py [EVERY]

One field of each recorded request at a time, in our cassettes and in ../shared/data/cassettes as far as it replays: every
value changed, taken away, joined by another, every list in another order; each is a miss, and the miss names the place. With
EVERY = n only each n-th is tried. Then: what is declared as volatile may change, the ids of calls may be spelt otherwise,
and neither address nor headers count; requests at once in any order get the answers that were recorded for them; and a
cassette that is deleted, emptied, cut off, of another scenario or not touched ends with exit code 4. Exit code 1 names
what is not so.
"""

from __future__ import annotations

import asyncio
import copy
import itertools
import json
import os
import random
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2

REPO = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(REPO))

from harness.cassettes import Cassette, ReplayTransport, parse_cassette, read_cassette  # noqa: E402
from harness.cassettes.bodies import Path as Place  # noqa: E402
from harness.cassettes.bodies import show_path  # noqa: E402
from harness.cassettes.differ import explain  # noqa: E402
from harness.cassettes.importing import find_recordings, import_file  # noqa: E402
from harness.cassettes.index import Asked, Index, asked  # noqa: E402
from harness.cli.main import run_app  # noqa: E402
from harness.runner.cassettes import under_rules  # noqa: E402

SHARED = REPO.parent / "shared" / "data" / "cassettes"
GONE = object()
"""Stands for taking a place away."""


# ---------------------------------------------------------------- recordings


def shipped(below: str = "*") -> Iterator[tuple[str, Cassette]]:
    """Our own cassettes by name; of an evaluation's trials the first, since all of them ask the same."""
    for path in sorted((REPO / "cassettes").glob(f"{below}/**/*.yaml")):
        name = path.relative_to(REPO).as_posix()
        if not ("/evaluations/" in name and re.search(r"\.\d+\.yaml$", name)):
            yield name, read_cassette(path)


def imported() -> Iterator[tuple[str, Cassette]]:
    """What replays of other people's recordings; nothing where the data is absent."""
    if SHARED.is_dir():
        for found in find_recordings([SHARED], Path("nowhere")):
            done, data = import_file(found, under_rules, version="law")
            if data:
                yield done.name, parse_cassette(data, done.name)


# ---------------------------------------------------------------- mutations


def others(value: Any) -> Iterator[Any]:
    """Other values for one place; each differs from it as JSON tells values apart."""
    match value:
        case bool():
            yield from (not value, int(value), None, GONE)
        case int() | float():
            yield from (value + 1, -value - 1, str(value), None, GONE)
        case str():
            yield from (f"{value} ", f"{value}\u200b", value[:-1] + "\ud800", [value], None, GONE)
        case list():
            yield from ([*value, "x"], [*value, None], value[1:] if value else [[]], None, GONE)
            yield from (list(order) for order in _orders(value))
        case dict():
            yield from ({**value, "x": 1}, {**value, "": None}, [value], None, GONE)
        case _:
            yield from (0, "", False, GONE)


def _orders(value: list[Any]) -> list[list[Any]]:
    """The list turned around and its first two exchanged, where that is another list."""
    turned = [value[::-1], [*value[1::-1], *value[2:]]]
    return [order for order in turned if json.dumps(order, sort_keys=True) != json.dumps(value, sort_keys=True)]


def places(value: Any, at: Place = ()) -> Iterator[tuple[Place, Any]]:
    """Every place of a JSON value, containers too."""
    if at:
        yield at, value
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from places(item, (*at, key))


def mutations(body: Any) -> Iterator[tuple[Place, bytes, Any]]:
    """(place, changed body as it would be sent, the same as a value until the next one is asked for)."""
    for place, value in list(places(body)):
        *above, last = place
        holder = body
        for part in above:
            holder = holder[part]
        for other in others(value):
            if other is GONE and isinstance(holder, list):
                holder.pop(last)
                yield place, json.dumps(body).encode(), body
                holder.insert(last, value)
            elif other is GONE:
                order = list(holder.items())
                del holder[last]
                yield place, json.dumps(body).encode(), body
                holder.clear()
                holder.update(order)
            else:
                holder[last] = other
                yield place, json.dumps(body).encode(), body
                holder[last] = value


# ---------------------------------------------------------------- what is no change


def pairs(body: Any) -> list[Any]:
    """Which call each result answers, in the plainest way: by position; an id that names no open call stands as it is."""
    called: list[str] = []
    answered: set[int] = set()
    seen: list[Any] = []
    for item in (body.get("messages") or body.get("input") or ()) if isinstance(body, dict) else ():
        if not isinstance(item, dict):
            continue
        ids = [call.get("id") for call in item.get("tool_calls") or () if isinstance(call, dict)]
        is_output = str(item.get("type", "")).endswith("_output")
        ids += [item["call_id"]] if "call_id" in item and not is_output else []
        for one in ids:
            seen.append("call" if isinstance(one, str) else ["call", one])
            if isinstance(one, str):
                called.append(one)
        result = item.get("tool_call_id", item.get("call_id") if is_output else None)
        if result is not None:
            open_ones = [at for at, one in enumerate(called) if one == result and at not in answered]
            answered.update(open_ones[:1])
            seen.append(["result", open_ones[0] if open_ones else result])
    return seen


def is_id(place: Place) -> bool:
    return place[-1] in ("id", "tool_call_id", "call_id") and place[0] in ("messages", "input") and "arguments" not in place


def without_ids(body: Any) -> str:
    """A body with each id of a call blanked, to be compared by value."""
    value = copy.deepcopy(body)
    for item in (value.get("messages") or value.get("input") or ()) if isinstance(value, dict) else ():
        if isinstance(item, dict):
            for call in item.get("tool_calls") or ():
                if isinstance(call, dict) and isinstance(call.get("id"), str):
                    call["id"] = "·"
            for key in ("tool_call_id", "call_id"):
                if isinstance(item.get(key), str):
                    item[key] = "·"
    return json.dumps(value, sort_keys=True)


def same_request(one: Any, other: Any) -> bool:
    """The same request but for the spelling of its ids, found without the code under test."""
    return without_ids(one) == without_ids(other) and pairs(one) == pairs(other)


# ---------------------------------------------------------------- the law


@dataclass
class Told:
    """Counts, and what is not so."""

    counts: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def must(self, holds: bool, what: str) -> None:
        if not holds:
            self.wrong.append(what)


def tries(cassette: Cassette, name: str, told: Told, every: int = 1) -> None:
    """Each mutation of each request of a cassette, or each n-th of them."""
    whole = Index(cassette, ())
    bodies = [json.loads(one.request.body) for one in cassette.exchanges]
    for number, (one, body) in enumerate(zip(cassette.exchanges, copy.deepcopy(bodies), strict=True), 1):
        alone = Index(Cassette((one,)), ())
        for place, sent, changed in itertools.islice(mutations(body), number % every, None, every):
            told.counts["mutations"] += 1
            request = asked(one.request.method, one.request.uri, sent, ())
            where = f"{name}, request {number}, {show_path(place)}"
            if whole.was_recorded(request):
                _explained(changed, bodies, number, place, told, where)
            else:
                _named(request, alone, place, told, where)


def _explained(changed: Any, bodies: list[Any], number: int, place: Place, told: Told, where: str) -> None:
    """A changed request that was found is one that was recorded, or the same but for the spelling of an id."""
    if same_request(changed, bodies[number - 1]):
        told.counts["ids spelt otherwise"] += 1
        told.must(is_id(place), f"{where}: changed, and yet the same request")
    else:
        told.counts["another recorded request"] += 1
        told.must(any(same_request(changed, body) for body in bodies), f"{where}: a change is not seen")


def _named(request: Asked, alone: Index, place: Place, told: Told, where: str) -> None:
    told.counts["misses"] += 1
    miss = explain(request, 1, alone)
    near = (one.path[: len(place)] == place or place[: len(one.path)] == one.path for one in miss.differences)
    told.must(any(near), f"{where}: a miss that does not name it: {miss}")
    first = show_path(miss.differences[0].path) if miss.differences else ""
    told.must(first in str(miss), f"{where}: the message names no place: {miss}")


def spelt_otherwise(cassette: Cassette, name: str, told: Told) -> None:
    """All ids of calls written backwards, keys in another order, other spacing: still the same requests."""
    transport = ReplayTransport(cassette, name)
    for number, one in enumerate(cassette.exchanges, 1):
        told.counts["spelt otherwise"] += 1
        body = json.loads(one.request.body)
        turned = json.dumps(_turned(body), indent=3, sort_keys=True).encode()
        url = httpx2.URL(one.request.uri).copy_with(host="elsewhere.test", port=81, query=b"a=1")
        got = asyncio.run(_ask(transport, [httpx2.Request("POST", url, content=turned, headers={"x-any": "1"})]))
        told.must(got[0] is not None, f"{name}, request {number}: not the same with other ids, order and host: {got}")


def _turned(body: Any) -> Any:
    ids = {one for item in body.get("messages") or body.get("input") or () if isinstance(item, dict) for one in _ids_of(item)}
    names = {one: f"renamed-{number}" for number, one in enumerate(sorted(ids))}
    value = copy.deepcopy(body)
    for item in value.get("messages") or value.get("input") or ():
        if isinstance(item, dict):
            for call in item.get("tool_calls") or ():
                if isinstance(call.get("id"), str):
                    call["id"] = names[call["id"]]
            for key in ("tool_call_id", "call_id"):
                if isinstance(item.get(key), str):
                    item[key] = names.get(item[key], item[key])
    return value


def _ids_of(item: Any) -> Iterator[str]:
    """Ids that a call in this request has; one that only a result names was given elsewhere, and stays."""
    yield from (call["id"] for call in item.get("tool_calls") or () if isinstance(call.get("id"), str))
    if isinstance(item.get("call_id"), str) and not str(item.get("type", "")).endswith("_output"):
        yield item["call_id"]


def all_at_once(cassette: Cassette, name: str, told: Told, seed: int = 0) -> None:
    """Every request of a cassette at once, in several orders: each gets an answer that was recorded for it."""
    wanted: dict[tuple[str, str, str], list[bytes]] = {}
    for one in cassette.exchanges:
        key = asked(one.request.method, one.request.uri, one.request.body, ()).key
        wanted.setdefault(key, []).append(one.response.body)
    orders = [list(cassette.exchanges)[::-1], random.Random(seed).sample(cassette.exchanges, len(cassette.exchanges))]
    for order in orders:
        told.counts["asked at once"] += len(order)
        transport = ReplayTransport(cassette, name)
        requests = [httpx2.Request("POST", one.request.uri, content=one.request.body) for one in order]
        got: dict[tuple[str, str, str], list[bytes]] = {}
        for one, answer in zip(order, asyncio.run(_ask(transport, requests)), strict=True):
            key = asked(one.request.method, one.request.uri, one.request.body, ()).key
            got.setdefault(key, []).append(answer or b"")
        same = {key: sorted(answers) for key, answers in got.items()} == {key: sorted(answers) for key, answers in wanted.items()}
        told.must(same, f"{name}: asked at once, requests got other answers than were recorded for them")


async def _ask(transport: ReplayTransport, requests: list[httpx2.Request]) -> list[bytes | None]:
    async def one(request: httpx2.Request) -> bytes | None:
        try:
            response = await transport.handle_async_request(request)
            return await response.aread()
        except Exception as error:
            print(f"  {type(error).__name__}: {error}", file=sys.stderr)
            return None

    return list(await asyncio.gather(*(one(request) for request in requests)))


# ---------------------------------------------------------------- broken files

ASKS_NOTHING = "format: harness-scenario/1\ntask: Hello\nmodel: local-model\nexpect: {status: completed}\n"
SILENT = "async def loop(env):\n    return 'I ask nobody.'\n"
BREAKS: dict[str, Callable[[Path], object]] = {
    "deleted": lambda path: path.unlink(),
    "emptied": lambda path: path.write_bytes(b""),
    "without interactions": lambda path: path.write_bytes(b"interactions: []\nversion: 1\n"),
    "cut in the middle": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    "without its last line": lambda path: path.write_bytes(path.read_bytes().rsplit(b"\n", 2)[0] + b"\n"),
    "not UTF-8": lambda path: path.write_bytes(b"\xff" + path.read_bytes()),
    "with an exchange more": lambda path: path.write_bytes(_with_one_twice(path.read_bytes())),
    "of another scenario": lambda path: path.write_bytes(path.read_bytes().replace(b"scenario: recorded/", b"scenario: other/")),
    "not touched": lambda path: path,
}


def _with_one_twice(data: bytes) -> bytes:
    head, *interactions = data.split(b"\n- ")
    last, _, tail = interactions[-1].partition(b"\nmetadata:")
    return b"\n- ".join([head, *interactions[:-1], last, last]) + b"\nmetadata:" + tail


def broken(told: Told, scenarios: list[Path]) -> None:
    """Each break of each scenario's cassette: exit code 4."""
    here = Path.cwd()
    with tempfile.TemporaryDirectory(prefix="broken-cassettes-") as name:
        os.chdir(name)
        try:
            Path("silent_loop.py").write_text(SILENT, encoding="utf-8")
            for scenario in scenarios:
                for how, break_it in BREAKS.items():
                    told.counts["broken cassettes"] += 1
                    code = _run_broken(scenario, how, break_it)
                    told.must(code == 4, f"{scenario.name} with its cassette {how}: exit code {code}, not 4")
        finally:
            os.chdir(here)


def _run_broken(scenario: Path, how: str, break_it: Callable[[Path], object]) -> int:
    place = Path("cassettes/recorded") / scenario.stem / "local-model.yaml"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes((REPO / place).read_bytes())
    Path("scenarios/recorded").mkdir(parents=True, exist_ok=True)
    copied = Path("scenarios/recorded") / scenario.name
    untouched = how == "not touched"
    copied.write_bytes(ASKS_NOTHING.encode() if untouched else scenario.read_bytes())
    break_it(place)
    more = ["--subject", "silent_loop:loop", "--check", "pairing"] if untouched else []
    with open(os.devnull, "w", encoding="utf-8") as nowhere, redirect_stdout(nowhere), redirect_stderr(nowhere):
        code = run_app(["run", "scenarios", *more])
    copied.unlink()
    return code


def main() -> int:
    """Try everything, say the counts. 0 when the law holds, else 1."""
    every = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    began = time.monotonic()
    told = Told()
    for name, cassette in (*shipped(), *imported()):
        told.counts["cassettes"] += 1
        told.counts["requests"] += len(cassette.exchanges)
        tries(cassette, name, told, every)
        spelt_otherwise(cassette, name, told)
        all_at_once(cassette, name, told)
    broken(told, sorted((REPO / "scenarios/recorded").glob("*.yaml")))
    if not SHARED.is_dir():
        print("not tried: other people's recordings, since ../shared/data/cassettes is not there")
    print(", ".join(f"{n:,} {what}" for what, n in told.counts.items()))
    print(f"{len(told.wrong)} wrong; {time.monotonic() - began:.0f} s")
    print("\n".join(told.wrong[:50]))
    return 1 if told.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
