"""What all tests share: the same examples in every run, and data that may be absent."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "linsep",
    derandomize=True,
    deadline=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("linsep")

DATA = Path(__file__).parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data():
    """The folder of a real data set by its name, or a skip that says what is missing."""

    def folder(name):
        path = DATA / name
        if not path.is_dir():
            pytest.skip(f"the {name} data are not in ../shared/data")
        return path

    return folder
