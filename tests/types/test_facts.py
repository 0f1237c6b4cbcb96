"""The tables of kinds of facts."""

from harness.types.facts import FACT_TYPES, PROBED, TOLD
from harness.types.lifecycle import Note


def test_every_kind_but_a_note_is_written_by_exactly_one_of_harness_and_built_in_loop() -> None:
    assert sorted([*PROBED, *TOLD, Note.TYPE]) == sorted(FACT_TYPES)
