"""The rules of a policy: what decides about a call, and what happens where it cannot be read."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.scenarios import scenario
from harness.tools import FunctionTool
from harness.tools.rules import rules_of
from harness.types.codes import Effect
from harness.types.policy import Judgement, Ruling


def look() -> str:
    return ""


TOOLS = (
    FunctionTool(look, name="read", effect=Effect.READ),
    FunctionTool(look, name="write", effect=Effect.WRITE),
    FunctionTool(look, name="undeclared"),
)


def judged(policy: dict[str, Any], name: str, arguments: str = "{}") -> Judgement:
    rules = rules_of(scenario(task="go", policy=policy).policy, TOOLS)
    assert rules is not None
    return rules(name, arguments)


def ruling(policy: dict[str, Any], name: str, arguments: str = "{}") -> Ruling:
    return judged(policy, name, arguments).ruling


def test_a_policy_that_says_nothing_has_no_rules() -> None:
    assert rules_of(scenario(task="go").policy, TOOLS) is None
    assert rules_of(scenario(task="go", policy={"approvals": [{"answer": "allow"}]}).policy, TOOLS) is None


@pytest.mark.article("29")
@pytest.mark.parametrize(
    ("name", "wanted"),
    [("read", Ruling.ALLOW), ("write", Ruling.DENY), ("undeclared", Ruling.DENY), ("x", Ruling.DENY)],
)
@pytest.mark.parametrize("own", ["allow", "ask"])
def test_reading_only_denies_what_may_write_whatever_the_rules_say(name: str, wanted: Ruling, own: str) -> None:
    assert ruling({"read_only": True}, name) is wanted
    with_rule = ruling({"read_only": True, "tools": {name: own}}, name)
    assert with_rule is (Ruling(own) if wanted is Ruling.ALLOW else Ruling.DENY)


PATHS = {
    "tools": {
        "write": [
            {"when": {"path": {"$regex": "^/etc"}}, "then": "deny", "why": "the system's own"},
            {"when": {"path": "/tmp/x", "mode": 7}, "then": "allow"},
            {"when": {"path": {"$any": True}}, "then": "ask"},
        ],
        "*": "deny",
    }
}


@pytest.mark.parametrize(
    ("name", "arguments", "wanted"),
    [
        pytest.param("write", '{"path":"/etc/passwd"}', Ruling.DENY, id="the-first-that-fits"),
        pytest.param("write", '{"path":"/tmp/x","mode":7.0,"more":1}', Ruling.ALLOW, id="more-arguments-do-not-matter"),
        pytest.param("write", '{"path":"/tmp/x","mode":true}', Ruling.ASK, id="true-is-no-number"),
        pytest.param("write", '{"path":"/home/y"}', Ruling.ASK, id="the-last-of-its-own"),
        pytest.param("write", '{"name":"y"}', Ruling.DENY, id="none-of-its-own-fits-so-that-of-all"),
        pytest.param("read", "{}", Ruling.DENY, id="no-rule-of-its-own"),
        pytest.param("write", "not json", Ruling.DENY, id="what-cannot-be-read-fits-a-denial"),
    ],
)
def test_the_first_rule_of_the_tool_that_fits_decides_then_those_of_all(
    name: str, arguments: str, wanted: Ruling
) -> None:
    assert ruling(PATHS, name, arguments) is wanted


def test_a_denial_says_why() -> None:
    assert judged(PATHS, "write", '{"path":"/etc/x"}').why == "the system's own"
    assert "denies" in judged({"tools": {"read": "deny"}}, "read").why


@given(st.text(max_size=20))
def test_arguments_that_are_no_object_are_allowed_by_no_matcher(text: str) -> None:
    rules = [{"when": {"path": {"$any": True}}, "then": "allow"}, {"then": "deny"}]
    wanted = Ruling.ALLOW if text.startswith("{") and '"path"' in text else Ruling.DENY
    assert ruling({"tools": {"write": rules}}, "write", text) is wanted
