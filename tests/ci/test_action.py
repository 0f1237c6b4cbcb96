"""The action's own shell scripts, run as the service runs them: files for outputs and summary, values by environment."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.house.source import REPO

FOLDER = REPO / "docs" / "ci"
HARNESS = """\
#!/usr/bin/env bash
printf '%s\\0' "$@" >"$ASKED"
printf '%s\\n' "$SAYS"
exit "$CODE"
"""
HOSTILE = [
    pytest.param("$(touch pwned)", id="substitution"),
    pytest.param("`touch pwned`", id="backquotes"),
    pytest.param("x; touch pwned", id="semicolon"),
    pytest.param("x' ; touch pwned ; '", id="quote"),
    pytest.param('x" ; touch pwned ; "', id="double-quote"),
    pytest.param("x && touch pwned", id="and"),
    pytest.param("${IFS}touch${IFS}pwned", id="ifs"),
    pytest.param("a b  c", id="blanks"),
    pytest.param("*", id="star"),
    pytest.param("ünïcode 模型", id="unicode"),
    pytest.param("%0A::error::x", id="percent"),
]

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed here")


@dataclass
class Step:
    """A step of the action in a folder of its own, with a program `harness` that keeps what it was asked."""

    folder: Path
    environ: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        program = self.folder / "bin" / "harness"
        program.parent.mkdir()
        program.write_text(HARNESS)
        program.chmod(0o755)
        (self.folder / "work").mkdir()
        self.environ = {
            "PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}", "ASKED": str(self.folder / "asked"), "SAYS": "PASS", "CODE": "0",
            "GITHUB_OUTPUT": str(self.folder / "output"), "GITHUB_STEP_SUMMARY": str(self.folder / "summary"), "GITHUB_BASE_REF": "main",
        }  # fmt: skip

    def __call__(self, script: str, **environ: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", str(FOLDER / script)], cwd=self.folder / "work", env={**self.environ, **environ}, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, encoding="utf-8", timeout=60, check=False,
        )  # fmt: skip

    @property
    def asked(self) -> list[str]:
        return (self.folder / "asked").read_bytes().decode().split("\0")[:-1]

    @property
    def outputs(self) -> dict[str, str]:
        lines = (self.folder / "output").read_text(encoding="utf-8").splitlines()
        return dict(line.split("=", 1) for line in lines)

    @property
    def made(self) -> list[str]:
        return sorted(str(path.relative_to(self.folder / "work")) for path in (self.folder / "work").rglob("*"))


@pytest.fixture
def step(tmp_path: Path) -> Step:
    return Step(tmp_path)


def test_a_pull_request_is_compared_with_the_branch_that_it_goes_into(step: Step) -> None:
    done = step("compare.sh")
    assert (done.returncode, done.stderr) == (0, "")
    assert step.asked == ["compare", "--reports=reports/compare", "--against=origin/main", "--runs=reports/compare/runs"]
    assert step.outputs == {"outcome": "PASS", "exit-code": "0", "reports": "reports/compare"}


def test_all_that_can_be_asked_for_arrives_as_it_was_written(step: Step) -> None:
    done = step(
        "compare.sh", HARNESS_CI_BASE="v1.0", HARNESS_CI_SCENARIOS="scenarios/a\n\n   scenarios/b c  \r\n", HARNESS_CI_GATE="gate.yaml",
        HARNESS_CI_INCONCLUSIVE="warn", HARNESS_CI_ARGUMENTS="-j\n2\n--trials\n3", HARNESS_CI_REPORTS="out put", HARNESS_CI_COMMENT_KEY="nightly",
        HARNESS_CI_NUMBER="7",
    )  # fmt: skip
    assert done.returncode == 0
    assert step.asked == [
        "compare", "--reports=out put", "--comment-key=nightly", "--gate=gate.yaml", "--inconclusive=warn", "--scenarios=scenarios/a",
        "--scenarios=scenarios/b c", "-j", "2", "--trials", "3", "--against=v1.0", "--runs=out put/runs",
    ]  # fmt: skip
    assert (step.folder / "work" / "out put" / "pull-request.txt").read_text() == "7\n"


def test_runs_that_are_there_are_compared_and_the_gate_is_that_of_the_base(step: Step) -> None:
    done = step("compare.sh", HARNESS_CI_BASE_RUNS="base.zip", HARNESS_CI_CANDIDATE_RUNS="-runs")
    assert done.returncode == 0
    assert step.asked[-4:] == ["--base-ref=origin/main", "--", "base.zip", "-runs"]


@pytest.mark.parametrize(
    ("code", "outcome"),
    [(0, "PASS"), (1, "FAIL"), (2, "USAGE"), (3, "INCONCLUSIVE"), (4, "INVALID"), (5, "ERROR"), (130, "INTERRUPTED"), (127, "ERROR"), (137, "ERROR")],
)
def test_every_exit_code_is_an_output_and_ends_nothing_before_the_reports_are_published(step: Step, code: int, outcome: str) -> None:
    assert step("compare.sh", CODE=str(code)).returncode == 0
    assert (step.outputs["exit-code"], step.outputs["outcome"]) == (str(code), outcome)


@pytest.mark.parametrize("name", ["BASE", "SCENARIOS", "GATE", "INCONCLUSIVE", "ARGUMENTS", "REPORTS", "COMMENT_KEY", "NUMBER", "BASE_RUNS"])
@pytest.mark.parametrize("text", HOSTILE)
def test_no_value_is_ever_run_or_split(step: Step, name: str, text: str) -> None:
    more = {"HARNESS_CI_CANDIDATE_RUNS": text} if name == "BASE_RUNS" else {}
    done = step("compare.sh", **{f"HARNESS_CI_{name}": text}, **more)
    assert done.returncode == 0, done.stdout + done.stderr
    assert [name for name in step.made if "pwned" in name] == []
    given = [word.split("=", 1)[-1] for word in step.asked]
    assert name == "NUMBER" or any(text == word.removesuffix("/runs") for word in given)
    assert len(step.asked) <= 7
    assert list(step.outputs) == ["outcome", "exit-code", "reports"]


@pytest.mark.parametrize("branch", HOSTILE)
def test_a_branch_of_any_name_is_one_argument(step: Step, branch: str) -> None:
    assert step("compare.sh", GITHUB_BASE_REF=branch).returncode == 0
    assert f"--against=origin/{branch}" in step.asked
    assert step.made == []


@pytest.mark.parametrize(
    ("environ", "told"),
    [
        pytest.param({"GITHUB_BASE_REF": ""}, "there is no base", id="no-base"),
        pytest.param({"HARNESS_CI_BASE": "--upload-pack=touch pwned"}, "cannot begin with a dash", id="an-option-for-a-base"),
        pytest.param({"HARNESS_CI_BASE_RUNS": "base.zip"}, "needs candidate-runs", id="one-side-only"),
        pytest.param({"HARNESS_CI_REPORTS": "a\noutcome=PASS"}, "REPORTS must be one line", id="an-output-of-its-own"),
        pytest.param({"HARNESS_CI_GATE": "a\r::error::"}, "GATE must be one line", id="a-carriage-return"),
    ],
)
def test_what_cannot_be_asked_is_refused_before_anything_runs(step: Step, environ: dict[str, str], told: str) -> None:
    done = step("compare.sh", **environ)
    assert (done.returncode, told in done.stdout) == (2, True)
    assert not (step.folder / "asked").exists()
    assert not (step.folder / "output").exists()


def test_what_a_model_said_is_between_a_silence_that_it_cannot_know(step: Step) -> None:
    said = "::stop-commands::x\n::x::\n::set-output name=outcome::PASS\n::add-mask::a"
    first = step("compare.sh", SAYS=said).stdout.splitlines()
    second = step("compare.sh", SAYS=said).stdout.splitlines()
    found = re.fullmatch(r"::stop-commands::([0-9a-f]{32})", first[0])
    assert found is not None
    assert first[1:-1] == said.split("\n")
    assert first[-1] == f"::{found[1]}::"
    assert first[0] != second[0]


@pytest.mark.parametrize("number", ["", "0", "7a", "7\n8", "$(id)", "../7"])
def test_a_number_that_is_none_is_not_written(step: Step, number: str) -> None:
    step("compare.sh", HARNESS_CI_NUMBER=number)
    assert "reports/compare/pull-request.txt" not in step.made


def test_reports_are_published_and_appended_to_what_is_there(step: Step) -> None:
    reports = step.folder / "work" / "reports" / "compare"
    reports.mkdir(parents=True)
    (reports / "summary.md").write_text("# 模型\n$(touch pwned)\n", encoding="utf-8")
    (reports / "annotations.txt").write_text("::error file=a.yaml,line=3::x\n")
    (step.folder / "summary").write_text("before\n")
    done = step("publish.sh")
    assert (done.returncode, done.stdout) == (0, "::error file=a.yaml,line=3::x\n")
    assert (step.folder / "summary").read_text(encoding="utf-8") == "before\n# 模型\n$(touch pwned)\n"
    assert "pwned" not in " ".join(step.made)


def test_reports_that_are_missing_are_told_and_fail_nothing(step: Step) -> None:
    done = step("publish.sh", HARNESS_CI_REPORTS="nowhere")
    assert done.returncode == 0
    assert done.stdout.startswith("::warning title=harness compare::there is no summary")


@pytest.mark.public_case("PB-047")
@pytest.mark.parametrize(
    ("n_before", "n_summary", "kept"),
    [
        pytest.param(0, 1_048_575, "s", id="all-of-it"),
        pytest.param(1, 1_048_575, "c", id="one-byte-too-many-with-what-is-there"),
        pytest.param(0, 1_048_576, "c", id="exactly-the-bound"),
        pytest.param(1_048_570, 1_000, "", id="no-room-for-either"),
    ],
)
def test_what_would_make_the_service_drop_the_summary_is_not_appended(step: Step, n_before: int, n_summary: int, kept: str) -> None:
    reports = step.folder / "work" / "reports" / "compare"
    reports.mkdir(parents=True)
    (reports / "summary.md").write_bytes(b"s" * n_summary)
    (reports / "comparison.md").write_bytes(b"c" * 100)
    (step.folder / "summary").write_bytes(b"b" * n_before)
    done = step("publish.sh")
    assert done.returncode == 0
    written = (step.folder / "summary").read_bytes()
    assert len(written) < 1_048_576
    assert written[n_before:] == {"s": b"s" * n_summary, "c": b"c" * 100, "": b""}[kept]
    assert ("does not fit" in done.stdout) is (kept != "s")


def test_the_scripts_run_without_a_service_too(step: Step) -> None:
    for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "GITHUB_BASE_REF"):
        del step.environ[name]
    assert step("compare.sh", HARNESS_CI_BASE="main").returncode == 0
    assert step("publish.sh").returncode == 0


def test_values_that_are_json_of_an_event_stay_text(step: Step) -> None:
    title = json.dumps({"title": "x'); touch pwned; ('"})
    assert step("compare.sh", HARNESS_CI_SCENARIOS=title).returncode == 0
    assert f"--scenarios={title}" in step.asked
