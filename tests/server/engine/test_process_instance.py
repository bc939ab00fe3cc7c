import pytest

from server.bpmn.builder import process
from server.engine.events import InstanceHead
from server.engine.keys import Key
from server.engine.lifecycle import ElementState
from server.engine.process_instance_commands import CreateProcessInstance
from server.engine.rejection import RejectionType
from server.store import entities
from tests.server.engine.scenario import MINUTE, Scenario


def create(**choice: object) -> CreateProcessInstance:
    return CreateProcessInstance(tenant_id="default", **choice)  # type: ignore[arg-type]


@pytest.fixture
def versions(engine: Scenario) -> list[Key]:
    """Keys of two versions of one process."""
    first = engine.deployment(process("order").service_task("a", type="old").end())
    second = engine.deployment(process("order").service_task("a", type="new").end())
    return [first.definitions[0].key, second.definitions[0].key]


@pytest.mark.parametrize(("version", "expected"), [(None, 2), (1, 1), (2, 2)])
@pytest.mark.usefixtures("versions")
def test_a_definition_is_chosen_by_id_and_version(
    engine: Scenario, version: int | None, expected: int
) -> None:
    answer = engine.execute(create(process_definition_id="order", version=version))

    assert answer.head.version == expected  # type: ignore[union-attr]


def test_a_definition_is_chosen_by_key(engine: Scenario, versions: list[Key]) -> None:
    answer = engine.execute(create(process_definition_key=versions[0]))

    assert answer.head.process_definition_key == versions[0]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("choice", "reason"),
    [
        ({"process_definition_id": "x"}, "no process definition with id 'x' in its latest version"),
        (
            {"process_definition_id": "order", "version": 3},
            "no process definition with id 'order' in its version 3",
        ),
        (
            {"process_definition_id": "order", "version": 0},
            "no process definition with id 'order' in its version 0",
        ),
        (
            {"process_definition_id": "order", "version": -2},
            "no process definition with id 'order' in its version -2",
        ),
        ({"process_definition_key": Key(42)}, "no process definition with key 42"),
    ],
)
@pytest.mark.usefixtures("versions")
def test_what_is_not_deployed_cannot_start(engine: Scenario, choice: dict[str, object], reason: str) -> None:
    refusal = engine.refusal(create(**choice))

    assert (refusal.type, refusal.reason) == (RejectionType.NOT_FOUND, reason)


def test_an_instance_carries_what_it_was_started_with(engine: Scenario) -> None:
    definition = engine.deployment(
        process("order", name="Order", version_tag="v1").service_task("a", type="a")
    )
    key = definition.definitions[0].key

    answer = engine.execute(create(process_definition_id="order", tags=("x", "y"), business_id="b-1"))

    head = answer.head  # type: ignore[union-attr]
    assert head == InstanceHead(head.key, "default", key, "order", 1, "Order", "v1", ("x", "y"), "b-1")
    assert engine.state.instances[head.key].head is head
    row = engine.rows.get(entities.ProcessInstance, head.key)
    assert (row.tags, row.business_id, row.start_date) == (("x", "y"), "b-1", engine.now)


def test_an_instance_is_active_until_nothing_is_left(engine: Scenario) -> None:
    engine.deploy(process("order").service_task("a", type="a").end()).start()
    state = engine.instance.elements[engine.instance_key].state

    engine.advance(MINUTE).complete("a")

    assert state is ElementState.ACTIVATED
    row = engine.rows.get(entities.ProcessInstance, engine.instance_key)
    assert (row.state, row.end_date) == (entities.ProcessInstanceState.COMPLETED, engine.now)
    assert engine.state.instances == {}


def test_a_process_without_a_none_start_event_cannot_be_started(engine: Scenario) -> None:
    xml = (
        process("order")
        .task("a")
        .to_xml()
        .replace(b'<bpmn:startEvent id="start"/>', b'<bpmn:task id="start"/>')
    )
    engine.deploy(xml)

    refusal = engine.refusal(create(process_definition_id="order"))

    assert refusal.type is RejectionType.INVALID_STATE
    assert refusal.reason == "process 'order' has no none start event to start from"


def test_keys_carry_their_partition(engine: Scenario) -> None:
    engine.deploy(process("order").end()).start()

    assert [engine.instance_key >> 51, engine.state.last_key >> 51] == [1, 1]
