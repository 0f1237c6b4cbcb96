"""Mutants of a run whose effects are counted, by its ledger and by the bodies that started."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from harness.folds import to_plain
from harness.mutants.editing import Mutant, Mutate, changed, on
from harness.mutants.pen import Pen
from harness.types.codes import Status
from harness.types.effects import EFFECTS_NOTE, Effect, Effects, EffectsPer, ExpectedEffects
from harness.types.events import Trajectory
from harness.types.jsontext import canonical_json
from harness.types.lifecycle import Note
from harness.types.messages import CallId, JsonText
from harness.types.reasons import EmittedCall, FinalAnswer
from harness.types.scenario import Expectations, Limits


def _call(call_id: str, name: str, q: str) -> EmittedCall:
    return EmittedCall(CallId(call_id), name, JsonText(f'{{"q":"{q}"}}'))


def _note(notes: Sequence[str]) -> Note:
    entries = tuple(Effect("note", JsonText(f'{{"q":"{q}"}}'), f"c{n}") for n, q in enumerate(notes, start=1))
    return Note(EFFECTS_NOTE, canonical_json(to_plain(Effects(entries))))


def _run(*asked: str) -> Trajectory:
    """Notes are taken one after the other, and once something is looked up."""
    pen = Pen()
    pen.turn("take notes")
    for number, q in enumerate(asked, start=1):
        pen.ask()
        call = _call(f"c{number}", "note", q)
        pen.answer(None, call)
        pen.run_calls(call)
        pen.end_step()
    look = _call("look", "look", "x")
    pen.ask()
    pen.answer(None, look)
    pen.run_calls(look)
    pen.end_step()
    pen.ask()
    pen.answer("Noted.")
    pen.end_step()
    pen.end(Status.COMPLETED, FinalAnswer(), _note(asked))
    wanted = (
        ExpectedEffects("look", exactly=1),
        ExpectedEffects("note", exactly=1, per=EffectsPer.ARGUMENTS),
        ExpectedEffects("note", at_most=1, when=JsonText('{"q":"a"}')),
        ExpectedEffects("note", at_most=2),
    )
    codes = tuple((number, "OK") for number in range(1, len(asked) + 2))
    expect = Expectations(effects=wanted, answer=JsonText('"Noted."'), result_codes=codes)
    return pen.trajectory("effectful", Limits(), expect)


def effectful() -> Trajectory:
    """Two notes, each once; the ledger holds both."""
    return _run("a", "b")


def _only_here(mutate: Mutate) -> Mutate:
    def mutated(trajectory: Trajectory) -> Trajectory | None:
        return mutate(trajectory) if trajectory.source == "effectful" else None

    return mutated


def _ledger(*notes: str) -> Mutate:
    return _only_here(on(Note, changed(data=_note(notes).data), lambda fact: fact.name == EFFECTS_NOTE))


def _asked(*asked: str) -> Mutate:
    return _only_here(lambda _: _run(*asked))


def _looked_twice(_: Trajectory) -> Trajectory:
    pen = Pen()
    pen.turn("take notes")
    for number in (1, 2):
        call = _call(f"look{number}", "look", "x")
        pen.ask()
        pen.answer(None, call)
        pen.run_calls(call)
        pen.end_step()
    pen.ask()
    pen.answer("Looked.")
    pen.end_step()
    pen.end(Status.COMPLETED, FinalAnswer())
    return pen.trajectory("effectful", Limits(), Expectations(effects=(ExpectedEffects("look", at_most=1),)))


EFFECTFUL: Final = (
    Mutant("effect_twice", "the ledger holds an effect twice, of a body that started once", _ledger("a", "a", "b")),
    Mutant("effect_unwritten", "a body ended well whose effect is not in the ledger", _ledger("a")),
    Mutant("effects_too_many", "a third note is taken", _asked("a", "b", "c")),
    Mutant("effect_asked_again", "the model has the same note taken again", _asked("a", "a")),
    Mutant("effect_by_bodies", "a tool without a ledger runs for two calls", _only_here(_looked_twice)),
)
