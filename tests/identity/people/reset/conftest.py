from collections.abc import AsyncIterator

import pytest

from tests.identity.browsers import alice
from tests.identity.people.reset.resets import Resets


@pytest.fixture
async def resets() -> AsyncIterator[Resets]:
    """Password resets for Alice, who has a password."""
    resets = Resets()
    await resets.provider.admit(alice())
    yield resets
    resets.provider.passwords.close()
