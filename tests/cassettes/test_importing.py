"""Other people's recordings: what is read, what replays, what is refused and why, and what is written."""

from __future__ import annotations

import asyncio
import base64
import gzip
import hashlib
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import httpx2
import pytest
import yaml

from harness.cassettes import Cassette, Chunk, ReplayTransport, dump_cassette, read_cassette
from harness.cassettes.foreign import Damaged, parse_foreign
from harness.cassettes.importing import Imported
from harness.cli.cassette_text import import_text, import_value
from harness.errors import CassetteError, NothingToRunError, RecordingFailed, UsageError
from harness.runner import import_recordings
from harness.types.codes import Outcome
from tests.cassettes.imports import EXPECTED, verdicts
from tests.cassettes.lab import CALL, completion, exchange, frames, two_steps

FIRST, SECOND = two_steps()
URI = "https://api.example.test/v1/chat/completions"


def interaction(body: Any = FIRST, answer: Any = None, *, status: int = 200, uri: str = URI, **more: Any) -> dict[str, Any]:
    """An interaction as stock vcrpy writes it; ``more`` overrides parts of request and response."""
    said = completion() if answer is None else answer
    return {
        "request": {
            "method": "POST",
            "uri": uri,
            "headers": {"Authorization": ["Bearer abc"], "Content-Type": ["application/json"]},
            "body": json.dumps(body),
            **more.get("request", {}),
        },
        "response": {
            "status": {"code": status, "message": "OK"},
            "headers": {"Content-Type": ["application/json"], "Set-Cookie": ["sid=1"], "Server": ["lab"]},
            "body": {"string": said if isinstance(said, str | bytes) else json.dumps(said)},
            **more.get("response", {}),
        },
    }


def stock(*interactions: Any) -> bytes:
    return yaml.safe_dump({"interactions": list(interactions), "version": 1}).encode()


def import_one(folder: Path, data: bytes, name: str = "theirs/one.yaml") -> tuple[Imported, Path]:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    (done,) = import_recordings([path], folder / "ours")
    return done, folder / "ours" / "one.yaml"


# ---------------------------------------------------------------- what replays


STREAM = b"".join(frames("do", "ne")[:2]).replace(b"]}\n\n", b"]}\n\n")
END = b'data: {"object":"chat.completion.chunk","model":"lab-model","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'
SSE = {"headers": {"content-type": ["text/event-stream; charset=utf-8"]}}
WHOLE_RESPONSE = {
    "id": "resp_1", "object": "response", "status": "completed", "model": "lab-model",
    "output": [{"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": [{"type": "output_text", "text": "done"}]}],
}  # fmt: skip
RESPONSE_EVENTS = "".join(
    f"event: {kind}\ndata: {json.dumps({'type': kind, **value})}\n\n"
    for kind, value in (
        ("response.created", {"response": {**WHOLE_RESPONSE, "status": "in_progress", "output": []}}),
        ("response.output_item.done", {"output_index": 0, "item": WHOLE_RESPONSE["output"][0]}),
        ("response.completed", {"response": WHOLE_RESPONSE}),
    )
)
RESPONSES = {"uri": "https://api.example.test/v1/responses", "body": {"model": "m", "input": "hi"}}

