"""What every test may use: the repository, the real data beside it, and repeatable properties."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

REPO = Path(__file__).resolve().parent.parent

# Same examples on every machine; time belongs to the benchmarks, not to properties.
settings.register_profile(
    "house", derandomize=True, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("house")


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
