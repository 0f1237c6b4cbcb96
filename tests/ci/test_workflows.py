"""The workflows and actions that the docs hand out: linted, pinned, with the least permissions, and safe to be given a fork."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.house.source import REPO

FOLDER = REPO / "docs" / "ci"
WORKFLOWS = sorted((FOLDER / "workflows").glob("*.yml"))
ACTIONS = [FOLDER / "action.yml", FOLDER / "comment" / "action.yml"]
SCRIPTS = [*sorted(FOLDER.glob("*.sh")), REPO / ".ci" / "run", REPO / "docs" / "demo.sh"]
PINNED = re.compile(r"actions/[a-z-]+@[0-9a-f]{40}")
OURS = re.compile(r"OWNER/agent-loop-harness/docs/ci(/comment)?@COMMIT")
SETUP = "uses: actions/setup-python@"


def program(name: str) -> str:
    """A linter beside the interpreter, as the extra `dev` installs it."""
    found = shutil.which(name, path=str(Path(sys.executable).parent))
    if found is None:
        pytest.skip(f"{name} is not installed here: the extra `dev` brings it on Linux, x86_64")
    return found


def read(path: Path) -> dict[str, Any]:
    """A YAML document; the key `on` is what its reader takes for true."""
    found: dict[Any, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return {("on" if key is True else key): value for key, value in found.items()}


def jobs(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    yield from read(path)["jobs"].items()


def steps(path: Path) -> list[dict[str, Any]]:
    document = read(path)
    if "runs" in document:
        found: list[dict[str, Any]] = document["runs"]["steps"]
        return found
    return [step for _, job in jobs(path) for step in job["steps"]]


def repository(folder: Path, changed: dict[str, tuple[str, str]] | None = None) -> Path:
    """A checkout in which each workflow uses the actions beside it, so that what it gives them is checked too."""
    shutil.copytree(FOLDER, folder / "docs" / "ci")
    (folder / ".git").mkdir()
    target = folder / ".github" / "workflows"
    target.mkdir(parents=True)
    for path in WORKFLOWS:
        text = path.read_text(encoding="utf-8")
        for old, new in [(changed or {}).get(path.name, ("", ""))]:
            assert old in text
            text = text.replace(old, new, 1) if old else text
        (target / path.name).write_text(OURS.sub(lambda found: f"./docs/ci{found[1] or ''}", text), encoding="utf-8")
    return folder


def lint(name: str, *arguments: str, cwd: Path) -> tuple[int, str]:
    """A linter's exit code and what it found; the other linters are on its path."""
    environ = {**os.environ, "PATH": f"{Path(program(name)).parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        [program(name), *arguments], cwd=cwd, env=environ, stdin=subprocess.DEVNULL, capture_output=True, text=True, encoding="utf-8", timeout=120, check=False
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


def test_actionlint_passes_on_every_workflow_with_the_actions_that_it_uses(tmp_path: Path) -> None:
    program("shellcheck")
    assert lint("actionlint", cwd=repository(tmp_path)) == (0, "")


@pytest.mark.parametrize(
    ("name", "old", "new", "told"),
    [
        pytest.param("harness.yml", "          gate: harness-gate.yaml", "          gates: x", 'input "gates" is not defined', id="an-input-that-the-action-has-not"),
        pytest.param("harness-comment.yml", "types: [completed]", "types: [complete]", "complete", id="an-event-that-is-none"),
        pytest.param("harness-run.yml", "      contents: read", "      content: read", "content", id="a-permission-that-is-none"),
        pytest.param("harness-nightly.yml", '"$NIGHTS"', "$NIGHTS", "SC2086", id="a-variable-that-is-split"),
        pytest.param("harness-main.yml", "run: harness run --out runs/main", "run: harness run ${{ github.event.head_commit.message }}", "untrusted", id="text-of-others-in-a-script"),
    ],
)  # fmt: skip
def test_actionlint_refuses_a_workflow_that_is_broken(tmp_path: Path, name: str, old: str, new: str, told: str) -> None:
    program("shellcheck")
    code, said = lint("actionlint", cwd=repository(tmp_path, {name: (old, new)}))
    assert (code, told in said) == (1, True), said


def strictly(folder: Path) -> tuple[int, str]:
    """The linter of actions, over actions and workflows with a place and a commit filled in."""
    for path in [*folder.rglob("*.yml")]:
        text = path.read_text(encoding="utf-8").replace("OWNER/", "owner/").replace("@COMMIT", f"@{'0' * 40}")
        path.write_text(text, encoding="utf-8")
    files = sorted(str(path) for path in folder.rglob("*.yml"))
    return lint("jactionlint", *files, cwd=folder)


def test_the_linter_of_actions_passes_on_actions_and_workflows_but_for_what_two_workflows_are(tmp_path: Path) -> None:
    program("shellcheck")
    shutil.copytree(FOLDER, tmp_path / "ci")
    _, said = strictly(tmp_path)
    found = re.findall(r"^\S*?([\w-]+\.yml):.*\[([a-z-]+)\]$", said, re.MULTILINE)
    assert found == [("harness-comment.yml", "dangerous-triggers")]


@pytest.mark.parametrize(
    ("old", "new", "rule"),
    [
        pytest.param(SETUP, "uses: actions/setup-python@v7 #", "unpinned-uses", id="a-tag"),
        pytest.param('run: bash "$GITHUB_ACTION_PATH/compare.sh"', "run: bash compare.sh ${{ inputs.base }}", "template-injection", id="an-input-in-a-script"),
        pytest.param("${{ inputs.gate }}", "${{ inputs.gates }}", "undefined-property", id="an-input-that-is-not-declared"),
        pytest.param("    description: Folder that the reports are in.\n    value", "    description: Folder that the reports are in.\n    values", "action-syntax", id="an-output-without-a-value"),
    ],
)  # fmt: skip
def test_the_linter_of_actions_refuses_an_action_that_is_broken(tmp_path: Path, old: str, new: str, rule: str) -> None:
    program("shellcheck")
    shutil.copytree(FOLDER, tmp_path / "ci")
    path = tmp_path / "ci" / "action.yml"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    code, said = strictly(tmp_path)
    assert (code, f"[{rule}]" in said) == (1, True), said


def test_shellcheck_passes_on_every_script() -> None:
    assert lint("shellcheck", *map(str, SCRIPTS), cwd=REPO) == (0, "")


@pytest.mark.parametrize("path", [*WORKFLOWS, *ACTIONS], ids=lambda path: str(path.relative_to(FOLDER)))
class TestEach:
    """What holds of each file."""

    def test_no_script_has_an_expression_in_it(self, path: Path) -> None:
        assert [step["run"] for step in steps(path) if "${{" in step.get("run", "")] == []

    def test_every_action_of_others_is_pinned_to_a_whole_commit_with_its_release(self, path: Path) -> None:
        lines = [line.split("uses: ")[1] for line in path.read_text(encoding="utf-8").splitlines() if "uses: " in line]
        assert [line for line in lines if not OURS.fullmatch(line) and not re.fullmatch(PINNED.pattern + r" # v\d+\.\d+\.\d+", line)] == []

    def test_a_checkout_leaves_no_token_behind(self, path: Path) -> None:
        for step in steps(path):
            if step.get("uses", "").startswith("actions/checkout@"):
                assert step["with"]["persist-credentials"] is False
                assert "ref" not in step["with"]
                assert "allow-unsafe-pr-checkout" not in step["with"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
class TestEachWorkflow:
    """What holds of each workflow."""

    def test_a_job_has_no_permission_that_it_does_not_need_and_an_end(self, path: Path) -> None:
        assert read(path)["permissions"] == {}
        for name, job in jobs(path):
            assert job["timeout-minutes"] <= 120
            if name == "comment":
                assert job["permissions"] == {"actions": "read", "pull-requests": "write"}
            else:
                assert set(job["permissions"].values()) == {"read"}

    def test_a_job_that_may_write_runs_nothing_and_checks_nothing_out(self, path: Path) -> None:
        for _, job in jobs(path):
            if "write" in job["permissions"].values():
                assert [step.get("uses") for step in job["steps"]] == ["OWNER/agent-loop-harness/docs/ci/comment@COMMIT"]

    def test_no_workflow_runs_a_change_of_others_with_the_rights_of_the_repository(self, path: Path) -> None:
        triggers = read(path)["on"]
        assert "pull_request_target" not in triggers
        if "workflow_run" in triggers:
            assert triggers["workflow_run"]["workflows"] == [read(FOLDER / "workflows" / "harness-run.yml")["name"]]


def test_the_comment_action_has_no_step_but_its_script() -> None:
    (step,) = steps(FOLDER / "comment" / "action.yml")
    assert step["run"] == 'python3 -B "$GITHUB_ACTION_PATH/comment.py"'


def test_the_artifact_that_is_uploaded_is_the_one_that_is_commented() -> None:
    uploads = [step["with"] for step in steps(FOLDER / "action.yml") if "upload-artifact" in step.get("uses", "")]
    inputs = read(FOLDER / "action.yml")["inputs"]
    names = [one["name"].replace("${{ inputs.artifact }}", inputs["artifact"]["default"]) for one in uploads]
    assert names == ["harness-report", read(FOLDER / "comment" / "action.yml")["inputs"]["artifact"]["default"]]
    source = (FOLDER / "comment" / "comment.py").read_text(encoding="utf-8")
    wanted = re.findall(r'^(?:BODY|NUMBER): Final = "(.+)"$', source, re.MULTILINE)
    assert re.findall(r"/([\w.-]+)$", uploads[1]["path"], re.MULTILINE) == wanted


def script(workflow: str, name: str) -> str:
    """The text of a step's script."""
    (found,) = (step["run"] for step in steps(FOLDER / "workflows" / workflow) if step.get("name") == name)
    return str(found)


def test_the_night_fetches_what_earlier_nights_left_and_goes_on_without_one_that_left_nothing(tmp_path: Path) -> None:
    gh = tmp_path / "gh"
    gh.write_text(
        '#!/usr/bin/env bash\nprintf "%s\\n" "$*" >>asked\n'
        'if [ "$2" = list ]; then printf "%s\\n" 11 12 13; exit; fi\n'
        '[ "$3" != 12 ] || exit 1\nwhile [ "$1" != --dir ]; do shift; done; mkdir -p "$2"; touch "$2/run.json"\n'
    )
    gh.chmod(0o755)
    environ = {**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}", "NIGHTS": "14", "GITHUB_REF_NAME": "$(touch pwned)"}
    text = script("harness-nightly.yml", "Fetch earlier nights")
    done = subprocess.run(["bash", "-eo", "pipefail", "-c", text], cwd=tmp_path, env=environ, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (0, "run 12 has no artifact\n")
    assert sorted(path.name for path in (tmp_path / "runs").iterdir()) == ["11", "13"]
    assert not (tmp_path / "pwned").exists()
    asked = (tmp_path / "asked").read_text().splitlines()
    assert asked[0] == "run list --workflow harness-nightly.yml --branch $(touch pwned) --status completed --limit 14 --json databaseId --jq .[].databaseId"
    assert asked[1] == "run download 11 --name harness-night --dir runs/11"


@pytest.mark.parametrize("outcome", ["success", "failure", "cancelled", "", "$(true)"])
def test_the_night_ends_as_its_run_did(outcome: str) -> None:
    text = script("harness-nightly.yml", "End as the run did")
    done = subprocess.run(["bash", "-eo", "pipefail", "-c", text], env={**os.environ, "OUTCOME": outcome}, timeout=60, check=False)
    assert (done.returncode == 0) is (outcome == "success")


@pytest.mark.parametrize("path", ACTIONS, ids=lambda path: str(path.relative_to(FOLDER)))
def test_a_script_of_an_action_is_given_exactly_the_variables_that_it_reads(path: Path) -> None:
    n_scripts = 0
    for step in steps(path):
        for name in re.findall(r"\$GITHUB_ACTION_PATH/([\w.]+)", step.get("run", "")):
            text = (path.parent / name).read_text(encoding="utf-8")
            read_there = set(re.findall(r"HARNESS_(?:CI|COMMENT)_[A-Z_]*[A-Z]", text))
            looped = re.search(r"for name in ([A-Z_ ]+); do\n +one_line \"HARNESS_CI_\$name\"", text)
            read_there |= {f"HARNESS_CI_{one}" for one in looped[1].split()} if looped else set()
            assert {one for one in step["env"] if one.startswith("HARNESS_")} == read_there
            n_scripts += 1
    assert n_scripts == {"ci": 2, "comment": 1}[path.parent.name]


def test_every_output_of_the_comparing_step_that_is_used_is_written() -> None:
    used = set(re.findall(r"steps\.compare\.outputs\.([a-z-]+)", (FOLDER / "action.yml").read_text(encoding="utf-8")))
    written = set(re.findall(r"printf '([a-z-]+)=%s", (FOLDER / "compare.sh").read_text(encoding="utf-8")))
    assert used == written


def test_reports_are_published_before_the_action_ends_as_the_gate_says() -> None:
    found = steps(FOLDER / "action.yml")
    names = [step["name"] for step in found]
    assert names[-4:] == ["Publish", "Upload the reports", "Upload the comment", "End as the gate says"]
    assert [step.get("continue-on-error", False) for step in found[-4:]] == [True, True, True, False]
    assert found[-1]["run"] == 'exit "$HARNESS_CI_EXIT_CODE"'


NAMED = "agent-loop-harness"
PINNED_HARNESS = (
    '"agent-loop-harness[evaluate] @ git+https://github.com/OWNER/agent-loop-harness@COMMIT"',
    '"$GITHUB_ACTION_PATH/../..[evaluate]"',
    '"$HARNESS"',
    '"path/to/agent-loop-harness[evaluate]"',
)


def installs(text: str) -> list[str]:
    """What every `pip install` of a text installs first, but for further extras of what is installed already."""
    found = re.findall(r"pip install (\"[^\"]*\"|'[^']*'|\S+)", text)
    return [one for one in found if not re.fullmatch(r"'agent-loop-harness\[\w+\]'", one)]


PAGES = [*sorted(FOLDER.rglob("*.yml")), REPO / "README.md", *sorted((REPO / "docs").glob("*.md"))]


def test_nothing_that_is_handed_out_installs_what_the_name_of_the_harness_may_be_elsewhere() -> None:
    found = {(path.name, one) for path in PAGES for one in installs(path.read_text(encoding="utf-8"))}
    assert {one for _, one in found} == set(PINNED_HARNESS)
    assert {"README.md", "index.md", "ci.md", "action.yml", *(f"harness{name}.yml" for name in ("", "-run", "-main", "-nightly"))} <= {name for name, _ in found}


@pytest.mark.parametrize("text", ["python -m pip install agent-loop-harness --editable .", 'pip install "agent-loop-harness[evaluate]"', "pip install agent-loop-harness==1"])
def test_a_line_that_installs_by_name_alone_would_be_seen(text: str) -> None:
    assert not set(installs(text)) <= set(PINNED_HARNESS)


def test_what_lies_two_folders_above_the_action_is_the_harness() -> None:
    assert f'name = "{NAMED}"' in (FOLDER / ".." / ".." / "pyproject.toml").read_text(encoding="utf-8")