REPLAYS: dict[str, tuple[dict[str, Any], str]] = {
    "chat": (interaction(), "chat"),
    "calls": (interaction(answer=completion(None, tool_calls=[CALL])), "chat: 1 calls"),
    "chat streamed": (interaction(answer=STREAM + END, response={**SSE, "body": {"string": (STREAM + END).decode()}}), "chat streamed"),
    "responses": (interaction(answer=WHOLE_RESPONSE, **RESPONSES), "responses"),
    "responses streamed": (interaction(**RESPONSES, response={**SSE, "body": {"string": RESPONSE_EVENTS}}), "responses streamed"),
    "gzip": (
        interaction(response={
            "headers": {"content-encoding": ["gzip"], "content-type": ["application/json"]},
            "body": {"string": gzip.compress(json.dumps(completion()).encode(), mtime=0)},
        }),
        "chat",
    ),
    "decoded, though its header says gzip": (
        interaction(response={"headers": {"content-encoding": ["gzip"], **SSE["headers"]}, "body": {"string": (STREAM + END).decode()}}),
        "chat streamed",
    ),
    "JSON that calls itself a stream": (interaction(response=SSE), "chat"),
    "a stream that calls itself JSON": (interaction(response={"body": {"string": (STREAM + END).decode()}}), "chat streamed"),
    "base64_string": (
        interaction(response={"body": {"base64_string": base64.b64encode(json.dumps(completion()).encode()).decode()}}),
        "chat",
    ),
    "content held back by a filter": (
        interaction(answer={**completion(), "choices": [{"index": 0, "finish_reason": "content_filter"}]}),
        "chat",
    ),
    "a legacy call that is none": (interaction(answer=completion("4", function_call={"name": "", "arguments": ""})), "chat"),
    "a provider that never says why it ended": (
        interaction(
            uri="https://a.snowflakecomputing.com/v1/chat/completions",
            response={**SSE, "body": {"string": STREAM.decode() + "data: [DONE]\n\n"}},
        ),
        "chat streamed",
    ),
    "older stubs": (
        {
            "request": interaction()["request"],
            "response": {"status_code": 200, "http_version": "HTTP/1.1", "headers": {}, "content": json.dumps(completion())},
        },
        "chat",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("one", "verdict"), REPLAYS.values(), ids=REPLAYS)
def test_an_exchange_of_our_dialects_is_taken_and_replays(tmp_path: Path, one: dict[str, Any], verdict: str) -> None:
    done, target = import_one(tmp_path, stock(one))
    assert verdicts([done]) == {"one.yaml": [verdict]}
    assert replayed(read_cassette(target)) is Outcome.PASS


def test_bodies_kept_as_trees_are_read_from_request_and_response(tmp_path: Path) -> None:
    one = interaction()
    del one["request"]["body"], one["response"]["body"]
    one["request"]["parsed_body"], one["response"]["parsed_body"] = SECOND, completion("4 degrees: für 4 °C")
    one["response"]["headers"] = {"content-encoding": ["gzip"], "content-type": ["application/json"]}
    _, target = import_one(tmp_path, stock(one))
    (exchange,) = read_cassette(target).exchanges
    assert json.loads(exchange.request.body) == SECOND
    assert json.loads(exchange.response.body) == completion("4 degrees: für 4 °C")


def test_a_file_in_json_is_read_as_one_in_yaml(tmp_path: Path) -> None:
    document = {"interactions": [interaction()], "version": 1}
    (done,) = import_recordings([write(tmp_path / "one.json", json.dumps(document, indent=4))], tmp_path / "ours")
    assert [one.verdict for one in done.exchanges] == ["chat"]


def write(path: Path, text: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def replayed(cassette: Cassette) -> Outcome:
    """Every request of a cassette asked again, in the opposite order."""
    transport = ReplayTransport(cassette, "imported")

    async def ask() -> None:
        async with httpx2.AsyncClient(transport=transport) as client:
            for one in reversed(cassette.exchanges):
                path = httpx2.URL(one.request.uri).path
                answer = await client.post(f"http://elsewhere.invalid{path}", content=one.request.body)
                assert answer.content in {other.response.body for other in cassette.exchanges}

    asyncio.run(ask())
    (verdict,) = transport.closing_verdicts()
    return verdict.outcome


# ---------------------------------------------------------------- what is refused


def get(uri: str) -> dict[str, Any]:
    return interaction(uri=uri, request={"method": "GET", "body": None})


REFUSED: dict[str, tuple[Any, str]] = {
    "anthropic": (interaction(uri="https://api.anthropic.com/v1/messages"), "anthropic"),
    "google": (interaction(uri="https://g.test/v1beta/models/gemini:generateContent"), "google"),
    "cohere": (interaction(uri="https://api.cohere.com/v2/chat"), "cohere"),
    "ollama": (interaction(uri="http://127.0.0.1:11434/api/chat"), "ollama"),
    "bedrock": (interaction(uri="https://bedrock-runtime.test/model/x/converse"), "bedrock"),
    "embeddings": (interaction(uri="https://api.openai.com/v1/embeddings"), "embeddings"),
    "audio": (interaction(uri="https://api.openai.com/v1/audio/speech"), "audio"),
    "images": (interaction(uri="https://api.openai.com/v1/images/generations"), "images"),
    "telemetry": (interaction(uri="https://telemetry.test/v1/traces"), "telemetry"),
    "mcp": (interaction({"jsonrpc": "2.0", "method": "tools/list"}, uri="https://mcp.test/mcp"), "json-rpc"),
    "download": (get("https://files.test/cat.png"), "download"),
    "state": (interaction(uri="https://api.openai.com/v1/conversations"), "provider-state"),
    "no request known here": (interaction(uri="https://api.test/v1/teapot"), "other"),
    "HTTP 429": (interaction(answer={"error": {"message": "slow down"}}, status=429), "http 429"),
    "a page of text": (interaction(answer="<html>hello</html>"), "damaged"),
    "cut JSON": (interaction(answer=json.dumps(completion())[:-9]), "damaged"),
    "cut stream": (interaction(response={**SSE, "body": {"string": STREAM.decode()}}), "truncated"),
    "no finish reason": (interaction(response={**SSE, "body": {"string": STREAM.decode() + "data: [DONE]\n\n"}}), "no-finish-reason"),
    "queued": (interaction(answer={**WHOLE_RESPONSE, "status": "queued", "output": []}, **RESPONSES), "unfinished"),
    "a request without a body": (interaction(request={"body": None}), "no-request"),
    "content held back, in a cut stream": (
        interaction(response={**SSE, "body": {"string": END.decode().replace("stop", "content_filter")[:-9]}}),
        "truncated",
    ),
    "nothing said": (interaction(answer=completion("")), "empty"),
    "an error in place of an answer": (interaction(answer={"error": {"message": "no", "type": "server_error"}}), "provider-error"),
    "no gzip": (
        interaction(response={"headers": {"content-encoding": ["gzip"]}, "body": {"string": b"\x00\x01"}}),
        "damaged",
    ),
    "a body of a third kind": (interaction(request={"body": 3}), "damaged"),
    "no status": (interaction(response={"status": None}), "damaged"),
    "no response": ({"request": interaction()["request"]}, "damaged"),
    "no interaction": ("hello", "damaged"),
    "a key in the prompt": (interaction({**FIRST, "user": "sk-abcdefghijklmnop0123"}), "secret"),
}  # fmt: skip


@pytest.mark.parametrize(("one", "verdict"), REFUSED.values(), ids=REFUSED)
def test_what_does_not_replay_is_refused_with_its_reason_and_nothing_is_written(
    tmp_path: Path, one: Any, verdict: str
) -> None:
    done, target = import_one(tmp_path, stock(one))
    (refused,) = done.exchanges
    assert (refused.verdict, refused.replays) == (verdict, False)
    assert refused.why
    assert done.target is None
    assert not target.exists()


def test_what_replays_is_taken_from_between_what_does_not(tmp_path: Path) -> None:
    file = stock(REFUSED["telemetry"][0], interaction(), REFUSED["HTTP 429"][0], interaction(SECOND))
    done, target = import_one(tmp_path, file)
    assert verdicts([done]) == {"one.yaml": ["telemetry", "chat", "http 429", "chat"]}
    cassette = read_cassette(target)
    assert [json.loads(one.request.body) for one in cassette.exchanges] == [FIRST, SECOND]
    assert cassette.about is not None
    assert cassette.about.imported is not None
    assert cassette.about.imported.taken == (2, 4)


UNREADABLE = {
    "empty": b"",
    "blank": b"\n \n",
    "no YAML": b"interactions: [",
    "no JSON": b'{"interactions": [}',
    "another thing": b"a: 1\n",
    "a text": b"hello\n",
    "no interactions": b"interactions: []\nversion: 1\n",
    "before vcrpy 1.0": yaml.safe_dump([{"request": {}, "response": {}}]).encode(),
    "a key twice": b"interactions: []\ninteractions: []\n",
    "no UTF-8": b"interactions: \xff\xfe\n",
    "python objects": b"interactions: [!!python/object/apply:os.system [echo]]\n",
    "absurdly nested": b"[" * 100_000,
}


@pytest.mark.parametrize("data", UNREADABLE.values(), ids=UNREADABLE)
def test_a_file_that_is_no_recording_is_told_by_name_and_leaves_the_others_alone(tmp_path: Path, data: bytes) -> None:
    write(tmp_path / "theirs/a.yaml", data)
    write(tmp_path / "theirs/b.yaml", stock(interaction()))
    bad, good = import_recordings([tmp_path / "theirs"], tmp_path / "ours")
    assert "theirs/a.yaml" in bad.error
    assert "record" not in bad.error.replace("recording", ""), "whose file it is can only be told by its maker"
    assert bad.target is None
    assert good.target == tmp_path / "ours/b.yaml"
    assert [one.name for one in (tmp_path / "ours").iterdir()] == ["b.yaml"]


def test_a_damaged_exchange_says_which_request_it_was() -> None:
    (one,) = parse_foreign(stock(interaction(request={"body": 3})), "x")
    assert isinstance(one, Damaged)
    assert URI in one.address


BOMB = "a: &a [x,x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{name}: &{name} [{','.join([f'*{before}'] * 10)}]\n" for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)
HEAD = "interactions:\n- response: {status: {code: 200}, headers: {}, body: {string: x}}\n  request:\n    method: POST\n    uri: http://x/v1/chat/completions\n"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"{BOMB}{HEAD}    parsed_body: *i\n", id="aliases-of-aliases"),
        pytest.param(f"{HEAD}    parsed_body: {{day: 2024-01-01}}\n", id="a-date"),
        pytest.param(f"{HEAD}    parsed_body: {{n: .nan}}\n", id="nan"),
        pytest.param(f"{HEAD}    body: !!set {{a: null}}\n", id="a-set"),
    ],
)
def test_a_hostile_tree_is_damage_and_costs_little(text: str) -> None:
    (one,) = parse_foreign(text.encode(), "x")
    assert isinstance(one, Damaged)


