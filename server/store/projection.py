"""Projects events to rows: one projector for each event that rows show, in one table."""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Final, cast

from server.bpmn.executable import ElementType
from server.engine import (
    cluster_variable_events,
    decision_events,
    events,
    form_events,
    generic_resource_events,
    global_task_listener_events,
)
from server.engine.definitions import executable_process
from server.engine.incidents import ErrorType
from server.engine.job_kinds import JobKind, ListenerEventType
from server.engine.keys import Key
from server.store.batch_projection import BATCH_PROJECTORS
from server.store.cluster_variable_projection import cluster_variable_deleted, cluster_variable_set
from server.store.decision_projection import (
    decision_evaluated,
    decision_instance_deleted,
    decision_requirements_deleted,
    decision_requirements_deployed,
)
from server.store.entities import (
    ElementInstance,
    ElementInstanceState,
    Incident,
    IncidentState,
    Job,
    JobState,
    ProcessDefinition,
    ProcessDefinitionState,
    ProcessInstance,
    ProcessInstanceState,
    UserTask,
    UserTaskState,
    Variable,
)
from server.store.erasable import ERASED
from server.store.form_projection import form_deleted, form_deployed
from server.store.generic_resource_projection import generic_resource_deleted, generic_resource_deployed
from server.store.global_task_listener_projection import (
    global_task_listener_deleted,
    global_task_listener_set,
)
from server.store.message_projection import (
    message_correlated,
    message_starts_changed,
    message_starts_opened,
    subscription_closed,
    subscription_opened,
    subscriptions_migrated,
)
from server.store.ports import Change, Erase, Forget, Insert, Update
from server.store.xml_text import xml_text

Changes = list[Change]
Projector = Callable[[events.Event, datetime, Changes], None]

# Reading the value of a member takes as long as the rest of its row.
_ELEMENT_TYPES = {member: member.value for member in ElementType}
_JOB_CREATED: Final = JobState.CREATED
_JOB_COMPLETED: Final = JobState.COMPLETED
_ELEMENT_COMPLETED: Final = ElementInstanceState.COMPLETED
_JOB_KINDS = {member: member.value for member in JobKind}
_LISTENER_EVENT_TYPES = {member: member.value for member in ListenerEventType}


def project(happened: Iterable[events.Event], now: datetime, changes: Changes) -> None:
    """Append the row changes of the events."""
    for event in happened:
        projector = PROJECTORS.get(type(event))
        if projector is not None:
            projector(event, now, changes)


# Definitions


def _process_definition_deployed(
    event: events.ProcessDefinitionDeployed, now: datetime, changes: Changes
) -> None:
    process = executable_process(event.content, event.process_definition_id)
    if event.previous_key is not None:
        changes.append(Update(ProcessDefinition, event.previous_key, {"is_latest_version": False}))
    row = ProcessDefinition(
        process_definition_key=event.key,
        tenant_id=event.tenant_id,
        process_definition_id=event.process_definition_id,
        version=event.version,
        name=process.name,
        version_tag=process.version_tag,
        resource_name=event.resource_name,
        xml=xml_text(event.content),
        deployment_key=event.deployment_key,
        deployment_time=now,
        has_start_form=process.start_form_id is not None,
        start_form_id=process.start_form_id,
    )
    changes.append(Insert(row))
    message_starts_opened(event, process, now, changes)


def _process_definition_deleted(
    event: events.ProcessDefinitionDeleted,
    now: datetime,  # noqa: ARG001  # as for all events
    changes: Changes,
) -> None:
    deleted = {"is_latest_version": False, "state": ProcessDefinitionState.DELETED}
    changes.append(Update(ProcessDefinition, event.definition.key, deleted))
    if event.latest_key is not None:
        changes.append(Update(ProcessDefinition, event.latest_key, {"is_latest_version": True}))


# Process and element instances


