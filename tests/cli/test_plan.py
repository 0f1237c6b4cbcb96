"""``harness plan``: from assumptions, from a pilot, and what it refuses."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from harness.cli.main import run_app
from harness.runner.evaluation.folder import trials_path
from harness.runner.evaluation.order import WHOLE
from harness.runner.evaluation.preparing import freeze, prepare
from harness.store import open_trials
from harness.types.codes import FinishReason
from harness.types.reasons import Usage
from harness.types.trials import Trial, TrialAnswer, TrialCall, TrialsHeader
from tests.cli.lab import Cli

N_CASES, TRIALS = 30, 4


def document(*, gate: str = "{metric: case_pass_rate, margin: 0.10, base: now, candidate: new}", n_cases: int = N_CASES) -> str:
    cases = "\n".join(f'  - {{id: c{n}, ask: "Where is order {n}?", expect: {{get_order: {{id: {n}}}}}}}' for n in range(n_cases))
    return f"""format: harness-evaluation/1
id: shop
tools:
  schemas:
    - name: get_order
      description: Call this when the user asks where an order is.
      parameters: {{type: object, properties: {{id: {{type: integer}}}}, required: [id]}}
model: some-model
trials: {TRIALS}
arms: {{now: {{}}, new: {{system: Be careful.}}}}
cases:
{cases}
""" + (f"gate: {gate}\n" if gate else "")


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    path = tmp_path / "shop.yaml"
    path.write_text(document(), "utf-8")
    return path


def run_pilot(path: Path, folder: Path, passes: Callable[[int, str, int], bool], arms: tuple[str, ...] = ("now", "new")) -> None:
    """A folder as an evaluation leaves it, with an answer to each trial that is right or wrong as told."""
    prepared = prepare(path, {})
    freeze(prepared, folder)
    evaluation = prepared.evaluation
    header = TrialsHeader(
        evaluation.id, evaluation.digest, prepared.snapshot.digest, "some-model", arms, len(evaluation.cases), TRIALS
    )
    with open_trials(trials_path(folder, WHOLE), header) as writer:
        for trial in range(1, TRIALS + 1):
            for number, case in enumerate(evaluation.cases):
                for arm in arms:
                    wanted = number if passes(number, arm, trial) else number + 1000
                    answer = TrialAnswer(calls=(TrialCall("get_order", f'{{"id": {wanted}}}'),), finish_reason=FinishReason.TOOL_CALLS)
                    used = Usage(input_tokens=150, output_tokens=20, cost_micro_usd=90)
                    writer.append(Trial(case.id, arm, trial, "-", answer, usage=used))


def told(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    assert run_app(["plan", *map(str, arguments)]) == 0
    return capsys.readouterr().out


def plain(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, object]:
    found: dict[str, object] = json.loads(told(capsys, *arguments, "--json"))
    return found


def test_without_a_pilot_the_assumptions_are_told_and_can_be_changed(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = told(capsys, shop, "--pass-rate", 0.9, "--correlation", 0.5, "--changing", 0.1, "--tokens-per-trial", 700, "--usd-per-trial", 0.001)
    assert "assumed: pass rate 0.9 (--pass-rate), correlation of the trials of a case 0.5" in text
    assert "a trial takes 700 tokens and $0.001000" in text
    assert "As declared, 30 cases at 4 trials" in text
    assert f"{2 * 30 * 4 * 700:,}" in text


def test_a_pilot_tells_the_spread_and_what_a_trial_takes(shop: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chance = np.random.default_rng(1)
    rates = {(n, arm): rate for n in range(N_CASES) for arm, rate in (("now", (n % 5) / 4), ("new", (n % 5) / 4))}
    run_pilot(shop, tmp_path / "pilot", lambda n, arm, _: chance.random() < rates[n, arm])
    found = plain(capsys, shop, "--pilot", tmp_path / "pilot")
    spread = found["spread"]
    assert isinstance(spread, dict)
    assert spread["passRate"] == pytest.approx(0.5, abs=0.1)
    assert spread["withinBase"] == pytest.approx(np.mean([q * (1 - q) for q in (0, 0.25, 0.5, 0.75, 1)]), abs=0.06)
    assert spread["nUnits"] == N_CASES
    text = told(capsys, shop, "--pilot", tmp_path / "pilot")
    assert f"pilot {tmp_path / 'pilot'}: 240 trials of 30 units" in text
    assert "a trial takes 170 tokens and $0.000090" in text


def test_a_folder_is_its_own_pilot(shop: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_pilot(shop, tmp_path / "pilot", lambda n, arm, trial: (n + trial + (arm == "new")) % 3 > 0)
    assert plain(capsys, tmp_path / "pilot") == plain(capsys, shop, "--pilot", tmp_path / "pilot")


MODEL = """
from harness.types.script import ScriptCall, ScriptReply

def answer(call):
    number = call.messages[-1].content.split()[-1].rstrip("?")
    wrong = int(number) % 4 == 0 and "careful" in str(call.system)
    return ScriptReply(calls=(ScriptCall("get_order", '{"id": 99}' if wrong else '{"id": %s}' % number),))