@pytest.mark.parametrize(
    "one",
    [
        pytest.param(interaction(uri=f"{URI}?key=canary-hunter2", request={"body": 3}), id="address-of-a-damaged-one"),
        pytest.param(interaction(uri="http://canary-hunter2/v1/chat/completions", request={"body": 3}), id="its-host"),
        pytest.param(interaction(answer={"error": {"message": "bad key canary-hunter2"}}), id="said-by-the-provider"),
        pytest.param(interaction(status=401, response={"status": {"code": 401, "message": "canary-hunter2"}}), id="reason"),
    ],
)
def test_why_an_exchange_is_refused_is_told_without_the_secret(tmp_path: Path, one: dict[str, Any]) -> None:
    path = write(tmp_path / "theirs/one.yaml", stock(one))
    (done,) = import_recordings([path], tmp_path / "ours", ("canary-hunter2",))
    assert "canary-hunter2" not in str(done)
    assert done.exchanges[0].why


KEY = "sk-proj-0123456789abcdefghijABCDEF"


def test_a_file_whose_name_holds_a_key_is_refused_without_showing_it(tmp_path: Path) -> None:
    for data in (stock(interaction()), b"interactions: ["):
        path = write(tmp_path / f"theirs/name-{KEY}.yaml", data)
        (done,) = import_recordings([path], tmp_path / "ours", (KEY,))
        assert done.target is None
        assert "name-<secret>" in done.error
        told = import_text([done], tmp_path / "ours", verbose=True) + json.dumps(import_value([done]))
        assert KEY not in told + str(done)
        assert "0 of" in told
        assert "then record" not in told
    assert not (tmp_path / "ours").exists()


