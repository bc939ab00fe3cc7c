"""Entries that wait to be taken to the audit log."""

import asyncio

import pytest

from server.engine.keys import Key
from server.engine.octets import octets_of
from server.partition.audit_trail import WaitingEntries
from server.store.entities import AuditEntry, AuditResult
from tests.durable import EPOCH
from tests.waits import ticks


def entry(key: int) -> AuditEntry:
    return AuditEntry(
        tenant_id="default",
        timestamp=EPOCH,
        operation_type="FAIL",
        result=AuditResult.FAIL,
        actor_type="CLIENT",
        actor_id="worker",
        entity_type="JOB",
        entity_key=Key(key),
    )


async def test_entries_are_given_out_oldest_first_until_they_are_removed() -> None:
    waiting = WaitingEntries(10)
    for key in (1, 2, 3):
        waiting.note(entry(key))

    first, again = await waiting.first(2), await waiting.first(2)
    waiting.remove(2)

    assert [entry(1), entry(2)] == list(first) == list(again)
    assert [entry(3)] == list(await waiting.first(2))


async def test_whoever_takes_them_waits_for_the_first() -> None:
    waiting = WaitingEntries(10)
    for key in (1, 2):
        taking = asyncio.ensure_future(waiting.first(5))
        await ticks(3)
        early = taking.done()

        waiting.note(entry(key))

        assert not early
        assert [entry(key)] == list(await taking)
        waiting.remove(1)


async def test_what_comes_meanwhile_stays_behind() -> None:
    waiting = WaitingEntries(10)
    waiting.note(entry(1))
    taken = await waiting.first(5)
    waiting.note(entry(2))

    waiting.remove(len(taken))

    assert [entry(2)] == list(await waiting.first(5))


async def test_what_finds_no_room_is_lost_and_counted(caplog: pytest.LogCaptureFixture) -> None:
    waiting = WaitingEntries(2)
    for key in (1, 2, 3, 4):
        waiting.note(entry(key))

    waiting.remove(1)
    waiting.note(entry(5))
    waiting.remove(1)

    assert [entry(5)] == list(await waiting.first(5))
    (record,) = caplog.records
    assert (record.message, vars(record)["entries"]) == ("audit entries were lost: too many were waiting", 2)


async def test_entries_are_bounded_by_their_octets() -> None:
    most = 2 * octets_of(entry(1))
    waiting = WaitingEntries(10, most)
    for key in (1, 2, 3):
        waiting.note(entry(key))

    one, all_left = await waiting.first(5, most - 1), await waiting.first(5)
    waiting.remove(1)
    waiting.note(entry(4))

    assert [[entry(1)], [entry(1), entry(2)]] == [list(one), list(all_left)]
    assert [entry(2), entry(4)] == list(await waiting.first(5))
