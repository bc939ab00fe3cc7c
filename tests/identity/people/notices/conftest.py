from collections.abc import AsyncIterator

import pytest

from tests.identity.browsers import alice
from tests.identity.people.notices.told import Told


@pytest.fixture
async def told() -> AsyncIterator[Told]:
    """Notices for Alice, who has an account."""
    told = Told()
    await told.provider.admit(alice())
    yield told
    told.provider.passwords.close()
