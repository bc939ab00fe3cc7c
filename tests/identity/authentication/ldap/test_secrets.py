"""Passwords with which the provider binds at directories."""

from datetime import UTC, datetime

import pytest

from identity.authentication.ldap.secrets import LdapSecrets
from identity.crypto.keys.master_keys import LostMasterKey, MasterKeys, new_master_key
from identity.directory.tenants.ldap_directory import LDAP_DIRECTORIES, LdapDirectory, LdapFields
from identity.foundation.randomness import SystemRandomness
from server.platform.call import TenantId
from server.platform.clock import VirtualClock
from server.platform.records import RecordStore
from server.platform.records.memory import MemoryRecordStore

ACME = TenantId("acme")
FIELDS = LdapFields(name="Company", is_enabled=True, urls=("ldaps://ldap.example.com",), user_base="dc=x")
RANDOMNESS = SystemRandomness()
OLD, NEW = new_master_key(RANDOMNESS), new_master_key(RANDOMNESS)


def secrets(store: RecordStore, *texts: str) -> LdapSecrets:
    return LdapSecrets(store, MasterKeys.read(texts, "", randomness=RANDOMNESS))


@pytest.fixture
def store() -> RecordStore:
    return MemoryRecordStore(VirtualClock(pinned=datetime(2030, 1, 1, tzinfo=UTC)))


async def kept(store: RecordStore) -> LdapDirectory:
    sealed = secrets(store, OLD).seal("s3cret", ACME, "d1")
    directory = LdapDirectory(tenant_id=ACME, id="d1", fields=FIELDS, bind_password=sealed)
    return await store.of(LDAP_DIRECTORIES).insert(directory)


async def test_a_password_is_of_one_directory_of_one_tenant(store: RecordStore) -> None:
    directory = await kept(store)
    elsewhere = LdapDirectory(
        tenant_id=TenantId("umbrella"), id="d1", fields=FIELDS, bind_password=directory.bind_password
    )

    assert secrets(store, OLD).open(directory) == "s3cret"
    with pytest.raises(LostMasterKey):
        secrets(store, OLD).open(elsewhere)


async def test_a_new_master_key_replaces_the_one_before(store: RecordStore) -> None:
    await kept(store)

    await secrets(store, OLD, NEW).reseal(ACME)

    (directory,) = await store.of(LDAP_DIRECTORIES).page(ACME)
    assert secrets(store, NEW).open(directory) == "s3cret"
