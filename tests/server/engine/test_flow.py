"""How paths go, split and end without any gateway."""

import pytest

from server.bpmn.builder import process
from server.engine.events import (
    ElementActivated,
    ElementActivating,
    ElementCompleted,
    ElementCompleting,
    JobCreated,
    ProcessInstanceCreated,
    SequenceFlowTaken,
    SubscriptionClosed,
    SubscriptionOpened,
    VariableCreated,
)
from server.engine.incidents import ErrorType
from server.engine.limits import ENTERING_STEPS, EngineLimits
from tests.server.engine.scenario import Scenario


def test_an_element_goes_through_its_life_in_order(engine: Scenario) -> None:
    engine.deploy(process("order").start().end()).start()
    kinds = [type(event) for event in engine.events]

    path = [ElementActivating, ElementActivated, ElementCompleting, ElementCompleted]

    assert [
        ProcessInstanceCreated,
        ElementActivated,
        *path,
        SequenceFlowTaken,
        *path,
        ElementCompleting,
        ElementCompleted,
    ] == kinds[2:]


@pytest.mark.parametrize("tag", ["task", "manualTask"])
def test_a_task_without_work_is_passed(engine: Scenario, tag: str) -> None:
    engine.deploy(process("order").node(tag, "pass").end()).start()

    assert engine.path == ["start", "pass", "end"]
    assert engine.is_completed


@pytest.mark.parametrize("tag", ["task", "manualTask", "endEvent"])
def test_an_element_that_is_passed_maps_its_variables(engine: Scenario, tag: str) -> None:
    engine.deploy(process("order").node(tag, "pass", inputs={"x": "=total"}, outputs={"double": "=x * 2"}))

    engine.start(total=4)

    assert engine.variables() == {"total": 4, "double": 8}


def test_a_path_ends_where_no_flow_goes_on(engine: Scenario) -> None:
    engine.deploy(process("order").service_task("last", type="last")).start()

    assert engine.complete("last").is_completed


def test_several_flows_out_of_a_task_are_all_taken(engine: Scenario) -> None:
    builder = process("order").task("split").service_task("a", type="a").end()

    engine.deploy(builder.branch("split").service_task("b", type="b").end()).start()

    assert engine.offered == ["a", "b"]
    assert engine.complete("a").is_running
    assert engine.complete("b").is_completed


def test_several_flows_into_a_task_activate_it_several_times(engine: Scenario) -> None:
    builder = process("order").parallel_gateway("fork").service_task("meet", type="meet").end()

    engine.deploy(builder.branch("fork").connect_to("meet")).start()

    assert engine.offered == ["meet", "meet"]
    assert engine.complete("meet").complete("meet").path[2:] == ["meet", "end", "meet", "end"]
    assert engine.is_completed


def test_a_loop_through_a_job_goes_round_until_its_condition_fails(engine: Scenario) -> None:
    builder = (
        process("order").exclusive_gateway("again").service_task("try", type="try", outputs={"n": "=n + 1"})
    )
    builder.exclusive_gateway("enough").flow(condition="=n >= 3").end()
    engine.deploy(builder.branch("enough").flow(default=True).connect_to("again")).start(n=0)

    for _ in range(3):
        engine.complete("try")

    assert engine.is_completed
    assert engine.variables() == {"n": 3}


FEW = EngineLimits(slice_steps=10 * ENTERING_STEPS, activations=100)


def test_a_loop_that_never_waits_ends_in_an_incident_and_goes_on_when_resolved() -> None:
    engine = Scenario(limits=FEW)
    engine.deploy(process("order").exclusive_gateway("merge").task("spin").connect_to("merge"))

    engine.start()

    incident = engine.incident
    assert incident.error_type is ErrorType.UNKNOWN
    assert incident.message == "Expected a wait state within 100 elements, found none"
    assert len(engine.path) == 100
    engine.resolve()
    assert len(engine.path) == 201
    assert engine.incident.key != incident.key
    assert engine.cancel().is_terminated


def test_tokens_that_multiply_without_waiting_are_bounded() -> None:
    engine = Scenario(limits=FEW)
    engine.deploy(process("order").task("split").connect_to("split").branch("split").connect_to("split"))

    engine.start()

    assert len(engine.path) == 100
    assert engine.cancel().is_terminated


def test_entering_an_element_maps_inputs_then_asks_listeners_then_opens_subscriptions_then_behaves(
    engine: Scenario,
) -> None:
    task = process("order").service_task("charge", type="charge", inputs={"x": "=1"})
    task.execution_listener("start", type="first").execution_listener("start", type="second").end()
    engine.deploy(task.boundary_timer("late", on="charge", duration="PT1H").end()).start()
    entered = next(each for each in engine.happened(ElementActivating) if each.element_id == "charge")

    engine.complete("first").complete("second")

    kinds = (VariableCreated, JobCreated, SubscriptionOpened, ElementActivated)
    happened = [
        each for each in engine.happened(*kinds) if engine.events.index(each) > engine.events.index(entered)
    ]
    told = [each.type if isinstance(each, JobCreated) else type(each) for each in happened]
    assert told == [VariableCreated, "first", "second", SubscriptionOpened, "charge", ElementActivated]


def test_leaving_an_element_maps_outputs_then_asks_listeners_then_closes_subscriptions_then_takes_its_flows(
    engine: Scenario,
) -> None:
    task = process("order").service_task("charge", type="charge", outputs={"x": "=1"})
    task.execution_listener("end", type="first").execution_listener("end", type="second").end()
    engine.deploy(task.boundary_timer("late", on="charge", duration="PT1H").end()).start()
    begun = len(engine.events)

    engine.complete("charge").complete("first").complete("second")

    kinds = (
        ElementCompleting,
        VariableCreated,
        JobCreated,
        SubscriptionClosed,
        ElementCompleted,
        SequenceFlowTaken,
    )
    happened = [each for each in engine.events[begun:] if isinstance(each, kinds)]
    told = [each.type if isinstance(each, JobCreated) else type(each) for each in happened]
    assert told[:7] == [
        ElementCompleting,
        VariableCreated,
        "first",
        "second",
        SubscriptionClosed,
        ElementCompleted,
        SequenceFlowTaken,
    ]
