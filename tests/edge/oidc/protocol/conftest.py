from collections.abc import AsyncIterator

import pytest

from tests.edge.oidc.protocol.provider import Provider, running


@pytest.fixture
async def provider() -> AsyncIterator[Provider]:
    async with running() as found:
        yield found
