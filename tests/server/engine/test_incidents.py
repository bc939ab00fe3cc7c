import pytest

from server.bpmn.builder import ProcessBuilder, process
from server.engine.events import ElementActivated, IncidentRaised, IncidentResolved
from server.engine.keys import Key
from server.engine.lifecycle import ElementState
from server.engine.process_instance import OpenIncident
from server.engine.process_instance_commands import ResolveIncident
from server.engine.rejection import RejectionType
from server.store.entities import (
    ElementInstance,
    ElementInstanceState,
    Incident,
    IncidentState,
    ProcessInstance,
)
from tests.server.engine.scenario import Scenario


def two_broken() -> ProcessBuilder:
    """Two tasks whose job types cannot be evaluated, and one that corrects the variables."""
    builder = process("order").service_task("a", type="=type_a").end().branch("start")
    builder.service_task("b", type="=type_b").end()
    return builder.branch("start").service_task("correct", type="correct").end()


def test_an_incident_names_what_cannot_go_on(engine: Scenario) -> None:
    engine.deploy(two_broken()).start(type_b="b")

    raised = engine.incident

    element = engine.element("a")
    assert (raised.element_id, raised.element_instance_key, raised.job_key) == ("a", element.key, None)
    assert element.incident_key == raised.key
    assert engine.instance.incidents == {
        raised.key: OpenIncident(raised.key, element.key, None, raised.error_type)
    }


def test_what_is_not_concerned_goes_on(engine: Scenario) -> None:
    engine.deploy(two_broken()).start(type_b="b")

    engine.complete("b").complete("correct")

    assert engine.is_running
    assert engine.path == ["start", "b", "end_2", "correct", "end_3"]


def test_resolving_takes_the_failed_step_again_and_nothing_before_it(engine: Scenario) -> None:
    engine.deploy(two_broken()).start(type_b="b").complete("correct", type_a="a")

    resolved = engine.incident.key
    engine.resolve()

    kinds = [type(event) for event in engine.last_events]
    assert [IncidentResolved, ElementActivated] == [kinds[0], kinds[-1]]
    assert engine.last_events[0].key == resolved  # type: ignore[attr-defined]
    assert engine.offered == ["b", "a"]


def test_an_incident_is_resolved_once(engine: Scenario) -> None:
    engine.deploy(two_broken()).start(type_b="b").complete("correct", type_a="a")
    key = engine.incident.key
    engine.resolve()

    refusal = engine.refusal(ResolveIncident("default", key))

    assert (refusal.type, refusal.reason) == (RejectionType.NOT_FOUND, f"no open incident with key {key}")


def test_an_unknown_incident_is_not_found(engine: Scenario) -> None:
    assert engine.refusal(ResolveIncident("default", Key(42))).type is RejectionType.NOT_FOUND


def test_an_incident_of_a_job_without_retries_is_not_resolved(engine: Scenario) -> None:
    engine.deploy(process("order").service_task("a", type="a").end()).start().fail("a")
    key = engine.incident.key

    refusal = engine.refusal(ResolveIncident("default", key))

    assert refusal.type is RejectionType.INVALID_STATE
    assert refusal.reason == f"the job of incident {key} has no retries left: update its retries first"
    assert list(engine.instance.incidents) == [key]


def test_the_last_resolution_clears_the_mark_of_the_instance(engine: Scenario) -> None:
    engine.deploy(two_broken()).start().complete("correct", type_a="a", type_b="b")
    marks = [engine.rows.get(ProcessInstance, engine.instance_key).has_incident]

    for _ in range(2):
        engine.resolve()
        marks.append(engine.rows.get(ProcessInstance, engine.instance_key).has_incident)

    assert marks == [True, True, False]
    assert [event.is_last for event in engine.happened(IncidentResolved)] == [False, True]


def test_a_row_follows_its_incident(engine: Scenario) -> None:
    engine.deploy(two_broken()).start(type_b="b")
    raised = engine.incident

    engine.complete("correct", type_a="a").resolve()

    row = engine.rows.get(Incident, raised.key)
    assert (row.error_type, row.error_message) == ("EXTRACT_VALUE_ERROR", raised.message)
    assert (row.state, row.creation_time) == (IncidentState.RESOLVED, engine.now)
    element = engine.rows.get(ElementInstance, raised.element_instance_key)
    assert (element.has_incident, element.incident_key) == (False, None)


@pytest.mark.parametrize("rounds", [1, 3])
def test_each_failed_resolution_raises_a_new_incident_in_place_of_the_old(
    engine: Scenario, rounds: int
) -> None:
    engine.deploy(two_broken()).start(type_b="b")

    for _ in range(rounds):
        engine.resolve()

    raised = [event.key for event in engine.happened(IncidentRaised)]
    assert len(set(raised)) == rounds + 1
    assert list(engine.instance.incidents) == raised[-1:]
    assert engine.element("a").incident_key == raised[-1]


def test_an_incident_keeps_the_state_of_its_element_and_marks_it(engine: Scenario) -> None:
    engine.deploy(process("order").service_task("a", type="a", outputs={"x": "=assert(y, y)"}).end()).start()
    key = engine.element("a").key
    engine.complete("a", y=False)

    row = engine.rows.get(ElementInstance, key)

    assert (row.state, row.end_date) == (ElementInstanceState.ACTIVE, None)
    assert (row.has_incident, row.incident_key) == (True, engine.incident.key)
    assert engine.element("a").state is ElementState.COMPLETING


def test_an_element_has_one_active_incident(engine: Scenario) -> None:
    engine.deploy(two_broken()).start(type_b="b")
    first = engine.incident.key

    engine.complete("b").complete("correct")
    engine.resolve()

    open_ = [row.incident_key for row in engine.rows.all(Incident) if row.state is IncidentState.ACTIVE]
    assert open_ == [engine.incident.key]
    assert engine.rows.get(Incident, first).state is IncidentState.RESOLVED