"""


def test_the_folder_that_an_evaluation_leaves_is_a_pilot(cli: Cli) -> None:
    cli.write("plan_shop_model.py", MODEL)
    cli.write("shop.yaml", document(gate="{margin: 0.10}").replace("model: some-model", 'model: {from: "plan_shop_model:answer"}'))
    assert cli("evaluate", "shop.yaml").code in (1, 3)
    said = cli("plan", "reports/evaluations/shop", "--cases", "30", "--trials", "4")
    assert said.code == 0
    assert "pilot reports/evaluations/shop: 240 trials of 30 units" in said.out
    assert "variance of differences between units 0.2" in said.out  # 8 of 30 cases break: 0.27 times 0.73


def test_a_pilot_of_one_arm_needs_an_assumption_about_the_other(shop: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_pilot(shop, tmp_path / "pilot", lambda n, _, trial: (n + trial) % 3 > 0, arms=("now",))
    text = told(capsys, shop, "--pilot", tmp_path / "pilot", "--changing", 0.3)
    assert "it has one arm, and 0.3 of the cases are taken to change" in text


def test_what_is_too_small_is_told_in_words(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = told(capsys, shop, "--margin", 0.02, "--looks", 2, "--cases", 20, "--trials", 2)
    assert "Too small: with 30 cases at 4 trials no margin below" in text
    assert "Looked at after whole blocks 2 (at 99.69 %), 4 (at 95.1 %)" in text
    assert len([line for line in text.split("\n") if line.split()[:2] == ["20", "2"]]) == 1


def test_an_evaluation_without_a_gate_is_planned_for_the_margin_that_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "open.yaml"
    path.write_text(document(gate=""), "utf-8")
    assert "shop: new against now" in told(capsys, path, "--margin", 0.2)
    assert run_app(["plan", str(path)]) == 2
    assert "there is no gate to plan for; add 'gate: {margin: 0.10}', or say --margin" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "word"),
    [
        pytest.param(["--pass-rate", "0.9"], "--pass-rate and --correlation are for want of a pilot", id="rate"),
        pytest.param(["--changing", "0.1"], "--changing is for want of a second arm", id="changing"),
        pytest.param(["--looks", "5"], "5 looks at 4 blocks", id="looks"),
    ],
)
def test_what_a_pilot_knows_better_or_nobody_can_plan_is_refused(
    options: list[str], word: str, shop: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run_pilot(shop, tmp_path / "pilot", lambda n, arm, trial: (n + trial) % 2 == 0)
    assert run_app(["plan", str(tmp_path / "pilot"), *options]) == 2
    assert word in capsys.readouterr().err


def test_a_folder_that_holds_no_evaluation_is_refused(shop: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "other").mkdir()
    assert run_app(["plan", str(shop), "--pilot", str(tmp_path / "other")]) == 2
    assert "holds no evaluation.json" in capsys.readouterr().err
    assert run_app(["plan", str(tmp_path / "other")]) == 2
    assert run_app(["plan", str(tmp_path / "missing.yaml")]) == 2


@pytest.mark.parametrize(
    ("option", "value", "word"),
    [
        pytest.param("--cases", "0", "a whole number from 1; is 0", id="no-cases"),
        pytest.param("--trials", "-3", "a whole number from 1; is -3", id="trials-below-none"),
        pytest.param("--looks", "0", "a whole number from 1; is 0", id="no-looks"),
        pytest.param("--margin", "2", "a share above 0 and below 1, such as 0.10; is 2.0", id="margin-above-1"),
        pytest.param("--margin", "0", "a share above 0 and below 1, such as 0.10; is 0.0", id="margin-of-0"),
        pytest.param("--margin", "1e-300", "a share above 0 and below 1, such as 0.10; is 1e-300", id="margin-that-all-miss"),
        pytest.param("--power", "1", "a share above 0 and below 1, such as 0.8; is 1.0", id="power-of-1"),
        pytest.param("--difference", "5", "a difference of two shares, above -1 and below 1; is 5.0", id="difference-above-1"),
        pytest.param("--difference", "-1", "a difference of two shares, above -1 and below 1; is -1.0", id="difference-of-all"),
        pytest.param("--difference", "nan", "a difference of two shares, above -1 and below 1; is nan", id="difference-of-no-number"),
        pytest.param("--pass-rate", "1.5", "a share from 0 to 1; is 1.5", id="pass-rate"),
        pytest.param("--correlation", "nan", "a share from 0 to 1; is nan", id="correlation"),
        pytest.param("--changing", "-0.1", "a share from 0 to 1; is -0.1", id="changing"),
        pytest.param("--tokens-per-trial", "-1", "an amount of at least 0; is -1.0", id="tokens"),
        pytest.param("--usd-per-trial", "inf", "an amount of at least 0; is inf", id="usd"),
    ],
)
def test_an_option_that_cannot_be_is_named_alone(option: str, value: str, word: str, shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_app(["plan", str(shop), "--cases", "10", "--trials", "2", option, value]) == 2
    said = capsys.readouterr().err
    assert f"{option} must be {word}" in said
    assert len([word for word in said.split() if word.startswith("--")]) == 1
