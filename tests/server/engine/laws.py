"""What must hold after any history."""

from collections.abc import Collection, Iterable
from typing import Any

import msgspec

from server.engine import State, apply
from server.engine.events import Event
from server.engine.keys import Key
from server.engine.state import JobState, ProcessInstance
from server.store import entities
from tests.server.engine.rows import Rows

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(ProcessInstance).decode

ACTIVE = entities.ProcessInstanceState.ACTIVE

# A row says what happened to the job last.
_OFFERED = {
    entities.JobState.CREATED,
    entities.JobState.TIMED_OUT,
    entities.JobState.FAILED,
    entities.JobState.ERROR_THROWN,
    entities.JobState.RETRIES_UPDATED,
}
ROW_STATES = {
    JobState.ACTIVATABLE: _OFFERED,
    JobState.ACTIVATED: {entities.JobState.CREATED, entities.JobState.RETRIES_UPDATED},
    JobState.BACKING_OFF: {entities.JobState.FAILED, entities.JobState.RETRIES_UPDATED},
    JobState.FAILED: {entities.JobState.FAILED, entities.JobState.RETRIES_UPDATED},
    JobState.ERROR_THROWN: {entities.JobState.ERROR_THROWN, entities.JobState.RETRIES_UPDATED},
}


def replay(happened: Iterable[Event]) -> State:
    state = State()
    for event in happened:
        apply(state, event)
    return state


def recovered(live: State) -> State:
    """The state that is read back from the documents, which come in any order."""
    state = State()
    state.definitions, state.versions = live.definitions, live.versions
    state.decisions = live.decisions
    documents = [_encode(instance) for instance in live.instances.values()]
    state.adopt(*(_decode(document) for document in reversed(documents)))
    state.last_key = live.last_key
    state.last_offer = max(state.last_offer, live.last_offer)
    return state


def expect_rows_of(state: State, rows: Rows) -> None:
    """Rows and state tell the same about what is alive."""
    instances = {row.process_instance_key: row for row in rows.all(entities.ProcessInstance)}
    assert state.instances.keys() == {key for key, row in instances.items() if row.state == ACTIVE}
    for key, instance in state.instances.items():
        _expect_definition(instances[key], instance)
        _expect_parts(instance, rows)
    elements = [element for instance in state.instances.values() for element in instance.elements.values()]
    assert {element.key for element in elements if element.scope_key is not None} == {
        row.element_instance_key
        for row in rows.all(entities.ElementInstance)
        if row.state == entities.ElementInstanceState.ACTIVE
    }
    for element in elements:
        if element.scope_key is not None:
            row = rows.get(entities.ElementInstance, element.key)
            assert (element.incident_key, element.element_id) == (row.incident_key, row.element_id)
            assert row.has_incident == (element.incident_key is not None)
    for key, instance_row in instances.items():
        assert instance_row.has_incident == bool(key in state.instances and state.instances[key].incidents)
        assert (instance_row.end_date is None) == (key in state.instances)
    _expect_jobs(state, rows)
    _expect_incidents(state, rows)
    _expect_variables(state, rows)


def _expect_definition(row: entities.ProcessInstance, instance: ProcessInstance) -> None:
    head = instance.head
    expected = (head.process_definition_key, head.process_definition_id, head.version)
    assert expected == (
        row.process_definition_key,
        row.process_definition_id,
        row.process_definition_version,
    )
    names = (row.process_definition_name, row.process_definition_version_tag)
    assert (head.process_name, head.version_tag) == names


def _expect_parts(instance: ProcessInstance, rows: Rows) -> None:
    """Element instances, jobs and incidents stand in the definition of their process instance."""
    definition = (instance.head.process_definition_key, instance.head.process_definition_id)
    kinds: tuple[tuple[type[Any], Collection[int]], ...] = (
        (entities.ElementInstance, instance.elements.keys() - {instance.head.key}),
        (entities.Job, instance.jobs),
        (entities.Incident, instance.incidents),
    )
    for kind, keys in kinds:
        for key in keys:
            row = rows.get(kind, Key(key))
            assert definition == (row.process_definition_key, row.process_definition_id)
            assert row.element_id == instance.elements[row.element_instance_key].element_id
    for job in instance.jobs.values():
        assert job.element_id == instance.elements[job.element_instance_key].element_id


def _expect_jobs(state: State, rows: Rows) -> None:
    open_jobs = {job.key: job for instance in state.instances.values() for job in instance.jobs.values()}
    assert open_jobs.keys() == {row.job_key for row in rows.all(entities.Job) if row.end_time is None}
    for key, job in open_jobs.items():
        row = rows.get(entities.Job, key)
        assert (job.retries, job.type, job.worker) == (row.retries, row.type, row.worker)
        if job.state is JobState.ACTIVATED:
            assert job.due == row.deadline
        assert row.state in ROW_STATES[job.state]


def _expect_incidents(state: State, rows: Rows) -> None:
    active = entities.IncidentState.ACTIVE
    open_rows = {row.incident_key: row for row in rows.all(entities.Incident) if row.state == active}
    assert state.incident_owners.keys() == open_rows.keys()
    for key, owner in state.incident_owners.items():
        incident = state.instances[owner].incidents[key]
        row = open_rows[key]
        assert (incident.job_key, incident.element_instance_key) == (row.job_key, row.element_instance_key)


def _expect_variables(state: State, rows: Rows) -> None:
    for instance in state.instances.values():
        for scope_key, scope in instance.variables.items():
            for name, variable in scope.items():
                row = rows.get(entities.Variable, variable.key)
                assert (name, variable.value, scope_key) == (row.name, row.value, row.scope_key)


def expect_indexes_of(state: State) -> None:
    """Indexes know what the documents hold, and nothing else."""
    jobs = {job.key: key for key, instance in state.instances.items() for job in instance.jobs.values()}
    assert jobs == state.job_owners
    incidents = {
        incident: key for key, instance in state.instances.items() for incident in instance.incidents
    }
    assert incidents == state.incident_owners
    offered = {key for queue in state.offers.values() for key in queue}
    assert offered == {
        job.key
        for instance in state.instances.values()
        for job in instance.jobs.values()
        if job.state is JobState.ACTIVATABLE
    }
    assert all(state.offers.values())
    for instance in state.instances.values():
        _expect_tree(instance)


def _expect_tree(instance: ProcessInstance) -> None:
    for element in instance.elements.values():
        children = [child for child in instance.elements.values() if child.scope_key == element.key]
        assert element.children == len(children)
        assert element.flows == sum(element.joins.values())
        assert element.job_key is None or instance.jobs[element.job_key].element_instance_key == element.key
        assert element.incident_key is None or element.incident_key in instance.incidents
    assert instance.variables.keys() <= instance.elements.keys()
    for job in instance.jobs.values():
        assert instance.elements[job.element_instance_key].job_key == job.key
        assert job.incident_key is None or instance.incidents[job.incident_key].job_key == job.key


def expect_laws(state: State, happened: list[Event], rows: Rows) -> None:
    assert state == replay(happened)
    assert state == recovered(state)
    expect_indexes_of(state)
    expect_rows_of(state, rows)