def _process_instance_created(event: events.ProcessInstanceCreated, now: datetime, changes: Changes) -> None:
    head, caller = event.instance, event.instance.caller
    row = ProcessInstance(
        process_instance_key=head.key,
        tenant_id=head.tenant_id,
        process_definition_key=head.process_definition_key,
        process_definition_id=head.process_definition_id,
        process_definition_name=head.process_name,
        process_definition_version=head.version,
        process_definition_version_tag=head.version_tag,
        start_date=now,
        parent_process_instance_key=caller.process_instance_key if caller is not None else None,
        parent_element_instance_key=caller.element_instance_key if caller is not None else None,
        root_process_instance_key=head.root_key,
        tags=head.tags,
        business_id=head.business_id,
    )
    changes.append(Insert(row))


def _process_instance_deleted(
    event: events.ProcessInstanceDeleted,
    now: datetime,  # noqa: ARG001  # as for all events
    changes: Changes,
) -> None:
    changes.append(Forget(event.tenant_id, event.key))


def _variables_erased(event: events.VariablesErased, now: datetime, changes: Changes) -> None:
    for key in event.incident_keys:
        changes.append(Update(Incident, key, {"error_message": ERASED}))
    for key in event.job_keys:
        changes.append(Update(Job, key, {"error_message": None}))
    changes.append(Erase(event.key, event.tenant_id, event.process_instance_key, event.names, now))


def _process_instance_migrated(
    event: events.ProcessInstanceMigrated, now: datetime, changes: Changes
) -> None:
    head = event.instance
    definition: dict[str, object] = {
        "process_definition_key": head.process_definition_key,
        "process_definition_id": head.process_definition_id,
    }
    described = {
        "process_definition_name": head.process_name,
        "process_definition_version": head.version,
        "process_definition_version_tag": head.version_tag,
    }
    changes.append(Update(ProcessInstance, head.key, definition | described))
    for element in event.elements:
        moved = definition | {"element_id": element.element_id}
        if element.key != head.key:
            named = {"element_name": element.element_name or element.element_id}
            changes.append(Update(ElementInstance, element.key, moved | named))
        if element.job_key is not None:
            _job(element.job_key, now, changes, **moved, state=JobState.MIGRATED)
        if element.incident_key is not None:
            changes.append(Update(Incident, element.incident_key, moved))
        if element.user_task_key is not None:
            process = {"process_name": head.process_name, "process_definition_version": head.version}
            values = moved | process | {"name": element.element_name}
            changes.append(Update(UserTask, element.user_task_key, values))
    subscriptions_migrated(event, now, changes)


def _element_activating(event: events.ElementActivating, now: datetime, changes: Changes) -> None:
    head = event.instance
    row = ElementInstance(
        element_instance_key=event.key,
        tenant_id=head.tenant_id,
        process_instance_key=head.key,
        process_definition_key=head.process_definition_key,
        process_definition_id=head.process_definition_id,
        element_id=event.element_id,
        element_name=event.element_name or event.element_id,
        type=_ELEMENT_TYPES[event.type],
        element_instance_scope_key=event.scope_key,
        start_date=now,
        root_process_instance_key=head.root_key,
    )
    changes.append(Insert(row))


def _element_completed(event: events.ElementCompleted, now: datetime, changes: Changes) -> None:
    if event.key == event.instance.key:
        _process_instance_ended(event.key, now, changes, ProcessInstanceState.COMPLETED)
        return
    passed = _just_entered(event.key, changes)
    if passed is not None:
        passed.state, passed.end_date = _ELEMENT_COMPLETED, now
        passed.sequence_flow_ids = event.flow_ids
        return
    values: dict[str, object] = {"state": _ELEMENT_COMPLETED, "end_date": now}
    if event.flow_ids:
        values["sequence_flow_ids"] = event.flow_ids
    changes.append(Update(ElementInstance, event.key, values))


