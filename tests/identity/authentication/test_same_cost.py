"""A refused sign-in costs one hash, whatever the reason."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from identity.authentication.password_sign_in import PasswordSignIn
from identity.directory.password_config import PasswordConfig
from identity.directory.password_hashes.costliest import CostliestHashes
from identity.directory.password_hashes.foreign_hash import OWN, cost_of, decoy_of
from identity.directory.passwords import Passwords
from identity.directory.tenants.tenant_record import DEPLOYMENT, TENANTS, TenantRecord
from identity.directory.user import User
from server.platform.errors import Unauthenticated
from tests.identity.browsers import ADDRESS, NOON, NoBrowsers, Provider, alice

# PBKDF2 with as few iterations as other systems ever used.
IMPORTED = "$pbkdf2-sha512$i=2000$c2FsdHNhbHRzYWx0c2FsdA$" + "A" * 86
CHEAPER = IMPORTED.replace("2000", "1000")


class CountedPasswords(Passwords):
    def __init__(self) -> None:
        super().__init__(PasswordConfig(memory_kib=8, iterations=1, lanes=1, workers=1))
        self.decoys: list[str] = []

    async def verify(
        self, tenant_id: str, password_hash: str | None, password: str, *, decoy: str = ""
    ) -> bool:
        self.decoys.append(decoy)
        return await super().verify(tenant_id, password_hash, password, decoy=decoy)


@pytest.fixture
def passwords() -> Iterator[CountedPasswords]:
    counted = CountedPasswords()
    yield counted
    counted.close()


async def own(user: User, passwords: Passwords) -> User:
    """Return the user with a hash of these parameters, if there is a hash of ours."""
    is_own = user.password_hash.startswith(OWN)
    return replace(user, password_hash=await passwords.hash(user.tenant_id, "right")) if is_own else user


USERS = [
    pytest.param(alice(), id="wrong password"),
    pytest.param(alice(id="bob", email="bob@example.com"), id="unknown address"),
    pytest.param(alice(password_hash=""), id="account without a password"),
    pytest.param(alice(is_enabled=False), id="disabled account"),
    pytest.param(alice(valid_until=NOON), id="expired account"),
]


@pytest.mark.parametrize("user", USERS)
async def test_a_refused_sign_in_costs_one_hash(passwords: CountedPasswords, user: User) -> None:
    await refused(Provider(), passwords, user)

    assert passwords.decoys == [""]


@pytest.mark.parametrize(
    "user",
    [
        *USERS,
        pytest.param(alice(password_hash=IMPORTED), id="imported account"),
        pytest.param(alice(password_hash=CHEAPER), id="imported account with a cheaper hash"),
    ],
)
async def test_a_refused_sign_in_costs_as_much_as_the_costliest_imported_hash(
    passwords: CountedPasswords, user: User
) -> None:
    provider = await recorded()
    await CostliestHashes(provider.store).note(provider.tenant.tenant_id, [CHEAPER, IMPORTED])

    await refused(provider, passwords, user)

    assert [cost_of(decoy) for decoy in passwords.decoys] == [cost_of(IMPORTED)]


async def test_an_imported_hash_that_nobody_noted_is_noted_by_its_sign_in(
    passwords: CountedPasswords,
) -> None:
    provider = await recorded()

    await refused(provider, passwords, alice(password_hash=IMPORTED))

    assert await CostliestHashes(provider.store).of(provider.tenant.tenant_id) == decoy_of(IMPORTED)
    assert decoy_of(IMPORTED) != IMPORTED


async def recorded() -> Provider:
    """Return a provider whose tenant has a record, as it has in a deployment."""
    provider = Provider()
    record = TenantRecord(tenant_id=DEPLOYMENT, id=provider.tenant.tenant_id, name="Default", created_at=NOON)
    await provider.store.of(TENANTS).insert(record)
    return provider


async def refused(provider: Provider, passwords: Passwords, user: User) -> None:
    """Admit the user, and let somebody sign in as alice with a wrong password."""
    await provider.admit(await own(user, passwords))
    sign_in = PasswordSignIn(
        *(provider.users, passwords),
        protection=provider.protection,
        browsers=NoBrowsers(),
        confirmation=provider.confirmation,
        events=provider.events,
        costliest=CostliestHashes(provider.store),
        clock=provider.clock,
    )

    with pytest.raises(Unauthenticated):
        await sign_in.verify(
            provider.tenant, email="alice@example.com", password="wrong", peer_address=ADDRESS
        )
