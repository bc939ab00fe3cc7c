from collections.abc import AsyncIterator

import pytest

from tests.edge.oidc.people.provider import Administrator, administrator


@pytest.fixture
async def admin() -> AsyncIterator[Administrator]:
    async with administrator() as found:
        yield found
