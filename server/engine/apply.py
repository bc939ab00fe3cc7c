"""Events change the state: one applier for each, in one table. Nothing else writes.

An applier decides nothing, so the same events applied again give the same state.
"""

from collections.abc import Callable, Mapping
from typing import cast

from server.bpmn.executable import ElementType
from server.engine import decision_events, events, lifecycle
from server.engine.definitions import executable_process
from server.engine.keys import Key
from server.engine.lifecycle import ElementState
from server.engine.state import (
    Definition,
    ElementInstance,
    Job,
    JobState,
    OpenIncident,
    ProcessInstance,
    State,
    Variable,
)


def apply(state: State, event: events.Event) -> None:
    APPLIERS[type(event)](state, event)


# Definitions


def _deployment_created(state: State, event: events.DeploymentCreated) -> None:
    state.claim(event.key)


def _process_definition_deployed(state: State, event: events.ProcessDefinitionDeployed) -> None:
    state.claim(event.key)
    process = executable_process(event.content, event.process_definition_id)
    state.define(
        Definition(event.key, event.tenant_id, event.version, event.resource_name, event.checksum, process)
    )


def _process_definition_adopted(state: State, event: events.ProcessDefinitionAdopted) -> None:
    _process_definition_deployed(state, event.definition)


# Decisions


def _decision_requirements_deployed(
    state: State, event: decision_events.DecisionRequirementsDeployed
) -> None:
    state.claim(Key(event.key + len(event.decisions)))
    state.decisions.define(event)


def _decision_requirements_adopted(state: State, event: decision_events.DecisionRequirementsAdopted) -> None:
    _decision_requirements_deployed(state, event.definition)


def _decision_evaluated(state: State, event: decision_events.DecisionEvaluated) -> None:
    state.claim(Key(event.key + len(event.decisions)))


# Process and element instances


def _process_instance_created(state: State, event: events.ProcessInstanceCreated) -> None:
    head = event.instance
    state.claim(head.key)
    root = ElementInstance(head.key, None, head.process_definition_id, ElementType.PROCESS)
    state.instances[head.key] = ProcessInstance(head, {head.key: root})


def _process_instance_migrated(state: State, event: events.ProcessInstanceMigrated) -> None:
    instance = _instance(state, event)
    instance.head = event.instance
    for migrated in event.elements:
        element = instance.elements[migrated.key]
        element.element_id = migrated.element_id
        # A copy: what arrives later is counted here and not in the event.
        element.joins = dict(migrated.joins)
        if migrated.job_key is not None:
            instance.jobs[migrated.job_key].element_id = migrated.element_id


def _element_activating(state: State, event: events.ElementActivating) -> None:
    state.claim(event.key)
    instance = _instance(state, event)
    scope = instance.elements[event.scope_key]
    scope.children += 1
    scope.flows -= len(event.joined_flows)
    for flow_id in event.joined_flows:
        _use_up(scope, flow_id)
    instance.elements[event.key] = ElementInstance(event.key, event.scope_key, event.element_id, event.type)


def _use_up(scope: ElementInstance, flow_id: str) -> None:
    waiting = scope.joins.get(flow_id, 0)
    if waiting > 1:
        scope.joins[flow_id] = waiting - 1
    else:
        scope.joins.pop(flow_id, None)


def _element_activated(state: State, event: events.ElementActivated) -> None:
    _move(_instance(state, event), event.key, ElementState.ACTIVATED)


def _element_completing(state: State, event: events.ElementCompleting) -> None:
    _move(_instance(state, event), event.key, ElementState.COMPLETING)


def _element_terminating(state: State, event: events.ElementTerminating) -> None:
    _move(_instance(state, event), event.key, ElementState.TERMINATING)


def _element_completed(state: State, event: events.ElementCompleted) -> None:
    _leave(state, event, event.key, ElementState.COMPLETED)


def _element_terminated(state: State, event: events.ElementTerminated) -> None:
    _leave(state, event, event.key, ElementState.TERMINATED)


def _leave(state: State, event: events.InstanceEvent, key: Key, final: ElementState) -> None:
    instance = _instance(state, event)
    _move(instance, key, final)
    element = instance.elements.pop(key)
    instance.variables.pop(key, None)
    if element.scope_key is None:
        state.release(key)
    else:
        instance.elements[element.scope_key].children -= 1


def _move(instance: ProcessInstance, key: Key, following: ElementState) -> None:
    element = instance.elements[key]
    lifecycle.check(element.state, following)
    element.state = following


def _sequence_flow_taken(state: State, event: events.SequenceFlowTaken) -> None:
    scope = _instance(state, event).elements[event.scope_key]
    scope.flows += 1
    scope.joins[event.flow_id] = scope.joins.get(event.flow_id, 0) + 1


# Variables


def _variable_created(state: State, event: events.VariableCreated) -> None:
    state.claim(event.key)
    scope = _instance(state, event).variables.setdefault(event.scope_key, {})
    scope[event.name] = Variable(event.key, event.value)


def _variable_updated(state: State, event: events.VariableUpdated) -> None:
    _instance(state, event).variables[event.scope_key][event.name].value = event.value


# Jobs


