"""Laws that hold after any history."""

from collections import Counter
from collections.abc import Collection, Iterable
from copy import deepcopy
from typing import Any

from server.engine import State, apply
from server.engine.definitions import message_starts_of
from server.engine.documents import unpack
from server.engine.events import Event, SequenceFlowTaken
from server.engine.keys import Key
from server.engine.lifecycle import ElementState
from server.engine.process_instance import JobState, OpenIncident, ProcessInstance
from server.engine.start_triggers import ConditionStart, MessageStart, SignalStart
from server.engine.subscriptions import ConditionalSubscription, MessageSubscription, SignalSubscription
from server.store import entities
from tests.server.engine.rows import Rows
from tests.server.engine.stored import pages_of

ACTIVE = entities.ProcessInstanceState.ACTIVE

# A row says what happened to the job last.
_ALWAYS = {entities.JobState.RETRIES_UPDATED, entities.JobState.MIGRATED}
_OFFERED = {
    entities.JobState.CREATED,
    entities.JobState.TIMED_OUT,
    entities.JobState.FAILED,
    entities.JobState.ERROR_THROWN,
    *_ALWAYS,
}
ROW_STATES = {
    JobState.ACTIVATABLE: _OFFERED,
    JobState.ACTIVATED: {entities.JobState.CREATED, *_ALWAYS},
    JobState.BACKING_OFF: {entities.JobState.FAILED, *_ALWAYS},
    JobState.FAILED: {entities.JobState.FAILED, *_ALWAYS},
    JobState.ERROR_THROWN: {entities.JobState.ERROR_THROWN, *_ALWAYS},
}


def replay(happened: Iterable[Event]) -> State:
    state = State()
    for event in happened:
        apply(state, event)
    return state


def recovered(live: State) -> State:
    """The state that is read back from the documents, which come in any order."""
    state = State()
    state.definitions, state.versions, state.starts = live.definitions, live.versions, live.starts
    state.tagged, state.numbers = live.tagged, live.numbers
    state.decisions, state.forms = live.decisions, live.forms
    state.generic_resources = live.generic_resources
    state.cluster_variables = live.cluster_variables
    state.global_task_listeners = live.global_task_listeners
    documents = [pages_of(instance) for instance in live.instances.values()]
    state.adopt(*(unpack(pages) for pages in reversed(documents)))
    known = (live.messages.messages, live.messages.subscriptions)
    state.messages.adopt(deepcopy(each) for records in known for each in reversed(records.values()))
    for broadcast in live.signals.broadcasts.values():
        state.signals.take_in(deepcopy(broadcast))
    for operation in live.batches.operations.values():
        state.batches.take_in(deepcopy(operation))
    for page in live.batches.pages.values():
        state.batches.take_in_page(page)
    for timer in live.start_timers.timers.values():
        state.start_timers.take_in(timer)
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
    _expect_user_tasks(state, rows)
    _expect_incidents(state, rows)
    _expect_variables(state, rows)
    _expect_message_subscriptions(state, rows)


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
        (entities.UserTask, instance.user_tasks),
    )
    for kind, keys in kinds:
        for key in keys:
            row = rows.get(kind, Key(key))
            assert definition == (row.process_definition_key, row.process_definition_id)
            assert row.element_id == instance.elements[row.element_instance_key].element_id
    parts: tuple[Any, ...] = (*instance.jobs.values(), *instance.user_tasks.values())
    for record in parts:
        assert record.element_id == instance.elements[record.element_instance_key].element_id


def _expect_jobs(state: State, rows: Rows) -> None:
    open_jobs = {job.key: job for instance in state.instances.values() for job in instance.jobs.values()}
    assert open_jobs.keys() == {row.job_key for row in rows.all(entities.Job) if row.end_time is None}
    for key, job in open_jobs.items():
        row = rows.get(entities.Job, key)
        assert (job.retries, job.type, job.worker) == (row.retries, row.type, row.worker)
        if job.state is JobState.ACTIVATED:
            assert job.due == row.deadline
        assert row.state in ROW_STATES[job.state]


