"""Encryption of secrets at rest: keys, places, and lost keys."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from identity.crypto.keys.config import EncryptionConfig
from identity.crypto.keys.key_file import master_keys as configured
from identity.crypto.keys.master_keys import BadMasterKeys, LostMasterKey, Place, new_master_key
from identity.crypto.keys.root_secret import ROOT_SECRETS, RootSecrets
from server.platform.call import TenantId
from server.platform.clock import SystemClock
from server.platform.records import RecordStore
from server.platform.records.memory import MemoryRecordStore
from tests.identity.crypto.keys.rings import RANDOMNESS, master_keys

OLD, NEW = new_master_key(RANDOMNESS), new_master_key(RANDOMNESS)
HERE = Place("signing_key", "acme", "k-1")
ELSEWHERE = [
    replace(HERE, kind="provider"),
    replace(HERE, tenant_id="umbrella"),
    replace(HERE, id="k-2"),
    Place("signing_key", "acm", "ek-1"),
]


@given(st.binary(max_size=200))
def test_a_secret_comes_out_as_it_went_in_and_is_not_seen_in_between(secret: bytes) -> None:
    keys = master_keys()

    sealed = keys.seal(secret, HERE)

    assert secret == keys.open(sealed, HERE)
    assert sealed != keys.seal(secret, HERE)
    assert len(secret) < 4 or secret not in sealed.content


@pytest.mark.parametrize("place", ELSEWHERE, ids=repr)
def test_a_secret_opens_in_its_place_alone(place: Place) -> None:
    keys = master_keys()

    with pytest.raises(LostMasterKey):
        keys.open(keys.seal(b"secret", HERE), place)


def test_a_secret_that_was_tampered_with_does_not_open() -> None:
    keys = master_keys()
    sealed = keys.seal(b"secret", HERE)

    for octet in range(len(sealed.content)):
        content = bytearray(sealed.content)
        content[octet] ^= 1
        with pytest.raises(LostMasterKey):
            keys.open(replace(sealed, content=bytes(content)), HERE)


def test_the_last_key_encrypts_and_all_decrypt() -> None:
    before = master_keys(OLD).seal(b"secret", HERE)

    keys = master_keys(OLD, NEW)

    assert keys.open(before, HERE) == b"secret"
    after = keys.resealed(before, HERE)
    assert master_keys(NEW).open(after, HERE) == b"secret"
    assert keys.resealed(after, HERE) is after


def test_the_active_key_may_be_named() -> None:
    sealed = master_keys(OLD, NEW, active=OLD.partition("/")[0]).seal(b"secret", HERE)

    assert master_keys(OLD).open(sealed, HERE) == b"secret"


@pytest.mark.parametrize("ring", [(NEW,), (f"{OLD.partition('/')[0]}/{NEW.partition('/')[2]}",)])
def test_a_lost_or_changed_key_is_told_by_its_name(ring: tuple[str, ...]) -> None:
    sealed = master_keys(OLD).seal(b"secret", HERE)

    with pytest.raises(LostMasterKey, match=f"expected the master key '{OLD.partition('/')[0]}'"):
        master_keys(*ring).open(sealed, HERE)


@pytest.mark.parametrize("text", ["", "/", "k", "k/", "k/short", f"k/{'A' * 40}", "k/!", f"/{'A' * 43}="])
def test_what_is_no_master_key_is_refused_without_being_shown(text: str) -> None:
    with pytest.raises(BadMasterKeys) as refusal:
        configured(EncryptionConfig(keys=(text,)), RANDOMNESS)

    assert len(text) < 3 or text.partition("/")[2] not in str(refusal.value).split()


def test_an_active_key_that_is_not_there_is_refused() -> None:
    with pytest.raises(BadMasterKeys, match="expected the active master key 'other' to be one of"):
        configured(EncryptionConfig(keys=(OLD,), active="other"), RANDOMNESS)


def test_keys_and_a_file_of_keys_are_too_much(tmp_path: Path) -> None:
    with pytest.raises(BadMasterKeys, match="found both"):
        configured(EncryptionConfig(keys=(OLD,), key_file=tmp_path / "keys"), RANDOMNESS)


def test_master_keys_are_shown_nowhere() -> None:
    config = EncryptionConfig(keys=(OLD,))

    for shown in (repr(config), repr(master_keys(OLD).seal(b"secret", HERE))):
        assert OLD.partition("/")[2] not in shown
        assert "secret" not in shown.replace("secrets", "")


def test_a_key_file_is_made_for_its_owner_alone_and_stays(tmp_path: Path) -> None:
    config = EncryptionConfig(key_file=tmp_path / "data" / "master-keys")

    sealed = configured(config, RANDOMNESS).seal(b"secret", HERE)

    assert configured(config, RANDOMNESS).open(sealed, HERE) == b"secret"
    assert (tmp_path / "data" / "master-keys").stat().st_mode & 0o777 == 0o600
    assert [file.name for file in (tmp_path / "data").iterdir()] == ["master-keys"]


def test_processes_that_start_at_once_agree_on_the_key(tmp_path: Path) -> None:
    config = EncryptionConfig(key_file=tmp_path / "master-keys")

    with ThreadPoolExecutor(8) as threads:
        rings = list(threads.map(lambda _: configured(config, RANDOMNESS), range(16)))

    sealed = rings[0].seal(b"secret", HERE)
    assert {ring.open(sealed, HERE) for ring in rings} == {b"secret"}


@pytest.mark.parametrize("content", ["", "\n", "not keys", "\0\xff", "k/x"])
def test_a_file_of_another_kind_is_named_and_not_shown(tmp_path: Path, content: str) -> None:
    file = tmp_path / "master-keys"
    file.write_text(content)

    with pytest.raises(BadMasterKeys, match="master-keys: expected lines of"):
        configured(EncryptionConfig(key_file=file), RANDOMNESS)

    assert content == file.read_text()


def test_without_a_place_for_them_they_live_as_long_as_the_process() -> None:
    sealed = configured(EncryptionConfig(), RANDOMNESS).seal(b"secret", HERE)

    with pytest.raises(LostMasterKey):
        configured(EncryptionConfig(), RANDOMNESS).open(sealed, HERE)


@pytest.fixture
def store() -> RecordStore:
    return MemoryRecordStore(SystemClock())


def root_secrets(store: RecordStore, *texts: str) -> RootSecrets:
    return RootSecrets(store, master_keys(*texts), RANDOMNESS)


async def test_a_purpose_has_the_same_key_in_every_process_and_after_the_master_key_was_replaced(
    store: RecordStore,
) -> None:
    first, second = await asyncio.gather(*(root_secrets(store, OLD).open() for _ in range(2)))
    await root_secrets(store, OLD, NEW).reseal()
    later = await root_secrets(store, NEW).open()

    assert len(first.derived("cookies")) == 32
    assert {first.derived("cookies")} == {other.derived("cookies") for other in (second, later)}
    assert first.derived("cookies") != first.derived("secrets")


async def test_a_start_without_the_master_key_is_refused_and_changes_nothing(store: RecordStore) -> None:
    await root_secrets(store, OLD).open()
    before = await store.of(ROOT_SECRETS).page(TenantId(""))

    with pytest.raises(LostMasterKey, match="restore it"):
        await root_secrets(store, NEW).open()

    assert before == await store.of(ROOT_SECRETS).page(TenantId(""))
