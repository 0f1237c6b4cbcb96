"""The base runs its own code, however this interpreter would come to the caller's: finders, parent folders, copies."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.lab import Cli
from tests.cli.shop import Shop, built

TOOLS = """\
from agent.words import ANSWER


def who() -> str:
    return ANSWER


REGISTRY = {"who": who}
"""
ASKS = """\
format: harness-scenario/1
task: Who?
tools: {from: "NAMED:REGISTRY"}
script:
  - call: {who: {}}
  - say: Told.
"""
FINDER = """\
import sys
from importlib.util import spec_from_file_location


class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == "agent":
            return spec_from_file_location(name, PLACE + "/__init__.py", submodule_search_locations=[PLACE])


PLACE = {place!r}
sys.meta_path.append(Finder)
"""


@pytest.fixture
def project(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Makes a repository whose package lies below ``packages``, on a branch that edits it; a site folder to import from."""

    def project(named: str = "agent.tools", tools: str = TOOLS) -> Shop:
        files = {
            ".gitignore": "/reports/\n__pycache__/\n",
            "packages/agent/__init__.py": "",
            "packages/agent/tools.py": tools,
            "packages/agent/words.py": 'ANSWER = "the base"\n',
            "scenarios/a.yaml": ASKS.replace("NAMED", named),
        }
        shop = built(cli.folder / "proj", files=files)
        shop.git("checkout", "-q", "-b", "change")
        shop.edit("packages/agent/words.py", "the base", "the candidate")
        monkeypatch.chdir(shop.folder)
        monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
        monkeypatch.setenv("PYTHONPATH", str(cli.folder / "site"))
        return shop

    return project


def answers(side: str) -> list[str]:
    """What the tool of one side answered, in each of its runs."""
    found = []
    for path in sorted(Path("reports/compare", side, "trajectories").glob("*.jsonl")):
        lines = path.read_text("utf-8").splitlines()
        found += [str(json.loads(line)["content"]) for line in lines if line.startswith('{"type":"tool/result"')]
    return found


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_finder_of_an_editable_installation_finds_the_sides_own(jobs: str, project: Any, cli: Cli) -> None:
    shop = project()
    cli.write("site/sitecustomize.py", FINDER.format(place=str(shop.top / "packages/agent")))
    said = cli("compare", "--against", "main", "-j", jobs, "--trials", "2")
    assert said.code == 1, said.all
    assert (answers("base"), answers("candidate")) == (["the base"] * 2, ["the candidate"] * 2)


IMPORTED = "from {package}.words import ANSWER; print(ANSWER, end='')"
BEGUN = {
    "another-interpreter": """\
import subprocess, sys
def who() -> str:
    return subprocess.run([sys.executable, "-c", CODE], stdout=subprocess.PIPE, text=True, check=True).stdout
REGISTRY = {"who": who}
""",
    "with-nothing-but-its-path": """\
import os, subprocess, sys
def who() -> str:
    path = {"PYTHONPATH": os.environ["PYTHONPATH"]}
    return subprocess.run([sys.executable, "-c", CODE], env=path, stdout=subprocess.PIPE, text=True, check=True).stdout
REGISTRY = {"who": who}
""",
    "through-a-shell": """\
import shlex, subprocess, sys
def who() -> str:
    return subprocess.check_output(f"{shlex.quote(sys.executable)} -c {shlex.quote(CODE)}", shell=True, text=True)
REGISTRY = {"who": who}
""",
    "isolated-by-the-harness": """\
from harness import tool
def who() -> str:
    from PACKAGE.words import ANSWER
    return ANSWER
REGISTRY = {"who": tool(isolation="subprocess")(who)}
""",
}


