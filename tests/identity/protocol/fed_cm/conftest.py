import pytest

from tests.identity.protocol.fed_cm.mediation import Mediation, person, shop


@pytest.fixture
async def mediation() -> Mediation:
    """FedCM with an account of Alice, and pages of the shop."""
    found = Mediation()
    await found.provider.register(shop())
    await found.provider.admit(person())
    return found