def test_an_address_that_holds_a_secret_is_refused_alone_and_counted_as_a_secret(tmp_path: Path) -> None:
    bad = interaction(uri=f"https://api.example.test/{KEY}/v1/chat/completions")
    done, target = import_one(tmp_path, stock(bad, interaction(SECOND)))
    assert [one.verdict for one in done.exchanges] == ["secret", "chat"]
    assert KEY not in target.read_text() + import_text([done], tmp_path, verbose=True)
    (named,) = import_recordings([write(tmp_path / f"theirs/{KEY}.yaml", stock(interaction()))], tmp_path / "more")
    assert [(one.verdict, one.replays) for one in named.exchanges] == [("secret", False)]


# ---------------------------------------------------------------- what is written


def test_the_header_says_who_answered_and_which_file_it_was_and_invents_nothing(tmp_path: Path) -> None:
    data = stock(interaction())
    _, target = import_one(tmp_path, data)
    about = read_cassette(target).about
    assert about is not None
    assert (about.model, about.fingerprint, about.server, about.host) == ("lab-model", "lab-1", "lab", "api.example.test")
    assert (about.info.scenario, about.info.digest, about.info.recorded_at) == ("", "", "")
    assert about.imported is not None
    assert (about.imported.file, about.imported.sha256) == ("one.yaml", hashlib.sha256(data).hexdigest())


