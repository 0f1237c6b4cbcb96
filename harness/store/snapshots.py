"""Snapshots of offered tools on disk: one canonical JSON object."""

from __future__ import annotations

import json
from os import fspath
from pathlib import Path

from harness.errors import TrajectoryFormatError
from harness.store.encode import encoder_of
from harness.store.files import replace_file
from harness.store.parsing import BadLine, parse_object
from harness.store.reading import File
from harness.store.shapes import record_of
from harness.store.writing import encoded
from harness.types.evaluation import ToolSnapshot


def write_snapshot(path: File, snapshot: ToolSnapshot) -> None:
    """Write a snapshot, replacing what is there. Raises RecordingFailed."""
    value = json.loads(encoder_of(record_of(ToolSnapshot))(snapshot))
    replace_file(path, [encoded(json.dumps(value, indent=1, ensure_ascii=False) + "\n")])


def read_snapshot(path: File) -> ToolSnapshot:
    """The snapshot in a file. Raises TrajectoryFormatError for what is none or cannot be read."""
    from pydantic_core import ValidationError

    from harness.store.validate import validator_of, what_is_wrong

    name = fspath(path)
    try:
        found: ToolSnapshot = validator_of(ToolSnapshot).validate_python(parse_object(Path(name).read_bytes()))
    except OSError as error:
        raise TrajectoryFormatError(f"cannot be read: {error.strerror}", file=name) from error
    except BadLine as bad:
        raise TrajectoryFormatError(str(bad), file=name) from None
    except ValidationError as error:
        raise TrajectoryFormatError(what_is_wrong(error), file=name) from None
    return found
