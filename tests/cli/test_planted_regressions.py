"""Regressions planted in a repository with a real history: one branch each, told by scenario, step and cause."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

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
CALLED = "tools[call.function.name]("
SKIPS = (AGENT, CALLED, '{"refund": lambda order: "ok"}.get(call.function.name, tools[call.function.name])(')
SENT = "json.loads(call.function.arguments))"
ADDS = (AGENT, SENT, SENT[:-1] + ' | ({"amount": 1000000} if call.function.name == "refund" else {}))')
TAKES_MORE = (TOOLS, "def refund(order: int)", "def refund(order: int, amount: int = 10)")
CAUSES = [
    pytest.param(
        Planted(
            ((AGENT, "Be short.", "Be long."), OTHER_CALL),
            ("`refund`", "`step 2`", "`refund(7)` → `cancel_order(7)`", "system prompt changed (line 2)"),
        ),
        id="system-prompt",
    ),
    pytest.param(
        Planted(
            ((TOOLS, "Give the money back.", "Give all of it back."), OTHER_CALL),
            ("`refund`", "`step 2`", "`refund(7)` → `cancel_order(7)`", "tool description changed (refund)"),
        ),
        id="tool-description",
    ),
    pytest.param(
        Planted(
            ((TOOLS, '"Give the money back."', '"Give the money back.", "number"'), OTHER_CALL),
            ("`refund`", "`step 2`", "`refund(7)` → `cancel_order(7)`", "tool schema changed (refund)"),
        ),
        id="tool-schema",
    ),
    pytest.param(
        Planted(
            ((TOOLS, '    schema("refund", "order", "Give the money back."),\n', ""), OTHER_CALL),
            ("`refund`", "`step 2`", "`refund(7)` → `cancel_order(7)`", "tools offered changed (refund)"),
        ),
        id="tools-offered",
    ),
    pytest.param(
        Planted(
            ((AGENT, "TEMPERATURE = 0.0", "TEMPERATURE = 0.7"), OTHER_CALL),
            ("`refund`", "`step 2`", "`refund(7)` → `cancel_order(7)`", "request parameter changed (temperature)"),
        ),
        id="request-parameter",
    ),
    pytest.param(
        Planted(
            ((REFUND, "Refund order 7, please.", "Stop order 7, please."), OTHER_CALL),
            ("`refund`", "`step 2`", "`refund(7)` → `cancel_order(7)`", "user input changed"),
        ),
        id="user-input",
    ),
    pytest.param(
        Planted(
            (OTHER_CALL,),
            ("`refund`", "`step 2`", "`refund(7)` → `cancel_order(7)`", "the model chose differently on the same input"),
        ),
        id="model",
    ),
    pytest.param(
        Planted(
            ((TOOLS, '"total": 19.9', '"total": 5'),),
            ("`refund`", "step 1 call 1 lookup_order result.total", "`19.9` → `5`", "the tool answered differently (lookup_order)"),
        ),
        id="tool",
    ),
    pytest.param(
        Planted(
            ((AGENT, "MAX_STEPS = 6", "MAX_STEPS = 2"),),
            ("**worse** `refund`", "`step 2 end of the run`", "the loop behaved differently", "`PASS → FAIL`"),
        ),
        id="loop",
    ),
    pytest.param(
        Planted(
            (SKIPS,),
            ("`refund`", "step 2 call 1 refund body", "`ran once` → `not run`", "the loop behaved differently"),
        ),
        id="loop-skips-a-tool",
    ),
    pytest.param(
        Planted(
            (TAKES_MORE, ADDS),
            ("`refund`", "step 2 call 1 refund runs with amount", "`1000000`", "the loop behaved differently"),
        ),
        id="loop-adds-an-argument",
    ),
    pytest.param(
        Planted(
            ((AGENT, "json.dumps(value)}", 'json.dumps(value) + "!"}'),),
            ("`refund`", "step 1 call 1 lookup_order result", "the loop behaved differently"),
        ),
        id="loop-edits-a-result",
    ),
    pytest.param(
        Planted(
            ((AGENT, "Be short.", "Be long."), (TOOLS, '    return "ok"', '    return "no"')),
            ("`refund`", "step 2 call 1 refund result", "the tool answered differently (refund)"),
        ),
        id="tool-and-system-prompt",
    ),
    pytest.param(
        Planted(
            ((AGENT, "Be short.", "Be long."), (AGENT, "MAX_STEPS = 6", "MAX_STEPS = 2")),
            ("**worse** `refund`", "end of the run", "the loop behaved differently"),
        ),
        id="loop-and-system-prompt",
    ),
    pytest.param(
        Planted(
            (("scenarios/recorded/total.yaml", "What does order 9 cost?", "How much is order 9?"),),
            ("**worse** `recorded/total`", "`step 1`", "recording out of date (user input)", "`PASS → FAIL`"),
        ),
        id="recording",
    ),
    pytest.param(
        Planted(
            ((REFUND, "limits: {steps: 10}", "limits: {steps: 40}"),),
            ("`refund`", "`limits.steps`", "`10` → `40`", "setup changed (limits.steps)"),
            code=0,
            moved="this change edits 1 limit",
        ),
        id="limits",
    ),
    pytest.param(
        Planted(
            ((REFUND, "  - say: Refunded.", "  - say: Sorry."),),
            ("**worse** `refund`", "`step 3`", "`Refunded.` → `Sorry.`", "`PASS → FAIL`"),
        ),
        id="newly-failing",
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


def plant(shop: Shop, edits: tuple[tuple[str, str, str], ...]) -> None:
    for edit in edits:
        shop.edit(*edit)
    shop.commit()


@pytest.mark.parametrize("planted", CAUSES)
def test_a_planted_regression_is_told_by_scenario_step_and_cause(planted: Planted, shop: Shop, compare: Compare) -> None:
    plant(shop, planted.edits)
    said = compare()
    screen = said.out.splitlines()[:SCREEN]
    assert said.code == planted.code, said.all
    assert any(all(word in line for word in planted.told) for line in screen), "\n".join(screen)
    assert any(planted.moved in line for line in screen)


def test_a_scenario_that_is_gone_is_a_regression_and_a_moved_goal_post(shop: Shop, compare: Compare) -> None:
    shop.git("rm", "-q", "scenarios/status.yaml", "reports/baselines/status/1.jsonl")
    shop.commit()
    said = compare()
    screen = "\n".join(said.out.splitlines()[:SCREEN])
    assert said.code == 1
    assert "**missing** `status`" in screen
    assert "this change edits 1 baseline, 1 scenario" in screen


def test_a_change_of_nothing_but_words_is_one_line_and_passes(shop: Shop, cli: Cli) -> None:
    shop.edit("README.md", "# The shop", "# The shop of the week")
    shop.commit()
    said = cli("compare", "--against", "main", "--gate", "gate.yaml")
    assert (said.code, len(said.out.splitlines())) == (0, 1), said.all
    assert said.out.startswith("PASS  3 scenarios, no difference")
    page = cli("compare", "--against", "main", "--gate", "gate.yaml", "--format", "markdown", "--reuse-base")
    shown = [line for line in page.out.splitlines() if line and not line.startswith("<!--")]
    assert (page.code, len(shown)) == (0, 1), page.all


EASY = "exact: {checks: pass, behaviour: pass, missing: pass, new: pass, stale: pass}\n"


def test_a_change_of_the_gate_does_not_judge_itself(shop: Shop, compare: Compare) -> None:
    plant(shop, (OTHER_CALL,))
    shop.write("gate.yaml", "format: harness-gate/1\n" + EASY)
    shop.commit()
    said = compare()
    screen = "\n".join(said.out.splitlines()[:SCREEN])
    assert said.code == 1
    assert "this change edits the gate" in screen
    assert "`refund(7)` → `cancel_order(7)`" in screen
    shop.git("checkout", "-q", "-B", "main-with-an-easy-gate")
    again = compare("--base-ref", "main-with-an-easy-gate")
    assert again.code == 0, "the same rules pass where they were there before the change"


def test_a_gate_that_the_change_brings_deletes_or_renames_is_judged_by_the_old_one(shop: Shop, compare: Compare) -> None:
    plant(shop, (OTHER_CALL,))
    shop.git("mv", "gate.yaml", "rules.yaml")
    shop.commit()
    assert "this change edits the gate" in compare().out
    shop.write("easy.yaml", "format: harness-gate/1\n" + EASY)
    said = compare("--gate", "easy.yaml")
    assert said.code == 1
    assert "the gate is new" in said.out


def test_baselines_and_limits_that_move_alone_are_told_and_are_no_failure(shop: Shop, compare: Compare) -> None:
    shop.edit(REFUND, "limits: {steps: 10}", "limits: {steps: 40}")
    variant = shop.folder / "reports/baselines/refund/1.jsonl"
    shop.write("reports/baselines/refund/2.jsonl", variant.read_bytes())
    shop.git("rm", "-q", "reports/baselines/status/1.jsonl")
    shop.commit()
    said = compare()
    screen = "\n".join(said.out.splitlines()[:SCREEN])
    assert said.code == 0, said.all
    assert "this change edits 2 baselines, 1 limit" in screen


def test_goal_posts_that_move_while_nothing_differs_are_told_on_the_one_line(shop: Shop, compare: Compare) -> None:
    shop.git("rm", "-q", "reports/baselines/status/1.jsonl")
    shop.commit()
    said = compare()
    assert said.code == 0
    assert "this change edits 1 baseline" in said.out


def test_a_change_that_repairs_the_gate_is_told_whose_text_cannot_be_read(shop: Shop, cli: Cli) -> None:
    shop.write("gate.yaml", "format: harness-gate/1\nexact: {behavior: warn}\n")
    base = shop.commit()
    shop.git("branch", "-f", "broken")
    shop.edit("gate.yaml", "behavior", "behaviour")
    shop.commit()
    said = cli("compare", "--against", "broken", "--gate", "gate.yaml")
    assert said.code == 2
    assert "gate.yaml:2, field 'exact.behavior': unknown field" in said.err
    assert f"That is its text at the merge base {base[:12]}" in said.err
    assert "(--base-ref HEAD)" in said.err
    judged = cli("compare", "--against", "broken", "--base-ref", "HEAD", "--gate", "gate.yaml")
    assert judged.code in (0, 1), judged.all
