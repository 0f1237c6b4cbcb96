"""Every contract of the linter of imports is shown imports that it refuses and imports that it lets through.

The contracts are the real ones of pyproject.toml; the package is an empty copy with one import planted.
"""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.house.source import REPO

LAB = Path(__file__).with_name("contract_lab.py")
CONFIG = REPO / "pyproject.toml"
GUARDED = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    "

# id: (planted imports as (module, statement), contracts that must break)
CASES: dict[str, tuple[list[tuple[str, str]], set[str]]] = {
    "the-empty-house": ([], set()),
    # floors
    "a-room-imports-a-door": ([("harness.store", "import harness.cli")], {"floors"}),
    "a-room-imports-its-neighbour": ([("harness.tools", "from harness.scenarios import x")], {"floors"}),
    "a-kernel-room-imports-its-neighbour": ([("harness.folds", "import harness.matching")], {"floors"}),
    "a-door-imports-its-neighbour": ([("harness.cli", "import harness.testing")], {"floors"}),
    "the-kernel-imports-a-room": ([("harness.recorder", "import harness.store")], {"floors"}),
    "the-ground-imports-protocols": ([("harness.types.facts", "import harness.protocols")], {"floors"}),
    "bedrock-imports-the-ground": ([("harness.errors", "import harness.types")], {"floors"}),
    "the-runner-imports-a-door": ([("harness.runner.plan", "import harness.pytest_plugin")], {"floors"}),
    "subjects-import-mutants": ([("harness.subjects", "import harness.mutants")], {"floors"}),
    "an-import-inside-a-function": ([("harness.store", "def f():\n    import harness.cli")], {"floors"}),
    "a-room-on-no-floor": ([("harness.attic", "import json")], {"floors"}),
    "down-the-floors": ([("harness.cli", "import harness.runner"), ("harness.runner", "import harness.loop")], set()),
    "for-the-type-checker-only": ([("harness.store", f"{GUARDED}import harness.cli")], set()),
    # reach no
    "types-reach-asyncio": ([("harness.types.facts", "import asyncio")], {"contracts-are-pure"}),
    "protocols-reach-random-through-types": (
        [("harness.protocols", "import harness.types.codes"), ("harness.types.codes", "import random")],
        {"contracts-are-pure"},
    ),
    "checks-reach-asyncio": ([("harness.checks.pairing", "from asyncio import Event")], {"judges-are-pure"}),
    "checks-reach-files-through-the-kernel": (
        [("harness.checks.pairing", "import harness.documents"), ("harness.documents", "import pathlib")],
        {"judges-are-pure"},
    ),
    "gates-reach-files": ([("harness.gates.judging", "import pathlib")], {"judges-are-pure"}),
    "gates-import-scenarios": ([("harness.gates", "import harness.scenarios")], {"floors"}),
    "compare-reaches-pydantic": ([("harness.compare", "import pydantic")], {"judges-are-pure"}),
    "loop-reaches-time": ([("harness.loop.step", "import time")], {"loop-is-alone"}),
    "loop-reaches-uuid-through-the-kernel": (
        [("harness.loop.step", "import harness.clock"), ("harness.clock", "import uuid")],
        {"loop-is-alone"},
    ),
    "loop-reaches-models": ([("harness.loop.step", "import harness.models")], {"floors", "loop-is-alone"}),
    "loop-reaches-asyncio": ([("harness.loop.scheduler", "import asyncio")], set()),
    "a-subject-sees-the-store": ([("harness.subjects", "import harness.store")], {"subjects-are-judged-blind"}),
    "a-subject-sees-checks": ([("harness.subjects.loop", "import harness.checks")], {"subjects-are-judged-blind"}),
    "a-subject-sees-the-loop": ([("harness.subjects.loop", "import harness.loop")], set()),
    # only in
    "openai-in-the-server": ([("harness.server", "import openai")], {"only-models-openai"}),
    "openai-inside-a-function": ([("harness.subjects", "def f():\n    from openai import x")], {"only-models-openai"}),
    "openai-in-models": ([("harness.models.chat", "import openai")], set()),
    "openai-through-models": (
        [("harness.runner", "import harness.models"), ("harness.models", "import openai")],
        set(),
    ),
    "vcr-in-models": ([("harness.models", "import vcr")], {"only-cassettes-vcr"}),
    "vcr-in-cassettes": ([("harness.cassettes.file", "import vcr.serialize")], set()),
    "h11-in-the-runner": ([("harness.runner", "import h11")], {"only-server-h11"}),
    "h11-in-the-server": ([("harness.server.connection", "import h11")], set()),
    "pandas-in-evaluate": ([("harness.evaluate", "import pandas")], {"only-frames-pandas"}),
    "numpy-in-matching": ([("harness.matching", "import numpy")], {"only-frames-pandas"}),
    "pandas-in-statistics": ([("harness.statistics", "import pandas")], {"only-frames-pandas"}),
    "numpy-in-statistics": ([("harness.statistics", "import numpy")], set()),
    "matplotlib-in-evaluate": ([("harness.evaluate", "import matplotlib")], {"only-report-draws"}),
    "matplotlib-in-report": ([("harness.report.plots", "import matplotlib")], set()),
    "pandas-in-the-frame": ([("harness.evaluate.frame", "import pandas"), ("harness.report.frame", "import pandas")], set()),
    "typer-in-runner": ([("harness.runner", "import typer")], {"only-cli-typer"}),
    "typer-in-cli": ([("harness.cli.main", "import typer")], set()),
    "pytest-in-report": ([("harness.report", "import pytest")], {"only-doors-pytest"}),
    "pytest-in-its-doors": ([("harness.testing", "import pytest"), ("harness.pytest_plugin", "import pytest")], set()),
    "yaml-in-scenarios": ([("harness.scenarios", "import yaml")], {"only-documents-yaml"}),
    "ruamel-in-cassettes": ([("harness.cassettes", "from ruamel.yaml import YAML")], {"only-documents-yaml"}),
    "yaml-in-documents": ([("harness.documents", "import yaml")], set()),
    "scipy-in-compare": ([("harness.compare", "import scipy.stats")], {"only-statistics-scipy"}),
    "statsmodels-in-evaluate": ([("harness.evaluate", "import statsmodels")], {"only-statistics-scipy"}),
    "scipy-in-statistics": ([("harness.statistics", "import scipy")], set()),
    "mcp-in-server": ([("harness.server", "import mcp")], {"only-tools-mcp"}),
    "mcp-in-tools": ([("harness.tools.mcp", "import mcp")], set()),
    "ray-in-the-pool": ([("harness.runner.pool", "import ray")], {"only-runner-ray"}),
    "ray-in-its-file": ([("harness.runner.ray_pool", "import ray")], set()),
    "a-framework-in-models": ([("harness.models", "import langchain_core")], {"only-subjects-frameworks"}),
    "a-framework-in-another-subject": (
        [("harness.subjects.smolagents", "import pydantic_ai")],
        {"only-subjects-frameworks"},
    ),
    "a-framework-in-its-subject": ([("harness.subjects.smolagents", "import smolagents")], set()),
}


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """Broken contracts of each case, from one program, because a graph needs a package nobody has imported."""
    order = {"config": str(CONFIG), "plants": {name: plants for name, (plants, _) in CASES.items()}}
    done = subprocess.run(
        [sys.executable, str(LAB)],
        input=json.dumps(order),
        capture_output=True,
        text=True,
        cwd=tmp_path_factory.mktemp("skeleton"),
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    answer: dict[str, list[str]] = json.loads(done.stdout)
    return answer


@pytest.mark.parametrize("case", CASES)
def test_exactly_the_contracts_that_a_planted_import_violates_are_broken(
    case: str, verdicts: dict[str, list[str]]
) -> None:
    assert set(verdicts[case]) == CASES[case][1]


def test_every_contract_is_seen_to_refuse_something() -> None:
    contracts = tomllib.loads(CONFIG.read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    refused = {contract for _, broken in CASES.values() for contract in broken}
    assert refused == {contract["id"] for contract in contracts}


def test_the_package_keeps_every_contract() -> None:
    done = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-logo", "--no-cache"],
        capture_output=True,
        text=True,
        cwd=REPO,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
