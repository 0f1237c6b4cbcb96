"""Tools that scenarios can name: memory, weather, files, searches, requests."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from harness.errors import ConfigurationError
from harness.tools import memory_of
from harness.types.codes import Code
from harness.types.doors import ToolReply
from harness.types.messages import JsonText
from harness.types.scenario import ToolsSpec
from tests.tools.lab import built, reply_of

FILES = (
    ("src/login.ts", "export function login() {\n  return fetch('/api/login')\n}\n"),
    ("docs/auth.md", "Tokens are signed.\nA bad signature gives INVALID_SIGNATURE.\n签名无效\n"),
    ("logs/api.log", "10:01 login ok\n10:02 401 INVALID_SIGNATURE key=old\n"),
)


def use(folder: Path, name: str, arguments: dict[str, Any], **fields: Any) -> ToolReply:
    tools = built(folder, name, files=FILES, **fields)
    return reply_of(tools[name], json.dumps(arguments))


def test_the_calculator_answers_the_articles_sums(tmp_path: Path) -> None:
    assert use(tmp_path, "calculator", {"expression": "(12 + 34) * 5"}).content == "230"
    reply = use(tmp_path, "calculator", {"expression": "10 / 0"})
    assert (reply.is_error, reply.code) == (True, Code.TOOL_FAILED)


# ---------------------------------------------------------------- memory


@pytest.mark.article("19")
def test_what_one_run_wrote_the_next_one_reads(tmp_path: Path) -> None:
    memory = (("base", JsonText("10")),)
    assert use(tmp_path, "read_memory", {"key": "base"}, memory=memory).content == "10"
    assert not use(tmp_path, "write_memory", {"key": "名字", "value": {"a": [1]}}, memory=memory).is_error
    assert use(tmp_path, "read_memory", {"key": "名字"}, memory=memory).content == '{"a":[1]}'
    assert memory_of(ToolsSpec(memory=memory), tmp_path) == '{"base":10,"名字":{"a":[1]}}'
    assert sorted(path.name for path in tmp_path.iterdir()) == ["memory.json"]


def test_a_key_that_is_not_there_is_empty_and_names_those_that_are(tmp_path: Path) -> None:
    reply = use(tmp_path, "read_memory", {"key": "bas"}, memory=(("base", JsonText("10")),))
    assert (reply.is_error, reply.code) == (False, Code.EMPTY)
    assert "base" in reply.content


def test_two_workspaces_share_no_memory(tmp_path: Path) -> None:
    use(tmp_path / "a", "write_memory", {"key": "k", "value": 1})
    assert use(tmp_path / "b", "read_memory", {"key": "k"}).code is Code.EMPTY


# ---------------------------------------------------------------- weather


@pytest.mark.parametrize(
    ("arguments", "content"),
    [
        ({"city": "Beijing"}, '{"sky":"sunny","temperature_c":24}'),
        ({"city": "北京"}, '{"sky":"sunny","temperature_c":24}'),
        ({"city": "北京", "when": "+3h"}, '{"sky":"cloudy","temperature_c":21}'),
    ],
)
def test_weather_is_canned_under_both_names_of_a_city(arguments: dict[str, Any], content: str, tmp_path: Path) -> None:
    assert use(tmp_path, "get_weather", arguments).content == content


def test_a_scenario_gives_its_own_weather(tmp_path: Path) -> None:
    options = (("get_weather", JsonText('{"cities": {"北京": {"now": "下雨", "+3h": "晴"}, "巴黎": "晴"}}')),)
    assert use(tmp_path, "get_weather", {"city": "北京", "when": "+3h"}, options=options).content == "晴"
    assert use(tmp_path, "get_weather", {"city": "巴黎"}, options=options).content == "晴"
    assert "北京" in use(tmp_path, "get_weather", {"city": "London"}, options=options).content


def test_the_description_of_the_weather_tool_can_be_varied(tmp_path: Path) -> None:
    options = (("get_weather", JsonText('{"description": "a function"}')),)
    assert built(tmp_path, "get_weather", options=options)["get_weather"].description == "a function"


@pytest.mark.article("7")
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"city": "Atlantis"}, ["Atlantis", "Beijing", "London"]),
        ({"city": "北京", "when": "+9h"}, ["+9h", "+3h", "now"]),
    ],
)
def test_unknown_weather_is_an_error_that_lists_what_is_known(
    arguments: dict[str, Any], words: list[str], tmp_path: Path
) -> None:
    reply = use(tmp_path, "get_weather", arguments)
    assert reply.is_error
    assert [word for word in words if word not in reply.content] == []


# ---------------------------------------------------------------- files


def test_a_file_is_read_as_it_is(tmp_path: Path) -> None:
    assert use(tmp_path, "read_file", {"path": "src/login.ts"}).content == FILES[0][1]
    assert use(tmp_path, "read_file", {"path": "./src/login.ts"}).content == FILES[0][1]


@pytest.mark.article("9")
@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("../secret.txt", Code.PERMISSION_DENIED),
        ("src/../../secret.txt", Code.PERMISSION_DENIED),
        ("..\\secret.txt", Code.PERMISSION_DENIED),
        ("/etc/passwd", Code.PERMISSION_DENIED),
        ("C:\\secret.txt", Code.PERMISSION_DENIED),
        ("link.txt", Code.PERMISSION_DENIED),
        ("linked/secret.txt", Code.PERMISSION_DENIED),
        ("a\x00b", Code.PERMISSION_DENIED),
        ("src/none.ts", Code.TOOL_FAILED),
        ("src/login.ts/x", Code.TOOL_FAILED),
        ("src", Code.TOOL_FAILED),
    ],
)
def test_nothing_outside_the_workspace_is_read(path: str, code: Code, tmp_path: Path) -> None:
    built(tmp_path / "w", "read_file", files=FILES)
    (tmp_path / "secret.txt").write_text("SECRET", "utf-8")
    os.symlink(tmp_path / "secret.txt", tmp_path / "w" / "files" / "link.txt")
    os.symlink(tmp_path, tmp_path / "w" / "files" / "linked")
    reply = use(tmp_path / "w", "read_file", {"path": path})
    assert (reply.is_error, reply.code) == (True, code)
    assert "allowed" in reply.content
    assert [word for word in ("SECRET", str(tmp_path)) if word in str(reply)] == []


@pytest.mark.article("9")
@pytest.mark.parametrize("folder", ["..", "/", "linked"])
def test_nothing_outside_the_workspace_is_listed(folder: str, tmp_path: Path) -> None:
    built(tmp_path / "w", "list_files", files=FILES)
    os.symlink(tmp_path, tmp_path / "w" / "files" / "linked")
    assert use(tmp_path / "w", "list_files", {"folder": folder}).code is Code.PERMISSION_DENIED


@pytest.mark.parametrize("name", ["../x", "/x", ""])
def test_a_fixture_outside_the_workspace_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="relative paths"):
        built(tmp_path, "read_file", files=((name, "x"),))


SIZES = (
    ("list_files", JsonText('{"sizes": {"video.mp4": 52428800, "data/big.csv": 10000001, "exact.bin": 10000000}}')),
)


def test_files_over_ten_megabytes_come_largest_first(tmp_path: Path) -> None:
    reply = use(tmp_path, "list_files", {"larger_than_mb": 10, "order": "size"}, options=SIZES)
    assert json.loads(str(reply.content)) == [
        {"path": "video.mp4", "bytes": 52428800},
        {"path": "data/big.csv", "bytes": 10000001},
    ]


def test_files_are_listed_by_name_with_their_real_sizes(tmp_path: Path) -> None:
    found = json.loads(str(use(tmp_path, "list_files", {"folder": "src"}).content))
    assert found == [{"path": "src/login.ts", "bytes": len(FILES[0][1])}]
    assert use(tmp_path, "list_files", {"larger_than_mb": 1}).code is Code.EMPTY


# ---------------------------------------------------------------- searches


@pytest.mark.parametrize(
    ("tool", "query", "found"),
    [
        ("search_logs", "invalid_signature", [("logs/api.log", 2)]),
        ("search_logs", "401 KEY", [("logs/api.log", 2)]),
        ("search_docs", "INVALID_SIGNATURE", [("docs/auth.md", 2)]),
        ("search_docs", "签名", [("docs/auth.md", 3)]),
        ("search_docs", "login", [("src/login.ts", 1), ("src/login.ts", 2)]),
    ],
)
def test_a_search_finds_lines_that_hold_every_word(
    tool: str, query: str, found: list[tuple[str, int]], tmp_path: Path
) -> None:
    matches = json.loads(str(use(tmp_path, tool, {"query": query}).content))["matches"]
    assert [(match["file"], match["line"]) for match in matches] == found


def test_the_same_search_without_a_find_gives_the_same_empty_result(tmp_path: Path) -> None:
    first, second = (use(tmp_path, "search_docs", {"query": "quantum"}) for _ in range(2))
    assert first == second
    assert (first.code, first.is_error) == (Code.EMPTY, False)


def test_more_matches_than_are_shown_are_counted(tmp_path: Path) -> None:
    tool = built(tmp_path, "search_logs", files=(("a.log", "x\n" * 30),))["search_logs"]
    found = json.loads(str(reply_of(tool, '{"query":"x"}').content))
    assert (len(found["matches"]), found["left_out"]) == (20, 10)


REQUESTS = (
    (
        "inspect_network",
        JsonText(
            '{"requests": [{"method": "POST", "url": "/api/login", "status": 401, "body": {"code": "INVALID_SIGNATURE"}},'
            ' {"method": "GET", "url": "/", "status": 200}]}'
        ),
    ),
)


@pytest.mark.parametrize(
    ("arguments", "urls"),
    [({}, ["/api/login", "/"]), ({"status": 401}, ["/api/login"]), ({"url": "login"}, ["/api/login"])],
)
def test_canned_requests_are_looked_up(arguments: dict[str, Any], urls: list[str], tmp_path: Path) -> None:
    found = json.loads(str(use(tmp_path, "inspect_network", arguments, options=REQUESTS).content))
    assert [request["url"] for request in found] == urls


def test_no_fitting_request_is_empty(tmp_path: Path) -> None:
    assert use(tmp_path, "inspect_network", {"status": 500}, options=REQUESTS).code is Code.EMPTY


@pytest.mark.parametrize(
    ("tool", "options", "words"),
    [
        ("calculator", '{"precision": 3}', "precision"),
        ("get_weather", '{"cities": []}', "cities"),
        ("inspect_network", '{"requests": {}}', "requests"),
        ("list_files", '{"sizes": {"a": "1 MB"}}', "sizes"),
        ("search_docs", '{"files": ["none.md"]}', "none.md"),
        ("probe_slow", '{"ms": -1}', "ms"),
        ("probe_slow", "[]", "object"),
    ],
)
def test_wrong_options_are_refused_before_anything_runs(tool: str, options: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=words):
        built(tmp_path, tool, options=((tool, JsonText(options)),))
