"""Commands whose commit takes so long that their callers are refused meanwhile."""

import pytest

from server.engine.answers import CreatedInstance
from server.partition.config import PartitionConfig
from server.partition.idempotency import IdempotencyKey
from server.partition.origin import Origin
from server.platform.errors import Unavailable
from tests.server.partition.harness import Harness, Serving, creation
from tests.waits import ticks, until

SOON = PartitionConfig(commit_seconds=0.2)
KEYED = Origin(
    tenant_id="default",
    actor_id="client",
    request_id="r",
    idempotency=IdempotencyKey("default", "key", b"hash"),
)


async def one_committing_and_one_behind(harness: Harness) -> None:
    """The second has a key; both callers have been told to come back."""
    harness.store.hold()
    first = harness.spawn(harness.submit(creation()))
    await until(lambda: harness.store.committing)
    second = harness.spawn(harness.partition.submit(creation(), KEYED))
    await until(lambda: len(harness.state.instances) == 2)
    for refused in (first, second):
        with pytest.raises(Unavailable):
            await refused


async def test_a_repeat_of_what_is_still_to_be_committed_gets_its_answer(serving: Serving) -> None:
    async with serving(SOON) as harness:
        await one_committing_and_one_behind(harness)
        harness.store.release()
        await until(lambda: harness.partition.is_open)

        repeat = harness.spawn(harness.partition.submit(creation(), KEYED))
        await ticks(20)
        harness.store.release(2)

        answer = await repeat
        assert isinstance(answer, CreatedInstance)
        assert answer.head.key in harness.state.instances
        assert len(harness.state.instances) == 2


async def test_nobody_is_served_while_a_commit_is_late(serving: Serving) -> None:
    async with serving(SOON) as harness:
        await one_committing_and_one_behind(harness)

        with pytest.raises(Unavailable):
            await harness.submit(creation())


async def test_a_command_that_waits_behind_a_late_commit_was_not_carried_out(serving: Serving) -> None:
    async with serving(PartitionConfig(commit_seconds=0.2, max_batch=1)) as harness:
        harness.store.hold()
        processed = [harness.spawn(harness.submit(creation()))]
        await until(lambda: harness.store.committing)
        processed.append(harness.spawn(harness.submit(creation())))
        await until(lambda: len(harness.state.instances) == 2)
        waiting = harness.spawn(harness.submit(creation()))

        with pytest.raises(Unavailable) as refused:
            await waiting

        assert refused.value.is_untouched
        for answer in processed:
            with pytest.raises(Unavailable, match="its outcome is unknown") as unknown:
                await answer
            assert not unknown.value.is_untouched
