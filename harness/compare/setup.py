"""What was set up differently for two runs that behaved the same: limits, expectations, tools, profile."""

from __future__ import annotations

from typing import Any, Final

from harness.compare.described import Described, of_values
from harness.compare.offered import tools_difference
from harness.compare.plain import parsed
from harness.folds import to_plain
from harness.types.codes import DivergenceKind
from harness.types.events import Header

# Identity and what is volatile (run id, arm, trial, version, times) is left out; the digest of the
# scenario comes last, since it only says that something else differs.
_ORDER: Final = (
    "limits",
    "expectations",
    "models",
    "subject",
    "profile",
    "observed",
    "clock",
    "seed",
    "parent",
    "scenario",
)


def setup_difference(base: Header, candidate: Header) -> Described | None:
    """The first difference of two headers, or None."""
    left, right = setup_of(base), setup_of(candidate)
    tools = tools_difference(left["tools"], right["tools"])
    if tools:
        return Described(DivergenceKind.SETUP, tools.path, tools.base, tools.candidate)
    found = (of_values(DivergenceKind.SETUP, name, left[name], right[name]) for name in _ORDER)
    return next((described for described in found if described), None)


def loop_difference(base: Header, candidate: Header) -> str:
    """The path of the first difference in what a loop goes by (limits, subject, profile); empty where there is none."""
    left, right = setup_of(base), setup_of(candidate)
    found = (
        of_values(DivergenceKind.SETUP, name, left[name], right[name]) for name in ("limits", "subject", "profile")
    )
    return next((described.path for described in found if described), "")


def setup_of(header: Header) -> dict[str, Any]:
    """What of a header is compared, as plain values."""
    plain = to_plain(header)
    return {
        "limits": parsed(header.limits),
        "expectations": parsed(header.expectations),
        "tools": [{**tool, "parameters": parsed(tool["parameters"])} for tool in plain.get("tools", [])],
        "models": dict(header.models),
        "subject": header.subject,
        "profile": plain.get("profile", {}),
        "observed": {kind: str(origin) for kind, origin in header.observed},
        "clock": str(header.clock),
        "seed": header.seed,
        "parent": [header.parent.seq, header.parent.why] if header.parent else None,
        "scenario": plain.get("scenario"),
    }
