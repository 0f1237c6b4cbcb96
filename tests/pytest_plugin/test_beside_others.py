"""The plugin in projects that never asked for it, and event loops that belong to somebody else (PB-044)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.pytest_plugin.lab import project, pytest_in

_LOOP = """
from harness.testing import scenario, subject

async def run_agent(env):
    client = env.openai()
    reply = await client.chat.completions.create(model="m", messages=[{"role": "user", "content": env.task}])
    return reply.choices[0].message.content

LOOP = subject(run_agent)
ONE = scenario(task="Hello", script=[{"say": "Hi."}], expect={"status": "completed", "answer": "Hi."})

def check():
    run = ONE.run(LOOP)
    assert run.passed, run.findings
"""
_PLAIN = "def test_plain_one():\n    check()\n\ndef test_plain_two():\n    check()\n"
_WITH = "import pytest\n\n" + "\n".join(
    f"@pytest.mark.asyncio\nasync def test_async_{name}():\n    check()\n" for name in ("one", "two")
)
_WITHOUT = "import asyncio\n\nasync def _inside():\n    check()\n\n" + "\n".join(
    f"def test_async_{name}():\n    asyncio.run(_inside())\n" for name in ("one", "two")
)
_SCOPE = "[tool.pytest.ini_options]\nasyncio_default_fixture_loop_scope = 'function'\n"
NAMES = ["test_plain_one", "test_async_one", "test_plain_two", "test_async_two"]


@pytest.mark.public_case("PB-044")
@pytest.mark.parametrize("with_asyncio", [True, False], ids=["with-pytest-asyncio", "without"])
def test_plain_and_async_tests_pass_in_any_order_without_a_warning(with_asyncio: bool, tmp_path: Path) -> None:
    text = _LOOP + _PLAIN + (_WITH if with_asyncio else _WITHOUT)
    project(tmp_path, test_a_py=text, test_b_py=text, pyproject_toml=_SCOPE if with_asyncio else "")
    orders = [f"test_a.py::{name}" for name in NAMES] + [f"test_b.py::{name}" for name in NAMES[::-1]]
    session = pytest_in(tmp_path, *(["asyncio"] if with_asyncio else []), "-W", "error", *orders)
    assert session.counts == "8 passed", session.out + session.err


_FOREIGN = """
import sys
import pytest

@pytest.fixture
def scenario():
    return "mine"

@pytest.fixture
def subject():
    return "mine"

@pytest.mark.harness
def test_own_fixtures(scenario, subject, request):
    assert (scenario, subject) == ("mine", "mine")
    assert request.config.getoption("--record-mode") == "none"

def test_warns():
    import warnings
    warnings.warn("my own warning", UserWarning)

@pytest.mark.skip(reason="later")
def test_skipped():
    pass

def test_fails():
    assert 1 == 2

def test_nothing_heavy_is_loaded():
    assert sorted(set(sys.modules) & {"openai", "pandas", "vcr", "typer", "pydantic", "yaml"}) == []
"""
_FOREIGN_CONFTEST = (
    "def pytest_addoption(parser):\n    parser.addoption('--record-mode', default='none')\n\n"
    "def pytest_configure(config):\n    config.addinivalue_line('markers', 'harness: a marker of this project')\n"
)
_FOREIGN_TOML = '[tool.pytest.ini_options]\naddopts = "--strict-config --strict-markers"\n'


def _without_times(text: str) -> str:
    return re.sub(r" in [\d.]+s", "", text)


@pytest.mark.public_case("PB-044")
def test_a_foreign_project_sees_no_difference_between_here_blocked_and_not_loaded(tmp_path: Path) -> None:
    project(
        tmp_path,
        test_foreign_py=_FOREIGN,
        conftest_py=_FOREIGN_CONFTEST,
        pyproject_toml=_FOREIGN_TOML,
        config_yaml="format: something-else/1\n",
        docs__broken_yaml="a: [unclosed\n",
    )
    here = pytest_in(tmp_path)
    blocked = pytest_in(tmp_path, "-p", "no:harness")
    alone = pytest_in(tmp_path, env={"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"})
    assert here.counts == "1 failed, 3 passed, 1 skipped, 1 warning", here.out
    assert here.code == blocked.code == alone.code == 1
    assert _without_times(here.out) == _without_times(blocked.out) == _without_times(alone.out)
    assert here.err == blocked.err == alone.err == ""


@pytest.mark.public_case("PB-044")
def test_blocked_only_its_own_options_are_unknown(tmp_path: Path) -> None:
    project(tmp_path, test_one_py="def test_one():\n    pass\n")
    session = pytest_in(tmp_path, "-p", "no:harness", "--harness-out=x")
    assert session.code == 4
    assert "--harness-out" in session.err
