"""Judging grows with the run and no faster; counted, not timed."""

from dataclasses import replace

import pytest

from harness.checks import judge
from harness.mutants.originals import Pen
from harness.types.exchange import ModelRequest
from harness.types.messages import Messages
from harness.types.scenario import Expectations, Limits
from tests.checks.build import call


class Counted(Messages):
    """A view that counts how many of its messages are looked at."""

    n_looked = 0

    def __getitem__(self, index):
        Counted.n_looked += 1
        return super().__getitem__(index)

    def __iter__(self):
        for message in super().__iter__():
            Counted.n_looked += 1
            yield message


def long_run(n_steps):
    """One call a step, all requests views of one buffer, as the loop makes them."""
    pen = Pen()
    pen.turn("go")
    for number in range(n_steps):
        one = call(f"c{number}", arguments='{"q":"a"}')
        pen.ask()
        pen.answer(None, one)
        pen.run_calls(one)
        pen.end_step()
    judged = pen.trajectory("long", Limits(steps=n_steps), Expectations())
    return replace(judged, events=tuple(counted(event) for event in judged.events))


def counted(event):
    if not isinstance(event.fact, ModelRequest):
        return event
    shown = event.fact.messages
    return replace(event, fact=replace(event.fact, messages=Counted(shown._buffer, len(shown))))


@pytest.mark.parametrize("check", ["provider_history", "context_closure"])
def test_twice_the_steps_take_twice_the_looks_at_messages(check):
    def n_looked(n_steps):
        Counted.n_looked = 0
        judge(long_run(n_steps), names=(check,))
        return Counted.n_looked

    assert 40 < n_looked(40) < n_looked(80) < 2.5 * n_looked(40)
