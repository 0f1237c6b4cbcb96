"""``harness compare --against``: the code of the merge base beside that of the work tree, whatever is installed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from harness.runner.bases.repository import Repository
from harness.runner.bases.side_runs import roots_of
from harness.runner.bases.worktrees import PREFIX
from tests.cli.lab import BAD, GOOD, UNSCRIPTED, Cli, clean_environment
from tests.cli.shop import Shop, built

TOOLS = """\
from shop.words import ANSWER


def who() -> str:
    return ANSWER


REGISTRY = {"who": who}
"""
ASKS = """\
format: harness-scenario/1
task: Who?
tools: {from: "shop.tools:REGISTRY"}
script:
  - call: {who: {}}
  - say: Told.
"""
SAYS = "format: harness-scenario/1\ntask: Who?\nscript: [{say: x}]\nallow_leftovers: true\n"
IGNORED = {".gitignore": "/reports/\n__pycache__/\nsecret.py\n"}
PLAIN = {**IGNORED, "scenarios/a.yaml": GOOD}


def with_tools(root: str) -> dict[str, str]:
    """A project whose package lies below ``root``; it has no ``__init__``, so that names of both sides could mix."""
    return {
        f"{root}shop/tools.py": TOOLS,
        f"{root}shop/words.py": 'ANSWER = "the base"\n',
        "scenarios/a.yaml": ASKS,
        ".gitignore": "reports/\n__pycache__/\n",
    }


@pytest.fixture
def project(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Makes a repository in the current folder, goes to the project in it, on a branch of its own."""

    def project(files: dict[str, str], inside: str = "") -> Shop:
        shop = built(cli.folder / "repo", inside, files)
        shop.git("checkout", "-q", "-b", "change")
        monkeypatch.chdir(shop.folder)
        monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
        return shop

    return project


def said_by(side: str) -> str:
    """What the tool of one side answered."""
    lines = Path("reports/compare", side, "trajectories/a@default#1.jsonl").read_text("utf-8").splitlines()
    (found,) = (json.loads(line)["content"] for line in lines if line.startswith('{"type":"tool/result"'))
    return str(found)


