"""Which names providers refuse, and what takes the place of a name that cannot stay."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.tools.names import is_portable, portable_name, refused_by, told_apart


@pytest.mark.parametrize(
    ("name", "refusing"),
    [
        pytest.param("get_order", [], id="everywhere"),
        pytest.param("get-order-2", [], id="dashes-and-digits"),
        pytest.param("", ["anthropic", "bedrock", "gemini", "openai"], id="empty"),
        pytest.param("get order", ["anthropic", "bedrock", "gemini", "openai"], id="space"),
        pytest.param("orders.get", ["anthropic", "bedrock", "openai"], id="dot"),
        pytest.param("2fa", ["gemini"], id="digit-first"),
        pytest.param("x" * 65, ["bedrock", "gemini", "openai"], id="65-characters"),
        pytest.param("x" * 129, ["anthropic", "bedrock", "gemini", "openai"], id="129-characters"),
        pytest.param("get_order\n", ["anthropic", "bedrock", "gemini", "openai"], id="line-end"),
        pytest.param("größe", ["anthropic", "bedrock", "gemini", "openai"], id="letters-of-another-alphabet"),
    ],
)
def test_each_provider_refuses_by_its_own_rule(name: str, refusing: list[str]) -> None:
    assert [rule.provider for rule in refused_by(name)] == refusing


@given(st.text(max_size=90))
def test_a_portable_name_is_taken_by_every_provider_of_the_chat_dialect(name: str) -> None:
    made = portable_name(name)
    assert is_portable(made)
    assert "openai" not in [rule.provider for rule in refused_by(made)]
    assert made == name or not is_portable(name)


@given(st.lists(st.text(alphabet="aA.-_/ é", max_size=6), unique=True, max_size=12))
def test_names_told_apart_are_as_many_as_before_and_do_not_depend_on_their_order(names: list[str]) -> None:
    made = told_apart([(name, name) for name in names])
    assert len(set(made.values())) == len(names)
    assert made == told_apart([(name, name) for name in reversed(names)])
    assert all(made[name] == name for name in names if is_portable(name))
