import pytest

from identity.keys.master_keys import MasterKeys, new_master_key
from identity.randomness import SystemRandomness
from server.platform.clock import VirtualClock
from server.platform.records.memory import MemoryRecordStore
from tests.identity.browsing import NOON
from tests.identity.one_time_codes.world import Process


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
