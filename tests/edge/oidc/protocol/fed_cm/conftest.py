from collections.abc import AsyncIterator

import pytest

from tests.edge.oidc.protocol.fed_cm.site import Browser, browser


@pytest.fixture
async def alice() -> AsyncIterator[Browser]:
    async with browser() as found:
        yield found