def _just_entered(key: Key, changes: Changes) -> ElementInstance | None:
    """The new row of an element instance if the last change of the batch inserted it, as for pass-through elements."""
    last = changes[-1] if changes else None
    row = last.row if type(last) is Insert else None
    return row if type(row) is ElementInstance and row.element_instance_key == key else None


def _element_terminated(event: events.ElementTerminated, now: datetime, changes: Changes) -> None:
    if event.key == event.instance.key:
        _process_instance_ended(event.key, now, changes, ProcessInstanceState.TERMINATED)
    else:
        values = {"state": ElementInstanceState.TERMINATED, "end_date": now}
        changes.append(Update(ElementInstance, event.key, values))


def _process_instance_ended(key: Key, now: datetime, changes: Changes, state: ProcessInstanceState) -> None:
    changes.append(Update(ProcessInstance, key, {"state": state, "end_date": now}))


# Variables


def _variable_created(event: events.VariableCreated, _: datetime, changes: Changes) -> None:
    row = Variable(
        variable_key=event.key,
        tenant_id=event.instance.tenant_id,
        name=event.name,
        scope_key=event.scope_key,
        process_instance_key=event.instance.key,
        value=event.value,
    )
    changes.append(Insert(row))


def _variable_updated(event: events.VariableUpdated, _: datetime, changes: Changes) -> None:
    changes.append(Update(Variable, event.key, {"value": event.value}))


# Jobs


def _job_created(event: events.JobCreated, now: datetime, changes: Changes) -> None:
    head = event.instance
    row = Job(
        job_key=event.key,
        tenant_id=head.tenant_id,
        type=event.type,
        kind=_JOB_KINDS[event.kind],
        listener_event_type=_LISTENER_EVENT_TYPES[event.listener_event_type],
        retries=event.retries,
        custom_headers=event.headers,
        element_id=event.element_id,
        element_instance_key=event.element_instance_key,
        process_instance_key=head.key,
        process_definition_key=head.process_definition_key,
        process_definition_id=head.process_definition_id,
        creation_time=now,
        last_update_time=now,
        root_process_instance_key=head.root_key,
    )
    changes.append(Insert(row))


def _job_activated(event: events.JobActivated, now: datetime, changes: Changes) -> None:
    values = {
        "last_update_time": now,
        "worker": event.worker,
        "deadline": event.deadline,
        "state": _JOB_CREATED,
    }
    changes.append(Update(Job, event.key, values))


def _job_yielded(event: events.JobYielded, now: datetime, changes: Changes) -> None:
    _job(event.key, now, changes, deadline=None, state=JobState.CREATED)


def _job_timed_out(event: events.JobTimedOut, now: datetime, changes: Changes) -> None:
    _job(event.key, now, changes, state=JobState.TIMED_OUT)


def _job_failed(event: events.JobFailed, now: datetime, changes: Changes) -> None:
    _job(
        event.key,
        now,
        changes,
        retries=event.retries,
        error_message=event.error_message,
        has_failed_with_retries_left=event.retries > 0,
        state=JobState.FAILED,
    )


def _job_withheld(event: events.JobWithheld, now: datetime, changes: Changes) -> None:
    _job(event.key, now, changes, error_message=event.message, state=JobState.FAILED)


def _job_error_thrown(event: events.JobErrorThrown, now: datetime, changes: Changes) -> None:
    _job(
        event.key,
        now,
        changes,
        error_code=event.error_code,
        error_message=event.error_message,
        state=JobState.ERROR_THROWN,
        end_time=now if event.is_caught else None,
    )


def _job_retries_updated(event: events.JobRetriesUpdated, now: datetime, changes: Changes) -> None:
    _job(event.key, now, changes, retries=event.retries, state=JobState.RETRIES_UPDATED)


def _job_deadline_updated(event: events.JobDeadlineUpdated, now: datetime, changes: Changes) -> None:
    _job(event.key, now, changes, deadline=event.deadline)


