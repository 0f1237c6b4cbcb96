"""``harness serve`` as a program of its own: curl asks it, its log holds no secret, its exit code judges."""

import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.house.source import REPO

SECRET = "sk-0123456789abcdefghijABCDEF"
SCENARIO = """\
format: harness-scenario/1
task: add
tools: [calculator]
script:
  - call: {calculator: {expression: "1+2"}}
  - say: It is three.
"""
ASK: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": f"add, and my key is {SECRET}"}]}
DONE: dict[str, Any] = {**ASK, "messages": [*ASK["messages"], {"role": "assistant", "content": "I did."}]}
needs_curl = pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")


class Server:
    """A running ``harness serve``."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process
        self.head = [self._line() for _ in range(4)]
        found = re.search(r"OPENAI_BASE_URL=(\S+)", "\n".join(self.head))
        assert found is not None, self.head
        self.base_url = found[1]

    def _line(self) -> str:
        stream = self.process.stderr if "--json" in self.process.args else self.process.stdout  # type: ignore[operator]
        assert stream is not None
        return stream.readline().rstrip("\n")

    def ask(self, path: str = "/chat/completions", body: Any = ASK) -> httpx2.Response:
        """POST."""
        headers = {"authorization": f"Bearer {SECRET}", "cookie": f"s={SECRET}"}
        return httpx2.post(self.base_url + path, json=body, headers=headers, timeout=20, trust_env=False)

    def end(self, number: int | None = signal.SIGINT) -> tuple[int, str, str]:
        """Send a signal (None: it ends by itself); exit code, standard output, standard error."""
        if number is not None:
            self.process.send_signal(number)
        out, err = self.process.communicate(timeout=30)
        return self.process.returncode, out, err


@contextlib.contextmanager
def serving(tmp_path: Path, *options: str, text: str = SCENARIO) -> Iterator[Server]:
    """Start it on a free port; killed where a test leaves it."""
    file = tmp_path / "add.yaml"
    file.write_text(text, "utf-8")
    environ = {**os.environ, "PYTHONPATH": str(REPO), "MY_API_KEY": SECRET, "NO_COLOR": "1"}
    process = subprocess.Popen(
        [sys.executable, "-m", "harness", "serve", str(file), *options],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path, env=environ,
    )  # fmt: skip
    try:
        yield Server(process)
    finally:
        process.kill()
        process.wait(20)
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_script_that_was_used_up_passes_however_it_is_ended(tmp_path: Path, number: int) -> None:
    with serving(tmp_path) as server:
        assert server.base_url.startswith("http://127.0.0.1:")
        first = server.ask().json()["choices"][0]["message"]
        assert first["tool_calls"][0]["function"] == {"name": "calculator", "arguments": '{"expression":"1+2"}'}
        assert server.ask(body=DONE).json()["choices"][0]["message"]["content"] == "It is three."
        code, out, _ = server.end(number)
    assert code == 0
    assert "PASS 2 requests (2 answered), 0 faults fired, 0 replies unused" in out


@pytest.mark.parametrize(
    ("options", "n_asked", "code", "words"),
    [
        pytest.param([], 0, 4, "nobody asked for anything", id="untouched"),
        pytest.param([], 1, 1, "1 reply unused after 1 request", id="left-over"),
        pytest.param(["--allow-leftovers"], 1, 0, "PASS", id="left-over-allowed"),
    ],
)
def test_what_is_left_over_decides_the_exit_code(
    tmp_path: Path, options: list[str], n_asked: int, code: int, words: str
) -> None:
    with serving(tmp_path, *options) as server:
        for _ in range(n_asked):
            server.ask()
        got, out, err = server.end()
    assert got == code, err
    assert words in out


def test_once_ends_by_itself_and_the_last_answer_arrives(tmp_path: Path) -> None:
    with serving(tmp_path, "--once") as server:
        server.ask()
        with httpx2.stream("POST", server.base_url + "/chat/completions", json={**DONE, "stream": True}) as response:
            assert response.read().endswith(b"data: [DONE]\n\n")
        code, out, _ = server.end(None)
    assert code == 0, out


def test_the_log_holds_each_request_and_no_secret(tmp_path: Path) -> None:
    faults = "faults: [{request: 1, status: 503}, {request: 9, reset: true}]\n"
    with serving(tmp_path, "--log", "requests.jsonl", text=SCENARIO + faults) as server:
        server.ask()
        server.ask()
        server.ask("/responses", {"model": "m", "input": [{"type": "function_call_output", "call_id": "c", "output": ""}]})
        server.ask("/embeddings", {})
        code, out, err = server.end()
    text = (tmp_path / "requests.jsonl").read_text("utf-8")
    lines = [json.loads(line) for line in text.splitlines()]
    assert [(line["request"], line["went"], line["status"]) for line in lines] == [
        (1, "fault", 503), (2, "answered", 200), (3, "refused", 400), (0, "refused", 404),
    ]  # fmt: skip
    assert lines[1]["retryOf"] == 1
    assert lines[0]["fault"] == "status 503"
    assert "no tool call found for function call output with call_id c" in lines[2]["why"]
    assert lines[0]["body"]["messages"][0]["content"].startswith("add, and my key is ")
    assert {name for line in lines for name in line["headers"]} <= {"accept", "content-length", "content-type", "user-agent"}
    assert SECRET not in text + out + err
    assert code == 1
    assert "request 9 never came: reset did not happen" in out


def test_json_gives_one_object_on_standard_output(tmp_path: Path) -> None:
    with serving(tmp_path, "--json", "--allow-leftovers") as server:
        server.ask()
        code, out, _ = server.end()
    told = json.loads(out)
    assert (code, told["exitCode"], told["outcome"], told["unusedReplies"]) == (0, 0, "PASS", 1)
    assert [request["went"] for request in told["requests"]] == ["answered"]


def test_lenient_takes_a_history_that_the_real_api_refuses(tmp_path: Path) -> None:
    bad = {**ASK, "messages": [*ASK["messages"], {"role": "tool", "tool_call_id": "c", "content": "x"}]}
    with serving(tmp_path) as server:
        assert server.ask(body=bad).status_code == 400
        code, out, _ = server.end()
        assert (code, "request 1 was refused with 400" in out) == (1, True)
    with serving(tmp_path, "--lenient", "--allow-leftovers") as server:
        assert server.ask(body=bad).status_code == 200
        assert server.end()[0] == 0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param("format: harness-scenario/1\ntask: x\nmodel: m\n", "has no script to serve", id="no-script"),
        pytest.param("format: harness-scenario/1\ntask: x\nscript: [say: x]\nfaults: [{request: 1}]\n", "one fault", id="no-fault"),
    ],
)
def test_what_cannot_be_served_is_a_usage_error(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "x.yaml").write_text(text, "utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "harness", "serve", "x.yaml"], cwd=tmp_path, timeout=60, check=False,
        capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(REPO)},
    )  # fmt: skip
    assert (done.returncode, words in done.stderr) == (2, True), done.stderr


def refused_serve(folder: Path, *options: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "harness", "serve", *options], cwd=folder, timeout=60, check=False,
        capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(REPO)},
    )  # fmt: skip


OLD_LOG = '{"request": 1, "went": "answered", "status": 200}\n'


@pytest.mark.parametrize(
    ("options", "kept", "words"),
    [
        pytest.param(["s.yaml", "--log", "s.yaml"], "s.yaml", "is no log of requests", id="the-scenario-itself"),
        pytest.param(["s.yaml", "--log", "notes.txt"], "notes.txt", "is no log of requests", id="a-file-of-another-kind"),
        pytest.param(["s.yaml", "--log", "old.jsonl", "--port", "BUSY"], "old.jsonl", "cannot listen", id="a-port-in-use"),
        pytest.param(["none.yaml", "--log", "old.jsonl"], "old.jsonl", "has no script", id="no-script"),
        pytest.param(["s.yaml", "--log", "s.yaml/x.log"], "s.yaml", "is no folder", id="through-a-file"),
    ],
)
def test_a_serve_that_is_refused_leaves_every_file_as_it_was(
    tmp_path: Path, options: list[str], kept: str, words: str
) -> None:
    files = {"s.yaml": SCENARIO, "notes.txt": "mine\n", "old.jsonl": OLD_LOG, "none.yaml": "format: harness-scenario/1\ntask: x\nmodel: m\n"}
    for name, text in files.items():
        (tmp_path / name).write_text(text, "utf-8")
    with socket.create_server(("127.0.0.1", 0)) as busy:
        done = refused_serve(tmp_path, *(str(busy.getsockname()[1]) if one == "BUSY" else one for one in options))
        new = refused_serve(tmp_path, "s.yaml", "--log", "new.jsonl", "--port", str(busy.getsockname()[1]))
    assert (done.returncode, words in done.stderr) == (2, True), done.stderr
    assert (tmp_path / kept).read_text("utf-8") == files[kept]
    assert (new.returncode, (tmp_path / "new.jsonl").exists()) == (2, False)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        pytest.param(["--port", "99999"], "must be 0-65535. Give another --port.", id="no-port"),
        pytest.param(["--host", "203.0.113.9"], "Give another --host.", id="an-address-of-others"),
    ],
)
def test_an_address_that_cannot_be_had_names_the_option_that_is_wrong(
    tmp_path: Path, options: list[str], words: str
) -> None:
    (tmp_path / "s.yaml").write_text(SCENARIO, "utf-8")
    done = refused_serve(tmp_path, "s.yaml", *options)
    assert (done.returncode, words in done.stderr) == (2, True), done.stderr


def test_an_older_log_is_replaced_and_a_missing_folder_is_made(tmp_path: Path) -> None:
    (tmp_path / "old.jsonl").write_text(OLD_LOG * 3, "utf-8")
    for name in ("old.jsonl", "made/here/new.jsonl"):
        with serving(tmp_path, "--log", name) as server:
            server.ask()
            server.end()
        (line,) = (tmp_path / name).read_text("utf-8").splitlines()
        assert json.loads(line)["tookMs"] >= 0


# ---------------------------------------------------------------- curl


def curl(*arguments: str) -> str:
    """What curl prints."""
    done = subprocess.run(
        ["curl", "--silent", "--show-error", "--noproxy", "*", "--max-time", "20", *arguments],
        capture_output=True, text=True, timeout=30, check=False,
    )  # fmt: skip
    return done.stdout if done.returncode == 0 else f"{done.returncode} {done.stderr}"


@needs_curl
def test_curl_runs_unchanged_against_it(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        chat, responses = server.base_url + "/chat/completions", server.base_url + "/responses"
        whole = json.loads(curl(chat, "-H", "Content-Type: application/json", "-d", json.dumps(ASK)))
        assert whole["choices"][0]["finish_reason"] == "tool_calls"
        streamed = curl("--no-buffer", chat, "-d", json.dumps({**DONE, "stream": True}))
        assert streamed.endswith("data: [DONE]\n\n")
        told = [json.loads(line[6:]) for line in streamed.splitlines() if line.startswith("data: {")]
        assert "".join(c["choices"][0]["delta"].get("content", "") for c in told) == "It is three."
        said = {"model": "m", "input": [{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}]}
        assert json.loads(curl(responses, "-d", json.dumps(said)))["output"][0]["content"][0]["text"] == "It is three."
        events = curl("--no-buffer", responses, "-d", json.dumps({**said, "stream": True}))
        assert re.findall(r"^event: (\S+)$", events, re.MULTILINE)[-1] == "response.completed"
        assert json.loads(curl(server.base_url + "/models"))["data"][0]["id"] == "scripted"
        big = tmp_path / "big.json"
        padded = {**DONE, "metadata": {"x": "y" * 3_000_000}}
        big.write_text(json.dumps(padded), "utf-8")  # so large that curl asks whether to go on first
        assert "It is three." in curl(chat, "-H", "Expect: 100-continue", "-d", f"@{big}")
        assert server.end()[0] == 0


@needs_curl
def test_curl_sees_the_faults(tmp_path: Path) -> None:
    faults = "faults: [{request: 1, reset: true}, {request: 2, cut_after: 0}, {request: 3, status: 429, retry_after_ms: 1500}]\n"
    with serving(tmp_path, text=SCENARIO + faults) as server:
        chat, body = server.base_url + "/chat/completions", json.dumps(ASK)
        assert curl(chat, "-d", body).startswith("56 ")  # failure in receiving
        assert curl(chat, "-d", body).startswith("18 ")  # partial file
        limited = curl("--include", chat, "-d", body)
        assert "HTTP/1.1 429 Too Many Requests" in limited
        assert "retry-after: 2" in limited
        assert "retry-after-ms: 1500" in limited
        assert "tool_calls" in curl(chat, "-d", body)
