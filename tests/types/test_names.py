"""File names made from ids: portable, inside their folder, and one for each id (PB-049)."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.types.names import portable_path

CASE = ["foo/bar", "../foo/bar", "/etc/x", "a:b", "a*b?", "trail.", "trail "]
ODD = [
    *CASE, "", "/", "//", ".", "..", "...", "a/./b", "con", "CON", "con.txt", "com1", "nul/x", "%", "%25", "a%3Ab", " x", "x ", " ",
    "a\\b", "a|b", "a<b>", 'a"b', "a\nb", "a\x00b", "a\x7fb", "模型 🚀 äß", "x" * 300, "x" * 301, "模" * 200, "\ud800", "\\ud800", "x" * 300 + "\ud800", "x" * 300 + "\\ud800", "-rf", "~",
]  # fmt: skip
ids = st.one_of(st.sampled_from(ODD), st.text(max_size=12), st.text(alphabet="./%: \\*conCON1", max_size=8))


def is_portable(path: str) -> bool:
    segments = path.split("/")
    return all(
        segment
        and segment not in (".", "..")
        and segment[-1] not in ". "
        and not re.search(r'[<>:"|?*\\\x00-\x1f\x7f]', segment)
        and len(segment.encode("utf-8")) <= 200
        and segment.split(".")[0].lower() not in {"con", "prn", "aux", "nul", "com1", "lpt9"}
        for segment in segments
    )


@pytest.mark.public_case("PB-049")
@pytest.mark.parametrize("identity", ODD, ids=lambda identity: ascii(identity)[:24])
def test_an_odd_id_gives_a_portable_relative_path(identity: str) -> None:
    path = portable_path(identity)
    assert is_portable(path), path
    assert path == portable_path(identity)


@pytest.mark.public_case("PB-049")
def test_odd_ids_never_share_a_path() -> None:
    assert len({portable_path(identity) for identity in ODD}) == len(ODD)


@given(ids)
def test_every_id_gives_a_portable_relative_path(identity: str) -> None:
    assert is_portable(portable_path(identity))


@given(ids, ids)
def test_two_ids_never_share_a_path(one: str, two: str) -> None:
    assert (one == two) == (portable_path(one) == portable_path(two))


@pytest.mark.parametrize("identity", ["weather/umbrella", "a-b_c.d", "家/天气", "v1.2"])
def test_an_ordinary_id_is_its_own_path(identity: str) -> None:
    assert portable_path(identity) == identity
