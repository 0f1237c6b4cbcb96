"""What a provider wants sent back is new in each run, and hides no place where two runs really part."""

from harness.compare.essence import essence
from harness.folds import Viewed


def viewed(**fields: object) -> Viewed:
    return Viewed("assistant/message", "", 1, 1, {"content": "hi", **fields}, 7)


def test_items_of_a_provider_are_no_behaviour_and_other_extras_are() -> None:
    one = viewed(extra='{"response_items":[{"id":"rs_1","type":"reasoning"}]}')
    other = viewed(extra='{"response_items":[{"id":"rs_2","type":"reasoning"}]}')
    assert essence(one) == essence(other) == {"content": "hi"}
    assert one.key != other.key  # where two runs behave alike it still is a difference
    assert essence(viewed(extra='{"name":"ann"}')) != essence(viewed(extra='{"name":"bob"}'))
