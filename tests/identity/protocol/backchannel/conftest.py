import pytest

from tests.identity.protocol.backchannel.bank import Bank
from tests.identity.protocol.provider import Provider


@pytest.fixture
async def bank(provider: Provider) -> Bank:
    return Bank(provider)
