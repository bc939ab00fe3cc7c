from collections.abc import AsyncIterator

import pytest

from tests.edge.oidc.protocol.forward_auth.proxy import service as running
from tests.edge.oidc.tenants.world import World, world


@pytest.fixture
async def provider() -> AsyncIterator[World]:
    """A provider that trusts proxies on loopback, with an account for Alice."""
    async with world(trusted_proxies=("127.0.0.1/32",)) as found:
        await found.add_user("default", "alice", given_name="Ada", groups=("readers",))
        yield found


@pytest.fixture
async def service(provider: World) -> AsyncIterator[str]:
    async with running(provider) as origin:
        yield origin
