"""A process that calls itself without end, in a partition that runs: its cancellation ends it, and others go on."""

from server.bpmn.builder import ProcessBuilder, process
from server.engine.process_instance_commands import CancelProcessInstance
from server.partition.config import PartitionConfig, QuotaConfig
from server.partition.quota import Quota
from tests.server.partition.harness import Harness, Serving, activation, creation
from tests.waits import until

# So many are loaded; the others are rows.
FEW = PartitionConfig(max_loaded_instances=20)


def doubling() -> ProcessBuilder:
    """Calls itself twice, through an expression, so that no check of the model can see it."""
    builder = process("P").start().parallel_gateway("fork")
    builder.call_activity("left", process='="P"').end()
    return builder.branch("fork").call_activity("right", process='="P"').end()


def active(harness: Harness) -> int:
    return len(harness.state.instances) + len(harness.state.evicted)


async def grown(harness: Harness) -> CancelProcessInstance:
    """Start the process, and return the command that cancels it when it has a thousand instances."""
    await harness.deploy(doubling())
    root = await harness.submit(creation(process_id="P"))
    await until(lambda: active(harness) > 1_000)
    return CancelProcessInstance("default", root.head.key)


async def test_the_cancellation_ends_all_of_it(serving: Serving) -> None:
    async with serving(FEW) as harness:
        cancellation = await grown(harness)

        await harness.submit(cancellation)
        before = len(harness.store.batches)
        await until(lambda: active(harness) == 0)
        await harness.partition.settle()

        grew = [batch.active_instances.get("default", 0) for batch in harness.store.batches[before:]]
        assert max(grew) <= 0
        assert harness.store.active["default"] == 0


async def test_another_process_starts_while_it_grows_and_while_it_ends(serving: Serving) -> None:
    async with serving() as harness:
        cancellation = await grown(harness)

        await harness.start()
        while_it_grows = active(harness)
        await harness.submit(cancellation)
        await harness.start()
        while_it_ends = active(harness)
        await until(lambda: active(harness) == 2)

        assert while_it_grows > 1_000
        assert while_it_ends > 2
        assert len((await harness.submit(activation(2))).jobs) == 2


async def test_it_stops_at_the_bound_of_its_root(serving: Serving) -> None:
    quota = Quota(QuotaConfig(max_called_instances=100))
    async with serving(quota=quota) as harness:
        await harness.deploy(doubling())

        await harness.submit(creation(process_id="P"))
        await harness.partition.settle()

        assert active(harness) == 101
        assert any(each.incidents for each in harness.state.instances.values())
