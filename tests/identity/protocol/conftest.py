import pytest

from identity.crypto.jose.algorithms import ALGORITHMS
from identity.crypto.jose.key_set import KeySet
from identity.crypto.jose.signing_key import SigningKey
from server.platform.clock import VirtualClock
from server.platform.records import RecordStore
from server.platform.records.memory import MemoryRecordStore
from tests.identity.protocol.provider import NOON, FixedKeys, Provider


@pytest.fixture(scope="session")
def keys() -> FixedKeys:
    kinds = [kind for kind in ALGORITHMS if kind.is_quick]
    return FixedKeys(
        KeySet(tuple(SigningKey.of(kind.algorithm, kind.algorithm, kind.generate()) for kind in kinds))
    )


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock(pinned=NOON)


@pytest.fixture
def records(clock: VirtualClock) -> RecordStore:
    return MemoryRecordStore(clock)


@pytest.fixture
async def provider(records: RecordStore, clock: VirtualClock, keys: FixedKeys) -> Provider:
    provider = Provider(records, clock, keys)
    await provider.populate()
    return provider
