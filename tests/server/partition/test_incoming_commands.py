"""IncomingCommands commands are carried out once, whether their caller waits or gives up."""

import asyncio
import logging
from dataclasses import replace

import msgspec
import pytest

from server.bpmn.builder import process
from server.engine import State, deployment_commands, job_commands
from server.engine import process as handle
from server.engine.answers import CreatedInstance
from server.engine.commands import Command
from server.engine.deployment_commands import AdoptDefinition
from server.engine.events import ProcessDefinitionDeployed
from server.engine.formats import WIRE_FORMAT
from server.partition.idempotency import IdempotencyKey
from server.partition.incoming_commands import MOST_INCOMING, IncomingCommands
from server.partition.origin import Origin
from server.partition.wire import COMMANDS
from server.platform.errors import Unavailable
from server.store.memory import MemoryStore
from server.store.ports import IncomingCommand, PartitionId
from tests.durable import EPOCH
from tests.server.engine.scenario import resource
from tests.server.partition.harness import Harness, HeldStore, Serving, creation
from tests.waits import PATIENCE_SECONDS, ticks, until

SECOND, THIRD = PartitionId(2), PartitionId(3)
KEYED = Origin("default", "worker", "r-1", IdempotencyKey("default", "k", b"hash"))


def adoption(process_id: str) -> Command:
    """Of a definition that the second partition has deployed."""
    deployment = deployment_commands.DeployResources("default", (resource(process(process_id).end()),))
    outcome = handle(State(SECOND), deployment, EPOCH)
    (deployed,) = [event for event in outcome.events if isinstance(event, ProcessDefinitionDeployed)]
    return AdoptDefinition(deployed)


def sent(number: int, command: Command, source: PartitionId = SECOND) -> IncomingCommand:
    return IncomingCommand(source, number, COMMANDS.pack(command))


def unknown(number: int, source: PartitionId = SECOND) -> IncomingCommand:
    """A command of a later version."""
    return IncomingCommand(source, number, msgspec.msgpack.encode(("Teleport", {})))


async def knows(harness: Harness, process_id: str) -> bool:
    return isinstance(await harness.submit(creation(process_id=process_id)), CreatedInstance)


@pytest.fixture
def store() -> HeldStore:
    return HeldStore(MemoryStore(10))


async def test_a_command_is_carried_out_although_its_waiter_gave_up(serving: Serving) -> None:
    async with serving() as harness:
        harness.store.hold_reads()
        busy = harness.spawn(harness.partition.submit(creation(), KEYED))
        await until(lambda: harness.store.reading)
        harness.store.outbox.append(sent(1, adoption("sent")))
        waiting = harness.spawn(harness.partition.catch_up())
        await ticks(10)

        waiting.cancel()
        await asyncio.wait({waiting})
        harness.store.let_read()
        await busy

        assert await knows(harness, "sent")
        assert harness.store.outbox == []


async def test_a_later_caller_waits_for_what_was_read_before(serving: Serving) -> None:
    async with serving() as harness:
        harness.store.hold()
        harness.store.outbox.append(sent(1, adoption("sent")))
        first = harness.spawn(harness.partition.catch_up())
        await until(lambda: harness.store.committing)
        first.cancel()
        await asyncio.wait({first})

        second = harness.spawn(harness.partition.catch_up())
        await ticks(10)
        early = second.done()
        harness.store.release()

        await second
        assert not early
        assert harness.store.outbox == []


async def test_a_waiter_is_told_when_the_partition_ends(serving: Serving) -> None:
    async with serving() as harness:
        harness.store.hold()
        harness.store.outbox.append(sent(1, adoption("sent")))
        waiting = harness.spawn(harness.partition.catch_up())
        await until(lambda: harness.store.committing)

        assert harness.running is not None
        harness.running.cancel()

        async with asyncio.timeout(PATIENCE_SECONDS):
            with pytest.raises(Unavailable):
                await waiting


async def test_a_command_of_a_later_version_stays_with_all_that_its_source_sent_after_it(
    serving: Serving, caplog: pytest.LogCaptureFixture
) -> None:
    async with serving() as harness:
        later, after = unknown(1), sent(2, adoption("after"))
        harness.store.outbox += [later, after, sent(1, adoption("sent"), THIRD)]

        await harness.partition.catch_up()
        harness.store.outbox.append(sent(2, adoption("more"), THIRD))
        await harness.partition.catch_up()

        assert await knows(harness, "sent")
        assert harness.store.outbox == [later, after]
        assert harness.partition.unreadable_sources == 1
        assert harness.running is not None
        assert not harness.running.done()
    faults = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert [(record.__dict__["source"], record.__dict__["number"]) for record in faults] == [(2, 1)]


async def test_a_command_in_a_later_format_stays_although_its_name_is_known(
    serving: Serving, caplog: pytest.LogCaptureFixture
) -> None:
    async with serving() as harness:
        later = replace(sent(1, adoption("sent")), format=WIRE_FORMAT + 1)
        harness.store.outbox.append(later)

        await harness.partition.catch_up()

        assert harness.store.outbox == [later]
    faults = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert [record.__dict__["format"] for record in faults] == [WIRE_FORMAT + 1]


async def test_a_command_that_is_refused_is_logged_and_not_sent_again(
    serving: Serving, caplog: pytest.LogCaptureFixture
) -> None:
    async with serving() as harness:
        harness.store.outbox.append(sent(1, job_commands.CompleteJob("default", 4_711)))

        await harness.partition.catch_up()

        assert harness.store.outbox == []
    refusals = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert [record.__dict__["number"] for record in refusals] == [1]


async def test_a_position_is_committed_with_all_before_it(store: HeldStore) -> None:
    incoming = IncomingCommands(store)
    store.outbox = [
        sent(1, adoption("a")),
        sent(4, adoption("b")),
        sent(2, adoption("c"), THIRD),
    ]
    first, second, other = await incoming.read()
    waiting = {
        (source, number): asyncio.ensure_future(incoming.committed(source, number))
        for source, number in ((SECOND, 1), (SECOND, 3), (SECOND, 4), (THIRD, 1), (THIRD, 2))
    }
    await ticks(3)

    def done() -> set[tuple[int, int]]:
        return {position for position, task in waiting.items() if task.done()}

    assert done() == {(3, 1)}
    for entry, more in ((second, set()), (first, {(2, 1), (2, 3), (2, 4)}), (other, {(3, 2)})):
        before = done()
        assert entry.incoming is not None
        incoming.settle(entry.incoming)
        await ticks(3)
        assert done() == before | more


async def test_however_many_commands_wait_for_a_later_version_those_of_others_are_read(
    store: HeldStore,
) -> None:
    incoming = IncomingCommands(store)
    waiting = [unknown(1), *(sent(number, adoption("a")) for number in range(2, MOST_INCOMING + 2))]
    store.outbox = [*waiting, sent(1, adoption("b"), THIRD)]

    assert [entry.incoming for entry in await incoming.read()] == store.outbox[-1:]
    assert await incoming.read() == []


async def test_a_command_is_read_once(store: HeldStore) -> None:
    incoming = IncomingCommands(store)
    store.outbox = [sent(1, adoption("a"))]

    assert len(await incoming.read()) == 1
    assert await incoming.read() == []
    store.outbox.append(sent(2, adoption("b")))
    assert [entry.incoming for entry in await incoming.read()] == store.outbox[1:]
