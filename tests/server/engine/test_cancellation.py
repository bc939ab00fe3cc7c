from collections.abc import Callable

import pytest

from server.bpmn.builder import ProcessBuilder, event_sub_process, process
from server.engine import job_commands, process_instance_commands
from server.engine.events import (
    ElementTerminated,
    ElementTerminating,
    IncidentResolved,
    JobCanceled,
    JobCreated,
    SubscriptionClosed,
)
from server.engine.keys import Key
from server.engine.rejection import RejectionType
from server.store import entities
from tests.server.engine.scenario import MINUTE, Scenario

FAILING = '=assert(null, false, "never")'


def charge(**attributes: object) -> ProcessBuilder:
    return process("order").service_task("charge", type="charge", **attributes).end()  # type: ignore[arg-type]


def fail(engine: Scenario, retries: int) -> None:
    (job,) = engine.activate("charge")
    command = job_commands.FailJob(
        tenant_id="default", job_key=job.key, retries=retries, retry_back_off=MINUTE
    )
    engine.execute(command)


def throw(engine: Scenario) -> None:
    key = engine.job("charge").key
    engine.execute(job_commands.ThrowJobError(tenant_id="default", job_key=key, error_code="x"))


STATES: dict[str, tuple[ProcessBuilder, Callable[[Scenario], object]]] = {
    "job offered": (charge(), lambda _: None),
    "job activated": (charge(), lambda engine: engine.activate("charge")),
    "job timed out": (charge(), lambda engine: (engine.activate("charge"), engine.advance(MINUTE))),
    "job backs off": (charge(), lambda engine: fail(engine, 1)),
    "job failed": (charge(), lambda engine: fail(engine, 0)),
    "error thrown": (charge(), throw),
    "incident at activation": (charge(inputs={"x": FAILING}), lambda _: None),
    "incident at completion": (charge(outputs={"x": FAILING}), lambda engine: engine.complete("charge")),
    "incident at a gateway": (
        process("order").exclusive_gateway("decide").flow(condition="=x").end(),
        lambda _: None,
    ),
    "token at a join": (
        charge().branch("start").parallel_gateway("join").end().branch("charge").connect_to("join"),
        lambda _: None,
    ),
}


@pytest.mark.parametrize("state", STATES)
def test_cancelling_ends_everything_at_any_state(engine: Scenario, state: str) -> None:
    definition, reach = STATES[state]
    reach(engine.deploy(definition).start(x=None))
    jobs, incidents = list(engine.instance.jobs), list(engine.instance.incidents)
    elements = list(engine.instance.elements)

    engine.cancel()

    assert engine.is_terminated
    assert jobs == [event.key for event in engine.happened(JobCanceled)]
    assert incidents == [event.key for event in engine.happened(IncidentResolved)]
    assert set(elements) == {event.key for event in engine.happened(ElementTerminated)}
    assert (engine.state.instances, engine.state.owners, engine.state.offers) == ({}, {}, {})


@pytest.mark.parametrize("state", STATES)
def test_what_time_would_have_brought_is_ignored_after_a_cancellation(engine: Scenario, state: str) -> None:
    definition, reach = STATES[state]
    reach(engine.deploy(definition).start(x=None))
    engine.cancel()
    count = len(engine.events)

    engine.advance(10 * MINUTE)

    assert len(engine.events) == count


def test_children_end_before_their_scope(engine: Scenario) -> None:
    engine.deploy(charge()).start()
    root, child = engine.instance_key, engine.element("charge").key

    engine.cancel()

    happened = engine.happened(ElementTerminating, ElementTerminated)
    assert [(ElementTerminating, root), (ElementTerminating, child)] == [
        (type(event), event.key) for event in happened[:2]
    ]
    assert [child, root] == [event.key for event in happened[2:]]


def test_a_scope_closes_its_event_sub_processes_before_its_children_are_terminated(engine: Scenario) -> None:
    stop = event_sub_process("stop").start_timer("late", duration="PT1H").end()
    engine.deploy(charge().beside(stop)).start()
    child = engine.element("charge").key
    begun = len(engine.events)

    engine.cancel()

    kinds = (SubscriptionClosed, ElementTerminating)
    happened = [each for each in engine.events[begun:] if isinstance(each, kinds)]
    assert [type(each) for each in happened] == [ElementTerminating, SubscriptionClosed, ElementTerminating]
    assert happened[-1].key == child


def test_an_element_closes_its_subscriptions_then_cancels_its_job_then_resolves_its_incident(
    engine: Scenario,
) -> None:
    engine.deploy(charge().boundary_timer("late", on="charge", duration="PT1H").end()).start().fail("charge")
    begun = len(engine.events)

    engine.cancel()

    kinds = (SubscriptionClosed, JobCanceled, IncidentResolved, ElementTerminated)
    happened = [type(each) for each in engine.events[begun:] if isinstance(each, kinds)]
    assert happened == [*kinds, ElementTerminated]


def test_a_terminated_element_has_no_output_mappings_and_asks_no_end_listeners(engine: Scenario) -> None:
    task = process("order").execution_listener("end", type="finish")
    task.service_task("charge", type="charge", outputs={"x": "=1"}).execution_listener("end", type="report")
    engine.deploy(task.end()).start()

    engine.cancel()

    assert engine.is_terminated
    assert engine.variables() == {}
    assert [event.type for event in engine.happened(JobCreated)] == ["charge"]


def test_rows_of_a_cancelled_instance_say_so(engine: Scenario) -> None:
    engine.deploy(charge()).start().fail("charge")
    job, element, incident = engine.job("charge").key, engine.element("charge").key, engine.incident.key

    engine.advance(MINUTE).cancel()

    instance = engine.rows.get(entities.ProcessInstance, engine.instance_key)
    assert (instance.state, instance.end_date) == (entities.ProcessInstanceState.TERMINATED, engine.now)
    assert instance.has_incident is False
    assert engine.rows.get(entities.Job, job).state is entities.JobState.CANCELED
    assert engine.rows.get(entities.Incident, incident).state is entities.IncidentState.RESOLVED
    row = engine.rows.get(entities.ElementInstance, element)
    assert (row.state, row.end_date) == (entities.ElementInstanceState.TERMINATED, engine.now)


def test_a_cancelled_job_is_not_found(engine: Scenario) -> None:
    engine.deploy(charge()).start()
    (job,) = engine.activate("charge")
    engine.cancel()

    assert engine.refusal(job_commands.CompleteJob("default", job.key)).type is RejectionType.NOT_FOUND


@pytest.mark.parametrize("end", [Scenario.cancel, lambda engine: engine.complete("charge")])
def test_an_instance_that_ended_cannot_be_cancelled(
    engine: Scenario, end: Callable[[Scenario], object]
) -> None:
    end(engine.deploy(charge()).start())

    refusal = engine.refusal(process_instance_commands.CancelProcessInstance("default", engine.instance_key))

    assert refusal.type is RejectionType.NOT_FOUND
    assert refusal.reason == f"no active process instance with key {engine.instance_key}"


def test_other_instances_go_on(engine: Scenario) -> None:
    engine.deploy(charge()).start().start().cancel()

    (job,) = engine.activate("charge")

    assert job.instance.key != engine.instance_key
    assert (
        engine.refusal(process_instance_commands.CancelProcessInstance("default", Key(1))).type
        is RejectionType.NOT_FOUND
    )
