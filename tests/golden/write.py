"""Write the golden files and the shipped schema anew: python -m tests.golden.write. Look at the difference before a commit."""

import json
from pathlib import Path
from typing import Any

from harness.report import comparison_json
from harness.store import comparison_schema, dump_trajectory, trajectory_schema
from tests.golden.every_kind import every_kind
from tests.report.reviews import GATED

HERE = Path(__file__).parent
TRAJECTORY = HERE / "every_kind.jsonl"
SCHEMA = HERE / "trajectory.schema.json"
SHIPPED_SCHEMA = HERE.parent.parent / "harness" / "store" / "trajectory.schema.json"
COMPARISON = HERE / "comparison.json"
SHIPPED_COMPARISON_SCHEMA = SHIPPED_SCHEMA.with_name("comparison.schema.json")


def schema_text(schema: dict[str, Any]) -> bytes:
    return (json.dumps(schema, indent=1, ensure_ascii=False) + "\n").encode("utf-8")


def golden_files() -> dict[Path, bytes]:
    """What each file must hold."""
    schema = schema_text(trajectory_schema())
    return {
        TRAJECTORY: dump_trajectory(every_kind()),
        SCHEMA: schema,
        SHIPPED_SCHEMA: schema,
        COMPARISON: comparison_json(GATED).encode("utf-8") + b"\n",
        SHIPPED_COMPARISON_SCHEMA: schema_text(comparison_schema()),
    }


if __name__ == "__main__":
    for path, data in golden_files().items():
        path.write_bytes(data)