def _job_completed(event: events.JobCompleted, now: datetime, changes: Changes) -> None:
    values: dict[str, object] = {"last_update_time": now, "end_time": now, "state": _JOB_COMPLETED}
    if event.is_denied is not None:
        values |= {"is_denied": event.is_denied, "denied_reason": event.denied_reason}
    changes.append(Update(Job, event.key, values))


def _job_canceled(event: events.JobCanceled, now: datetime, changes: Changes) -> None:
    _job(event.key, now, changes, end_time=now, state=JobState.CANCELED)


def _job(key: Key, now: datetime, changes: Changes, **values: object) -> None:
    changes.append(Update(Job, key, {"last_update_time": now, **values}))


# User tasks


def _user_task_created(event: events.UserTaskCreated, now: datetime, changes: Changes) -> None:
    head = event.instance
    row = UserTask(
        user_task_key=event.key,
        tenant_id=head.tenant_id,
        name=event.element_name,
        element_id=event.element_id,
        element_instance_key=event.element_instance_key,
        process_instance_key=head.key,
        process_name=head.process_name,
        process_definition_key=head.process_definition_key,
        process_definition_id=head.process_definition_id,
        process_definition_version=head.version,
        creation_date=now,
        custom_headers=event.headers,
        candidate_groups=event.candidate_groups,
        candidate_users=event.candidate_users,
        due_date=event.due_date,
        follow_up_date=event.follow_up_date,
        priority=event.priority,
        external_form_reference=event.external_form_reference,
        form_key=event.form_key,
        tags=head.tags,
        root_process_instance_key=head.root_key,
    )
    changes.append(Insert(row))


def _user_task_assigned(event: events.UserTaskAssigned, _: datetime, changes: Changes) -> None:
    changes.append(Update(UserTask, event.key, {"assignee": event.assignee or None}))


def _user_task_updated(event: events.UserTaskUpdated, _: datetime, changes: Changes) -> None:
    names = ("candidate_groups", "candidate_users", "due_date", "follow_up_date", "priority")
    values = {name: getattr(event, name) for name in names}
    if event.assignee is not None:
        values["assignee"] = event.assignee or None
    changes.append(Update(UserTask, event.key, values))


def _user_task_transition_began(event: events.UserTaskTransitionBegan, _: datetime, changes: Changes) -> None:
    changes.append(Update(UserTask, event.key, {"state": UserTaskState(event.transition.event_type.value)}))


def _user_task_transition_ended(event: events.UserTaskTransitionEnded, _: datetime, changes: Changes) -> None:
    changes.append(Update(UserTask, event.key, {"state": UserTaskState.CREATED}))


def _user_task_completed(event: events.UserTaskCompleted, now: datetime, changes: Changes) -> None:
    values = {"state": UserTaskState.COMPLETED, "completion_date": now}
    changes.append(Update(UserTask, event.key, values))


def _user_task_canceled(event: events.UserTaskCanceled, now: datetime, changes: Changes) -> None:
    values = {"state": UserTaskState.CANCELED, "completion_date": now}
    changes.append(Update(UserTask, event.key, values))


# Incidents

# Error types that the API has no name for.
_REPORTED: Mapping[ErrorType, ErrorType] = {
    ErrorType.EXECUTION_LISTENER_NO_RETRIES: ErrorType.UNKNOWN,
    ErrorType.TASK_LISTENER_NO_RETRIES: ErrorType.UNKNOWN,
    ErrorType.AD_HOC_SUB_PROCESS_NO_RETRIES: ErrorType.UNKNOWN,
}


def _incident_raised(event: events.IncidentRaised, now: datetime, changes: Changes) -> None:
    head = event.instance
    row = Incident(
        incident_key=event.key,
        tenant_id=head.tenant_id,
        process_definition_key=head.process_definition_key,
        process_definition_id=head.process_definition_id,
        process_instance_key=head.key,
        element_id=event.element_id,
        element_instance_key=event.element_instance_key,
        job_key=event.job_key,
        error_type=_REPORTED.get(event.error_type, event.error_type).value,
        error_message=event.message,
        creation_time=now,
        tags=head.tags,
    )
    changes.append(Insert(row))
    changes.append(Update(ProcessInstance, head.key, {"has_incident": True}))
    if event.element_instance_key != head.key:
        marked = {"has_incident": True, "incident_key": event.key}
        changes.append(Update(ElementInstance, event.element_instance_key, marked))