def _expect_user_tasks(state: State, rows: Rows) -> None:
    tasks = {task.key: task for instance in state.instances.values() for task in instance.user_tasks.values()}
    ended = {entities.UserTaskState.COMPLETED, entities.UserTaskState.CANCELED}
    rows_of = {row.user_task_key: row for row in rows.all(entities.UserTask)}
    assert tasks.keys() == {key for key, row in rows_of.items() if row.state not in ended}
    for key, task in tasks.items():
        row = rows.get(entities.UserTask, key)
        names = ("element_instance_key", "candidate_groups", "candidate_users", "due_date", "follow_up_date")
        names += ("form_key",)
        assert [getattr(task, name) for name in names] == [getattr(row, name) for name in names]
        assert (task.assignee or None, task.priority, task.state) == (row.assignee, row.priority, row.state)
    for row in rows_of.values():
        assert (row.completion_date is None) == (row.state not in ended)


def _expect_incidents(state: State, rows: Rows) -> None:
    active = entities.IncidentState.ACTIVE
    open_rows = {row.incident_key: row for row in rows.all(entities.Incident) if row.state == active}
    incidents = open_incidents(state)
    assert incidents.keys() == open_rows.keys()
    for key, incident in incidents.items():
        row = open_rows[key]
        assert (incident.job_key, incident.element_instance_key) == (row.job_key, row.element_instance_key)


def _expect_variables(state: State, rows: Rows) -> None:
    for instance in state.instances.values():
        for scope_key, scope in instance.variables.items():
            for name, variable in scope.items():
                row = rows.get(entities.Variable, variable.key)
                assert (name, variable.value, scope_key) == (row.name, row.value, row.scope_key)


def _expect_message_subscriptions(state: State, rows: Rows) -> None:
    """Element instances that wait for a message, and message start events of the latest versions, are open."""
    waiting: dict[Key, tuple[object, ...]] = {
        key: (
            *(instance.head.process_definition_key, instance.head.process_definition_id),
            *(each.element_id, each.message_name, each.element_instance_key, each.correlation_key),
        )
        for instance in state.instances.values()
        for key, each in instance.subscriptions.items()
        if isinstance(each, MessageSubscription)
    }
    for definition in filter(None, (state.latest(*name) for name in state.versions)):
        for key, start in message_starts_of(definition).items():
            names = (definition.process_definition_id, start.element_id, start.message_name)
            waiting[key] = (definition.key, *names, None, None)
    assert waiting == {
        row.message_subscription_key: (
            *(row.process_definition_key, row.process_definition_id),
            *(row.element_id, row.message_name, row.element_instance_key, row.correlation_key),
        )
        for row in rows.all(entities.MessageSubscription)
        if row.is_open
    }


def open_incidents(state: State) -> dict[Key, OpenIncident]:
    return {key: each for instance in state.instances.values() for key, each in instance.incidents.items()}


def expect_indexes_of(state: State) -> None:
    """Indexes know what the documents hold, and nothing else."""
    assert state.owners == {
        key: owner
        for owner, instance in state.instances.items()
        for key in (*instance.jobs, *instance.incidents, *instance.subscriptions, *instance.user_tasks)
    }
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
    _expect_calls(state)
    _expect_homes(state)
    _expect_signals(state)
    _expect_starts(state)


def _expect_calls(state: State) -> None:
    """A call activity and the process instance that it called know each other."""
    calling = {
        (instance.head.key, element.key, element.called_key)
        for instance in state.instances.values()
        for element in instance.elements.values()
        if element.called_key is not None
    }
    assert calling == {
        (caller.process_instance_key, caller.element_instance_key, key)
        for key, instance in state.instances.items()
        if (caller := instance.head.caller) is not None
    }


def _expect_homes(state: State) -> None:
    """Message subscriptions of process instances and those of home partitions are the same."""
    opened = {
        key: (
            instance.head.tenant_id,
            instance.head.process_definition_id,
            each.message_name,
            each.correlation_key,
        )
        for instance in state.instances.values()
        for key, each in instance.subscriptions.items()
        if isinstance(each, MessageSubscription)
    }
    assert opened == {
        each.key: (each.tenant_id, each.process_definition_id, each.message_name, each.correlation_key)
        for each in state.messages.subscriptions.values()
    }
    assert all(each.message_key is None for each in state.messages.subscriptions.values())
    assert not any(each.deliveries or each.is_over for each in state.messages.messages.values())


