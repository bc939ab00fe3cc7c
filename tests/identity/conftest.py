from collections.abc import AsyncIterator

import pytest

from tests.identity.deployment import Deployment, deployed


@pytest.fixture
async def deployment() -> AsyncIterator[Deployment]:
    async with deployed() as running:
        yield running
