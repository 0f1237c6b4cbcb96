"""Views of one growing buffer: immutable, equal by what they show, and free to take."""

from dataclasses import FrozenInstanceError, fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.types.messages import ChatMessage, ChatUser, MessageBuffer, Messages, camel
from tests.strategies import messages

A, B, C = (ChatUser(content=text) for text in "abc")


def test_a_view_does_not_change_when_its_buffer_grows() -> None:
    buffer = MessageBuffer([A])
    first = buffer.view()
    buffer.append(B)
    second = buffer.view()
    assert (list(first), list(second)) == ([A], [A, B])
    assert len(buffer) == 2


def test_a_later_view_of_the_same_buffer_extends_an_earlier_one_and_no_other() -> None:
    buffer = MessageBuffer([A])
    first = buffer.view()
    buffer.append(B)
    second = buffer.view()
    assert second.extends(first)
    assert first.extends(first)
    assert not first.extends(second)
    assert not Messages.of([A, B]).extends(first), "equal messages in another buffer are no evidence"


@given(st.lists(messages, max_size=5), st.integers(-7, 7), st.slices(5))
def test_a_view_is_a_sequence_like_a_tuple(shown: list[ChatMessage], index: int, piece: slice) -> None:
    buffer = MessageBuffer(shown)
    view = buffer.view()
    buffer.append(A)
    assert tuple(view) == tuple(shown)
    assert len(view) == len(shown)
    assert view[piece] == tuple(shown)[piece]
    if -len(shown) <= index < len(shown):
        assert view[index] == shown[index]
    else:
        with pytest.raises(IndexError):
            view[index]


@given(st.lists(messages, max_size=4), st.lists(messages, max_size=4))
def test_views_are_equal_when_they_show_equal_messages(one: list[ChatMessage], two: list[ChatMessage]) -> None:
    assert (Messages.of(one) == Messages.of(two)) == (one == two)
    if one == two:
        assert hash(Messages.of(one)) == hash(Messages.of(two))


def test_a_view_equals_no_list_and_no_shorter_view() -> None:
    buffer = MessageBuffer([A, B])
    shorter = Messages([A, B], 1)
    assert buffer.view() != [A, B]
    assert buffer.view() != shorter
    assert Messages.of([A, B]) != Messages.of([A, C])


def test_changing_the_list_that_a_view_was_made_of_does_not_change_the_view() -> None:
    source: list[ChatMessage] = [A]
    view = Messages.of(source)
    source.append(B)
    assert list(view) == [A]


@pytest.mark.parametrize("name", [field.name for field in fields(ChatUser)])
def test_a_message_cannot_be_changed(name: str) -> None:
    with pytest.raises(FrozenInstanceError):
        setattr(A, name, "x")


@pytest.mark.parametrize(("name", "key"), [("id", "id"), ("finish_reason", "finishReason"), ("cost_micro_usd", "costMicroUsd"), ("raw_finish_reason", "rawFinishReason")])
def test_keys_on_disk_are_camel_case(name: str, key: str) -> None:
    assert camel(name) == key
