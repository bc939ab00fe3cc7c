import pytest

from identity.authentication.one_time_codes.factors import CODE_FACTORS
from identity.authentication.one_time_codes.secrets import GeneratorSecrets
from identity.crypto.keys.master_keys import LostMasterKey, MasterKeys, new_master_key
from identity.foundation.randomness import SystemRandomness
from server.platform.clock import VirtualClock
from server.platform.records.memory import MemoryRecordStore
from tests.identity.authentication.one_time_codes.world import ALICE, Process
from tests.identity.browsers import NOON

RANDOMNESS = SystemRandomness()
OLD, NEW = new_master_key(RANDOMNESS), new_master_key(RANDOMNESS)


def master_keys(*texts: str) -> MasterKeys:
    return MasterKeys.read(texts, "", randomness=RANDOMNESS)


@pytest.fixture
async def process() -> Process:
    clock = VirtualClock(pinned=NOON)
    process = Process(MemoryRecordStore(clock), clock, master_keys(OLD))
    await process.admit_alice()
    return process


async def test_a_secret_is_encrypted_and_readable_again(process: Process) -> None:
    secret = await process.add()

    kept = await process.kept()

    [generator] = kept.generators
    assert process.secrets.open(kept, generator) == secret
    assert secret.encode() not in generator.secret.content
    assert secret not in repr(kept)


async def test_a_secret_is_none_of_another_person(process: Process) -> None:
    await process.add()
    kept = await process.kept()
    stranger = type(kept)(tenant_id=kept.tenant_id, id="bob", generators=kept.generators)

    with pytest.raises(LostMasterKey):
        process.secrets.open(stranger, stranger.generators[0])


async def test_a_new_master_key_replaces_the_one_before(process: Process) -> None:
    secret = await process.add()
    waiting = await process.enrolment.begin(process.alice, "tablet", modification_token="")

    await GeneratorSecrets(process.store, master_keys(OLD, NEW)).reseal(process.tenant.tenant_id)

    after = Process(process.store, process.clock, master_keys(NEW))
    kept = await after.kept()
    assert kept.sealed_under == (NEW.partition("/")[0],)
    assert after.secrets.open(kept, kept.generators[0]) == secret
    await after.enrolment.confirm(after.alice, waiting.id, code=after.code(waiting.secret))


async def test_what_is_under_the_active_key_already_stays_as_it_is(process: Process) -> None:
    await process.add()
    before = await process.kept()

    await GeneratorSecrets(process.store, master_keys(NEW, OLD)).reseal(process.tenant.tenant_id)

    assert await process.kept() == before


async def test_a_person_without_generators_is_left_alone(process: Process) -> None:
    await process.add()
    [generator] = (await process.kept()).generators
    await process.administration.remove(
        process.tenant, ALICE, generator.id, modification_token="proof", actor=process.alice.actor
    )

    await GeneratorSecrets(process.store, master_keys(OLD, NEW)).reseal(process.tenant.tenant_id)

    [kept] = await process.store.of(CODE_FACTORS).page(process.tenant.tenant_id)
    assert (kept.generators, kept.sealed_under) == ((), ())
