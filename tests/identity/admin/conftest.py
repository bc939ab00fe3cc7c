from collections.abc import AsyncIterator

import pytest

from tests.identity.admin.administration import Administration
from tests.identity.browsing import alice


@pytest.fixture
async def administration() -> AsyncIterator[Administration]:
    """An administration where Alice has an account."""
    administration = Administration()
    await administration.provider.admit(alice())
    yield administration
    administration.provider.passwords.close()
