"""Gates over the text of the package, each shown bad cases that it refuses and good ones that it lets through."""

from pathlib import Path

import pytest

from tests.house.gates import GATES, read_allowances, rooms
from tests.house.source import Source, package_sources

LEDGER = Path(__file__).with_name("ledger.toml")

BAD = [
    pytest.param("only-clock-asks-the-machine", "harness/loop/step.py", "import time\n", id="import-time"),
    pytest.param("only-clock-asks-the-machine", "harness/loop/step.py", "from time import monotonic\n", id="from-time"),
    pytest.param("only-clock-asks-the-machine", "harness/store/x.py", "def f():\n    import uuid\n", id="hidden-uuid"),
    pytest.param("only-clock-asks-the-machine", "harness/store/x.py", "from random import Random\n", id="random"),
    pytest.param("only-clock-asks-the-machine", "harness/store/x.py", "import secrets as s\n", id="secrets"),
    pytest.param("only-clock-asks-the-machine", "harness/cli.py", "import os\nx = os.urandom(4)\n", id="urandom"),
    pytest.param("only-clock-asks-the-machine", "harness/cli.py", "x = datetime.now()\n", id="datetime-now"),
    pytest.param("only-clock-asks-the-machine", "harness/cli.py", "x = datetime.datetime.now(UTC)\n", id="datetime-datetime"),
    pytest.param("tasks-have-owners", "harness/loop/step.py", "asyncio.create_task(f())\n", id="create-task"),
    pytest.param("tasks-have-owners", "harness/loop/step.py", "loop.create_task(f())\n", id="loop-create-task"),
    pytest.param("tasks-have-owners", "harness/tools/x.py", "asyncio.ensure_future(f())\n", id="ensure-future"),
    pytest.param("tasks-have-owners", "harness/tools/x.py", "await asyncio.gather(f(), g())\n", id="gather"),
    pytest.param("tasks-have-owners", "harness/tools/x.py", "async def f():\n    async with asyncio.TaskGroup() as g:\n        pass\n", id="task-group"),
    pytest.param("tasks-have-owners", "harness/tools/x.py", "threading.Thread(target=f).start()\n", id="thread"),
    pytest.param("tasks-have-owners", "harness/tools/x.py", "await asyncio.to_thread(f)\n", id="to-thread"),
    pytest.param("only-doors-print", "harness/checks/pairing.py", "print(1)\n", id="print"),
    pytest.param("only-doors-print", "harness/report/markdown.py", "sys.stdout.write('x')\n", id="stdout"),
    pytest.param("ground-is-standard-library", "harness/types/facts.py", "import pydantic\n", id="pydantic-on-the-ground"),
    pytest.param("ground-is-standard-library", "harness/errors.py", "from openai import APIError\n", id="openai-in-errors"),
    pytest.param("ground-is-standard-library", "harness/types/facts.py", "from harness.store import x\n", id="room-on-the-ground"),
    pytest.param("no-back-door", "harness/runner/plan.py", "import harness\n", id="import-harness"),
    pytest.param("no-back-door", "harness/runner/plan.py", "from harness import Trajectory\n", id="class-of-the-surface"),
    pytest.param("no-back-door", "harness/cli.py", "from harness import run_scenario\n", id="function-of-the-surface"),
    pytest.param("cancellation-passes-through", "harness/tools/x.py", "try:\n    f()\nexcept BaseException as e:\n    x = e\n", id="base-exception"),
    pytest.param("cancellation-passes-through", "harness/tools/x.py", "try:\n    f()\nexcept (OSError, asyncio.CancelledError):\n    x = 1\n", id="cancelled-in-a-tuple"),
    pytest.param("cancellation-passes-through", "harness/tools/x.py", "try:\n    f()\nexcept:\n    x = 1\n", id="everything"),
    pytest.param("options-have-our-prefix", "harness/pytest_plugin.py", "group.addoption('--record-mode', default=None)\n", id="bare-record-mode"),
    pytest.param("options-have-our-prefix", "harness/pytest_plugin.py", "parser.addini('harness_paths', 'where')\n", id="ini-key"),
    pytest.param("nothing-unfinished", "harness/loop/step.py", "x = 1  # " + "TO" + "DO: later\n", id="later"),
    pytest.param("nothing-unfinished", "harness/loop/step.py", "raise Not" + "ImplementedError\n", id="not-implemented"),
]  # fmt: skip

