"""What a fork uploads, and what comes back of the service: no text hides who made it, no bytes end in a traceback."""

from __future__ import annotations

import io
import zipfile
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.ci.posting import GOOD, MARKER, Posting, comment, own_branch
from tests.ci.service_lab import artifact

MADE_BY = "made by the code of the change itself"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("x" * 65_300, id="almost-too-long"),
        pytest.param("x" * 65_470, id="no-room-beside-it"),
        pytest.param("x" * 65_536, id="too-long-by-itself"),
        pytest.param("**PASS**\n<!-- ", id="a-comment-that-does-not-end"),
        pytest.param("**PASS**\n<details><summary>all", id="details-that-do-not-end"),
        pytest.param("**PASS**\n```", id="a-fence-that-does-not-end"),
        pytest.param("**PASS**\n<script>", id="a-block-that-does-not-end"),
        pytest.param(f"{MARKER}\n<sub>[run 1](x) of y</sub>", id="a-line-like-ours"),
    ],
)
def test_that_a_fork_made_it_stands_above_all_that_it_wrote(post: Posting, text: str) -> None:
    post.service.zip = artifact({**GOOD, "comparison.md": text})
    assert post()[0] == 0
    first, second, third, _ = post.bodies[0].split("\n", 3)
    assert (first, second.endswith(f"; {MADE_BY}</sub>"), third) == (MARKER, True, "")
    assert len(post.bodies[0]) <= 65_536


@pytest.mark.parametrize(
    "at",
    ["@", "&#64;", "&#064;", "&#0000064;", "&#64", "&#x40;", "&#X40;", "&#x00040;", "&#x40", "&commat;", "&commat"],
)
@pytest.mark.parametrize("name", ["octocat", "shop/all", "&#111;ctocat"])
def test_no_spelling_of_a_mention_calls_anybody(post: Posting, at: str, name: str) -> None:
    post.service.zip = artifact({**GOOD, "comparison.md": f"ask {at}{name} now"})
    assert post()[0] == 0
    assert f"ask @\u2060{name} now" in post.bodies[0]


@pytest.mark.parametrize("text", ["&#640;", "&#x401;", "&#x4;", "&amp;#64;x", "&lt;b&gt; &#124;"])
def test_other_characters_stay_as_they_were_written(post: Posting, text: str) -> None:
    post.service.zip = artifact({**GOOD, "comparison.md": text})
    assert post()[0] == 0
    assert post.bodies[0].endswith(f"\n\n{text}\n")


def broken(name: str) -> bytes:
    """Archives whose readers each raise something of their own."""
    if name == "not-utf-8":
        return artifact(GOOD).replace(b"comparison.md", b"comp\xff\xfeison.md").replace(b"\x00\x00\x08\x00", b"\x00\x08\x08\x00")
    method = {"deflate": zipfile.ZIP_DEFLATED, "lzma": zipfile.ZIP_LZMA, "bzip2": zipfile.ZIP_BZIP2}[name]
    whole = artifact({"comparison.md": "report " * 400, "pull-request.txt": "7"}, method)
    with zipfile.ZipFile(io.BytesIO(whole)) as archive:
        begin = archive.infolist()[0].header_offset + 30 + len("comparison.md") + (9 if name == "lzma" else 0)
    return whole[:begin] + b"\xff" * 12 + whole[begin + 12 :]


@pytest.mark.parametrize("name", ["deflate", "lzma", "bzip2", "not-utf-8"])
def test_an_archive_that_breaks_its_reader_is_refused(post: Posting, name: str) -> None:
    post.service.zip = broken(name)
    code, line = post()
    assert (code, line.startswith("::error title=harness comment::nothing is posted: the artifact cannot be read")) == (1, True)
    assert post.bodies == []


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    method=st.sampled_from([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2]),
    changes=st.lists(st.tuples(st.integers(0, 400), st.integers(0, 255)), min_size=1, max_size=8),
)
def test_no_bytes_of_an_archive_raise_anything_but_a_refusal(method: int, changes: list[tuple[int, int]]) -> None:
    data = bytearray(artifact(GOOD, method))
    for at, value in changes:
        data[at % len(data)] = value
    try:
        members = comment.members_of(bytes(data))
    except comment.Refused:
        return
    assert set(members) <= {"comparison.md", "pull-request.txt"}


def answering(post: Posting, path: str, said: tuple[int, Any]) -> None:
    """Have the service say this where the path ends so."""
    answer = post.service.answer

    def other(method: str, asked: str, query: Any, body: Any) -> tuple[int, Any]:
        return said if asked.endswith(path) else answer(method, asked, query, body)

    post.service.answer = other  # type: ignore[method-assign, assignment]


@pytest.mark.parametrize(
    ("path", "said"),
    [
        pytest.param("/artifacts", [], id="a-list-for-an-object"),
        pytest.param("/artifacts", {"artifacts": None}, id="nothing-for-a-list"),
        pytest.param("/pulls/7", {"head": None}, id="no-base"),
        pytest.param("/comments", {"message": "moved"}, id="an-object-for-a-list"),
    ],
)
def test_an_answer_of_another_shape_is_told(post: Posting, path: str, said: Any) -> None:
    answering(post, path, (200, said))
    code, line = post()
    assert (code, line.startswith("::error "), "another shape" in line) == (1, True, True)
    assert post.bodies == []


def test_an_answer_that_is_no_json_is_told(post: Posting) -> None:
    post.service.raw = b"<html>proxy</html>"
    code, line = post()
    assert (code, "is no JSON" in line) == (1, True)


def test_a_comment_without_a_body_or_an_author_is_passed_by(post: Posting) -> None:
    post.service.say(None)  # type: ignore[arg-type]
    post.service.say("x")["user"] = None
    assert post() == (0, "::notice title=harness comment::pull request 7: comment 3 was written")


@pytest.mark.parametrize("left", [{"pull-request.txt": "7"}, {"pull-request.txt": "7", "x": ""}, None], ids=["number", "more", "no-artifact"])
@pytest.mark.parametrize("own", [False, True], ids=["fork", "own-branch"])
def test_a_run_without_a_report_takes_the_last_word_from_the_one_before(post: Posting, left: dict[str, str] | None, own: bool) -> None:
    if own:
        own_branch(post)
    assert post()[0] == 0
    if left is None:
        post.service.artifacts = []
    else:
        post.service.zip = artifact(left)
    assert post() == (0, "::notice title=harness comment::pull request 7: comment 1 was written anew")
    (body,) = post.bodies
    assert body.startswith(f"{MARKER}\n**No comparison**")
    assert "PASS" not in body
    assert "actions/runs/42" in body


def test_where_two_pull_requests_are_of_the_branch_none_is_guessed(post: Posting) -> None:
    post.service.say(f"{MARKER}\nold")
    post.service.artifacts = []
    post.service.pulls[8] = {**post.service.pulls[7], "number": 8}
    code, line = post()
    assert (code, "2 open pull requests" in line) == (0, True)
    assert post.bodies == [f"{MARKER}\nold"]
