"""The comment of a pull request: kept up to date, and no artifact of a fork makes it say, read or write anything else."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from harness import UsageError
from harness.report.markdown import marker
from tests.ci.posting import GOOD, MARKER, Posting, comment, own_branch
from tests.ci.service_lab import BOT, HEAD, artifact, pull
from tests.report.nasty import NASTY


def test_a_first_report_is_written_and_a_second_replaces_it(post: Posting) -> None:
    assert post() == (0, "::notice title=harness comment::pull request 7: comment 1 was written")
    post.service.zip = artifact({**GOOD, "comparison.md": f"{MARKER}\n**FAIL** refund\n"})
    assert post() == (0, "::notice title=harness comment::pull request 7: comment 1 was written anew")
    assert post() == (0, "::notice title=harness comment::pull request 7: comment 1 says it already")
    (body,) = post.bodies
    run = f"[run 42](https://example.test/shop/agent/actions/runs/42) of {HEAD}"
    assert body == f"{MARKER}\n<sub>{run}; made by the code of the change itself</sub>\n\n**FAIL** refund\n"


def test_a_branch_of_the_repository_is_commented_by_the_number_of_its_event(post: Posting) -> None:
    own_branch(post)
    post.service.zip = artifact({**GOOD, "comparison.md": f"{MARKER}\nby @team\n", "pull-request.txt": "8"})
    assert post() == (0, "::notice title=harness comment::pull request 7: comment 1 was written")
    assert "by @team" in post.bodies[0]
    assert "made by the code of the change" not in post.bodies[0]


def test_only_a_comment_of_its_own_with_its_own_marker_is_written_anew(post: Posting) -> None:
    for n in range(120):
        post.service.say(f"comment {n}", author="someone")
    post.service.say(f"{MARKER}\nnot mine", author="someone")
    post.service.say(f"quoted:\n{MARKER}\nmine, but the marker is not first")
    post.service.say("<!-- harness-comparison other -->\nof another comparison")
    mine = post.service.say(f"{MARKER}\r\nold")
    before = post.bodies
    assert post() == (0, f"::notice title=harness comment::pull request 7: comment {mine['id']} was written anew")
    assert post.bodies[:-1] == before[:-1]
    assert post.bodies[-1].startswith(f"{MARKER}\n<sub>[run 42]")
    assert post.bodies[-1].endswith("\n\n**PASS** no difference\n")


def test_a_comment_on_another_pull_request_is_never_looked_for(post: Posting) -> None:
    post.service.say(f"{MARKER}\nof another", number=8)
    assert post()[0] == 0
    assert post.bodies[0] == f"{MARKER}\nof another"
    assert post.service.comments[1]["number"] == 7


@pytest.mark.parametrize(
    ("number", "told"),
    [
        pytest.param("", "no number", id="empty"),
        pytest.param("7; rm -rf /", "no number", id="a-command"),
        pytest.param("$(touch x)", "no number", id="a-substitution"),
        pytest.param("7/../../../user", "no number", id="a-path"),
        pytest.param("7?state=all", "no number", id="a-query"),
        pytest.param("-7", "no number", id="negative"),
        pytest.param("0", "no number", id="zero"),
        pytest.param("７", "no number", id="digits-of-another-script"),
        pytest.param("7\n8", "no number", id="two"),
        pytest.param("9" * 20, "no number", id="too-long"),
        pytest.param("9" * 40, "more than 32 bytes", id="longer-than-is-read"),
        pytest.param("8", "404", id="not-there"),
    ],
)
def test_a_number_that_is_none_is_refused(post: Posting, number: str, told: str) -> None:
    post.service.zip = artifact({**GOOD, "pull-request.txt": number})
    code, line = post()
    assert (code, line.startswith("::error "), told in line) == (1, True, True)
    assert post.bodies == []


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(pull(repo="victim/agent"), id="another-fork-with-the-same-commit"),
        pytest.param(pull(repo=None), id="whose-repository-is-gone"),
        pytest.param(pull(ref="other"), id="another-branch-with-the-same-commit"),
        pytest.param(pull(base={"repo": {"full_name": "victim/agent"}}), id="into-another-repository"),
    ],
)
def test_the_number_of_a_pull_request_that_was_not_run_is_not_believed(post: Posting, other: dict[str, Any]) -> None:
    post.service.pulls[7] = other
    code, line = post()
    assert (code, "not of the branch that was run" in line) == (1, True)
    assert post.bodies == []


@pytest.mark.parametrize(
    ("change", "told"),
    [
        pytest.param(lambda post: post.service.pulls.update({7: pull(sha="b" * 40)}), "has moved on", id="newer-commits"),
        pytest.param(lambda post: post.service.pulls.update({7: pull(state="closed")}), "is closed", id="closed"),
        pytest.param(lambda post: setattr(post.service, "artifacts", []), "ended before it had a report", id="no-artifact"),
        pytest.param(lambda post: setattr(post.service, "zip", artifact({"pull-request.txt": "7"})), "ended before it had a report", id="no-report"),
        pytest.param(lambda post: post.event["workflow_run"].update(event="push"), "started by 'push'", id="a-push"),
        pytest.param(lambda post: post.event["workflow_run"].update(head_repository=None), "is gone", id="fork-deleted"),
        pytest.param(lambda post: post.environ.update(GITHUB_EVENT_NAME="push"), "'push' belongs to no pull request", id="another-event"),
    ],
)
def test_where_there_is_nothing_to_write_to_it_says_so_and_does_not_fail(post: Posting, change: Any, told: str) -> None:
    change(post)
    code, line = post()
    assert (code, line.startswith("::notice "), told in line) == (0, True, True)
    assert post.bodies == []


def hostile(name: str) -> bytes:
    """Artifacts that only an attacker makes."""
    match name:
        case "no-zip":
            return b"PK\x03\x04 not really"
        case "bomb":
            return artifact({**GOOD, "comparison.md": b"A" * 5_000_000})
        case "a-lie-about-its-size":
            return artifact({**GOOD, "comparison.md": b"A" * 300_000}).replace((300_000).to_bytes(4, "little"), (10).to_bytes(4, "little"))
        case "twice":
            with pytest.warns(UserWarning, match="Duplicate name"):
                return artifact([("comparison.md", b"one"), ("comparison.md", b"two"), ("pull-request.txt", b"7")])
        case "many":
            return artifact({**GOOD, **{f"x{n}": "" for n in range(50)}})
        case "not-utf-8":
            return artifact({**GOOD, "comparison.md": b"\xff\xfe"})
        case "unknown-compression":
            method = re.compile(rb"(PK\x03\x04....|PK\x01\x02......)\x08\x00", re.DOTALL)
            return method.sub(lambda found: found[1] + b"\x61\x00", artifact(GOOD))
        case _:
            return b"x" * 1_000_001


@pytest.mark.parametrize("name", ["no-zip", "bomb", "a-lie-about-its-size", "twice", "many", "not-utf-8", "unknown-compression", "larger-than-told"])
def test_a_hostile_artifact_is_refused_and_nothing_is_written(post: Posting, name: str, tmp_path: Path) -> None:
    post.service.zip = hostile(name)
    if name == "larger-than-told":
        post.service.artifacts = [{"id": 5, "name": "harness-report-comment", "size_in_bytes": 10, "expired": False}]
    before = sorted(tmp_path.iterdir())
    code, line = post()
    assert (code, line.startswith("::error title=harness comment::nothing is posted: ")) == (1, True)
    assert post.bodies == []
    assert sorted(set(tmp_path.iterdir()) - {tmp_path / "event.json"}) == before


def test_an_artifact_that_is_too_large_is_not_even_fetched(post: Posting) -> None:
    post.service.zip = b"x" * 1_000_001
    assert post()[0] == 1
    assert not any("zip" in path or "storage" in path for _, path in post.service.asked)


def test_members_with_paths_that_lead_out_are_neither_read_nor_written(post: Posting, tmp_path: Path) -> None:
    post.service.zip = artifact({**GOOD, "../../event.json": "{}", "/etc/passwd": "x", "a/comparison.md": "other"})
    assert post()[0] == 0
    assert "**PASS**" in post.bodies[0]
    assert json.loads((tmp_path / "event.json").read_text()) == post.event


def test_what_a_fork_wrote_calls_nobody_and_brings_no_marker_of_its_own(post: Posting) -> None:
    text = f"{MARKER}\n  <!-- harness-comparison other -->\n@team @security/all a@b.c\n"
    post.service.zip = artifact({**GOOD, "comparison.md": text})
    assert post()[0] == 0
    (body,) = post.bodies
    assert "@\u2060team @\u2060security/all" in body
    assert body.count("harness-comparison") == 1


@pytest.mark.parametrize(
    ("n_chars", "kept", "told"),
    [
        pytest.param(65_000, True, True, id="with-its-run"),
        pytest.param(65_490, True, False, id="without-its-run"),
        pytest.param(65_536, False, True, id="not-at-all"),
    ],
)
def test_a_report_that_is_too_long_is_said_to_be_and_where_it_is(post: Posting, n_chars: int, kept: bool, told: bool) -> None:
    own_branch(post)
    post.service.zip = artifact({**GOOD, "comparison.md": "é" * n_chars})
    assert post()[0] == 0
    (body,) = post.bodies
    assert ("é" * n_chars in body, "actions/runs/42" in body) == (kept, told)
    assert len(body) <= 65_536
    assert ("too long for a comment (65536 characters)" in body) is not kept


def is_utf8(text: str) -> bool:
    """What is not, is refused by a test of its own."""
    return text == text.encode("utf-8", "replace").decode("utf-8")


@pytest.mark.parametrize("text", [text for text in NASTY if text.strip() and is_utf8(text)])
def test_any_text_arrives_as_it_was_and_is_one_comment(post: Posting, text: str) -> None:
    own_branch(post)
    post.service.zip = artifact({**GOOD, "comparison.md": f"x{text}x".encode()})
    assert post()[0] == 0
    assert f"x{text}x" in post.bodies[0]


@pytest.mark.parametrize("key", ["a b", "-->", "x" * 65, "$(touch x)", "ä", "a--b", "a\n"])
def test_a_key_that_could_end_the_marker_is_refused_as_the_report_refuses_it(post: Posting, key: str) -> None:
    post.environ["HARNESS_COMMENT_KEY"] = key
    code, line = post()
    assert (code, "the key" in line, post.service.asked) == (1, True, [])
    with pytest.raises(UsageError):
        marker(key)


@pytest.mark.parametrize("key", ["", "nightly", "a-b.c_1", "x" * 40])
def test_the_marker_is_that_of_the_report(post: Posting, key: str) -> None:
    own_branch(post)
    post.environ["HARNESS_COMMENT_KEY"] = key
    post.service.zip = artifact({**GOOD, "comparison.md": f"{marker(key)}\nsame\n"})
    assert post()[0] == 0
    assert post.bodies[0].startswith(f"{marker(key)}\nsame")


def test_the_token_is_shown_to_the_service_and_not_to_where_it_sends_one(post: Posting) -> None:
    assert post()[0] == 0
    assert post.service.tokens["/repos/shop/agent/pulls/7"] == "Bearer t0ken"
    assert post.service.tokens["/storage/5"] is None


def test_the_newest_artifact_of_that_name_counts_and_an_expired_one_never(post: Posting) -> None:
    row = {"name": "harness-report-comment", "size_in_bytes": 10}
    post.service.artifacts = [{**row, "id": 4, "expired": False}, {**row, "id": 5, "expired": False}, {**row, "id": 9, "expired": True}]
    assert post()[0] == 0


def test_what_passes_by_itself_is_asked_again_with_pauses(post: Posting) -> None:
    post.service.failing = [502, 429]
    assert post()[0] == 0
    assert post.paused == [2.0, 4.0]
    assert len(post.bodies) == 1


@pytest.mark.parametrize(
    ("statuses", "told"),
    [
        pytest.param([500, 500, 500], "500", id="it-goes-on-failing"),
        pytest.param([403], "pull-requests: write", id="a-token-that-may-not"),
        pytest.param([401], "the token is not valid", id="a-token-that-is-none"),
    ],
)
def test_what_the_service_refuses_is_told_with_what_to_do(post: Posting, statuses: list[int], told: str) -> None:
    post.service.failing = statuses
    code, line = post()
    assert (code, told in line) == (1, True)


def test_a_comment_is_never_sent_twice(post: Posting) -> None:
    post.service.failing = []
    answer = post.service.answer

    def failing(method: str, path: str, query: Any, body: Any) -> tuple[int, Any]:
        return (502, {}) if method == "POST" else answer(method, path, query, body)

    post.service.answer = failing  # type: ignore[method-assign]
    assert post()[0] == 1
    assert [method for method, _ in post.service.asked].count("POST") == 1
    assert post.paused == []


def test_a_command_of_ours_stays_one_line() -> None:
    assert comment.command("error", "a\r\n::set-env::%0A") == "::error title=harness comment::a%0D%0A::set-env::%250A"


def test_the_login_that_writes_can_be_another(post: Posting) -> None:
    post.service.say(f"{MARKER}\nold", author="my-app[bot]")
    post.environ["HARNESS_COMMENT_AUTHOR"] = "my-app[bot]"
    assert "written anew" in post()[1]
    assert BOT not in {one["user"]["login"] for one in post.service.comments}