@pytest.mark.parametrize(
    ("way", "begun"), [*(("a-finder", begun) for begun in BEGUN), ("a-parent-folder", "isolated-by-the-harness")]
)
def test_what_a_side_begins_runs_the_sides_own_code_too(
    way: str, begun: str, project: Any, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = "agent" if way == "a-finder" else "proj.packages.agent"
    code = f"CODE = {IMPORTED.format(package=package)!r}\n"
    shop = project(f"{package}.tools", code + BEGUN[begun].replace("PACKAGE", package))
    if way == "a-finder":
        cli.write("site/sitecustomize.py", FINDER.format(place=str(shop.top / "packages/agent")))
    else:
        monkeypatch.setenv("PYTHONPATH", str(cli.folder))
    said = cli("compare", "--against", "main")
    assert (answers("base"), answers("candidate")) == (["the base"], ["the candidate"]), said.all
    assert said.code == 1


def test_what_a_side_begins_and_cannot_be_the_sides_own_ends_at_once(project: Any, cli: Cli) -> None:
    shop = project(tools=f"CODE = {IMPORTED.format(package='agent')!r}\n" + BEGUN["another-interpreter"])
    early = "import os\nif 'agent' in os.environ:\n    import agent.words\n"
    cli.write("site/sitecustomize.py", FINDER.format(place=str(shop.top / "packages/agent")) + early)
    shop.edit("packages/agent/tools.py", "def who() -> str:\n", "def who() -> str:\n    os.environ['agent'] = ''\n")
    shop.edit("packages/agent/tools.py", "import subprocess", "import os, subprocess")
    shop.git("commit", "-q", "-am", "imports early")
    shop.git("branch", "-f", "main")
    cli("compare", "--against", "main")
    assert "returned non-zero exit status 2" in answers("base")[0], "it told nothing of the caller's code"


def test_the_first_module_that_is_hidden_by_ours_runs_as_ever(project: Any, cli: Cli) -> None:
    shop = project(tools="import sitecustomize\nREGISTRY = {'who': sitecustomize.who}\n")
    cli.write("site/sitecustomize.py", FINDER.format(place=str(shop.top / "packages/agent")) + "def who() -> str:\n    return __file__\n")
    assert cli("compare", "--against", "main").code == 0
    assert answers("base") == answers("candidate") == [str(cli.folder / "site/sitecustomize.py")]


@pytest.mark.parametrize("top", ["", None], ids=["a-package", "a-namespace"])
def test_a_repository_that_is_imported_from_its_parent_is_each_sides_own(
    top: str | None, project: Any, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = project("proj.packages.agent.tools", TOOLS.replace("from agent", "from proj.packages.agent"))
    if top is not None:
        shop.write("__init__.py", top)
    shop.git("stash", "-q")
    shop.commit("importable")
    shop.git("branch", "-f", "main")
    shop.git("stash", "pop", "-q")
    monkeypatch.setenv("PYTHONPATH", str(cli.folder))
    said = cli("compare", "--against", "main")
    assert said.code == 1, said.all
    assert (answers("base"), answers("candidate")) == (["the base"], ["the candidate"])


def test_a_module_that_only_the_caller_has_is_not_in_the_base(project: Any, cli: Cli) -> None:
    shop = project()
    shop.write("packages/agent/new.py", 'ANSWER = "new"\n')
    cli.write("site/sitecustomize.py", FINDER.format(place=str(shop.top / "packages/agent")))
    shop.write("packages/agent/tools.py", TOOLS.replace("agent.words", "agent.new"))
    shop.git("commit", "-q", "-am", "needs a file that is not committed")
    shop.git("branch", "-f", "main")
    said = cli("compare", "--against", "main")
    assert (said.code, "there is no module 'agent.new'" in said.err) == (2, True), said.all
    assert "files that are untracked or ignored here are not in it" in said.err


def test_what_was_imported_before_anything_could_be_said_is_refused(project: Any, cli: Cli) -> None:
    shop = project()
    finder = FINDER.format(place=str(shop.top / "packages/agent"))
    cli.write("site/sitecustomize.py", finder + "import agent.words\n")
    said = cli("compare", "--against", "main")
    assert said.code == 2, said.all
    assert "'agent' was imported from " in said.err
    assert "packages/agent/__init__.py when the interpreter began" in said.err


def test_a_package_of_the_repository_that_is_installed_as_a_copy_is_told(
    project: Any, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = project()
    url = json.dumps({"url": f"file://{shop.top}/packages", "dir_info": {}})
    monkeypatch.syspath_prepend(str(cli.folder / "site"))
    cli.write("site/agent/__init__.py", "")
    cli.write("site/agent/tools.py", TOOLS)
    cli.write("site/agent/words.py", 'ANSWER = "the copy"\n')
    cli.write("site/agent-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: agent\nVersion: 1\n")
    cli.write("site/agent-1.dist-info/RECORD", "agent/__init__.py,,\nagent/tools.py,,\nagent/words.py,,\n")
    cli.write("site/agent-1.dist-info/direct_url.json", url)
    said = cli("compare", "--against", "main")
    assert answers("base") == answers("candidate") == ["the copy"]
    assert "agent: installed as a copy of what was in " in said.err, said.all
    cli.write("site/agent-1.dist-info/direct_url.json", url.replace("{}", '{"editable": true}'))
    assert "installed as a copy" not in cli("compare", "--against", "main").err
