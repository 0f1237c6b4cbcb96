"""Every recipe of the page on CI is run in a repository with a remote: an unchanged branch passes, a changed one fails."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
import yaml

from harness.folds import EXIT_CODES
from harness.types.codes import Outcome
from tests.ci.project import Project
from tests.ci.service_lab import HEAD, REPOSITORY, FakeService, artifact, load, pull, serving
from tests.house.source import REPO

FOLDER = REPO / "docs" / "ci"
PAGE = (REPO / "docs" / "ci.md").read_text(encoding="utf-8")
SHELL = re.findall(r"^```sh\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
COMPARING = [block for block in SHELL if "harness compare" in block]
OTHERS = [block for block in SHELL if "harness compare" not in block]
REPORTS = {"comparison.md", "summary.md", "annotations.txt", "junit.xml", "comparison.json"}

pytestmark = pytest.mark.skipif(shutil.which("git") is None or shutil.which("bash") is None, reason="git or bash is not installed here")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def first_words(block: str) -> str:
    return re.sub(r"[^\w]+", "-", block)[:40]


def base_archive(project: Project) -> None:
    """What the recipe for main leaves, made on main."""
    (made,) = (block for block in OTHERS if "tar " in block)
    done = project.bash(made)
    assert done.returncode == 0, done.stderr


def judged(project: Project, done: subprocess.CompletedProcess[str], code: int) -> None:
    """The comparison ended so, and left its reports and no work tree."""
    assert done.returncode == code, done.stdout + done.stderr
    reports = project.checkout / "reports" / "compare"
    assert {path.name for path in reports.iterdir()} >= REPORTS
    suite = ElementTree.parse(reports / "junit.xml").getroot()
    assert (suite.find(".//failure") is not None) is (code == 1)
    assert len(project._git("worktree", "list").splitlines()) == 1
    assert project._git("status", "--porcelain") == ""


@pytest.mark.parametrize("block", COMPARING, ids=first_words)
def test_a_recipe_fails_what_is_changed_and_leaves_all_reports(project: Project, block: str) -> None:
    if "base.tar.gz" in block:
        base_archive(project)
    project.branch(changed=True)
    judged(project, project.bash(block), 1)


@pytest.mark.parametrize("block", [block for block in COMPARING if "exit" in block], ids=first_words)
def test_a_recipe_that_ends_by_itself_passes_what_is_unchanged(project: Project, block: str) -> None:
    project.branch(changed=False)
    judged(project, project.bash(block), 0)


def test_the_nights_are_kept_and_told(project: Project) -> None:
    (block,) = (block for block in OTHERS if "history" in block)
    done = project.bash(block)
    assert done.returncode == 0, done.stderr
    assert "1 folder, 2 scenarios: 2 always passed" in done.stdout
    assert len(SHELL) == len(COMPARING) + 2


def test_the_job_of_gitlab_fails_what_is_changed(project: Project) -> None:
    (text,) = re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    job = yaml.safe_load(text)["harness"]
    install, *script = job["script"]
    assert install.startswith("python -m pip install ")
    project.branch(changed=True)
    base = project._git("rev-parse", "origin/main").strip()
    judged(project, project.bash("\n".join(script), CI_MERGE_REQUEST_DIFF_BASE_SHA=base), 1)
    assert (project.checkout / job["artifacts"]["reports"]["junit"]).is_file()


def test_the_stage_of_jenkins_fails_what_is_changed(project: Project) -> None:
    (text,) = re.findall(r"^```groovy\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    (script,) = re.findall(r"sh '''(#!/bin/bash -eu\n.*?)'''", text, re.DOTALL)
    lines = script.splitlines()[1:]
    installing = [line for line in lines if "-m venv" in line or "-m pip install" in line]
    assert len(installing) == 2
    project.branch(changed=True)
    (project.checkout / ".venv" / "bin").mkdir(parents=True)
    shutil.copy(project.root / "bin" / "harness", project.checkout / ".venv" / "bin" / "harness")
    judged(project, project.bash("\n".join(line for line in lines if line not in installing), CHANGE_TARGET="main"), 1)


def test_the_table_of_exit_codes_is_that_of_the_program() -> None:
    told = {word: int(code) for code, word in re.findall(r"^\| (\d+) \| ([A-Z]+) \|", PAGE, re.MULTILINE)}
    known = {outcome.name: EXIT_CODES[outcome] for outcome in Outcome if outcome is not Outcome.NOT_APPLICABLE}
    assert {name: code for name, code in told.items() if name in known} == known
    assert {name: told[name] for name in told if name not in known} == {"USAGE": 2, "INTERRUPTED": 130}
    script = (FOLDER / "compare.sh").read_text(encoding="utf-8")
    assert {word: int(code) for code, word in re.findall(r"^ +(\d+)\) outcome=([A-Z]+)", script, re.MULTILINE)} | {"ERROR": 5} == told


def test_every_input_and_every_workflow_is_on_the_page() -> None:
    inputs = yaml.safe_load((FOLDER / "action.yml").read_text(encoding="utf-8"))["inputs"]
    table = PAGE.split("| input |")[1].split("\n\n")[0]
    assert set(re.findall(r"`([a-z-]+)`", table.replace("`true`", "").replace("`false`", ""))) >= set(inputs)
    for name, given in inputs.items():
        row = next(line for line in table.splitlines() if f"`{name}`" in line)
        assert not given["default"] or f"`{given['default']}`" in row, name
    assert {path.name for path in (FOLDER / "workflows").iterdir()} == set(re.findall(r"\(ci/workflows/([\w.-]+)\)", PAGE))


@pytest.mark.parametrize(
    ("changed", "outcome", "code"),
    [pytest.param(False, "PASS", 0, id="unchanged"), pytest.param(True, "FAIL", 1, id="changed")],
)
def test_the_whole_way_from_a_pull_request_to_its_comment(
    project: Project, changed: bool, outcome: str, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    project.branch(changed=changed)
    files = {"GITHUB_OUTPUT": str(project.root / "output"), "GITHUB_STEP_SUMMARY": str(project.root / "summary")}
    ran = project.bash(f'bash "{FOLDER}/compare.sh"', GITHUB_BASE_REF="main", HARNESS_CI_GATE="harness-gate.yaml", HARNESS_CI_NUMBER="7", **files)
    assert ran.returncode == 0, ran.stderr
    outputs = dict(line.split("=", 1) for line in (project.root / "output").read_text().splitlines())
    assert outputs == {"outcome": outcome, "exit-code": str(code), "reports": "reports/compare"}
    told = project.bash(f'bash "{FOLDER}/publish.sh"', HARNESS_CI_REPORTS=outputs["reports"], **files)
    assert told.stdout.startswith("::error file=scenarios/refund.yaml,line=") is changed
    summary = (project.root / "summary").read_text(encoding="utf-8")
    assert outcome in summary
    ended = project.bash('exit "$HARNESS_CI_EXIT_CODE"', HARNESS_CI_EXIT_CODE=outputs["exit-code"])
    assert ended.returncode == code

    reports = project.checkout / outputs["reports"]
    service = FakeService(artifact({name: (reports / name).read_bytes() for name in ("comparison.md", "pull-request.txt")}), pulls={7: pull()})
    event = project.root / "event.json"
    event.write_text(json.dumps({"workflow_run": {
        "id": 42, "event": "pull_request", "head_sha": HEAD, "head_branch": "topic", "head_repository": {"full_name": "somebody/agent"},
    }}))  # fmt: skip
    environ = {"GITHUB_TOKEN": "t", "GITHUB_REPOSITORY": REPOSITORY, "GITHUB_EVENT_NAME": "workflow_run", "GITHUB_EVENT_PATH": str(event)}
    with serving(service) as url:
        assert load().main({**environ, "GITHUB_API_URL": url}) == 0
    (body,) = (one["body"] for one in service.comments)
    assert outcome in body.splitlines()[3]
    assert ("refund" in body) is changed


def test_the_script_of_the_comment_needs_nothing_but_python(tmp_path: Path) -> None:
    shutil.copytree(FOLDER / "comment", tmp_path / "comment")
    event = tmp_path / "event.json"
    event.write_text("{}")
    environ = {"PATH": os.environ["PATH"], "GITHUB_API_URL": "http://127.0.0.1:9", "GITHUB_TOKEN": "t", "GITHUB_EVENT_NAME": "push",
               "GITHUB_EVENT_PATH": str(event), "GITHUB_REPOSITORY": "a/b"}  # fmt: skip
    done = subprocess.run(
        ["python3", "-I", "-B", "-c", "import runpy, sys; sys.path.insert(0, 'comment'); runpy.run_path('comment/comment.py', run_name='__main__')"],
        cwd=tmp_path, env=environ, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert "nothing is posted: the event 'push' belongs to no pull request" in done.stdout
