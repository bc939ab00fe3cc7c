"""Fixtures of all tests."""

import asyncio
import gc
import os
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from server.platform import collector
from tests.postgres import keep_in_memory, postgres_server, turn_fsync_off

# Machines are shared and slow down at will: neither an example nor the making of one has a deadline, but their
# number has a bound. CI plays the same examples every time, so that a run says something of the change alone; others
# look for new ones, as many as GNOMON_EXAMPLES says.
settings.register_profile(
    "default",
    deadline=None,
    derandomize=bool(os.environ.get("CI")),
    max_examples=int(os.environ.get("GNOMON_EXAMPLES", "100")),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("default")

# Directories whose tests start servers, browsers, compilers and clients in other languages.
OF_PROGRAMS = (
    *("browser", "campaigns", "certification", "clients", "end_to_end"),
    *("packaging", "peer", "relying_parties", "requests", "server/cli"),
)

# Thousands of databases come and go.
keep_in_memory()


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Tests and modules live as long as the run: the garbage collector looks at what tests make, as in a server."""
    with collector.paused():
        collected = yield
    gc.set_threshold(collector.YOUNG, collector.MIDDLE, collector.OLD)
    return collected


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run tests of programs first.

    Some take half a minute, for which one worker would wait for the other at the end. Of two workers one gets all of them, so
    that each server of the session starts once.
    """
    first = tuple(f"{Path(__file__).parent / directory}/" for directory in OF_PROGRAMS)
    items.sort(key=lambda item: not str(item.path).startswith(first))


@pytest.fixture(scope="session")
def postgres_dsn() -> Iterator[str]:
    """A server of the session's own, on which tests make databases of theirs: thousands, so it waits for no disk."""
    with postgres_server() as dsn:
        asyncio.run(turn_fsync_off(dsn))
        yield dsn
