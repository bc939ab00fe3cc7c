import asyncio
from dataclasses import replace
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from server.engine import job_commands
from server.engine.answers import ActivatedJobs
from server.engine.keys import Key
from server.partition.config import PartitionConfig
from server.partition.idempotency import IdempotencyKey
from server.partition.origin import Origin
from server.partition.turn import MOST_ROWS
from server.platform.errors import Internal, InvalidState, NotFound, ResourceExhausted
from server.store.entities import AuditEntry, AuditResult, ProcessInstance
from server.store.ports import Batch, Insert
from tests.durable import EPOCH
from tests.server.partition.harness import Harness, Serving, activation, completion, creation
from tests.waits import ticks, until


async def test_an_answer_leaves_after_its_commit(serving: Serving) -> None:
    async with serving() as harness:
        harness.store.hold()
        answer = harness.spawn(harness.start())
        await until(lambda: harness.store.committing)
        await ticks(20)
        early = answer.done()

        harness.store.release()

        key = await answer
        assert not early
        assert await harness.store.get(ProcessInstance, key, tenant_id="default")


def refused() -> AuditEntry:
    """An entry of the audit log that comes without a command."""
    return AuditEntry(
        tenant_id="default",
        timestamp=EPOCH,
        operation_type="FAIL",
        result=AuditResult.FAIL,
        actor_type="CLIENT",
        actor_id="worker",
        entity_type="JOB",
    )


def _started(batch: Batch) -> list[Key]:
    rows = [change.row for change in batch.changes if isinstance(change, Insert)]
    return [row.process_instance_key for row in rows if isinstance(row, ProcessInstance)]


async def test_commands_that_wait_together_are_committed_together(serving: Serving) -> None:
    async with serving() as harness:
        keys = await asyncio.gather(*(harness.start() for _ in range(10)))

        assert [_started(batch) for batch in harness.store.batches] == [keys]


async def test_a_batch_is_bounded(serving: Serving) -> None:
    async with serving(PartitionConfig(max_batch=4)) as harness:
        await asyncio.gather(*(harness.start() for _ in range(10)))

        sizes = [len(_started(batch)) for batch in harness.store.batches]
        assert sizes == [4, 4, 2]


async def test_entries_of_the_audit_log_count_like_commands(serving: Serving) -> None:
    async with serving(PartitionConfig(max_batch=100)) as harness:
        await asyncio.gather(*(harness.partition.note([refused()] * 60) for _ in range(5)))

        assert [len(batch.audit) for batch in harness.store.batches] == [120, 120, 60]


async def test_more_entries_of_the_audit_log_than_a_batch_has_room_for_are_committed(
    serving: Serving,
) -> None:
    async with serving() as harness:
        await asyncio.gather(*(harness.partition.note([refused()] * 1_000) for _ in range(5)))
        await harness.partition.note([refused()] * 5_000)

        assert sum(len(batch.audit) for batch in harness.store.batches) == 10_000


async def test_a_batch_is_bounded_by_its_rows(serving: Serving) -> None:
    variables = {f"v{number}": "1" for number in range(450)}
    async with serving() as harness:
        keys = await asyncio.gather(*(harness.start(**variables) for _ in range(12)))

        assert [_started(batch) for batch in harness.store.batches] == [keys[:5], keys[5:10], keys[10:]]
        assert max(len(batch.changes) for batch in harness.store.batches) < MOST_ROWS + 500


async def test_the_next_batch_is_processed_while_one_is_committed(serving: Serving) -> None:
    async with serving() as harness:
        harness.store.hold()
        first = harness.spawn(harness.start())
        await until(lambda: harness.store.committing)

        second = harness.spawn(harness.start())
        await until(lambda: len(harness.state.instances) == 2)

        assert not first.done()
        harness.store.release()
        await first
        await until(lambda: harness.store.committing)
        assert not second.done()
        harness.store.release()
        assert await second in harness.state.instances


def _are_active(harness: Harness, count: int) -> bool:
    return len(harness.state.instances) == count


async def test_what_comes_while_a_batch_is_committed_is_committed_together(serving: Serving) -> None:
    async with serving() as harness:
        harness.store.hold()
        answers = []
        for number in range(1, 4):
            answers.append(harness.spawn(harness.start()))
            await until(partial(_are_active, harness, number))
            await until(lambda: harness.store.committing)

        harness.store.release(2)

        keys = [await answer for answer in answers]
        assert [_started(batch) for batch in harness.store.batches] == [keys[:1], keys[1:]]


async def test_what_has_no_room_in_the_next_batch_waits(serving: Serving) -> None:
    async with serving(PartitionConfig(max_batch=1)) as harness:
        harness.store.hold()
        for number in range(1, 4):
            harness.spawn(harness.start())
            await until(lambda: harness.store.committing)
            if number < 3:
                await until(partial(_are_active, harness, number))

        await ticks(20)

        assert len(harness.state.instances) == 2


async def test_the_next_commit_begins_before_the_callers_of_the_last_are_answered(serving: Serving) -> None:
    async with serving() as harness:
        harness.store.hold()
        first = harness.spawn(harness.start())
        await until(lambda: harness.store.committing)
        harness.spawn(harness.start())
        await until(partial(_are_active, harness, 2))
        committing = []
        first.add_done_callback(lambda _: committing.append(harness.store.committing))

        harness.store.release()
        await first
        await until(lambda: bool(committing))

        assert committing == [1]


async def test_what_changes_nothing_is_not_committed(serving: Serving) -> None:
    async with serving() as harness:
        answer = await harness.submit(activation())

        assert answer.jobs == ()
        assert harness.store.batches == []


