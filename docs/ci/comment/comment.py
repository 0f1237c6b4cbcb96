"""Keep one comment of a pull request up to date: the Markdown that a run uploaded, found again by a marker.

Needs Python 3.10 and nothing else. What it knows of the run and of the pull request comes from the event and from the
service. The artifact is taken for hostile, since a change from a fork ran before it was uploaded: it is never unpacked
onto the disk, two members of it are read up to a bound, and the number in it counts only where the pull request of
that number has the head that was run. Nothing of it is executed, and nothing of the change is checked out.

Environment: GITHUB_TOKEN, GITHUB_API_URL, GITHUB_SERVER_URL, GITHUB_REPOSITORY, GITHUB_EVENT_NAME, GITHUB_EVENT_PATH,
GITHUB_RUN_ID; HARNESS_COMMENT_ARTIFACT, HARNESS_COMMENT_KEY, HARNESS_COMMENT_AUTHOR.
Exit codes: 0 written, or there is nothing to write to (said as a notice); 1 refused or failed (said as an error).
"""

from __future__ import annotations

import io
import json
import os
import re
import sys
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from service import NothingToDo, Refused, Service

BODY: Final = "comparison.md"
NUMBER: Final = "pull-request.txt"
MOST_CHARS: Final = 65_536
MOST_ZIP_BYTES: Final = 1_000_000
MOST_BODY_BYTES: Final = 4 * MOST_CHARS
MOST_NUMBER_BYTES: Final = 32
MOST_MEMBERS: Final = 20
MOST_PAGES: Final = 50
PAGE: Final = 100
KEY: Final = re.compile(r"(?=.{1,60}\Z)[A-Za-z0-9._]+(-[A-Za-z0-9._]+)*")
MARKER_LINE: Final = re.compile(r"^[ \t]*<!-- harness-comparison.*$\n?", re.MULTILINE)
SAFE_NUMBER: Final = re.compile(r"[1-9][0-9]{0,9}")
MENTION: Final = re.compile(r"@(?=[A-Za-z0-9])")


@dataclass(frozen=True)
class Ran:
    """The run whose artifact is posted, as the event tells it; ``number`` 0: only the artifact says it."""

    id: int
    head_sha: str
    head_repository: str
    head_branch: str
    number: int = 0


@dataclass(frozen=True)
class Job:
    """All that is asked for."""

    repository: str
    artifact: str
    marker: str
    author: str
    server: str
    ran: Ran


# ---------------------------------------------------------------- the event


def job_of(environ: Mapping[str, str]) -> Job:
    """What the environment and the event ask for. Raises Refused."""
    with open(environ["GITHUB_EVENT_PATH"], encoding="utf-8") as file:
        event = json.load(file)
    key = environ.get("HARNESS_COMMENT_KEY", "")
    if key and not KEY.fullmatch(key):
        raise Refused(f"the key {key!r} is not 1 to 60 letters, digits, '.', '_' and single '-' inside")
    return Job(
        environ["GITHUB_REPOSITORY"],
        environ.get("HARNESS_COMMENT_ARTIFACT") or "harness-report-comment",
        f"<!-- harness-comparison{f' {key}' if key else ''} -->",
        environ.get("HARNESS_COMMENT_AUTHOR") or "github-actions[bot]",
        environ.get("GITHUB_SERVER_URL", ""),
        _ran(environ, event),
    )


def _ran(environ: Mapping[str, str], event: dict[str, Any]) -> Ran:
    match environ["GITHUB_EVENT_NAME"]:
        case "workflow_run":
            run = event["workflow_run"]
            if run["event"] != "pull_request":
                raise NothingToDo(f"the run was started by {run['event']!r}, not by a pull request")
            where = run["head_repository"]
            if where is None:
                raise NothingToDo("the repository of the change is gone")
            return Ran(run["id"], run["head_sha"], where["full_name"], run["head_branch"])
        case "pull_request":
            pull = event["pull_request"]
            head = pull["head"]
            if head["repo"] is None:
                raise NothingToDo("the repository of the change is gone")
            number, run_id = pull["number"], int(environ["GITHUB_RUN_ID"])
            return Ran(run_id, head["sha"], head["repo"]["full_name"], head["ref"], number)
        case other:
            raise NothingToDo(f"the event {other!r} belongs to no pull request")


# ---------------------------------------------------------------- the artifact


def artifact_of(service: Service, job: Job) -> Mapping[str, str]:
    """The text of the members of the artifact that are known here. Raises Refused, NothingToDo."""
    path = f"/repos/{job.repository}/actions/runs/{job.ran.id}/artifacts"
    found = [one for one in service.get(path, name=job.artifact, per_page=PAGE)["artifacts"] if not one["expired"]]
    if not found:
        raise NothingToDo(f"run {job.ran.id} has no artifact {job.artifact!r}: it ended before it had a report")
    newest = max(found, key=lambda one: one["id"])
    if newest["size_in_bytes"] > MOST_ZIP_BYTES:
        raise Refused(f"the artifact has {newest['size_in_bytes']} bytes, at most {MOST_ZIP_BYTES} are read")
    data = service.download(f"/repos/{job.repository}/actions/artifacts/{newest['id']}/zip", MOST_ZIP_BYTES)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return {name: _member(archive, name, most) for name, most in _wanted(archive)}
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, OSError) as error:
        raise Refused(f"the artifact cannot be read: {error}") from None


