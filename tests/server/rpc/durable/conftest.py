from collections.abc import AsyncIterator

import pytest

from tests.server.rpc.caller import Caller
from tests.server.rpc.conftest import authenticate
from tests.server.rpc.durable.deployment import Durable, durable


@pytest.fixture
async def service() -> AsyncIterator[Durable]:
    async with durable(authenticate) as deployment:
        yield deployment


@pytest.fixture
def caller(service: Durable) -> Caller:
    return service.caller
