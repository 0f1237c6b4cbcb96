"""An imported evaluation as files: the document, its tools and its cases each in their own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.documents import dump_yaml
from harness.types.jsontext import canonical_json


def evaluation_files(document: Mapping[str, Any], stem: str) -> dict[str, bytes]:
    """Bytes by name: ``stem.yaml``, which names ``stem-tools.json`` and ``stem-cases.jsonl`` beside it.

    The document is small whatever was imported; the cases are one canonical line each, so they are read by offset.
    """
    tools, cases = f"{stem}-tools.json", f"{stem}-cases.jsonl"
    small = {**document, "tools": {"schemas": tools}, "cases": {"from": cases}}
    return {
        f"{stem}.yaml": dump_yaml(small).encode(),
        tools: canonical_json(document["tools"]["schemas"]).encode() + b"\n",
        cases: b"".join(canonical_json(case).encode() + b"\n" for case in document["cases"]),
    }
