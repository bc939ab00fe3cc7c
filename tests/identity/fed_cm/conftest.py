import pytest

from tests.identity.fed_cm.mediation import Mediation, person, shop


@pytest.fixture
async def mediation() -> Mediation:
    """Where Alice has an account, and the shop pages."""
    found = Mediation()
    await found.provider.register(shop())
    await found.provider.admit(person())
    return found