def _wanted(archive: zipfile.ZipFile) -> Iterator[tuple[str, int]]:
    names = archive.namelist()
    if len(names) > MOST_MEMBERS:
        raise Refused(f"the artifact has {len(names)} members, at most {MOST_MEMBERS} are expected")
    for name, most in ((BODY, MOST_BODY_BYTES), (NUMBER, MOST_NUMBER_BYTES)):
        if names.count(name) > 1:
            raise Refused(f"the artifact holds {name} twice")
        if name in names:
            yield name, most


def _member(archive: zipfile.ZipFile, name: str, most: int) -> str:
    # What is declared may be a lie, so that what comes out is bounded.
    with archive.open(name) as member:
        data = member.read(most + 1)
    if len(data) > most:
        raise Refused(f"{name} in the artifact has more than {most} bytes")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise Refused(f"{name} in the artifact is no UTF-8") from None


# ---------------------------------------------------------------- the pull request


def number_of(service: Service, job: Job, members: Mapping[str, str]) -> int:
    """The pull request that was run: its head is the one that the event names. Raises Refused, NothingToDo."""
    ran = job.ran
    said = str(ran.number) if ran.number else members.get(NUMBER, "").strip()
    if not SAFE_NUMBER.fullmatch(said):
        raise Refused(f"{NUMBER} in the artifact holds no number of a pull request")
    pull = service.get(f"/repos/{job.repository}/pulls/{said}")
    head, base = pull["head"], pull["base"]["repo"]["full_name"]
    where = head["repo"]["full_name"] if head["repo"] else None
    if (base, where, head["ref"]) != (job.repository, ran.head_repository, ran.head_branch):
        raise Refused(f"pull request {said} is not of the branch that was run: its number is not believed")
    if pull["state"] != "open":
        raise NothingToDo(f"pull request {said} is {pull['state']}")
    if head["sha"] != ran.head_sha:
        raise NothingToDo(f"pull request {said} has moved on: what was run is not its head any more")
    return int(said)


# ---------------------------------------------------------------- the comment


def body_of(job: Job, text: str, *, of_fork: bool) -> str:
    """The comment: marker, the report, and where there is room which run made it; what is too long says where it is."""
    run = f"{job.server}/{job.repository}/actions/runs/{job.ran.id}"
    footer = f"\n\n<sub>[run {job.ran.id}]({run}) of {job.ran.head_sha}"
    footer += "; made by the code of the change itself</sub>\n" if of_fork else "</sub>\n"
    text = MARKER_LINE.sub("", text).strip()
    if of_fork:
        text = MENTION.sub("@\u2060", text)  # nobody is called by what a fork wrote
    too_long = f"The report is too long for a comment ({len(text)} characters). It is in the artifacts of the run."
    bodies = (f"{job.marker}\n{one}" for one in (f"{text}{footer}", f"{text}\n", f"{too_long}{footer}"))
    return next(body for body in bodies if len(body) <= MOST_CHARS)


def keep(service: Service, job: Job, number: int, body: str) -> str:
    """Write the comment, or write it anew where one of ours has the marker. Gives what was done."""
    for comment in _comments(service, job, number):
        if comment["user"] and comment["user"]["login"] == job.author and comment["body"].startswith(job.marker):
            if comment["body"].replace("\r\n", "\n") == body:
                return f"comment {comment['id']} says it already"
            service.send("PATCH", f"/repos/{job.repository}/issues/comments/{comment['id']}", {"body": body})
            return f"comment {comment['id']} was written anew"
    made = service.send("POST", f"/repos/{job.repository}/issues/{number}/comments", {"body": body})
    return f"comment {made['id']} was written"


def _comments(service: Service, job: Job, number: int) -> Iterator[Any]:
    for page in range(1, MOST_PAGES + 1):
        found = service.get(f"/repos/{job.repository}/issues/{number}/comments", per_page=PAGE, page=page)
        yield from found
        if len(found) < PAGE:
            return


def post(environ: Mapping[str, str], service: Service) -> str:
    """Do all of it; gives what was done. Raises Refused, NothingToDo."""
    job = job_of(environ)
    members = artifact_of(service, job)
    if BODY not in members:
        raise NothingToDo("the artifact holds no comment: the comparison ended before it had a report")
    number = number_of(service, job, members)
    body = body_of(job, members[BODY], of_fork=job.ran.head_repository != job.repository)
    return f"pull request {number}: {keep(service, job, number, body)}"


def command(kind: str, text: str) -> str:
    """A workflow command whose text cannot end it."""
    escaped = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return f"::{kind} title=harness comment::{escaped}"


def main(environ: Mapping[str, str], *, pause: Callable[[float], object] = time.sleep) -> int:
    """The script: prints what was done as one workflow command."""
    try:
        service = Service(environ["GITHUB_API_URL"], environ["GITHUB_TOKEN"], pause=pause)
        print(command("notice", post(environ, service)))
    except NothingToDo as why:
        print(command("notice", f"nothing is posted: {why}"))
    except Refused as why:
        print(command("error", f"nothing is posted: {why}"))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(os.environ))
