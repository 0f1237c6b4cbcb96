"""Write a file whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from harness.errors import RecordingFailed


def replace_file(path: Path, data: bytes) -> None:
    """Put ``data`` into ``path`` (the target of a link) in one step; its folder is made where it is missing.

    The bytes go to a temporary file beside it first, which is gone afterwards whatever happens.
    Raises RecordingFailed when the disk refuses; the old file is then as it was.
    """
    path = Path(os.path.realpath(path)) if path.is_symlink() else path
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".partial", dir=path.parent)
    except OSError as error:
        raise RecordingFailed(
            f"cannot write {path.as_posix()!r}: {error.strerror}. The old file is untouched."
        ) from error
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o644)
        os.replace(name, path)
    except OSError as error:
        raise RecordingFailed(
            f"cannot write {path.as_posix()!r}: {error.strerror}. The old file is untouched."
        ) from error
    finally:
        Path(name).unlink(missing_ok=True)
