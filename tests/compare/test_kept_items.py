"""What a provider wants sent back is new in each run, and hides no place where two runs really part."""

from __future__ import annotations

import dataclasses

import pytest

from harness.compare import explain
from harness.compare.essence import essence
from harness.compare.keys import answer_key
from harness.folds import Viewed
from harness.runner.accepted import accepted_bytes
from harness.types.codes import Cause
from harness.types.events import Trajectory
from harness.types.exchange import AssistantMessage, ModelRequest
from harness.types.messages import ChatAssistant, JsonText, Messages
from harness.wire.responses_items import without_kept_items
from tests.compare.made import refund_run, with_facts

ITEMS = ('{"response_items":[{"id":"rs_1"}]}', '{"response_items":[{"id":"rs_2"}]}')
BESIDE = ('{"annotations":[],"response_items":[1]}', '{"annotations":[],"response_items":[2]}')
BEHIND = ('{"response_items":[1],"seen":"ann"}', '{"response_items":[1],"seen":"bob"}')


def viewed(**fields: object) -> Viewed:
    return Viewed("assistant/message", "", 1, 1, {"content": "hi", **fields}, 7)


def saying(extra: str | None) -> Trajectory:
    """A run of which every answer, and every answer sent back, has that beside it."""
    kept = None if extra is None else JsonText(extra)

    def change(fact: object) -> object:
        if isinstance(fact, AssistantMessage):
            return dataclasses.replace(fact, extra=kept)
        if isinstance(fact, ModelRequest):
            said = [dataclasses.replace(m, extra=kept) if isinstance(m, ChatAssistant) else m for m in fact.messages]
            return dataclasses.replace(fact, messages=Messages.of(said))
        return fact

    return with_facts(refund_run(), change)  # type: ignore[arg-type]


def test_items_of_a_provider_are_no_behaviour_and_other_extras_are() -> None:
    one, other = (viewed(extra=items) for items in ITEMS)
    assert essence(one) == essence(other) == {"content": "hi", "extra": None}
    assert one.key != other.key  # where two runs behave alike it still is a difference
    assert essence(viewed(extra='{"name":"ann"}')) != essence(viewed(extra='{"name":"bob"}'))


@pytest.mark.parametrize(
    ("extra", "left"),
    [
        pytest.param(None, None, id="nothing"),
        pytest.param(ITEMS[0], None, id="alone"),
        pytest.param(BESIDE[0], '{"annotations":[]}', id="behind-others"),
        pytest.param(BEHIND[0], '{"seen":"ann"}', id="before-others"),
        pytest.param('{ "response_items" : [1] }', None, id="spelled-otherwise"),
        pytest.param('{"note":{"response_items":[1]}}', '{"note":{"response_items":[1]}}', id="deeper-is-another-thing"),
        pytest.param('["response_items"]', '["response_items"]', id="no-object"),
        pytest.param('{"a": 1}', '{"a": 1}', id="none-of-them"),
    ],
)
def test_only_the_kept_items_are_taken_out_wherever_they_stand(extra: str | None, left: str | None) -> None:
    assert without_kept_items(None if extra is None else JsonText(extra)) == left


@pytest.mark.parametrize(
    ("base", "candidate", "cause"),
    [
        pytest.param(*ITEMS, Cause.DETAIL, id="other-items"),
        pytest.param(*BESIDE, Cause.DETAIL, id="other-items-behind-something-else"),
        pytest.param(None, ITEMS[0], Cause.DETAIL, id="items-on-one-side"),
        pytest.param(*BEHIND, Cause.MODEL, id="something-else-behind-them"),
    ],
)
def test_explanation_alignment_and_baselines_have_one_rule_for_kept_items(
    base: str | None, candidate: str | None, cause: Cause
) -> None:
    runs = saying(base), saying(candidate)
    found = explain(*runs)
    assert found is not None
    is_same = cause is Cause.DETAIL
    assert found.cause is cause
    keys = [[answer_key(event.fact) for event in run if isinstance(event.fact, AssistantMessage)] for run in runs]
    assert (keys[0] == keys[1]) is is_same
    assert (accepted_bytes(runs[0], "shop/refund") == accepted_bytes(runs[1], "shop/refund")) is is_same
