"""Large models are compiled beside the loop, before the commands that need them are queued."""

from collections.abc import Callable
from functools import partial
from itertools import count

import msgspec
import pytest

from server.bpmn.builder import process
from server.engine import (
    decision_commands,
    deployment_commands,
    job_commands,
    message_commands,
    process_instance_commands,
    signal_commands,
)
from server.engine import process as carried_out
from server.engine.commands import Command
from server.engine.definitions import compiled_decisions, executable_processes
from server.engine.keys import Key
from server.engine.rejection import Rejected
from server.partition.compilation import LARGE_OCTETS, Compilation
from server.partition.config import InstancesConfig, JobsConfig, PartitionConfig
from server.partition.local import LocalPartition
from server.partition.partition import Partition
from server.platform.clock import VirtualClock
from server.platform.errors import Unavailable
from server.store.memory import MemoryStore
from tests.server.engine.graphs import answering, graph
from tests.server.engine.scenario import Scenario, resource

ORDER = (
    process("order").start().exclusive_gateway("begun").service_task("charge", type="charge").end()
    .start_message("ordered", message="ordered").connect_to("begun")
    .start_signal("alarmed", signal="alarm").connect_to("begun")
)  # fmt: skip
_numbers = count()


def compilations() -> int:
    return executable_processes.cache_info().misses + compiled_decisions.cache_info().misses


def uncompiled(content: bytes, octets: int = LARGE_OCTETS) -> bytes:
    """The model with a comment that no other test has."""
    return content + b"<!--%d %s-->" % (next(_numbers), b"x" * octets)


def recovered(octets: int = LARGE_OCTETS) -> Scenario:
    """A process instance and a decision whose models were not needed since the partition was recovered."""
    scenario = Scenario().deploy(ORDER).start()
    scenario.execute(deployment_commands.DeployResources("default", (), (graph(answering("answer", "42")),)))
    state = scenario.state
    for key, definition in state.definitions.items():
        state.definitions[key] = msgspec.structs.replace(
            definition, content=uncompiled(definition.content, octets)
        )
    for found in list(state.decisions.graphs.values()):
        state.decisions.delete(found)
        state.decisions.define(msgspec.structs.replace(found, content=uncompiled(found.content, octets)))
    return scenario


def definition_key(scenario: Scenario) -> Key:
    (key,) = scenario.state.definitions
    return key


def decision_key(scenario: Scenario) -> Key:
    (found,) = scenario.state.decisions.graphs.values()
    return found.decisions[0].key


start = partial(process_instance_commands.CreateProcessInstance, tenant_id="default")
evaluation = partial(decision_commands.EvaluateDecision, tenant_id="default")


@pytest.mark.parametrize(
    "command_of",
    [
        pytest.param(lambda _: start(process_definition_id="order"), id="start by id"),
        pytest.param(lambda _: start(process_definition_id="order", version=1), id="start by version"),
        pytest.param(lambda found: start(process_definition_key=definition_key(found)), id="start by key"),
        pytest.param(lambda _: evaluation(decision_definition_id="answer"), id="evaluation by id"),
        pytest.param(
            lambda found: evaluation(decision_definition_key=decision_key(found)), id="evaluation by key"
        ),
        pytest.param(
            lambda _: message_commands.PublishMessage(tenant_id="default", name="ordered"), id="publication"
        ),
        pytest.param(lambda _: message_commands.CorrelateMessage("default", "ordered"), id="correlation"),
        pytest.param(lambda _: signal_commands.BroadcastSignal("default", "alarm"), id="broadcast"),
        pytest.param(
            lambda found: process_instance_commands.CancelProcessInstance("default", found.instance_key),
            id="process instance",
        ),
        pytest.param(lambda found: job_commands.CompleteJob("default", found.job("charge").key), id="job"),
        pytest.param(
            lambda _: deployment_commands.DeployResources("default", (resource(uncompiled(ORDER.to_xml())),)),
            id="deployment of a process",
        ),
    ],
)
async def test_the_engine_finds_the_models_of_a_command_compiled(
    command_of: Callable[[Scenario], Command],
) -> None:
    scenario = recovered()
    command = command_of(scenario)

    await Compilation(scenario.state).prepare(command)

    before = compilations()
    carried_out(scenario.state, command, scenario.now)
    assert before == compilations()


async def test_a_large_model_is_compiled_before_its_command_is_queued() -> None:
    """The partition does not serve, so nothing is queued."""
    scenario, store = recovered(), MemoryStore(100)
    partition = Partition(scenario.state, store, VirtualClock(), PartitionConfig())
    local = LocalPartition(partition, store, JobsConfig(), InstancesConfig())
    before = compilations()

    with pytest.raises(Unavailable):
        await local.submit(start(process_definition_id="order"))

    assert compilations() == before + 1


async def test_a_small_model_is_left_to_the_engine() -> None:
    scenario = recovered(octets=1)
    before = compilations()

    await Compilation(scenario.state).prepare(start(process_definition_id="order"))

    assert compilations() == before


@pytest.mark.parametrize(
    "command",
    [
        start(process_definition_id="nothing"),
        start(process_definition_key=Key(1)),
        start(process_definition_id="order", version=7),
        evaluation(decision_definition_id="nothing"),
        job_commands.CompleteJob("default", Key(1)),
    ],
)
async def test_what_is_not_there_is_left_to_the_engine_to_refuse(command: Command) -> None:
    scenario = recovered()

    await Compilation(scenario.state).prepare(command)

    with pytest.raises(Rejected):
        carried_out(scenario.state, command, scenario.now)


async def test_a_model_that_this_version_refuses_is_left_to_the_engine_to_refuse() -> None:
    scenario = recovered()
    (key,) = scenario.state.definitions
    definition = scenario.state.definitions[key]
    scenario.state.definitions[key] = msgspec.structs.replace(
        definition, content=uncompiled(b"<no-definitions/>")
    )

    await Compilation(scenario.state).prepare(start(process_definition_id="order"))
