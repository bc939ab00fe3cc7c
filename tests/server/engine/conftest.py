import asyncio
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import pytest

from tests.durable import migrated_database
from tests.server.engine.durable import durable_stage
from tests.server.engine.paged import PagedScenario
from tests.server.engine.scenario import Scenario

NewScenario = Callable[[], AbstractContextManager[Scenario]]


@contextmanager
def pure_scenario() -> Iterator[Scenario]:
    yield Scenario()


@pytest.fixture(scope="session")
def embedded_scenario() -> NewScenario:
    return pure_scenario


@contextmanager
def opened_paged_scenario() -> Iterator[Scenario]:
    yield PagedScenario(whole_records=0)


@pytest.fixture(scope="session")
def paged_scenario() -> NewScenario:
    return opened_paged_scenario


@pytest.fixture(scope="session")
def durable_dsn(postgres_dsn: str) -> str:
    return asyncio.run(migrated_database(postgres_dsn, "engine"))


@pytest.fixture(scope="session")
def bundled_scenario(durable_dsn: str) -> Iterator[NewScenario]:
    with durable_stage(durable_dsn) as stage:
        yield stage.scenario


@pytest.fixture(scope="session", params=["embedded", "paged", "bundled"])
def new_scenario(request: pytest.FixtureRequest) -> NewScenario:
    factory: NewScenario = request.getfixturevalue(f"{request.param}_scenario")
    return factory


@pytest.fixture
def engine(new_scenario: NewScenario) -> Iterator[Scenario]:
    """Every story ends with the laws: replay, recovery, indexes, rows."""
    with new_scenario() as scenario:
        yield scenario
        scenario.expect_laws()
