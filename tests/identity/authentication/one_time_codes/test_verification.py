"""Single use of codes, and bounds on wrong ones."""

from datetime import timedelta

import pytest

from identity.access.login_protection.config import LoginProtectionConfig
from identity.authentication.one_time_codes.typed import CodeKind
from identity.crypto.keys.master_keys import MasterKeys
from identity.directory.user import UserId
from identity.foundation.events.kinds import EventType
from identity.foundation.tenants import Tenants
from server.platform.call import TenantId
from server.platform.clock import VirtualClock
from server.platform.errors import ResourceExhausted, Unauthenticated
from server.platform.records.memory import MemoryRecordStore
from tests.identity.authentication.one_time_codes.world import ALICE, Process
from tests.identity.browsers import ACME, NOON


async def guess(process: Process, secret: str, times: int) -> None:
    """Try wrong codes, each from a fresh network address."""
    for number in range(times):
        with pytest.raises(Unauthenticated):
            await process.verify(process.wrong_code(secret), address=f"198.51.100.{number}")


async def retry_at(process: Process, secret: str) -> int:
    """Return the end of the pause, in seconds after noon."""
    with pytest.raises(ResourceExhausted) as refused:
        await process.verify(process.code(secret))
    return int(refused.value.metadata["retry_at"]) - int(NOON.timestamp())


async def test_of_several_programs_each_is_taken(process: Process) -> None:
    first, second = [await process.add(name) for name in ("phone", "tablet")]

    kinds = [await process.verify(process.code(secret)) for secret in (second, first)]

    assert kinds == [CodeKind.ONE_TIME] * 2
    assert [each.last_used_at for each in (await process.kept()).generators] == [NOON, NOON]


async def test_after_five_wrong_codes_in_a_row_none_is_taken_for_a_minute(process: Process) -> None:
    secret = await process.add()
    await guess(process, secret, 5)

    waits = await retry_at(process, secret)
    process.clock.advance(timedelta(seconds=60))

    assert waits == 60
    assert await process.verify(process.code(secret)) is CodeKind.ONE_TIME
    assert (await process.events()).count(EventType.ONE_TIME_CODES_PAUSED) == 1


async def test_each_pause_is_twice_as_long_up_to_a_day(process: Process) -> None:
    secret, pauses = await process.add(), []
    for _ in range(13):
        since = int((process.clock.now() - NOON).total_seconds())
        await guess(process, secret, 5)
        pauses.append(await retry_at(process, secret) - since)
        process.clock.advance(timedelta(seconds=pauses[-1]))

    assert pauses == [*(60 * 2**number for number in range(11)), 86_400, 86_400]


async def test_during_a_pause_nothing_is_counted(process: Process) -> None:
    secret = await process.add()
    await guess(process, secret, 5)

    for _ in range(10):
        with pytest.raises(ResourceExhausted):
            await process.verify(process.wrong_code(secret))

    assert (await process.kept()).wrong_in_a_row == 5


async def test_a_right_code_makes_up_for_wrong_ones(process: Process) -> None:
    secret = await process.add()
    await guess(process, secret, 4)

    await process.verify(process.code(secret))

    assert (await process.kept()).wrong_in_a_row == 0
    await guess(process, secret, 4)


async def test_a_recovery_code_is_taken_during_a_pause(process: Process) -> None:
    secret = await process.add()
    codes = await process.administration.make_recovery_codes(process.alice, modification_token="")
    await guess(process, secret, 5)

    assert await process.verify(codes[0]) is CodeKind.RECOVERY
    assert await process.verify(process.code(secret)) is CodeKind.ONE_TIME


async def test_recovery_codes_are_kept_as_hashes_that_are_of_their_person_alone(process: Process) -> None:
    await process.add()
    codes = await process.administration.make_recovery_codes(process.alice, modification_token="")

    kept = await process.kept()

    assert len(kept.recovery_hashes) == len(set(codes)) == 10
    assert not any(code.replace("-", "") in f"{kept.recovery_hashes}" for code in codes)
    assert process.recovery.hash(process.tenant, ALICE, codes[0]) in kept.recovery_hashes
    assert process.recovery.hash(process.tenant, UserId("bob"), codes[0]) not in kept.recovery_hashes
    assert kept.recovery_hashes[0] not in repr(kept)


async def test_wrong_codes_hold_the_address_back_like_wrong_passwords(masters: MasterKeys) -> None:
    clock = VirtualClock(pinned=NOON)
    process = Process(MemoryRecordStore(clock), clock, masters, protection=LoginProtectionConfig())
    await process.admit_alice()
    secret = await process.add()

    for _ in range(4):
        with pytest.raises(Unauthenticated):
            await process.verify(process.wrong_code(secret))

    assert process.pauses.seconds == [6, 8]
    assert (await process.events()).count(EventType.INVALID_LOGINS) == 4


async def test_codes_of_one_tenant_are_nothing_to_another(process: Process) -> None:
    secret = await process.add()
    codes = await process.administration.make_recovery_codes(process.alice, modification_token="")
    acme = Tenants("https://id.example.com", TenantId("default"), (ACME,)).find(ACME)

    for code in (process.code(secret), codes[0]):
        with pytest.raises(Unauthenticated):
            await process.verification.verify(acme, ALICE, code, peer_address="192.0.2.9")

    assert await process.verify(codes[0]) is CodeKind.RECOVERY
    assert process.recovery.hash(acme, ALICE, codes[1]) not in (await process.kept()).recovery_hashes


async def test_what_is_no_code_at_all_counts_too(process: Process) -> None:
    await process.add()

    with pytest.raises(Unauthenticated):
        await process.verify("letmein")

    assert (await process.kept()).wrong_in_a_row == 1
