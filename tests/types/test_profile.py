"""The profile declares a choice for each D number of the catalogue, and nothing else."""

import dataclasses
import re
from enum import StrEnum

import pytest

from harness.types import profile
from harness.types.profile import PROFILE_FIELDS, Profile

D_NUMBERS = (  # noqa: SIM905
    "7 11 12 13 14 15 16 17 18 19 24 25 27 "
    "32 37 38 41 42 43 45 46 47 48 50 51 52 54 55 57 58 59 60 61 62 "
    "70 73 74 77 80 85 88 95 96 97 100 101 102 "
    "104 105 106 107 108 110 112 113 114 121 124 125 127 128 146 147 151 152 153"
).split()


def enum_of(field: str) -> type[StrEnum]:
    kind = type(getattr(Profile(), field))
    assert issubclass(kind, StrEnum)
    return kind


def test_every_d_number_of_the_catalogue_has_a_field_in_its_order():
    assert list(PROFILE_FIELDS) == D_NUMBERS


def test_the_listed_numbers_are_those_that_the_catalogue_marks_d(shared):
    text = (shared / "CONFORMANCE.md").read_text("utf-8")
    assert re.findall(r"^(\d+a?)\. D ", text, flags=re.MULTILINE) == D_NUMBERS


def test_every_field_of_the_profile_stands_for_one_number():
    assert [field.name for field in dataclasses.fields(Profile)] == list(PROFILE_FIELDS.values())


@pytest.mark.parametrize("number", D_NUMBERS)
def test_a_choice_is_undeclared_until_it_is_made_and_names_its_number(number):
    field = PROFILE_FIELDS[number]
    kind = enum_of(field)
    assert getattr(Profile(), field) == kind("undeclared")
    assert (kind.__doc__ or "").startswith(f"CONFORMANCE {number}: ")
    assert len(kind) >= 3, "a choice with one way to go is none"


def test_every_choice_is_spelled_on_disk_as_it_is_named():
    for field in PROFILE_FIELDS.values():
        for choice in enum_of(field):
            assert choice.value == choice.name.lower().replace("_", "-")


def test_no_two_numbers_share_an_enum():
    assert len({enum_of(field) for field in PROFILE_FIELDS.values()}) == len(PROFILE_FIELDS)
    assert profile.ResultAfterCancel is enum_of("result_after_cancel")
