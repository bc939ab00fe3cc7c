from collections.abc import AsyncIterator

import pytest

from identity.crypto.keys.master_keys import MasterKeys
from identity.foundation.randomness import SystemRandomness
from tests.identity.administration.administration import Administration
from tests.identity.browsers import alice
from tests.identity.people.transfer.imported import Transfer


@pytest.fixture
async def transfer() -> AsyncIterator[Transfer]:
    administration = Administration()
    await administration.provider.admit(alice())
    yield Transfer(administration, MasterKeys({"k": b"k" * 32}, "k", randomness=SystemRandomness()))
    administration.provider.passwords.close()
