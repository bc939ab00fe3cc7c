"""Octets are counted like rows: in the queue, the turn, the activation, the outbox, the audit log and stored answers."""

import asyncio

import pytest

from server.engine.answers import CreatedInstance
from server.engine.decision_commands import EvaluateDecision
from server.engine.keys import Key
from server.engine.message_commands import PublishMessage
from server.engine.octets import MOST_CHANGED_OCTETS, octets_of
from server.partition.config import PartitionConfig
from server.partition.idempotency import IdempotencyKey
from server.partition.octets import MOST_OCTETS
from server.partition.origin import Origin
from server.platform.errors import ResourceExhausted, Unavailable
from server.store.entities import ProcessInstance
from server.store.ports import Batch, BatchRefused, Insert
from tests.server.partition.harness import Serving, activation, creation
from tests.waits import until

_MIB = 1024 * 1024


def text(octets: int) -> str:
    """A variable of this size."""
    return f'"{"x" * (octets - 2)}"'


def started(batch: Batch) -> list[Key]:
    rows = [change.row for change in batch.changes if isinstance(change, Insert)]
    return [row.process_instance_key for row in rows if isinstance(row, ProcessInstance)]


def keyed(number: int) -> Origin:
    return Origin("default", "client", "r", IdempotencyKey("default", f"key-{number}", b"hash"))


async def test_a_batch_is_bounded_by_its_octets(serving: Serving) -> None:
    """Each command writes its variable to a row and a document."""
    fourth = text(MOST_OCTETS // 8 - 2048)
    async with serving() as harness:
        keys = await asyncio.gather(*(harness.start(v=fourth) for _ in range(9)))

        assert [started(batch) for batch in harness.store.batches] == [keys[:4], keys[4:8], keys[8:]]


async def test_a_command_larger_than_the_bound_goes_alone(serving: Serving) -> None:
    async with serving() as harness:
        keys = await asyncio.gather(
            harness.start(), harness.start(v=text(MOST_OCTETS)), harness.start(), harness.start()
        )

        committed = [started(batch) for batch in harness.store.batches]
        assert [keys[1]] in committed
        assert sorted(key for batch in committed for key in batch) == sorted(keys)


async def test_an_activation_changes_no_more_than_one_commit_should_write(serving: Serving) -> None:
    """Even when its answer is small."""
    async with serving() as harness:
        for _ in range(5):
            await harness.start(v=text(MOST_CHANGED_OCTETS // 2 - 1024), small="1")

        found = [(await harness.submit(activation(64))).jobs for _ in range(3)]

        assert [len(jobs) for jobs in found] == [1, 1, 1]


async def test_jobs_of_small_process_instances_are_activated_together(serving: Serving) -> None:
    async with serving() as harness:
        for _ in range(40):
            await harness.start(v=text(1024))

        answer = await harness.submit(activation(64))

        assert len(answer.jobs) == 40


async def test_the_octets_that_wait_are_bounded(serving: Serving) -> None:
    config = PartitionConfig(max_batch=1, max_queued_bytes=3 * _MIB, max_tenant_queued_bytes=2 * _MIB)
    async with serving(config) as harness:
        harness.store.hold()
        first = harness.spawn(harness.start())
        await until(lambda: harness.store.committing)
        second = harness.spawn(harness.start())
        await until(lambda: len(harness.state.instances) == 2)
        waiting = [harness.spawn(harness.start(v=text(_MIB - 1024))) for _ in range(2)]
        await until(lambda: sum(harness.partition.queued.values()) == 2)

        with pytest.raises(ResourceExhausted, match="commands of the tenant with"):
            await harness.start(v=text(_MIB))
        small = harness.spawn(harness.start())

        harness.store.release(10)
        await asyncio.gather(first, second, *waiting, small)


async def test_kept_answers_are_bounded_by_their_octets(in_memory: Serving) -> None:
    async with in_memory() as harness:
        first = await harness.partition.submit(creation(), keyed(0))
    assert isinstance(first, CreatedInstance)
    most = 3 * octets_of(first)
    async with in_memory(PartitionConfig(max_kept_answer_bytes=most)) as harness:
        keys = []
        for number in range(6):
            answer = await harness.partition.submit(creation(), keyed(number))
            assert isinstance(answer, CreatedInstance)
            keys.append(answer.head.key)

        repeats = [await harness.partition.submit(creation(), keyed(number)) for number in (5, 0)]

        known = [isinstance(answer, CreatedInstance) and answer.head.key in keys for answer in repeats]
        assert known == [True, False]


async def refusal_of(answer: "asyncio.Task[object]") -> Unavailable:
    async with asyncio.timeout(5):
        with pytest.raises(Unavailable) as refused:
            await answer
    return refused.value


async def test_the_callers_of_a_refused_commit_learn_that_nothing_was_carried_out(serving: Serving) -> None:
    """That holds for the turn that was refused, for the one that grew meanwhile, and for what waited."""
    async with serving(PartitionConfig(max_batch=1)) as harness:
        harness.store.hold()
        answers: list[asyncio.Task[object]] = [harness.spawn(harness.submit(creation()))]
        await until(lambda: harness.store.committing)
        answers.append(harness.spawn(harness.submit(creation())))
        await until(lambda: len(harness.state.instances) == 2)
        answers.append(harness.spawn(harness.submit(creation())))
        harness.store.failure = BatchRefused("the database gave up the commit after 10 s")

        harness.store.release()

        refusals = [await refusal_of(answer) for answer in answers]
        assert [refusal.is_untouched for refusal in refusals] == [True, True, True]
        assert "was not carried out" in refusals[0].detail


async def test_a_turn_that_was_committed_before_a_refused_one_is_answered(serving: Serving) -> None:
    async with serving(PartitionConfig(max_batch=1)) as harness:
        harness.store.hold()
        first = harness.spawn(harness.start())
        await until(lambda: harness.store.committing)
        second = harness.spawn(harness.submit(creation()))
        await until(lambda: len(harness.state.instances) == 2)

        harness.store.release()
        await until(lambda: bool(harness.store.batches))
        harness.store.failure = BatchRefused("the database gave up the commit after 10 s")
        harness.store.release()

        assert await first
        assert (await refusal_of(second)).is_untouched


async def test_a_careful_partition_commits_its_first_commands_one_by_one(serving: Serving) -> None:
    """The deployment of the harness is the first of them; the next turn grows during the last one."""
    async with serving(careful=4) as harness:
        await asyncio.gather(*(harness.start() for _ in range(8)))

        assert [len(started(batch)) for batch in harness.store.batches] == [1, 1, 1, 1, 4]
        assert not harness.partition.is_careful


def test_texts_and_bytes_of_commands_are_counted_in_octets() -> None:
    published = PublishMessage(
        tenant_id="default", name="name", correlation_key="key", variables={"ä": '"ä"'}
    )
    evaluated = EvaluateDecision(tenant_id="default", decision_definition_id="d")

    assert octets_of(published) == len("default") + len("name") + len("key") + 2 + 4
    assert octets_of(evaluated) == len("default") + len("d")
    assert octets_of([b"12", None, 3, ("4", {"5": "6"})]) == 5
