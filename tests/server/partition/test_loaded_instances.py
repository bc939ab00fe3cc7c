"""Process instances that leave memory and come back are as those that stayed."""

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from server.bpmn.builder import ProcessBuilder, process
from server.engine import State
from server.engine.deployment_commands import DeployResources
from server.engine.documents import unpack
from server.engine.events import CallEnded, Event
from server.engine.job_commands import ThrowJobError
from server.engine.keys import Key
from server.engine.limits import EngineLimits
from server.engine.process_instance_commands import CancelProcessInstance, CreateProcessInstance
from server.partition.config import PartitionConfig
from server.partition.loaded_instances import LoadedInstances
from server.partition.partition import Partition
from server.platform.clock import VirtualClock
from server.platform.errors import Unavailable
from server.store.entities import ProcessInstance, ProcessInstanceState
from server.store.memory import MemoryStore
from tests.server.engine.player import Player, photograph
from tests.server.engine.recorded import Recorded, done
from tests.server.engine.scenario import Scenario, resource
from tests.server.engine.served import ServedScenario
from tests.server.engine.stored import id_of, pages_of
from tests.server.engine.strategies import EXAMPLES, Block, Move, blocks, histories
from tests.server.partition.harness import Harness, Serving, activation, completion_of
from tests.waits import until

ONE = PartitionConfig(max_loaded_instances=1)


@pytest.fixture
def state() -> State:
    """Four process instances, with a job each."""
    scenario = Scenario().deploy(process("order").service_task("a", type="a").end())
    for _ in range(4):
        scenario.start()
    return scenario.state


def test_the_idlest_leave_first(state: State) -> None:
    first, second, third, fourth = state.instances
    loaded = LoadedInstances(state, 2)
    loaded.touch([id_of(first)])

    loaded.evict(())

    assert state.instances.keys() == {first, fourth}
    assert state.evicted == {second, third}


def test_what_is_not_committed_stays(state: State) -> None:
    keys = set(state.instances)
    loaded = LoadedInstances(state, 1)

    loaded.evict(set(map(id_of, keys)))
    stayed = set(state.instances)
    loaded.evict(())

    assert stayed == keys
    assert len(state.instances) == 1


def test_what_ended_counts_no_longer(state: State) -> None:
    first, *others = state.instances
    loaded = LoadedInstances(state, 3)
    state.release(first)
    loaded.touch([id_of(first)])

    loaded.evict(())

    assert state.instances.keys() == set(others)


def test_what_comes_back_is_what_left_and_is_the_busiest(state: State) -> None:
    first, *_, last = state.instances
    documents = {key: pages_of(instance) for key, instance in state.instances.items()}
    before = photograph(state)
    loaded = LoadedInstances(state, 1)
    loaded.evict(())

    loaded.bring_back({id_of(key): documents[key] for key in list(state.evicted)[::-1]})
    all_here = photograph(state)
    loaded.touch([id_of(first)])
    loaded.evict(())

    assert all_here == before
    assert set(state.instances) == {first} != {last}


async def _idle(harness: Harness, count: int) -> list[Key]:
    """So many process instances of which one is in memory, the last."""
    keys = [await harness.start(x='"1"') for _ in range(count)]
    await until(lambda: set(harness.state.instances) == {keys[-1]})
    return keys


async def test_a_command_brings_back_what_it_needs(serving: Serving) -> None:
    async with serving(ONE) as harness:
        first, *_ = await _idle(harness, 3)
        (job_key,) = [key for key, owner in harness.state.owners.items() if owner == first]

        await harness.submit(completion_of(job_key))

        row = await harness.store.get(ProcessInstance, first, tenant_id="default")
        assert row is not None
        assert row.state is ProcessInstanceState.COMPLETED
        assert first not in harness.state.evicted | harness.state.instances.keys()


async def test_an_activation_brings_back_every_instance_whose_jobs_it_gives(serving: Serving) -> None:
    async with serving(ONE) as harness:
        keys = await _idle(harness, 5)

        answer = await harness.submit(activation(5))

        assert [job.instance.key for job in answer.jobs] == keys
        assert {job.variables["x"] for job in answer.jobs} == {'"1"'}
        await until(lambda: len(harness.state.instances) == 1)