def _job_created(state: State, event: events.JobCreated) -> None:
    state.claim(event.key)
    instance = _instance(state, event)
    job = Job(
        event.key, event.element_instance_key, event.element_id, event.type, event.retries, event.headers
    )
    instance.jobs[event.key] = job
    instance.elements[event.element_instance_key].job_key = event.key
    state.job_owners[event.key] = instance.head.key
    state.offer(instance, job)


def _job_activated(state: State, event: events.JobActivated) -> None:
    instance, job = _job(state, event, event.key)
    state.withdraw(instance, job)
    job.state, job.worker, job.due = JobState.ACTIVATED, event.worker, event.deadline


def _job_offered(
    state: State, event: events.JobYielded | events.JobTimedOut | events.JobBackOffEnded
) -> None:
    instance, job = _job(state, event, event.key)
    _offer(state, instance, job)


def _offer(state: State, instance: ProcessInstance, job: Job) -> None:
    job.state, job.due = JobState.ACTIVATABLE, None
    state.offer(instance, job)


def _job_failed(state: State, event: events.JobFailed) -> None:
    instance, job = _job(state, event, event.key)
    state.withdraw(instance, job)
    job.retries = event.retries
    if event.retries <= 0:
        job.state, job.due = JobState.FAILED, None
    elif event.offered_at is None:
        _offer(state, instance, job)
    else:
        job.state, job.due = JobState.BACKING_OFF, event.offered_at


def _job_error_thrown(state: State, event: events.JobErrorThrown) -> None:
    instance, job = _job(state, event, event.key)
    state.withdraw(instance, job)
    job.state, job.due = JobState.ERROR_THROWN, None


def _job_retries_updated(state: State, event: events.JobRetriesUpdated) -> None:
    _job(state, event, event.key)[1].retries = event.retries


def _job_deadline_updated(state: State, event: events.JobDeadlineUpdated) -> None:
    _job(state, event, event.key)[1].due = event.deadline


def _job_gone(state: State, event: events.JobCompleted | events.JobCanceled) -> None:
    instance, job = _job(state, event, event.key)
    state.withdraw(instance, job)
    del instance.jobs[event.key]
    del state.job_owners[event.key]
    instance.elements[job.element_instance_key].job_key = None


# Incidents


def _incident_raised(state: State, event: events.IncidentRaised) -> None:
    state.claim(event.key)
    instance = _instance(state, event)
    instance.incidents[event.key] = OpenIncident(
        event.key, event.element_instance_key, event.job_key, event.error_type
    )
    state.incident_owners[event.key] = instance.head.key
    instance.elements[event.element_instance_key].incident_key = event.key
    if event.job_key is not None:
        instance.jobs[event.job_key].incident_key = event.key


def _incident_resolved(state: State, event: events.IncidentResolved) -> None:
    instance = _instance(state, event)
    del instance.incidents[event.key]
    del state.incident_owners[event.key]
    instance.elements[event.element_instance_key].incident_key = None
    job = instance.jobs.get(event.job_key) if event.job_key is not None else None
    if job is not None:
        job.incident_key = None
        _offer(state, instance, job)


def _instance(state: State, event: events.InstanceEvent) -> ProcessInstance:
    return state.instances[event.instance.key]


def _job(state: State, event: events.InstanceEvent, key: Key) -> tuple[ProcessInstance, Job]:
    instance = state.instances[event.instance.key]
    return instance, instance.jobs[key]


Applier = Callable[[State, events.Event], None]

APPLIERS: Mapping[type[events.Event], Applier] = cast(
    "Mapping[type[events.Event], Applier]",
    {
        events.DeploymentCreated: _deployment_created,
        events.ProcessDefinitionDeployed: _process_definition_deployed,
        events.ProcessDefinitionAdopted: _process_definition_adopted,
        # decisions
        decision_events.DecisionRequirementsDeployed: _decision_requirements_deployed,
        decision_events.DecisionRequirementsAdopted: _decision_requirements_adopted,
        decision_events.DecisionEvaluated: _decision_evaluated,
        # process and element instances
        events.ProcessInstanceCreated: _process_instance_created,
        events.ProcessInstanceMigrated: _process_instance_migrated,
        events.ElementActivating: _element_activating,
        events.ElementActivated: _element_activated,
        events.ElementCompleting: _element_completing,
        events.ElementCompleted: _element_completed,
        events.ElementTerminating: _element_terminating,
        events.ElementTerminated: _element_terminated,
        events.SequenceFlowTaken: _sequence_flow_taken,
        # variables
        events.VariableCreated: _variable_created,
        events.VariableUpdated: _variable_updated,
        # jobs
        events.JobCreated: _job_created,
        events.JobActivated: _job_activated,
        events.JobYielded: _job_offered,
        events.JobTimedOut: _job_offered,
        events.JobBackOffEnded: _job_offered,
        events.JobFailed: _job_failed,
        events.JobErrorThrown: _job_error_thrown,
        events.JobRetriesUpdated: _job_retries_updated,
        events.JobDeadlineUpdated: _job_deadline_updated,
        events.JobCompleted: _job_gone,
        events.JobCanceled: _job_gone,
        # incidents
        events.IncidentRaised: _incident_raised,
        events.IncidentResolved: _incident_resolved,
    },
)
