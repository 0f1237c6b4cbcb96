"""Write the golden files and the shipped schema anew: python -m tests.golden.write. Look at the difference before a commit."""

import json
from pathlib import Path

from harness.store import dump_trajectory, trajectory_schema
from tests.golden.every_kind import every_kind

HERE = Path(__file__).parent
TRAJECTORY = HERE / "every_kind.jsonl"
SCHEMA = HERE / "trajectory.schema.json"
SHIPPED_SCHEMA = HERE.parent.parent / "harness" / "store" / "trajectory.schema.json"


def schema_text() -> str:
    return json.dumps(trajectory_schema(), indent=1, ensure_ascii=False) + "\n"


def golden_files() -> dict[Path, bytes]:
    """What each file must hold."""
    schema = schema_text().encode("utf-8")
    return {TRAJECTORY: dump_trajectory(every_kind()), SCHEMA: schema, SHIPPED_SCHEMA: schema}


if __name__ == "__main__":
    for path, data in golden_files().items():
        path.write_bytes(data)
