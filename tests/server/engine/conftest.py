from collections.abc import Iterator

import pytest

from tests.server.engine.laws import expect_laws
from tests.server.engine.scenario import Scenario


@pytest.fixture
def engine() -> Iterator[Scenario]:
    """Every story ends with the laws: replay, recovery, indexes, rows."""
    scenario = Scenario()
    yield scenario
    expect_laws(scenario.state, scenario.events, scenario.rows)
