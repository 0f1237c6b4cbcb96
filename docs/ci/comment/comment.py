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
AT: Final = re.compile(r"@|&(?:#0*64(?![0-9])|#[xX]0*40(?![0-9A-Fa-f])|commat);?")
"""An "@" in every spelling that a page shows as one."""


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
    """The text of the members of the artifact that are known here; none where there is no artifact. Raises Refused."""
    path = f"/repos/{job.repository}/actions/runs/{job.ran.id}/artifacts"
    found = [one for one in service.get(path, name=job.artifact, per_page=PAGE)["artifacts"] if not one["expired"]]
    if not found:
        return {}
    newest = max(found, key=lambda one: one["id"])
    if newest["size_in_bytes"] > MOST_ZIP_BYTES:
        raise Refused(f"the artifact has {newest['size_in_bytes']} bytes, at most {MOST_ZIP_BYTES} are read")
    data = service.download(f"/repos/{job.repository}/actions/artifacts/{newest['id']}/zip", MOST_ZIP_BYTES)
    return members_of(data)


def members_of(data: bytes) -> Mapping[str, str]:
    """The text of the members of a zip file that are known here. Raises Refused, whatever its bytes are."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return {name: _member(archive, name, most) for name, most in _wanted(archive)}
    except Refused:
        raise
    except Exception as error:  # a hostile archive chooses what its readers raise
        raise Refused(f"the artifact cannot be read: {type(error).__name__}: {error}") from None


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
    said = str(ran.number) if ran.number else members[NUMBER].strip() if NUMBER in members else _looked_up(service, job)
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


def _looked_up(service: Service, job: Job) -> str:
    """The open pull request of the branch that was run, where the run left no number. Raises NothingToDo."""
    ran = job.ran
    asked = {"state": "open", "head": f"{ran.head_repository.partition('/')[0]}:{ran.head_branch}", "per_page": PAGE}
    found = [
        str(pull["number"])
        for pull in service.get(f"/repos/{job.repository}/pulls", **asked)
        if pull["head"]["sha"] == ran.head_sha and (pull["head"]["repo"] or {}).get("full_name") == ran.head_repository
    ]
    if len(found) != 1:
        raise NothingToDo(f"run {ran.id} left no number, and {len(found)} open pull requests are of its branch")
    return found[0]


# ---------------------------------------------------------------- the comment


def body_of(job: Job, text: str, *, of_fork: bool) -> str:
    """The comment: marker, the report, and which run made it; what is too long says where it is.

    What a fork wrote stands below the line that says so: nothing that comes behind that line can hide it, and it is
    never left out for want of room.
    """
    text = MARKER_LINE.sub("", text).strip()
    if not of_fork:
        footer = f"\n\n<sub>{_run(job)}</sub>\n"
        bodies = (f"{job.marker}\n{one}" for one in (f"{text}{footer}", f"{text}\n", f"{_too_long(text)}{footer}"))
        return next(body for body in bodies if len(body) <= MOST_CHARS)
    text = AT.sub("@\u2060", text)  # nobody is called by what a fork wrote
    head = f"{job.marker}\n<sub>{_run(job)}; made by the code of the change itself</sub>\n\n"
    body = f"{head}{text}\n"
    return body if len(body) <= MOST_CHARS else f"{head}{_too_long(text)}\n"


def _run(job: Job) -> str:
    return f"[run {job.ran.id}]({job.server}/{job.repository}/actions/runs/{job.ran.id}) of {job.ran.head_sha}"


def _too_long(text: str) -> str:
    return f"The report is too long for a comment ({len(text)} characters). It is in the artifacts of the run."


def without_report(job: Job) -> str:
    """What stands in place of the report of an earlier run, where the newest had none."""
    told = "**No comparison**: this run ended before it had a report; its log says why. An earlier report stood here."
    return f"{job.marker}\n{told}\n\n<sub>{_run(job)}</sub>\n"


def keep(service: Service, job: Job, number: int, body: str, *, first: bool = True) -> str:
    """Write the comment, or write it anew where one of ours has the marker. Gives what was done.

    Not ``first``: nothing is written where there is none yet, which raises NothingToDo.
    """
    for comment in _comments(service, job, number):
        said = comment["body"] or ""
        if comment["user"] and comment["user"]["login"] == job.author and said.startswith(job.marker):
            if said.replace("\r\n", "\n") == body:
                return f"comment {comment['id']} says it already"
            service.send("PATCH", f"/repos/{job.repository}/issues/comments/{comment['id']}", {"body": body})
            return f"comment {comment['id']} was written anew"
    if not first:
        raise NothingToDo(f"run {job.ran.id} ended before it had a report, and no comment is there to say so")
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
    number = number_of(service, job, members)
    if BODY in members:
        body = body_of(job, members[BODY], of_fork=job.ran.head_repository != job.repository)
    else:
        body = without_report(job)
    return f"pull request {number}: {keep(service, job, number, body, first=BODY in members)}"


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
    except (LookupError, TypeError, AttributeError, ValueError) as error:
        told = f"the event or the service has another shape than is known here: {type(error).__name__}: {error}"
        print(command("error", f"nothing is posted: {told}"))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(os.environ))
