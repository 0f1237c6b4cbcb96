"""The item behind a case that was imported from BFCL, so that it can be graded by the benchmark's rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.types.bfcl import BfclCall, BfclCategory, BfclFunction, BfclItem
from harness.types.jsontext import canonical_json


def item_of_case(identity: str, record: Mapping[str, Any]) -> BfclItem:
    """The item of a case, from its field ``bfcl``: ``{category, functions: [{name, parameters}], truth: [{name: …}]}``.

    Names are those under which the tools are offered, so answers are graded with ``BfclNames.AS_WRITTEN``.
    """
    return BfclItem(
        id=identity,
        category=BfclCategory(record["category"]),
        messages=(),
        functions=tuple(
            BfclFunction(function["name"], "", canonical_json(function["parameters"]))
            for function in record["functions"]
        ),
        truth=tuple(
            BfclCall(name, canonical_json(answers)) for call in record["truth"] for name, answers in call.items()
        ),
    )