def test_headers_are_kept_by_allow_list(tmp_path: Path) -> None:
    _, target = import_one(tmp_path, stock(interaction(uri=f"{URI}?key=abc")))
    (one,) = read_cassette(target).exchanges
    assert one.request.headers == (("content-type", "application/json"),)
    assert one.response.headers == (("content-type", "application/json"),)
    assert one.request.uri == URI


def test_a_cassette_of_ours_keeps_its_pieces(tmp_path: Path) -> None:
    ours = exchange(FIRST, completion(), chunks=(Chunk(7, 5), Chunk(len(json.dumps(completion())) - 7, 900)))
    _, target = import_one(tmp_path, dump_cassette(Cassette((ours,))))
    assert read_cassette(target).exchanges == (ours,)


def test_importing_twice_overwrites_nothing_and_writes_nothing(tmp_path: Path) -> None:
    data = stock(interaction())
    _, target = import_one(tmp_path, data)
    before = target.read_bytes()
    write(tmp_path / "theirs/two.yaml", data)
    with pytest.raises(UsageError, match="nothing is overwritten"):
        import_recordings([tmp_path / "theirs"], tmp_path / "ours")
    assert target.read_bytes() == before
    assert not (tmp_path / "ours/two.yaml").exists()


def test_same_files_same_bytes(tmp_path: Path) -> None:
    write(tmp_path / "theirs/one.yaml", stock(interaction(), interaction(SECOND)))
    for out in ("a", "b"):
        import_recordings([tmp_path / "theirs"], tmp_path / out)
    assert (tmp_path / "a/one.yaml").read_bytes() == (tmp_path / "b/one.yaml").read_bytes()


def test_two_files_that_would_become_one_are_refused(tmp_path: Path) -> None:
    write(tmp_path / "theirs/one.yaml", stock(interaction()))
    write(tmp_path / "theirs/one.json", json.dumps({"interactions": [interaction()]}))
    with pytest.raises(UsageError, match="both become"):
        import_recordings([tmp_path / "theirs"], tmp_path / "ours")


