"""The program of `make mutants` tells what survives and who alone refuses what."""

from tests.laws.mutants import alone, survivors


def test_a_mutant_that_no_check_refuses_is_named() -> None:
    assert survivors({"sound": {"pairing"}, "alive": set()}) == ["alive"]


def test_a_check_refuses_a_mutant_alone_where_no_other_does() -> None:
    found = alone({"one": {"pairing"}, "two": {"pairing", "inbox"}})
    assert (found["pairing"], found["inbox"]) == (["one"], [])
