from collections.abc import AsyncIterator

import pytest

from tests.edge.oidc.tenants.world import World, world


@pytest.fixture
async def provider() -> AsyncIterator[World]:
    """A provider with the tenants default, acme and umbrella."""
    async with world() as running:
        yield running
