"""Regressions planted in a repository with a real history: one branch each, told by scenario, step and cause."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.cli.lab import Cli, Said
from tests.cli.shop import Shop, whole_shop

SCREEN = 40
"""Lines of the Markdown that must tell it."""


@dataclass(frozen=True)
class Planted:
    """Edits of a branch (file, old, new), the words of one line on the first screen, and the exit code."""

    edits: tuple[tuple[str, str, str], ...]
    told: tuple[str, ...]
    code: int = 1
    moved: str = ""


AGENT, TOOLS, REFUND = "src/shop/agent.py", "src/shop/tools.py", "scenarios/refund.yaml"
OTHER_CALL = (REFUND, "  - call: {refund: {order: 7}}", "  - call: {cancel_order: {order: 7}}")
CAUSES = [
    pytest.param(
        Planted(
            ((AGENT, "Be short.", "Be long."), OTHER_CALL),
            ("**worse** `refund` `step 2`", "`refund(7)` → `cancel_order(7)`", "system prompt changed (line 2)"),
        ),
        id="system-prompt",
        marks=pytest.mark.xfail(strict=True) if False else (),
    ),
]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Shop:
    """The repository, built once."""
    return whole_shop(tmp_path_factory.mktemp("shop"))


@pytest.fixture
def shop(whole: Shop, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Shop:
    """On a branch of its own, made from main, in its folder."""
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    monkeypatch.chdir(whole.folder)
    whole.branch("change")
    return whole


Compare = Callable[..., Said]


@pytest.fixture
def compare(cli: Cli, shop: Shop) -> Compare:
    """What is judged: the branch against main, by the gate."""

    def compare(*more: str) -> Said:
        return cli("compare", "--against", "main", "--gate", "gate.yaml", "--format", "markdown", "--reuse-base", *more)

    return compare
