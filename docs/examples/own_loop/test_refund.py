"""The whole of what a user writes to test a loop of their own."""

from pathlib import Path

from myapp import registry, run_agent

from harness.testing import scenario, subject

HERE = Path(__file__).parent
my_loop = subject(lambda env: run_agent(env.task, client=env.openai(), tools=env.wrap(registry)))


def test_refund() -> None:
    run = scenario(HERE / "scenarios/refund.yaml").run(my_loop)
    assert run.status == "completed"
    assert run.calls == ["lookup_order", "refund"]
    assert run.passed, run.explain()


def test_a_cancel_or_a_failing_tool_at_any_boundary_leaves_nothing_undone() -> None:
    sweep = scenario(HERE / "scenarios/refund.yaml").sweep(my_loop, "cancel", "tool-error", "model-error")
    assert sweep.clean, sweep.strip
