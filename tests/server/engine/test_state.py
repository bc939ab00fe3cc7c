import msgspec
import pytest

from server.bpmn.builder import process
from server.engine import State, apply
from server.engine import process as handle
from server.engine.events import ElementActivated, ElementCompleted, ElementTerminated, JobYielded
from server.engine.keys import first_key, partition_of
from server.engine.lifecycle import TRANSITIONS, ElementState, IllegalTransition
from server.engine.process_instance_commands import CreateProcessInstance
from tests.server.engine.laws import recovered, replay
from tests.server.engine.scenario import MINUTE, Scenario

ALLOWED = {
    "ACTIVATING": {"ACTIVATED", "TERMINATING"},
    "ACTIVATED": {"COMPLETING", "TERMINATING"},
    "COMPLETING": {"COMPLETED", "TERMINATING"},
    "TERMINATING": {"TERMINATED"},
    "COMPLETED": set(),
    "TERMINATED": set(),
}


@pytest.fixture
def busy(engine: Scenario) -> Scenario:
    """Jobs in many states, some of them offered anew and so behind younger ones."""
    builder = (
        process("order").service_task("a", type="a").service_task("b", type="b", inputs={"x": "=x"}).end()
    )
    engine.deploy(builder)
    for number in range(6):
        engine.start(x=number)
    engine.fail("a", retries=1).activate("a", most=1, timeout=MINUTE)
    engine.complete("a").fail("a").complete("a").fail("b")
    return engine.advance(MINUTE)


def test_the_documents_bring_back_the_indexes(busy: Scenario) -> None:
    assert recovered(busy.state) == busy.state


def test_jobs_are_offered_in_the_same_order_after_a_recovery(busy: Scenario) -> None:
    keys = [list(queue) for queue in busy.state.offers.values()]
    state = recovered(busy.state)

    assert keys == [list(queue) for queue in (state.offers[place] for place in busy.state.offers)]
    assert any(queue != sorted(queue) for queue in keys)


def test_what_is_offered_after_a_recovery_goes_behind_what_was(busy: Scenario) -> None:
    state = recovered(busy.state)
    command = CreateProcessInstance(tenant_id="default", process_definition_id="order")

    handle(state, command, busy.now)

    assert (
        max(job.offer for found in state.instances.values() for job in found.jobs.values())
        > busy.state.last_offer
    )


def test_two_states_with_one_history_are_equal_and_with_another_are_not(busy: Scenario) -> None:
    assert replay(busy.events) == busy.state
    assert replay(busy.events[:-1]) != busy.state
    assert State() != busy.state.instances


def test_events_survive_their_bytes(busy: Scenario) -> None:
    """The durable modes pack them."""
    for event in busy.events:
        again = msgspec.msgpack.decode(msgspec.msgpack.encode(event), type=type(event))
        assert again == event


def test_releasing_takes_every_trace_of_an_instance(busy: Scenario) -> None:
    state = recovered(busy.state)

    for key in busy.state.instances:
        state.release(key)

    assert (state.instances, state.offers, state.owners) == ({}, {}, {})


def test_an_event_about_what_is_not_there_is_a_fault(engine: Scenario) -> None:
    engine.deploy(process("order").service_task("a", type="a").end()).start()

    with pytest.raises(KeyError):
        apply(engine.state, JobYielded(engine.instance.head, engine.instance_key))


@pytest.mark.parametrize("partition_id", [1, 2, 4095])
def test_a_key_names_its_partition(partition_id: int) -> None:
    key = State(partition_id).last_key

    assert key == first_key(partition_id)
    assert partition_of(key) == partition_id
    assert key + 1 < 2**63


@pytest.mark.parametrize("current", ElementState)
def test_an_element_moves_as_the_table_says(current: ElementState) -> None:
    assert TRANSITIONS[current] == ALLOWED[current]


@pytest.mark.parametrize("moved", [ElementActivated, ElementCompleted, ElementTerminated])
def test_a_move_that_the_table_does_not_have_is_a_fault(
    engine: Scenario, moved: type[ElementActivated | ElementCompleted | ElementTerminated]
) -> None:
    engine.deploy(process("order").service_task("a", type="a").end()).start()

    with pytest.raises(IllegalTransition, match="ACTIVATED to "):
        apply(engine.state, moved(engine.instance.head, engine.instance_key))


def test_the_table_knows_every_state() -> None:
    assert set(ElementState) == TRANSITIONS.keys()
