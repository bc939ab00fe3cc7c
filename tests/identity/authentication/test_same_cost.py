"""A refused sign-in costs one hash, whatever the reason."""

from collections.abc import Iterator

import pytest

from identity.authentication.password_sign_in import PasswordSignIn
from identity.directory.password_config import PasswordConfig
from identity.directory.passwords import Passwords
from identity.directory.user import User
from server.platform.errors import Unauthenticated
from tests.identity.browsers import ADDRESS, NOON, NoBrowsers, Provider, alice


class CountedPasswords(Passwords):
    checked = 0

    async def verify(self, tenant_id: str, password_hash: str | None, password: str) -> bool:
        self.checked += 1
        return await super().verify(tenant_id, password_hash, password)


@pytest.fixture
def passwords() -> Iterator[CountedPasswords]:
    counted = CountedPasswords(PasswordConfig(memory_kib=8, iterations=1, lanes=1, workers=1))
    yield counted
    counted.close()


@pytest.mark.parametrize(
    "user",
    [
        pytest.param(alice(), id="wrong password"),
        pytest.param(alice(id="bob", email="bob@example.com"), id="unknown address"),
        pytest.param(alice(password_hash=""), id="account without a password"),
        pytest.param(alice(is_enabled=False), id="disabled account"),
        pytest.param(alice(valid_until=NOON), id="expired account"),
    ],
)
async def test_a_refused_sign_in_costs_one_hash(passwords: CountedPasswords, user: User) -> None:
    provider = Provider()
    await provider.admit(user)
    sign_in = PasswordSignIn(
        *(provider.users, passwords),
        protection=provider.protection,
        browsers=NoBrowsers(),
        confirmation=provider.confirmation,
        events=provider.events,
        clock=provider.clock,
    )

    with pytest.raises(Unauthenticated):
        await sign_in.verify(
            provider.tenant, email="alice@example.com", password="wrong", peer_address=ADDRESS
        )

    assert passwords.checked == 1