def install(place: str, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the path file of an editable installation does it: this interpreter imports from there, and so does each other."""
    cli.write("site/sitecustomize.py", f"import sys\nsys.path.append({place!r})\n")
    monkeypatch.setenv("PYTHONPATH", str(cli.folder / "site"))
    monkeypatch.setattr(sys, "path", [*sys.path, place])


@pytest.mark.parametrize(
    ("root", "inside", "installed"),
    [
        pytest.param("src/", "", "src", id="src-layout-installed-editable"),
        pytest.param("", "", "", id="flat-layout-installed-editable"),
        pytest.param("src/", "services/shop", None, id="src-layout-in-a-subfolder-not-installed"),
        pytest.param("lib/python/", "", "lib/python", id="a-layout-that-only-the-installation-knows"),
    ],
)
def test_each_side_runs_its_own_code(
    root: str, inside: str, installed: str | None, project: Any, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = project(with_tools(root), inside)
    if installed is not None:
        install(str(shop.top / installed), cli, monkeypatch)
    shop.edit(f"{root}shop/words.py", "the base", "the candidate")
    said = cli("compare", "--against", "main")
    assert said.code == 1, said.all
    assert (said_by("base"), said_by("candidate")) == ("the base", "the candidate")
    assert "the tool answered differently (who)" in said.out


def test_a_repository_that_holds_another_harness_is_run_by_this_one(project: Any, cli: Cli) -> None:
    shop = project({**PLAIN, "harness/__init__.py": "raise SystemExit('another harness')\n"})
    shop.edit("scenarios/a.yaml", "It is 42.", "It is 42!")
    said = cli("compare", "--against", "main", "-j", "2", "--trials", "2")
    assert (said.code, "It is 42. → It is 42!" in said.out) == (1, True), said.all


def test_code_is_imported_from_where_this_interpreter_does_it_at_the_same_place(
    project: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    shop = project({"in/side/src/x.py": "", "src/y.py": "", "odd/z.py": ""}, "")
    tree = tmp_path / "tree"
    for place in ("in/side/src", "src", "odd"):
        (tree / place).mkdir(parents=True)
    monkeypatch.setattr(sys, "path", [str(shop.top / "odd"), str(shop.top / "gone"), str(tmp_path), ""])
    here = Repository.at(shop.top / "in/side")
    wanted = ("in/side", "in/side/src", "", "src", "odd")
    assert roots_of(here, tree) == tuple(str(tree / one) for one in wanted)


def test_what_is_not_committed_is_not_in_the_base_and_that_is_said(
    project: Any, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = project({**with_tools(""), **IGNORED})
    install(str(shop.top), cli, monkeypatch)
    shop.write("shop/words.py", "from shop.secret import ANSWER\n")
    shop.commit("needs a file that is ignored")
    shop.git("branch", "-f", "main")
    shop.write("shop/secret.py", 'ANSWER = "known here only"\n')
    said = cli("compare", "--against", "main")
    assert said.code == 2, said.all
    assert "the base could not be run" in said.err
    assert "shop.tools" in said.err
    assert "files that are untracked or ignored here are not in it" in said.err


READS = '''\
from pathlib import Path

from harness.testing import subject


async def run_agent(env):
    Path("prompt.local").read_text()
    response = await env.openai().chat.completions.create(model="any", messages=[{"role": "user", "content": env.task}])
    return response.choices[0].message.content


my_loop = subject(run_agent)
'''


def test_a_base_that_lacks_a_file_that_is_not_committed_is_no_base_to_pass_against(project: Any, cli: Cli) -> None:
    shop = project({
        "scenarios/a.yaml": SAYS.replace("allow_leftovers: true", "expect: {status: completed}"),
        "gate.yaml": "format: harness-gate/1\n", "reader.py": READS, ".gitignore": "*.local\n/reports/\n",
    })  # fmt: skip
    shop.write("prompt.local", "Be short.")
    said = cli("compare", "--against", "main", "--gate", "gate.yaml", "--subject", "reader:my_loop")
    assert said.code == 3, said.all
    assert "INCONCLUSIVE  behaviour: 1 not decided (the base found no such file or module)" in said.out
    assert "the base's run a@default#1 ended with error UNKNOWN: FileNotFoundError" in said.out
    assert "files that are untracked or ignored here are not in it" in said.out
    folders = ("compare", "reports/compare/base", "reports/compare/candidate")
    again = cli(*folders, "--gate", "gate.yaml", "--format", "markdown")
    assert again.code == 3, again.all
    assert "untracked" not in again.out, "nobody knows how those runs were made"


def test_submodules_are_empty_in_the_base_and_that_is_said(project: Any, cli: Cli) -> None:
    other = built(cli.folder / "other", "", {"scenarios/a.yaml": GOOD})
    shop = project({".gitignore": "/reports/\n"})
    shop.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(other.top), "shared")
    shop.git("branch", "-f", "main", shop.commit())
    said = cli("compare", "--against", "main", "--scenarios", "shared/scenarios")
    assert said.code in (2, 4), said.all
    assert "submodules are empty" in said.err


def test_scenarios_that_fail_are_no_error_and_runs_that_cannot_begin_are_told(project: Any, cli: Cli) -> None:
    shop = project({**PLAIN, "scenarios/b.yaml": BAD, "scenarios/c.yaml": UNSCRIPTED})
    said = cli("compare", "--against", "main")
    assert said.code == 3, said.all  # a run that never came to be is no pass
    assert "0 worse, 0 missing, 0 changed" in said.out
    for side in ("base", "candidate"):
        assert f"the {side} did not run c@default#1: CassetteError" in said.err
    shop.edit("scenarios/c.yaml", "task: Hello\n", "task: Hello\nscript: [{say: Hi}]\n")
    fixed = cli("compare", "--against", "main")
    assert "new      c" in fixed.out, "what never came to be is no run"
    shop.write("scenarios/d.yaml", "format: harness-scenario/1\ntask: x\nnonsense: 1\n")
    refused = cli("compare", "--against", "main")
    assert (refused.code, "the candidate could not be run (exit code 2)" in refused.err) == (2, True)
    assert "nonsense" in refused.err


def test_a_scenario_that_only_one_side_has_is_new_or_missing(project: Any, cli: Cli) -> None:
    shop = project({**PLAIN, "scenarios/b.yaml": GOOD, "scenarios/c.yaml": GOOD})
    shop.git("mv", "scenarios/b.yaml", "scenarios/d.yaml")
    said = cli("compare", "--against", "main", "--scenarios", "scenarios/b.yaml", "--scenarios", "scenarios/d.yaml")
    assert said.code == 1
    assert "missing  b  (in the base only: a regression)" in said.out
    assert "new      d" in said.out
    assert "the candidate has no scenarios/b.yaml" in said.err
    assert "the base has no scenarios/d.yaml" in said.err
    only_new = cli("compare", "--against", "main", "--scenarios", "scenarios/d.yaml")
    assert (only_new.code, "the base has none of the scenarios" in only_new.err) == (4, True)


def test_one_folder_is_the_candidate_and_only_the_base_is_run(project: Any, cli: Cli) -> None:
    shop = project(PLAIN)
    shop.edit("scenarios/a.yaml", "It is 42.", "42!")
    assert cli("run", "--out", "reports/mine").code == 0
    shop.git("checkout", "-q", "-f", ".")
    said = cli("compare", "--against", "main", "reports/mine")
    assert (said.code, "It is 42. → 42!" in said.out) == (1, True), said.all
    assert not Path("reports/compare/candidate").exists()
    assert said.out.splitlines()[-1] == "again: harness compare reports/mine --against main"


def test_the_runs_of_the_base_are_taken_again_only_where_nothing_of_it_changed(project: Any, cli: Cli) -> None:
    shop = project(PLAIN)
    runs = Path("reports/compare/base/trajectories/a@default#1.jsonl")
    assert cli("compare", "--against", "main").code == 0
    first = runs.stat().st_mtime_ns
    assert cli("compare", "--against", "main", "--reuse-base").code == 0
    assert runs.stat().st_mtime_ns == first
    assert cli("compare", "--against", "main", "--reuse-base", "--trials", "2").code == 0
    second = runs.stat().st_mtime_ns
    assert second != first
    shop.git("checkout", "-q", "-f", "main")
    shop.edit("scenarios/a.yaml", "It is 42.", "It is 42!")
    shop.commit()
    assert cli("compare", "--against", "main", "--reuse-base", "--trials", "2").code == 0
    assert runs.stat().st_mtime_ns != second, "the merge base is another one now"


@pytest.mark.parametrize("what", ["named", "settings", "recordings"])
def test_runs_of_a_base_that_reads_what_no_commit_says_are_never_taken_again(what: str, project: Any, cli: Cli) -> None:
    outside = cli.write("outside/o.yaml", GOOD)
    settings = {
        "named": "", "settings": f"[tool.harness]\nscenarios = ['{outside.parent}']\n",
        "recordings": f"[tool.harness]\ncassettes = '{outside.parent}'\n",
    }  # fmt: skip
    project({**PLAIN, "pyproject.toml": settings[what]})
    compare = ["compare", "--against", "main", "--reuse-base", *(["--scenarios", str(outside)] if what == "named" else [])]
    assert cli(*compare).code == 0
    again = cli(*compare)
    assert (again.code, "as they were made before" in again.err) == (0, False), again.all
    outside.write_text(GOOD.replace("It is 42.", "42!"), "utf-8")
    assert cli(*compare).code == 0, "both sides read what lies there now"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param(["a"], "name BASE and CANDIDATE", id="one-side"),
        pytest.param([], "name BASE and CANDIDATE", id="no-side"),
        pytest.param(["--against", "main", "a", "b"], "name the candidate's folder only", id="both-sides-and-against"),
        pytest.param(["a", "b", "-k", "x"], "say what --against runs", id="match-without-against"),
        pytest.param(["--against", "nothing"], "git knows no commit 'nothing'", id="no-such-branch"),
        pytest.param(["--against", "main", "--gate", "no.yaml"], "neither here nor at the merge base", id="no-such-gate"),
        pytest.param(["--against", "main", "--runs", "used"], "holds no run.json of ours", id="a-folder-in-use"),
        pytest.param(["--against", "main", "-k", "b"], "no scenarios of 1 fit -k 'b'", id="nothing-to-run"),
    ],
)
def test_what_cannot_be_compared_is_refused(arguments: list[str], said: str, project: Any, cli: Cli) -> None:
    project({**PLAIN, "used/base/mine.txt": "x"})
    found = cli("compare", *arguments)
    assert (found.code, said in found.err) == (4 if said.startswith("no scenarios") else 2, True), found.all


def test_outside_of_a_repository_there_is_nothing_to_compare_against(cli: Cli) -> None:
    cli.write("scenarios/a.yaml", GOOD)
    said = cli("compare", "--against", "main")
    assert (said.code, "in no repository that git can read" in said.err) == (2, True)


SLOW = """\
import time
from pathlib import Path
from harness.testing import subject

async def wait(env):
    Path(PLACE).touch()
    time.sleep(60)

my_loop = subject(wait)
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT], ids=["terminated", "hung-up", "interrupted"])
def test_ended_from_outside_it_leaves_no_work_tree_and_no_process(number: int, project: Any, cli: Cli) -> None:
    begun, name = cli.folder / "begun", f"slow_{number:d}"  # no other test beside it looks for that name
    shop = project({**IGNORED, "scenarios/a.yaml": SAYS, f"{name}.py": SLOW.replace("PLACE", repr(str(begun)))})
    shop.write(f"{name}.py", SLOW.replace("    time.sleep(60)\n", "").replace("PLACE", "'reports/quick'"))
    process = subprocess.Popen(
        [sys.executable, "-m", "harness", "compare", "--against", "main", "--subject", f"{name}:my_loop"],
        cwd=shop.folder, env=clean_environment({"TMPDIR": str(cli.folder)}),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    while not begun.exists():
        assert process.poll() is None, process.communicate()
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, b"interrupted" in err) == (130, True), (out, err)
    assert b"Traceback" not in err
    assert PREFIX not in shop.git("worktree", "list", "--porcelain")
    assert [one.name for one in cli.folder.iterdir() if one.name.startswith("harness-")] == []
    assert f"{name}:my_loop".encode() not in b"".join(_commands()), "its process lives on"


def _commands() -> list[bytes]:
    found = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found.append(place.read_bytes())
        except OSError:
            continue  # it has ended meanwhile
    return found


def test_the_first_screen_names_the_commits_of_both_sides(project: Any, cli: Cli) -> None:
    shop = project(PLAIN)
    base = shop.git("rev-parse", "HEAD")
    shop.edit("scenarios/a.yaml", "It is 42.", "42!")
    head = shop.commit()
    shop.write(".gitignore", "/reports/\n")
    said = cli("compare", "--against", "main", "--json").json
    assert said["baseRevision"] == {"commit": base, "ref": "main"}
    assert said["candidateRevision"] == {"commit": head, "ref": "change", "dirty": True}
    assert said["mergeBase"] == base
    text = cli("compare", "--against", "main", "--reuse-base").out
    assert f"{base[:10]} (main)" in text
    assert f"{head[:10]} (change)" in text
    assert os.fspath(cli.folder) not in text
