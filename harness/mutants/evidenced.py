"""Mutants of a run whose claims are all told by a result or by the input."""

from __future__ import annotations

from typing import Final

from harness.mutants.editing import Mutant, Mutate, changed, on
from harness.mutants.pen import Pen
from harness.types.codes import Code, Status
from harness.types.events import Trajectory
from harness.types.exchange import AssistantMessage, ToolResult
from harness.types.messages import CallId, JsonText
from harness.types.reasons import EmittedCall, FinalAnswer
from harness.types.scenario import Expectations, Limits, Provenance


def evidenced() -> Trajectory:
    """An order is looked up and refunded; the answer says what the results said, and nothing else."""
    pen = Pen()
    look = EmittedCall(CallId("c1"), "look", JsonText('{"q":"7"}'))
    refund = EmittedCall(CallId("c2"), "note", JsonText('{"q":"A-42"}'))
    pen.turn("refund order 7")
    pen.ask()
    pen.answer(None, look)
    pen.run_calls(look)
    pen.end_step()
    pen.ask()
    pen.answer(None, refund)
    pen.run_calls(refund)
    pen.end_step()
    pen.ask()
    pen.answer("Order 7 was refunded under A-42.")
    pen.end_step()
    pen.end(Status.COMPLETED, FinalAnswer())
    wanted = Provenance(answer=(r"[A-Z]-\d+|\d+",), arguments=(("look", ("q",)),))
    return pen.trajectory("evidenced", Limits(), Expectations(provenance=wanted))


def _where_claims_are_asked_for(mutate: Mutate) -> Mutate:
    def mutated(trajectory: Trajectory) -> Trajectory | None:
        return mutate(trajectory) if '"provenance"' in (trajectory.header.expectations or "") else None

    return mutated


def _says(text: str) -> Mutate:
    return _where_claims_are_asked_for(
        on(AssistantMessage, changed(content=text), lambda fact: not fact.tool_calls, nth=-1)
    )


def _asks_for(q: str) -> Mutate:
    call = EmittedCall(CallId("c1"), "look", JsonText(f'{{"q":"{q}"}}'))
    return on(
        AssistantMessage, changed(tool_calls=(call,)), lambda fact: [one.name for one in fact.tool_calls] == ["look"]
    )


EVIDENCED: Final = (
    Mutant("claim_from_nowhere", "the answer says what nobody told", _says("Order 7 was refunded under B-43.")),
    Mutant(
        "claim_is_part_of_a_value", "the answer says a part of what was told", _says("Order 7 was refunded under A-4.")
    ),
    Mutant("argument_from_nowhere", "an argument is a value that nobody told", _asks_for("8")),
    Mutant(
        "evidence_failed",
        "what the answer claims was told by a result that is an error",
        _where_claims_are_asked_for(on(ToolResult, changed(is_error=True, code=Code.TOOL_FAILED), nth=-1)),
    ),
)
