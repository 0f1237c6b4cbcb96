"""Real trajectories of other products: nothing true of them is called wrong, and what is reused is told."""

from collections import Counter

from harness.checks import judge
from harness.formats import read_foreign
from harness.types.codes import Outcome

PROMISES = (
    "cancel_no_tool_start",
    "cancel_no_model_request",
    "cancel_no_input_consumed",
    "cancel_settled",
    "quiescence",
)


def judged(paths):
    """Outcomes by check, and how many findings each check has, over all trajectories of some files."""
    outcomes, findings = Counter(), Counter()
    for path in paths:
        for trajectory in read_foreign(path, None):
            for verdict in judge(trajectory):
                outcomes[verdict.check, verdict.outcome] += 1
                findings[verdict.check] += len(verdict.findings)
    return outcomes, findings


def test_tau_bench_dialogues_pair_completely_and_reuse_48_ids(shared):
    outcomes, findings = judged([shared / "data/tau-bench/gpt-4o-airline.json"])
    assert {outcome for _, outcome in outcomes} == {Outcome.PASS, Outcome.NOT_APPLICABLE}
    assert +findings == {"reused_ids": 48}
    assert sum(n for (check, _), n in outcomes.items() if check == "pairing") == 136


def test_session_logs_of_deepseek_harness_raise_no_alarm_and_prove_no_promise(shared):
    folder = shared / "data/deepseek-harness"
    logs = sorted(path for path in folder.rglob("*.jsonl") if path.name.split(".")[0] in ("session", "parent", "child"))
    outcomes, findings = judged(logs)
    assert len(logs) > 90
    assert {outcome for _, outcome in outcomes} == {Outcome.PASS, Outcome.NOT_APPLICABLE}
    assert not +findings
    assert {outcome for check, outcome in outcomes if check in PROMISES} == {Outcome.NOT_APPLICABLE}
