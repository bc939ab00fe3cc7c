from collections.abc import Sequence
from itertools import permutations

import pytest

from server.bpmn.builder import definitions, process
from server.engine import State
from server.engine import process as handle
from server.engine.answers import CreatedInstance
from server.engine.deployment_commands import AdoptDefinition, DeployResources
from server.engine.events import DeploymentCreated, InstanceHead, ProcessDefinitionDeployed
from server.engine.process_instance_commands import CreateProcessInstance
from server.engine.rejection import Rejected
from server.store.entities import ProcessDefinition
from tests.durable import EPOCH
from tests.server.engine.scenario import Scenario, resource


def test_a_deployment_makes_a_definition_of_every_process(engine: Scenario) -> None:
    answer = engine.deployment(
        definitions(process("order", name="Order").end(), process("refund", version_tag="v2").end())
    )

    order, refund = answer.definitions
    assert (order.process_definition_id, order.version) == ("order", 1)
    assert (refund.process_definition_id, refund.version) == ("refund", 1)
    rows = [engine.rows.get(ProcessDefinition, key) for key in (order.key, refund.key)]
    assert [(row.name, row.version_tag) for row in rows] == [("Order", None), (None, "v2")]
    assert answer.key < order.key < refund.key
    assert [type(event) for event in engine.events] == [
        DeploymentCreated,
        ProcessDefinitionDeployed,
        ProcessDefinitionDeployed,
    ]


def test_changed_content_is_a_new_version(engine: Scenario) -> None:
    (first,) = engine.deployment(process("order").end()).definitions

    (second,) = engine.deployment(process("order").task("more").end()).definitions

    assert (first.version, second.version) == (1, 2)
    assert first.key != second.key
    rows = [engine.rows.get(ProcessDefinition, key) for key in (first.key, second.key)]
    assert [row.is_latest_version for row in rows] == [False, True]


def versions(count: int) -> list[ProcessDefinitionDeployed]:
    """Of one process, as another partition deployed them."""
    scenario = Scenario()
    for number in range(count):
        scenario.deploy(process("order", version_tag=f"v{number}").end())
    return [event for event in scenario.events if isinstance(event, ProcessDefinitionDeployed)]


def started(state: State, version: int | None) -> InstanceHead:
    command = CreateProcessInstance(tenant_id="default", process_definition_id="order", version=version)
    answer = handle(state, command, EPOCH).answer
    assert isinstance(answer, CreatedInstance)
    return answer.head


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_versions_are_found_by_their_number_whatever_order_they_are_adopted_in(order: Sequence[int]) -> None:
    deployed, state = versions(3), State(2)
    for place in order:
        handle(state, AdoptDefinition(deployed[place]), EPOCH)

    heads = {version: started(state, version) for version in (1, 2, 3, None)}

    keys = {version: head.process_definition_key for version, head in heads.items()}
    assert keys == {1: deployed[0].key, 2: deployed[1].key, 3: deployed[2].key, None: deployed[2].key}


def test_a_version_that_is_not_known_is_not_another_one() -> None:
    first, _, third = versions(3)
    state = State(2)
    for event in (first, third):
        handle(state, AdoptDefinition(event), EPOCH)

    with pytest.raises(Rejected, match="no process definition with id 'order' in its version 2"):
        started(state, 2)
    assert started(state, 3).version == 3


def test_unchanged_content_keeps_its_version(engine: Scenario) -> None:
    first = engine.deployment(process("order").end())

    second = engine.deployment(process("order").end())

    assert first.definitions == second.definitions
    assert first.key != second.key
    assert [DeploymentCreated(second.key, "default")] == engine.last_events


def test_unchanged_content_under_another_name_is_a_new_version(engine: Scenario) -> None:
    engine.deploy(process("order").end(), name="a.bpmn")

    (again,) = engine.deployment(process("order").end(), name="b.bpmn").definitions

    assert (again.version, again.resource_name) == (2, "b.bpmn")


def test_what_was_replaced_comes_back_as_a_new_version(engine: Scenario) -> None:
    old, new = process("order").end(), process("order").task("more").end()
    engine.deploy(old).deploy(new)

    (again,) = engine.deployment(old).definitions

    assert again.version == 3


def test_only_what_changed_gets_a_new_version(engine: Scenario) -> None:
    engine.deploy(process("order").end(), process("refund").end())

    answer = engine.deployment(process("order").task("more").end(), process("refund").end())

    assert [found.version for found in answer.definitions] == [2, 1]


def test_versions_of_tenants_are_counted_apart(engine: Scenario) -> None:
    engine.deploy(process("order").end()).deploy(process("order").task("more").end())
    engine.tenant_id = "other"

    (other,) = engine.deployment(process("order").task("more").end()).definitions

    assert (other.version, engine.rows.get(ProcessDefinition, other.key).tenant_id) == (1, "other")


def test_running_instances_stay_with_their_version(engine: Scenario) -> None:
    engine.deploy(process("order").service_task("a", type="a").task("old").end()).start()
    engine.deploy(process("order").service_task("a", type="a").task("new").end())

    engine.complete("a")

    assert engine.path == ["start", "a", "old", "end"]


@pytest.mark.parametrize("process_ids", [("order", "missing"), ("missing",)])
def test_a_deployment_that_fails_leaves_nothing(engine: Scenario, process_ids: tuple[str, ...]) -> None:
    good, order = resource(process("refund").end()), resource(process("order").end())
    broken = type(order)(order.name, order.content, order.checksum, process_ids)
    last_key = engine.state.last_key

    with pytest.raises(KeyError):
        engine.execute(DeployResources("default", (good, broken)))

    assert (engine.state.definitions, engine.state.versions) == ({}, {})
    assert engine.state.last_key == last_key