GOOD = [
    pytest.param("only-clock-asks-the-machine", "harness/clock.py", "import time, uuid, random\n", id="the-clock"),
    pytest.param("only-clock-asks-the-machine", "harness/loop/step.py", "x = clock.now_ms()\nfrom datetime import UTC\n", id="an-argument"),
    pytest.param("tasks-have-owners", "harness/loop/scheduler.py", "asyncio.create_task(f())\n", id="the-scheduler"),
    pytest.param("tasks-have-owners", "harness/runner/pool.py", "ProcessPoolExecutor()\n", id="the-pool"),
    pytest.param("tasks-have-owners", "harness/server/app.py", "asyncio.create_task(f())\n", id="the-server"),
    pytest.param("only-doors-print", "harness/cli/main.py", "print(1)\n", id="the-command-line"),
    pytest.param("only-doors-print", "harness/report/console.py", "print(1)\n", id="the-console-report"),
    pytest.param("ground-is-standard-library", "harness/types/facts.py", "import dataclasses\nfrom harness.errors import X\n", id="the-ground"),
    pytest.param("no-back-door", "harness/cli.py", "from harness.types.facts import Note\nfrom harness import clock\n", id="by-room"),
    pytest.param("cancellation-passes-through", "harness/tools/x.py", "try:\n    f()\nexcept BaseException:\n    clean()\n    raise\n", id="raised-again"),
    pytest.param("cancellation-passes-through", "harness/tools/x.py", "try:\n    f()\nexcept Exception as e:\n    x = e\n", id="no-cancel"),
    pytest.param("cancellation-passes-through", "harness/loop/scheduler.py", "try:\n    f()\nexcept CancelledError:\n    x = 1\n", id="the-settle"),
    pytest.param("options-have-our-prefix", "harness/pytest_plugin.py", "group.addoption('--harness-out', default=None)\n", id="our-option"),
    pytest.param("nothing-unfinished", "harness/loop/step.py", "x = 1\n", id="finished"),
]  # fmt: skip


@pytest.mark.parametrize(("gate", "path", "text"), BAD)
def test_a_gate_refuses_a_bad_file_and_names_it(gate: str, path: str, text: str) -> None:
    findings = GATES[gate].findings([Source(path, text)])
    assert findings
    assert all(finding.startswith(f"{path}:") for finding in findings)


@pytest.mark.parametrize(("gate", "path", "text"), GOOD)
def test_a_gate_lets_a_good_file_through(gate: str, path: str, text: str) -> None:
    assert GATES[gate].findings([Source(path, text)]) == []


@pytest.mark.parametrize("gate", sorted(GATES))
def test_the_package_passes(gate: str) -> None:
    assert GATES[gate].findings(package_sources(), read_allowances(LEDGER).get(gate, {})) == []


def test_an_allowance_excuses_its_function_only_and_only_while_it_is_needed() -> None:
    source = Source("harness/tools/x.py", "def f():\n    print(1)\n\ndef g():\n    print(2)\n")
    gate = GATES["only-doors-print"]
    assert len(gate.findings([source], {"harness/tools/x.py:f": "why"})) == 1
    assert gate.findings([source], {"harness/tools/x.py:f": "why", "harness/tools/x.py:g": "why"}) == []
    assert "remove it" in gate.findings([Source("harness/tools/x.py", "")], {"harness/tools/x.py:f": "why"})[0]


def test_every_allowance_belongs_to_a_gate_and_gives_its_reason() -> None:
    allowances = read_allowances(LEDGER)
    assert set(allowances) <= set(GATES)
    assert all(reason for functions in allowances.values() for reason in functions.values())


def test_every_gate_is_shown_a_bad_and_a_good_case() -> None:
    for cases in (BAD, GOOD):
        assert {case.values[0] for case in cases} == set(GATES)


def test_every_room_of_the_package_stands_on_a_floor() -> None:
    found = {source.path.split("/")[1].removesuffix(".py") for source in package_sources()}
    assert found - {"__init__"} <= rooms()
