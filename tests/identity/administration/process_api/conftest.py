from collections.abc import AsyncIterator

import pytest

from tests.identity.administration.process_api.directory import Directory, opened


@pytest.fixture
async def directory() -> AsyncIterator[Directory]:
    async with opened() as running:
        yield running