def _incident_resolved(event: events.IncidentResolved, _: datetime, changes: Changes) -> None:
    changes.append(Update(Incident, event.key, {"state": IncidentState.RESOLVED}))
    if event.element_instance_key != event.instance.key:
        cleared = {"has_incident": False, "incident_key": None}
        changes.append(Update(ElementInstance, event.element_instance_key, cleared))
    if event.is_last:
        changes.append(Update(ProcessInstance, event.instance.key, {"has_incident": False}))


PROJECTORS: Mapping[type[events.Event], Projector] = cast(
    "Mapping[type[events.Event], Projector]",
    {
        events.ProcessDefinitionDeployed: _process_definition_deployed,
        events.ProcessDefinitionDeleted: _process_definition_deleted,
        decision_events.DecisionRequirementsDeployed: decision_requirements_deployed,
        decision_events.DecisionRequirementsDeleted: decision_requirements_deleted,
        decision_events.DecisionEvaluated: decision_evaluated,
        decision_events.DecisionInstanceDeleted: decision_instance_deleted,
        form_events.FormDeployed: form_deployed,
        form_events.FormDeleted: form_deleted,
        generic_resource_events.GenericResourceDeployed: generic_resource_deployed,
        generic_resource_events.GenericResourceDeleted: generic_resource_deleted,
        cluster_variable_events.ClusterVariableSet: cluster_variable_set,
        cluster_variable_events.ClusterVariableDeleted: cluster_variable_deleted,
        global_task_listener_events.GlobalTaskListenerSet: global_task_listener_set,
        global_task_listener_events.GlobalTaskListenerDeleted: global_task_listener_deleted,
        # process and element instances
        events.ProcessInstanceCreated: _process_instance_created,
        events.ProcessInstanceDeleted: _process_instance_deleted,
        events.VariablesErased: _variables_erased,
        events.ProcessInstanceMigrated: _process_instance_migrated,
        events.ElementActivating: _element_activating,
        events.ElementCompleted: _element_completed,
        events.ElementTerminated: _element_terminated,
        # message subscriptions
        events.SubscriptionOpened: subscription_opened,
        events.SubscriptionClosed: subscription_closed,
        events.MessageCorrelated: message_correlated,
        events.MessageStartsChanged: message_starts_changed,
        # variables
        events.VariableCreated: _variable_created,
        events.VariableUpdated: _variable_updated,
        # jobs
        events.JobCreated: _job_created,
        events.JobActivated: _job_activated,
        events.JobYielded: _job_yielded,
        events.JobTimedOut: _job_timed_out,
        events.JobFailed: _job_failed,
        events.JobWithheld: _job_withheld,
        events.JobErrorThrown: _job_error_thrown,
        events.JobRetriesUpdated: _job_retries_updated,
        events.JobDeadlineUpdated: _job_deadline_updated,
        events.JobCompleted: _job_completed,
        events.JobCanceled: _job_canceled,
        # user tasks
        events.UserTaskCreated: _user_task_created,
        events.UserTaskAssigned: _user_task_assigned,
        events.UserTaskUpdated: _user_task_updated,
        events.UserTaskTransitionBegan: _user_task_transition_began,
        events.UserTaskTransitionEnded: _user_task_transition_ended,
        events.UserTaskCompleted: _user_task_completed,
        events.UserTaskCanceled: _user_task_canceled,
        # incidents
        events.IncidentRaised: _incident_raised,
        events.IncidentResolved: _incident_resolved,
        **BATCH_PROJECTORS,
    },
)
