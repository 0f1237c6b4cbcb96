"""A body ran with what the model sent: the same, more, or the same spelled otherwise."""

import pytest

from harness.matching import ran_with


@pytest.mark.parametrize(
    ("sent", "used", "fits"),
    [
        pytest.param('{"a": 1}', '{"a":1}', True, id="spaces"),
        pytest.param('{"a":1}', '{"a":1.0}', True, id="one-json-number"),
        pytest.param('{"a":1}', '{"a":1,"who":"me"}', True, id="an-argument-of-the-loop's-own"),
        pytest.param('{"a":"5"}', '{"a":5}', True, id="a-number-sent-as-text"),
        pytest.param('{"a":"true"}', '{"a":true}', True, id="a-truth-sent-as-text"),
        pytest.param('{"a":"2026-01-02"}', '{"a":"<date>"}', True, id="a-value-known-by-its-type"),
        pytest.param('{"a":[{"b":"1"}]}', '{"a":[{"b":1}]}', True, id="inside"),
        pytest.param('{"a":"x\\ud83d"}', '{"a":"x\N{REPLACEMENT CHARACTER}"}', True, id="a-lone-surrogate"),
        pytest.param("  ", "{}", True, id="blank"),
        pytest.param('{"a":1}', '{"a":2}', False, id="another-value"),
        pytest.param('{"a":1,"b":2}', '{"a":1}', False, id="one-lost"),
        pytest.param('{"a":true}', '{"a":1}', False, id="true-is-no-number"),
        pytest.param('{"a":"020"}', '{"a":20}', False, id="zeros-lost"),
        pytest.param('{"a":9007199254740993}', '{"a":9007199254740992}', False, id="a-rounded-integer"),
        pytest.param('{"a":[1,2]}', '{"a":[2,1]}', False, id="order-of-a-list"),
        pytest.param('{"a":{"b":1}}', '{"a":{"b":1,"c":2}}', False, id="more-inside-a-value"),
        pytest.param('{"a":1', '{"a":1}', False, id="no-json"),
    ],
)
def test_a_body_ran_with_what_was_sent(sent: str, used: str, fits: bool) -> None:
    assert ran_with(sent, used) is fits