@pytest.mark.parametrize("given", [("p1/z/g.json", "p2/z/g.json"), ("p1/z/g.json", "p1/z/g.json"), ("p1/z", "p1/z/g.json")])
def test_files_named_one_by_one_that_would_become_one_are_refused_by_their_paths(
    tmp_path: Path, given: tuple[str, str]
) -> None:
    for name in ("p1/z/g.json", "p2/z/g.json"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_bytes(stock(interaction()))
    with pytest.raises(UsageError) as refused:
        import_recordings([tmp_path / name for name in given], tmp_path / "ours")
    both = [str(tmp_path / name / "g.json" if name.endswith("z") else tmp_path / name) for name in given]
    assert all(one in str(refused.value) for one in both), refused.value
    assert ("twice" in str(refused.value)) is (len(set(both)) == 1)
    assert not (tmp_path / "ours").exists()


def test_a_disk_that_refuses_the_last_file_leaves_none(tmp_path: Path) -> None:
    for name in ("a", "b", "folder/c"):
        write(tmp_path / f"theirs/{name}.yaml", stock(interaction()))
    write(tmp_path / "ours/folder", "a file where a folder must be made")
    with pytest.raises(RecordingFailed):
        import_recordings([tmp_path / "theirs"], tmp_path / "ours")
    assert [one.name for one in (tmp_path / "ours").rglob("*")] == ["folder"]


def test_nothing_and_nowhere_are_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(NothingToRunError):
        import_recordings([tmp_path / "empty"], tmp_path / "ours")
    with pytest.raises(UsageError, match="no such file"):
        import_recordings([tmp_path / "gone"], tmp_path / "ours")
    with pytest.raises(CassetteError, match="holds no recordings"):
        parse_foreign(b"interactions: []\n", "x")


# ---------------------------------------------------------------- the real data


@pytest.fixture(scope="module")
def real(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[tuple[Imported, ...], Path]:
    """All of ../shared/data/cassettes, imported."""
    out = tmp_path_factory.mktemp("imported")
    return import_recordings([shared / "data/cassettes"], out), out


def test_each_real_exchange_has_the_verdict_that_is_written_down(real: tuple[tuple[Imported, ...], Path]) -> None:
    found = verdicts(real[0])
    assert found == json.loads(EXPECTED.read_text(encoding="utf-8"))
    assert (len(found), sum(map(len, found.values()))) == (165, 381)


def test_each_imported_cassette_replays_what_it_holds(real: tuple[tuple[Imported, ...], Path]) -> None:
    targets = [one.target for one in real[0] if one.target is not None]
    assert sorted(targets) == sorted(real[1].rglob("*.yaml"))
    assert {target: replayed(read_cassette(target)) for target in targets} == dict.fromkeys(targets, Outcome.PASS)


CALLS = {
    # What an independent script counted, and what of it is not an answer of ours.
    "crewai": 47,
    "llm": 15 - 1,  # the stream of variant b ends without a finish reason
    "llm-anthropic": 4 - 4,  # Anthropic
    "mirascope": 8 - 4,  # Anthropic and Google
    "openllmetry": 8 + 3,  # three legacy function_calls, which that script left out, are calls here
    "otel": 4,
    "pydantic-ai": 81 - 24 - 4,  # arguments as objects: Anthropic and Google; and three files hold no requests
}
FILES = {"crewai": 31, "llm": 7, "llm-anthropic": 4, "mirascope": 18, "openllmetry": 15, "otel": 6, "pydantic-ai": 84}
EXCHANGES = {"crewai": 110, "llm": 17, "llm-anthropic": 7, "mirascope": 27, "openllmetry": 34, "otel": 7, "pydantic-ai": 179}


def test_files_exchanges_and_calls_are_those_of_an_independent_count(real: tuple[tuple[Imported, ...], Path]) -> None:
    files, exchanges, calls = Counter[str](), Counter[str](), Counter[str]()
    for one in real[0]:
        folder = one.name.split("/")[1]
        files[folder] += 1
        exchanges[folder] += len(one.exchanges)
        calls[folder] += sum(each.n_calls for each in one.exchanges)
    assert files == FILES
    assert exchanges == EXCHANGES
    assert calls == {**CALLS, "llm-anthropic": 0}


LINE = re.compile(r"^- `(?P<file>[^`]+)`: (?P<kinds>[^;]+); (?P<hosts>[^;]+); (?P<statuses>[^;]+);(?: S;)? calls (?P<calls>\d+)")
OTHER_COUNTS = {
    "llm/test_tools_streaming/test_tools_streaming_variant_b.yaml": 0,  # no finish reason
    **{  # without the body of a request
        f"pydantic-ai/test_tool_choice_matrix/test_tool_choice_matrix[{one}-huggingface].yaml": 0
        for one in ("list_single", "required", "tools_plus_output")
    },
}
LEGACY = {"langchain/test_lcel/test_simple_lcel.yaml": 2, "langchain/test_llms/test_openai_functions.yaml": 1}


def test_what_is_told_of_each_file_by_those_who_chose_it_is_what_is_found(
    real: tuple[tuple[Imported, ...], Path], shared: Path
) -> None:
    # Written by another program: kinds, statuses and calls of each file, one line each.
    told: dict[str, re.Match[str]] = {}
    folder = ""
    for line in (shared / "data/cassettes/README.md").read_text("utf-8").splitlines():
        folder = line.removeprefix("## ") if line.startswith("## ") else folder
        found = LINE.match(line)
        if found:
            told[f"cassettes/{folder}/{found['file']}"] = found
    assert sorted(told) == sorted(one.name for one in real[0])
    for one in real[0]:
        line = told[one.name]
        place = one.name.removeprefix("cassettes/")
        kinds = set(line["kinds"].split("/")) & {"chat", "responses", "anthropic", "google", "ollama", "embeddings"}
        n_codes = {code: int(n) for code, n in (item.split("×") for item in line["statuses"].split())}
        assert sum(n_codes.values()) == len(one.exchanges), one.name
        seen = {each.verdict.split()[0] for each in one.exchanges}
        assert kinds & {"anthropic", "google", "ollama", "embeddings"} == seen & {"anthropic", "google", "ollama", "embeddings"}, one.name
        for each in one.exchanges:
            if each.verdict.startswith("http "):
                assert each.verdict.split()[1] in n_codes, one.name
        if not kinds & {"anthropic", "google"}:
            expected = OTHER_COUNTS.get(place, int(line["calls"]) + LEGACY.get(place.split("/", 1)[1], 0))
            assert sum(each.n_calls for each in one.exchanges) == expected, one.name
