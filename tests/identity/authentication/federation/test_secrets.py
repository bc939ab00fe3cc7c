from datetime import UTC, datetime

import pytest

from identity.authentication.federation.secrets import ProviderSecrets
from identity.crypto.keys.master_keys import LostMasterKey, MasterKeys, new_master_key
from identity.directory.provider import PROVIDERS, Provider
from identity.foundation.randomness import SystemRandomness
from server.platform.call import TenantId
from server.platform.clock import VirtualClock
from server.platform.records import RecordStore
from server.platform.records.memory import MemoryRecordStore
from tests.identity.authentication.federation.upstream import FIELDS

ACME = TenantId("acme")
RANDOMNESS = SystemRandomness()
OLD, NEW = new_master_key(RANDOMNESS), new_master_key(RANDOMNESS)


def master_keys(*texts: str) -> MasterKeys:
    return MasterKeys.read(texts, "", randomness=RANDOMNESS)


@pytest.fixture
def store() -> RecordStore:
    return MemoryRecordStore(VirtualClock(pinned=datetime(2030, 1, 1, tzinfo=UTC)))


async def kept(store: RecordStore, secret: str) -> Provider:
    sealed = ProviderSecrets(store, master_keys(OLD)).seal(secret, ACME, "p1")
    provider = Provider(tenant_id=ACME, id="p1", fields=FIELDS, client_secret=sealed)
    return await store.of(PROVIDERS).insert(provider)


async def test_a_secret_is_readable_again_and_nowhere_else(store: RecordStore) -> None:
    provider = await kept(store, "s3cret-of-ours")

    assert ProviderSecrets(store, master_keys(OLD)).open(provider) == "s3cret-of-ours"
    assert "s3cret" not in repr(provider)
    assert provider.client_secret is not None
    assert b"s3cret" not in provider.client_secret.content


async def test_a_secret_is_no_secret_of_another_tenants_provider(store: RecordStore) -> None:
    provider = await kept(store, "s3cret-of-ours")
    elsewhere = Provider(
        tenant_id=TenantId("umbrella"), id="p1", fields=FIELDS, client_secret=provider.client_secret
    )

    with pytest.raises(LostMasterKey):
        ProviderSecrets(store, master_keys(OLD)).open(elsewhere)


async def test_a_new_master_key_replaces_the_one_before(store: RecordStore) -> None:
    await kept(store, "s3cret-of-ours")

    await ProviderSecrets(store, master_keys(OLD, NEW)).reseal(ACME)

    (provider,) = await store.of(PROVIDERS).page(ACME)
    assert ProviderSecrets(store, master_keys(NEW)).open(provider) == "s3cret-of-ours"


async def test_what_is_under_the_active_key_already_stays_as_it_is(store: RecordStore) -> None:
    before = await kept(store, "s3cret-of-ours")

    await ProviderSecrets(store, master_keys(OLD)).reseal(ACME)

    assert await store.of(PROVIDERS).page(ACME) == [before]
