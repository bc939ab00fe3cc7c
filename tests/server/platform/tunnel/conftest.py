from collections.abc import AsyncIterator

import pytest

from server.platform.channels import TunnelChannel
from tests.server.platform.tunnel.harness import Caller, Desk, serving


@pytest.fixture
def desk() -> Desk:
    return Desk()


@pytest.fixture
async def target(desk: Desk) -> AsyncIterator[str]:
    async with serving(desk) as target:
        yield target


@pytest.fixture
async def caller(target: str) -> AsyncIterator[Caller]:
    async with TunnelChannel(target) as channel:
        yield Caller(channel)