def _expect_signals(state: State) -> None:
    """Signal subscriptions are found by their names, conditions by their tenants, and no broadcast is left over."""
    opened = {
        (instance.head.tenant_id, each.signal_name, key, instance.head.key)
        for instance in state.instances.values()
        for key, each in instance.subscriptions.items()
        if isinstance(each, SignalSubscription)
    }
    assert opened == {
        (*place, key, line[key]) for place, line in state.signals.waiting.items() for key in line.after()
    }
    assert all(state.signals.waiting.values())
    reading = {
        (owner, key, instance.head.key)
        for instance in state.instances.values()
        for key, each in instance.subscriptions.items()
        if isinstance(each, ConditionalSubscription) and "camunda" in each.variable_names
        for owner in (instance.head.tenant_id, None)
    }
    assert reading == {
        (owner, key, line[key]) for owner, line in state.signals.conditions.items() for key in line.after()
    }
    assert state.signals.broadcasts == {}


def _expect_starts(state: State) -> None:
    """The start events of the latest versions are found by name, and what messages began by its correlation key."""
    latest = [definition for name in state.versions if (definition := state.latest(*name)) is not None]
    for known, kind, name in (
        (state.starts.messages, MessageStart, "message_name"),
        (state.starts.signals, SignalStart, "signal_name"),
    ):
        assert {
            (each.tenant_id, getattr(start, name), each.process_definition_id, each.key, start.element_id)
            for each in latest
            for start in each.starts
            if isinstance(start, kind)
        } == {
            (*place, process_id, *line[process_id])
            for place, line in known.items()
            for process_id in line.after()
        }
    assert {
        (tenant_id, process_id, line[process_id])
        for tenant_id, line in state.starts.conditions.items()
        for process_id in line.after()
    } == {
        (each.tenant_id, each.process_definition_id, each.key)
        for each in latest
        if any(isinstance(start, ConditionStart) for start in each.starts)
    }
    assert state.started == {
        each.message_start: each.head.key
        for each in state.instances.values()
        if each.message_start is not None
    }


def _expect_tree(instance: ProcessInstance) -> None:
    for element in instance.elements.values():
        children = [child for child in instance.elements.values() if child.scope_key == element.key]
        assert element.children == len(children)
        going_on = {child.key for child in children if child.state is not ElementState.TERMINATING}
        assert instance.inside.get(element.key, {}).keys() == going_on
        waiting = [
            each.key for each in instance.subscriptions.values() if each.element_instance_key == element.key
        ]
        assert instance.subscribed(element.key) == sorted(waiting)
        assert element.flows == sum(element.joins.values())
        assert element.job_key is None or instance.jobs[element.job_key].element_instance_key == element.key
        assert element.incident_key is None or element.incident_key in instance.incidents
        assert element.user_task_key is None or element.user_task_key in instance.user_tasks
    places = instance.inside.keys() | instance.waiting.keys() | instance.variables.keys()
    assert places <= instance.elements.keys()
    for user_task in instance.user_tasks.values():
        assert instance.elements[user_task.element_instance_key].user_task_key == user_task.key
    for job in instance.jobs.values():
        assert instance.elements[job.element_instance_key].job_key == job.key
        assert job.incident_key is None or instance.incidents[job.incident_key].job_key == job.key


def expect_laws(state: State, happened: list[Event], rows: Rows) -> None:
    assert state == replay(happened)
    assert state == recovered(state)
    expect_indexes_of(state)
    expect_rows_of(state, rows)
    _expect_sequence_flows(happened, rows)


def _expect_sequence_flows(happened: Iterable[Event], rows: Rows) -> None:
    """Every sequence flow that was taken stands in the row of the element instance that was left by it."""
    kept = {row.process_instance_key for row in rows.all(entities.ProcessInstance)}
    taken = [event for event in happened if isinstance(event, SequenceFlowTaken)]
    flows = Counter((event.instance.key, event.flow_id) for event in taken if event.instance.key in kept)
    assert flows == Counter(
        (row.process_instance_key, flow_id)
        for row in rows.all(entities.ElementInstance)
        for flow_id in row.sequence_flow_ids
    )
