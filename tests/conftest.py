"""What all tests share."""

import os
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from tests.postgres import postgres_server

# Machines are shared and slow down at will: neither an example nor the making of one has a deadline, but their
# number has a bound.
settings.register_profile(
    "default",
    deadline=None,
    max_examples=int(os.environ.get("GNOMON_EXAMPLES", "100")),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("default")


@pytest.fixture(scope="session")
def postgres_dsn() -> Iterator[str]:
    """A server of the session's own, on which tests make databases of theirs."""
    with postgres_server() as dsn:
        yield dsn
