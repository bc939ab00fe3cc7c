import pytest

from identity.crypto.keys.master_keys import MasterKeys, new_master_key
from identity.foundation.randomness import SystemRandomness
from server.platform.clock import VirtualClock
from server.platform.records.memory import MemoryRecordStore
from tests.identity.authentication.one_time_codes.world import Process
from tests.identity.browsers import NOON


@pytest.fixture
def masters() -> MasterKeys:
    randomness = SystemRandomness()
    return MasterKeys.read([new_master_key(randomness)], "", randomness=randomness)


@pytest.fixture
async def process(masters: MasterKeys) -> Process:
    """A process with an account of Alice."""
    clock = VirtualClock(pinned=NOON)
    process = Process(MemoryRecordStore(clock), clock, masters)
    await process.admit_alice()
    return process