async def test_what_was_started_while_commits_wait_stays_until_they_are_done(serving: Serving) -> None:
    async with serving(PartitionConfig(max_loaded_instances=1, max_batch=1)) as harness:
        harness.store.hold()
        starts = [harness.spawn(harness.start()) for _ in range(3)]
        await until(lambda: len(harness.state.instances) == 2)

        harness.store.release(3)

        keys = [await start for start in starts]
        await until(lambda: set(harness.state.instances) == {keys[-1]})
        assert harness.state.evicted == set(keys[:-1])


async def test_what_cannot_be_brought_back_now_is_refused_and_can_be_later(serving: Serving) -> None:
    async with serving(ONE) as harness:
        first, *_ = await _idle(harness, 2)
        (job_key,) = [key for key, owner in harness.state.owners.items() if owner == first]
        harness.store.unreadable = Unavailable("the database does not answer")

        with pytest.raises(Unavailable, match="the database does not answer"):
            await harness.submit(completion_of(job_key))

        harness.store.unreadable = None
        await harness.submit(completion_of(job_key))
        assert first not in harness.state.evicted | harness.state.instances.keys()


def recursive(depth: int) -> ProcessBuilder:
    """A process that calls itself so many times, and then waits for a worker."""
    builder = process("deep").start().exclusive_gateway("is_deep").flow(condition=f"=depth < {depth}")
    builder.call_activity("call", process="deep", inputs={"depth": "=depth + 1"}, child_variables=False).end()
    return builder.branch("is_deep").flow(default=True).service_task("charge", type="charge").end()


@pytest.mark.parametrize("ends_by", ["completion", "cancellation", "error"])
async def test_a_chain_of_calls_ends_though_one_document_alone_stays_in_memory(
    serving: Serving, ends_by: str
) -> None:
    """Each is loaded once, and what a command has done is not done anew for each of them."""
    async with serving(ONE) as harness:
        await harness.submit(DeployResources("default", (resource(recursive(150)),)))
        start = CreateProcessInstance(
            tenant_id="default", process_definition_id="deep", variables={"depth": "0"}
        )
        root = (await harness.submit(start)).head.key
        await until(lambda: len(harness.state.instances | dict.fromkeys(harness.state.evicted)) == 151)
        await until(lambda: "charge" in {job_type for _, job_type in harness.state.offers})
        await until(lambda: len(harness.state.instances) == 1)
        (job,) = (await harness.submit(activation(job_type="charge"))).jobs
        happened: list[Event] = []
        harness.partition.observers.append(happened.extend)

        if ends_by == "completion":
            await harness.submit(completion_of(job.key))
        elif ends_by == "cancellation":
            await harness.submit(CancelProcessInstance("default", root))
        else:
            await harness.submit(ThrowJobError(tenant_id="default", job_key=job.key, error_code="X"))
            assert harness.state.instances[job.instance.key].incidents
            await harness.submit(CancelProcessInstance("default", root))

        await until(lambda: not harness.state.instances | dict.fromkeys(harness.state.evicted))
        await harness.partition.settle()
        row = await harness.store.get(ProcessInstance, root, tenant_id="default")
        assert row is not None
        expected = (
            ProcessInstanceState.COMPLETED if ends_by == "completion" else ProcessInstanceState.TERMINATED
        )
        assert row.state is expected
        assert sum(isinstance(event, CallEnded) for event in happened) == 150


@settings(max_examples=EXAMPLES)
@given(blocks, histories, st.integers(1, 3), st.sampled_from([0, 6, 256]))
def test_any_history_is_the_same_however_few_stay_in_memory_and_however_they_are_stored(
    block: Block, history: list[Move], most: int, whole_records: int
) -> None:
    """Every answer, and the state in the end."""
    expected = Recorded()
    Player(block, expected).play(history)
    state = State(limits=EngineLimits(whole_records=whole_records))
    store, clock = MemoryStore(1_000), VirtualClock()
    partition = Partition(state, store, clock, PartitionConfig(max_loaded_instances=most))

    with asyncio.Runner() as runner:
        runner.run(_begun(partition))
        scenario = ServedScenario(runner.run, partition, clock)
        outcomes = [done(step, scenario) for step, _ in expected.steps]
        runner.run(partition.settle())
        loaded = len(state.instances)
        documents = runner.run(store.documents(set(map(id_of, state.evicted))))

    assert outcomes == [outcome for _, outcome in expected.steps]
    assert loaded <= most
    for pages in documents.values():
        state.bring_back(unpack(pages))
    assert photograph(state) == photograph(expected.state)


async def _begun(partition: Partition) -> None:
    """It runs on until the loop is closed, which cancels it."""
    running = asyncio.ensure_future(partition.run())
    await partition.opened()
    assert not running.done()
