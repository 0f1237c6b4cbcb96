"""Records that are made quickly are what ``dataclass`` makes, in everything but the price."""

import copy
import dataclasses
import inspect
import pickle
from dataclasses import dataclass, field
from typing import Any

import pytest

import harness.protocols.doors
import harness.tools.content
from harness.store import ondisk
from harness.types import doors, exchange, messages, reasons
from harness.types.making import quickly_made


@quickly_made
@dataclass(frozen=True, slots=True)
class Quick:
    first: int
    second: str = "two"
    third: tuple[int, ...] = ()
    word: str = field(default="named", kw_only=True)


@dataclass(frozen=True, slots=True)
class Plain:
    first: int
    second: str = "two"
    third: tuple[int, ...] = ()
    word: str = field(default="named", kw_only=True)


def hot_records() -> list[type[Any]]:
    modules = (doors, exchange, messages, reasons, ondisk, harness.protocols.doors, harness.tools.content)
    found = {value for module in modules for value in vars(module).values() if dataclasses.is_dataclass(value) and isinstance(value, type)}
    return sorted((cls for cls in found if "_set_class" in cls.__init__.__globals__), key=lambda cls: cls.__name__)


def test_the_records_of_a_step_are_made_quickly() -> None:
    names = {cls.__name__ for cls in hot_records()}
    assert {"ModelCall", "Answer", "AssistantMessage", "ToolStart", "ToolEnd", "ToolResult", "ToolReply"} <= names


@pytest.mark.parametrize(
    "given",
    [((1,), {}), ((1, "b"), {}), ((1,), {"third": (3,)}), ((), {"first": 1, "word": "x"}), ((1, "b", (2,)), {"word": ""})],
    ids=str,
)
def test_it_takes_and_shows_what_the_plain_one_does(given: tuple[tuple[Any, ...], dict[str, Any]]) -> None:
    quick, plain = Quick(*given[0], **given[1]), Plain(*given[0], **given[1])
    assert dataclasses.asdict(quick) == dataclasses.asdict(plain)
    assert repr(quick).removeprefix("Quick") == repr(plain).removeprefix("Plain")
    assert type(quick) is Quick
    assert quick == Quick(*given[0], **given[1])
    assert hash(quick) == hash(Quick(*given[0], **given[1]))


@pytest.mark.parametrize("given", [((), {}), ((1, "b", (), "word"), {}), ((1,), {"other": 2}), ((1,), {"first": 1})], ids=str)
def test_it_refuses_what_the_plain_one_does(given: tuple[tuple[Any, ...], dict[str, Any]]) -> None:
    with pytest.raises(TypeError) as quick:
        Quick(*given[0], **given[1])
    with pytest.raises(TypeError) as plain:
        Plain(*given[0], **given[1])
    assert str(quick.value).removeprefix("Quick") == str(plain.value).removeprefix("Plain")


def test_it_is_frozen_from_the_first_moment_on() -> None:
    quick = Quick(1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        quick.first = 2  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError):
        del quick.first
    with pytest.raises((AttributeError, TypeError)):
        quick.other = 2  # type: ignore[attr-defined]


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda it: pickle.loads(pickle.dumps(it)), dataclasses.replace], ids=["copy", "deepcopy", "pickle", "replace"])
def test_a_copy_of_it_is_the_same_and_frozen(again: Any) -> None:
    other = again(Quick(1, word="w"))
    assert other == Quick(1, word="w")
    assert type(other) is Quick
    with pytest.raises(dataclasses.FrozenInstanceError):
        other.first = 2


@pytest.mark.parametrize("cls", hot_records(), ids=lambda cls: cls.__name__)
def test_its_signature_names_every_field_with_its_default(cls: type[Any]) -> None:
    parameters = inspect.signature(cls).parameters
    for each in dataclasses.fields(cls):
        told = parameters[each.name].default
        assert told == (inspect.Parameter.empty if each.default is dataclasses.MISSING else each.default)


@dataclass(frozen=True, slots=True)
class WithFactory:
    items: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class WithMore:
    item: int

    def __post_init__(self) -> None:
        assert self.item


@dataclass(frozen=True)
class WithoutSlots:
    item: int


@pytest.mark.parametrize("cls", [WithFactory, WithMore, WithoutSlots], ids=lambda cls: cls.__name__)
def test_a_record_with_more_to_it_is_refused(cls: type[Any]) -> None:
    with pytest.raises(TypeError, match=cls.__name__):
        quickly_made(cls)