async def test_refusals_become_errors_of_the_caller_and_leave_the_rest_alone(serving: Serving) -> None:
    async with serving() as harness:
        harness.spawn(harness.start())
        unknown = harness.spawn(harness.submit(job_commands.CompleteJob("default", Key(42))))
        harness.spawn(harness.start())

        with pytest.raises(NotFound, match="no job with key 42"):
            await unknown

        assert len(harness.state.instances) == 2


async def test_a_wrong_state_is_an_error_of_the_caller(serving: Serving) -> None:
    async with serving() as harness:
        (job,) = harness.state.instances[await harness.start()].jobs

        with pytest.raises(InvalidState):
            await harness.submit(job_commands.FailJob(tenant_id="default", job_key=job))


async def test_a_fault_is_one_callers_alone_and_says_nothing(serving: Serving) -> None:
    async with serving() as harness:
        first = await harness.start()
        (job,) = harness.state.instances[first].jobs
        command = job_commands.CompleteJob("default", job, None)  # type: ignore[arg-type]  # a fault of ours
        broken = harness.spawn(harness.submit(command))
        second = harness.spawn(harness.start())

        with pytest.raises(Internal, match="an internal error occurred"):
            await broken

        assert (await second) in harness.state.instances
        assert list(harness.state.instances[first].jobs) == [job]


async def test_a_queue_is_bounded(serving: Serving) -> None:
    async with serving(PartitionConfig(max_queued=3)) as harness:
        answers = [harness.spawn(harness.start()) for _ in range(5)]
        results = await asyncio.gather(*answers, return_exceptions=True)

        refused = [result for result in results if isinstance(result, ResourceExhausted)]
        assert [error.detail for error in refused] == ["3 commands wait already"] * 2
        assert len(harness.state.instances) == 3


async def test_a_tenant_does_not_fill_the_queue_for_others(serving: Serving) -> None:
    async with serving(PartitionConfig(max_queued=6, max_tenant_queued=3)) as harness:
        busy = [harness.spawn(harness.submit(activation())) for _ in range(5)]
        other = replace(activation(), tenant_id="other")

        assert await harness.submit(other) == ActivatedJobs(())
        results = await asyncio.gather(*busy, return_exceptions=True)

    refused = [result for result in results if isinstance(result, ResourceExhausted)]
    assert [error.detail for error in refused] == ["3 commands of the tenant wait already"] * 2


async def test_activations_of_a_tenant_delay_those_of_another_by_one(serving: Serving) -> None:
    async with serving(PartitionConfig(max_batch=1)) as harness:
        answered: list[str] = []

        async def activate(tenant_id: str) -> None:
            await harness.submit(replace(activation(), tenant_id=tenant_id))
            answered.append(tenant_id)

        await asyncio.gather(*(activate("busy") for _ in range(50)), activate("other"))

    assert answered.index("other") <= 2


async def test_a_command_whose_caller_left_before_its_turn_is_not_handled(serving: Serving) -> None:
    async with serving(PartitionConfig(max_batch=1)) as harness:
        harness.store.hold()
        held = [harness.spawn(harness.start()) for _ in range(1)]
        await until(lambda: harness.store.committing)
        held.append(harness.spawn(harness.start()))
        await until(lambda: len(harness.state.instances) == 2)
        gone, stays = harness.spawn(harness.start()), harness.spawn(harness.start())
        await ticks(5)

        gone.cancel()
        harness.store.release(10)

        await asyncio.gather(*held, stays)
        assert len(harness.state.instances) == 3


async def test_a_command_whose_caller_left_too_late_happens_all_the_same(serving: Serving) -> None:
    async with serving() as harness:
        harness.store.hold()
        gone = harness.spawn(harness.start())
        await until(lambda: harness.store.committing)

        gone.cancel()
        harness.store.release(10)

        key = await harness.start()
        assert len(harness.state.instances) == 2
        assert await harness.store.get(ProcessInstance, key, tenant_id="default")


def test_commits_follow_each_other_in_the_order_of_the_commands(serving: Serving) -> None:
    """The store refuses to commit twice at once."""

    async def story(pauses: list[int], max_batch: int) -> list[Key]:
        async with serving(PartitionConfig(max_batch=max_batch)) as harness:
            harness.store.hold()
            answers = []
            for pause in pauses:
                answers.append(harness.spawn(harness.start()))
                await ticks(pause)
                harness.store.release(pause % 2)
            harness.store.release(1_000)
            keys = [await answer for answer in answers]
            ends = [harness.spawn(harness.submit(completion(harness.state.instances[key]))) for key in keys]
            await asyncio.gather(*ends)
            rows = [await harness.store.get(ProcessInstance, key, tenant_id="default") for key in keys]
            assert {row.state.value for row in rows if row} == {"COMPLETED"}
            return keys

    @settings(max_examples=serving.examples // 3)
    @given(st.lists(st.integers(0, 6), min_size=1, max_size=40), st.integers(1, 5))
    def commits(pauses: list[int], max_batch: int) -> None:
        keys = asyncio.run(story(pauses, max_batch))

        assert keys == sorted(keys)

    commits()


async def test_only_the_latest_answers_are_kept_in_memory(in_memory: Serving) -> None:
    async with in_memory(PartitionConfig(max_kept_answers=2)) as harness:
        keys = [
            Origin("default", "worker", "r-1", IdempotencyKey("default", name, b""))
            for name in ("a", "b", "c")
        ]
        first = [await harness.partition.submit(creation(), key) for key in keys]

        again = [await harness.partition.submit(creation(), key) for key in reversed(keys)]

    assert first[1:] == again[1::-1]
    assert again[2] not in first
