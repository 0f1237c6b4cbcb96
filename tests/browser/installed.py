"""The browser that tests and the benchmark of the report's page use: one that is installed, never one that is fetched."""

from __future__ import annotations

import os
import shutil

NAMES = ("chromium", "chromium-browser", "google-chrome")


def browser_path() -> str | None:
    """``HARNESS_CHROMIUM`` where it is set, else the first of the usual names that is on the path, else None."""
    found = (shutil.which(name) for name in NAMES)
    return os.environ.get("HARNESS_CHROMIUM") or next((path for path in found if path), None)
