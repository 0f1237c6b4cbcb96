"""What every test may use: the repository, the real data beside it, and repeatable properties."""

import gc
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

REPO = Path(__file__).resolve().parent.parent

# Time belongs to the benchmarks, not to properties. `make test`: few examples, the same on every machine. `make properties`:
# many, and others each time.
_EVERY = {"deadline": None, "database": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("house", derandomize=True, max_examples=40, **_EVERY)
settings.register_profile("deep", print_blob=True, max_examples=500, **_EVERY)
settings.load_profile(os.environ.get("HARNESS_PROPERTIES", "house"))


def pytest_collection_finish() -> None:
    """What was collected lives as long as the session: looking for garbage in it took a tenth of the time."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def repo() -> Path:
    """The root of the repository."""
    return REPO


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real data beside the repository; tests that need it are skipped without it."""
    folder = REPO.parent / "shared"
    if not (folder / "data").is_dir():
        pytest.skip(f"the real data is not here: {folder.name}/data beside the repository")
    return folder
