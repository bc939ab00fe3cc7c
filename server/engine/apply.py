"""Applies events to the state: one applier for each type of event, in one table. Nothing else changes the state.

An applier decides nothing, so applying the same events again gives the same state. It writes through the
journal, so the changes of a failed command can be undone.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Final, cast

import msgspec

from server.bpmn.executable import ElementType
from server.engine import (
    cluster_variable_events,
    decision_events,
    events,
    form_events,
    generic_resource_events,
    global_task_listener_events,
)
from server.engine.batch_appliers import BATCH_APPLIERS
from server.engine.changes import changed_records
from server.engine.definitions import Definition, executable_process
from server.engine.job_kinds import EXECUTION_LISTENER, TASK_LISTENER
from server.engine.journal import Journal
from server.engine.keys import Key
from server.engine.lifecycle import (
    ACTIVATED,
    COMPLETED,
    COMPLETING,
    TERMINATED,
    TERMINATING,
    TRANSITIONS,
    ElementState,
    IllegalTransition,
)
from server.engine.message_appliers import MESSAGE_APPLIERS
from server.engine.pages import Kind, is_large
from server.engine.process_instance import (
    CaughtEvent,
    ElementInstance,
    Interruption,
    Job,
    JobState,
    LoopItem,
    LoopProgress,
    OpenIncident,
    ProcessInstance,
    UserTask,
    Variable,
)
from server.engine.signal_appliers import SIGNAL_APPLIERS
from server.engine.start_timer_appliers import START_TIMER_APPLIERS
from server.engine.state import State
from server.engine.tenant_appliers import TENANT_APPLIERS
from server.engine.user_task_changes import UserTaskTransition
from server.engine.variables import octets

# Looking up a member of an enumeration costs more than comparing with a constant.
_JOB_ACTIVATED: Final = JobState.ACTIVATED


def apply(state: State, event: events.Event) -> None:
    APPLIERS[type(event)](state, event)


# Definitions


def _deployment_created(state: State, event: events.DeploymentCreated) -> None:
    state.claim(event.key)


def _process_definition_deployed(state: State, event: events.ProcessDefinitionDeployed) -> None:
    state.claim(event.last_key)
    state.define(
        Definition(
            key=event.key,
            tenant_id=event.tenant_id,
            process_definition_id=event.process_definition_id,
            version=event.version,
            resource_name=event.resource_name,
            checksum=event.checksum,
            content=event.content,
            deployment_key=event.deployment_key,
            starts=event.starts,
            version_tag=_version_tag(event),
            is_deleted=event.is_deleted,
        )
    )


def _version_tag(event: events.ProcessDefinitionDeployed) -> str | None:
    """The version tag of the event, or of the file when the event has none; a file without the word is not parsed."""
    if event.version_tag is not msgspec.UNSET:
        return event.version_tag
    if b"versionTag" not in event.content:
        return None
    return executable_process(event.content, event.process_definition_id).version_tag


def _process_definition_adopted(state: State, event: events.ProcessDefinitionAdopted) -> None:
    _process_definition_deployed(state, event.definition)


def _process_definition_deleted(state: State, event: events.ProcessDefinitionDeleted) -> None:
    state.delete(state.definitions[event.definition.key])


def _deletion_adopted(state: State, event: events.DeletionAdopted) -> None:
    definition = state.definitions.get(event.key)
    if definition is not None:
        state.delete(definition)
    elif event.key in state.forms.files:
        _delete_form(state, state.forms.files[event.key])
    elif event.key in state.generic_resources.files:
        _delete_generic_resource(state, state.generic_resources.files[event.key])
    else:
        _delete_graph(state, state.decisions.graphs[event.key])


# Decisions


def _decision_requirements_deployed(
    state: State, event: decision_events.DecisionRequirementsDeployed
) -> None:
    state.claim(Key(event.key + len(event.decisions)))
    state.journal.note(state.decisions.undefine, event, state.decisions.numbers_of(event))
    state.decisions.define(event)


def _decision_requirements_deleted(state: State, event: decision_events.DecisionRequirementsDeleted) -> None:
    _delete_graph(state, state.decisions.graphs[event.definition.key])


def _delete_graph(state: State, graph: decision_events.DecisionRequirementsDeployed) -> None:
    state.journal.note(state.decisions.define, graph)
    state.decisions.delete(graph)


def _decision_requirements_adopted(state: State, event: decision_events.DecisionRequirementsAdopted) -> None:
    _decision_requirements_deployed(state, event.definition)


def _decision_evaluated(state: State, event: decision_events.DecisionEvaluated) -> None:
    state.claim(Key(event.key + len(event.decisions)))


def _decision_instance_deleted(_: State, event: decision_events.DecisionInstanceDeleted) -> None:
    """Changes nothing: the state holds no decision evaluations."""


# Forms


def _form_deployed(state: State, event: form_events.FormDeployed) -> None:
    state.claim(event.key)
    state.journal.note(state.forms.undefine, event, state.forms.number_of(event))
    state.forms.define(event)


def _form_adopted(state: State, event: form_events.FormAdopted) -> None:
    _form_deployed(state, event.definition)


def _form_deleted(state: State, event: form_events.FormDeleted) -> None:
    _delete_form(state, state.forms.files[event.definition.key])


def _delete_form(state: State, form: form_events.FormDeployed) -> None:
    state.journal.note(state.forms.define, form)
    state.forms.delete(form)


# Generic resources


def _generic_resource_deployed(state: State, event: generic_resource_events.GenericResourceDeployed) -> None:
    state.claim(event.key)
    known = state.generic_resources
    state.journal.note(known.undefine, event, known.number_of(event))
    known.define(event)


def _generic_resource_adopted(state: State, event: generic_resource_events.GenericResourceAdopted) -> None:
    _generic_resource_deployed(state, event.definition)


def _generic_resource_deleted(state: State, event: generic_resource_events.GenericResourceDeleted) -> None:
    _delete_generic_resource(state, state.generic_resources.files[event.definition.key])


def _delete_generic_resource(state: State, resource: generic_resource_events.GenericResourceDeployed) -> None:
    state.journal.note(state.generic_resources.define, resource)
    state.generic_resources.delete(resource)


# Cluster variables


def _cluster_variable_set(state: State, event: cluster_variable_events.ClusterVariableSet) -> None:
    state.claim(event.key)
    _put_cluster_variable(state, event, event)


def _cluster_variable_adopted(state: State, event: cluster_variable_events.ClusterVariableAdopted) -> None:
    _put_cluster_variable(state, event.variable, event.variable)


def _cluster_variable_deleted(
    state: State,
    event: cluster_variable_events.ClusterVariableDeleted
    | cluster_variable_events.ClusterVariableDeletionAdopted,
) -> None:
    _put_cluster_variable(state, event.variable, None)


def _put_cluster_variable(
    state: State,
    named: cluster_variable_events.ClusterVariableSet,
    variable: cluster_variable_events.ClusterVariableSet | None,
) -> None:
    known, owner, name = state.cluster_variables, named.tenant_id, named.name
    state.journal.note(known.put, owner, name, known.get(owner, name))
    known.put(owner, name, variable)


# Global task listeners


def _global_task_listener_set(state: State, event: global_task_listener_events.GlobalTaskListenerSet) -> None:
    state.claim(event.key)
    _put_global_task_listener(state, event, event)


def _global_task_listener_adopted(
    state: State, event: global_task_listener_events.GlobalTaskListenerAdopted
) -> None:
    _put_global_task_listener(state, event.listener, event.listener)


def _global_task_listener_deleted(
    state: State,
    event: global_task_listener_events.GlobalTaskListenerDeleted
    | global_task_listener_events.GlobalTaskListenerDeletionAdopted,
) -> None:
    _put_global_task_listener(state, event.listener, None)


def _put_global_task_listener(
    state: State,
    named: global_task_listener_events.GlobalTaskListenerSet,
    listener: global_task_listener_events.GlobalTaskListenerSet | None,
) -> None:
    known, tenant_id, listener_id = state.global_task_listeners, named.tenant_id, named.id
    state.journal.note(known.put, tenant_id, listener_id, known.get(tenant_id, listener_id))
    known.put(tenant_id, listener_id, listener)


# Process and element instances


def _process_instance_created(state: State, event: events.ProcessInstanceCreated) -> None:
    head = event.instance
    state.claim(head.key)
    root = ElementInstance(head.key, None, head.process_definition_id, ElementType.PROCESS)
    instance = ProcessInstance(
        head,
        {head.key: root},
        correlation_key=event.correlation_key,
        terminates_after=event.terminates_after,
    )
    state.journal.make(Kind.PROCESS_INSTANCE, head.key, state.release, whole=instance)
    state.instances[head.key] = instance
    state.calls.grow(instance)
    if instance.message_start is not None:
        state.started[instance.message_start] = head.key


def _process_instance_deleted(_: State, event: events.ProcessInstanceDeleted) -> None:
    """Changes nothing: the process instance has ended, and the state no longer holds it."""


def _variables_erased(state: State, event: events.VariablesErased) -> None:
    """Only takes the key: variables of active scopes have changed by events of their own."""
    state.claim(event.key)


def _process_instance_migrated(state: State, event: events.ProcessInstanceMigrated) -> None:
    instance, journal = _instance(state, event), state.journal
    if instance.message_start is not None:
        journal.drop(state.started, instance.message_start)
    journal.alter(instance, "head", event.instance)
    if instance.message_start is not None:
        journal.put(state.started, instance.message_start, instance.head.key)
    # The undo counts last, when all elements have their earlier ids again.
    journal.note(instance.count_anew)
    instance.count_anew()
    for migrated in event.elements:
        element = instance.elements[migrated.key]
        journal.alter(element, "element_id", migrated.element_id)
        # A copy: later arrivals change this mapping, and the event must stay as it is.
        journal.alter(element, "joins", dict(migrated.joins))
        journal.alter(element, "compensable", dict(migrated.compensable))
        if migrated.job_key is not None:
            journal.alter(instance.jobs[migrated.job_key], "element_id", migrated.element_id)
        if migrated.user_task_key is not None:
            journal.alter(instance.user_tasks[migrated.user_task_key], "element_id", migrated.element_id)
    for key, element_id in event.subscriptions.items():
        kept = msgspec.structs.replace(instance.subscriptions[key], element_id=element_id)
        journal.put(instance.subscriptions, key, kept)


def _element_activating(state: State, event: events.ElementActivating) -> None:
    state.claim(event.key)
    instance, journal = _instance(state, event), state.journal
    scope = instance.elements[event.scope_key]
    if event.joined_flows:
        journal.alter(scope, "flows", scope.flows - len(event.joined_flows))
    for flow_id in event.joined_flows:
        _use_up(journal, scope, flow_id)
    element = ElementInstance(event.key, event.scope_key, event.element_id, event.type)
    if event.begins_at:
        element.begins_at = event.begins_at
        _plan(journal, scope, -1)
    if scope.loop is not None:
        element.loop_counter = scope.loop.created + 1
        journal.alter(scope, "loop", msgspec.structs.replace(scope.loop, created=element.loop_counter))
    if scope.caught is not None and scope.caught.element_id == event.element_id:
        # The event gets the variables of its trigger.
        journal.alter(scope, "caught", CaughtEvent(event.element_id, {}))
    journal.note(instance.remove, element)
    instance.add(element)


def _use_up(journal: Journal, scope: ElementInstance, flow_id: str) -> None:
    waiting = scope.joins.get(flow_id, 0)
    if waiting > 1:
        journal.put(scope.joins, flow_id, waiting - 1)
    else:
        journal.drop(scope.joins, flow_id)


def _element_activated(state: State, event: events.ElementActivated) -> None:
    _move(state, event, event.key, ACTIVATED)


def _element_progressed(state: State, event: events.ElementProgressed) -> None:
    element = _instance(state, event).elements[event.key]
    state.journal.alter(element, "progress", event.progress)


def _element_interrupted(state: State, event: events.ElementInterrupted) -> None:
    element = _instance(state, event).elements[event.key]
    state.journal.alter(element, "interruption", Interruption(event.element_id, event.variables))
    state.calls.mark(element, state.journal)


def _interruption_finished(state: State, event: events.InterruptionFinished) -> None:
    scope, journal = _instance(state, event).elements[event.key], state.journal
    assert scope.interruption is not None, "interrupted before"  # noqa: S101  # narrows the type
    journal.alter(scope, "interruption", Interruption(scope.interruption.element_id, {}, is_finished=True))
    journal.alter(scope, "flows", 0)
    journal.alter(scope, "joins", {})
    state.calls.mark(scope, journal)


def _interruption_lifted(state: State, event: events.InterruptionLifted) -> None:
    element = _instance(state, event).elements[event.key]
    state.journal.alter(element, "interruption", None)
    state.calls.mark(element, state.journal)


def _event_caught(state: State, event: events.EventCaught) -> None:
    element = _instance(state, event).elements[event.key]
    state.journal.alter(element, "caught", CaughtEvent(event.element_id, event.variables))


def _element_completing(state: State, event: events.ElementCompleting) -> None:
    _move(state, event, event.key, COMPLETING)


def _element_terminating(state: State, event: events.ElementTerminating) -> None:
    instance = _instance(state, event)
    # Undone after the change of the element's state.
    state.journal.note(instance.include, instance.elements[event.key])
    element = _move(state, event, event.key, TERMINATING)
    instance.exclude(element)
    state.calls.mark(element, state.journal)


def _element_completed(state: State, event: events.ElementCompleted) -> None:
    _leave(state, event, event.key, COMPLETED)


def _element_terminated(state: State, event: events.ElementTerminated) -> None:
    _leave(state, event, event.key, TERMINATED)


def _leave(state: State, event: events.InstanceEvent, key: Key, final: ElementState) -> None:
    instance, journal = state.instances[event.instance.key], state.journal
    if instance is not journal.whole:
        _enter(journal, instance, event)
    element = instance.elements[key]
    # The element instance keeps its last state, so that an undo restores it as it was.
    if final not in TRANSITIONS[element.state]:
        raise IllegalTransition(element.state, final)
    if key in instance.variables:
        variables = journal.drop(instance.variables, key) or {}
        if instance.large:
            _mark_gone(journal, instance, [variable.key for variable in variables.values()])
    if element.loop is not None:
        first = element.loop.first_item
        _drop_items(journal, instance, map(Key, range(first, first + element.loop.items)))
    if instance.collected:
        _drop_outputs(journal, instance, key)
    journal.drop(state.calls.ending, key)
    journal.note(instance.add, element)
    instance.remove(element)
    if element.scope_key is None:
        state.release(key)


def _move(state: State, event: events.InstanceEvent, key: Key, following: ElementState) -> ElementInstance:
    element = _instance(state, event).elements[key]
    if following not in TRANSITIONS[element.state]:
        raise IllegalTransition(element.state, following)
    if element.progress:
        state.journal.alter(element, "progress", 0)
    if key > state.last_key_before:
        # This command created the element instance, and the undo removes it.
        element.state = following
    else:
        state.journal.alter(element, "state", following)
    return element


def _sequence_flow_taken(state: State, event: events.SequenceFlowTaken) -> None:
    scope = _instance(state, event).elements[event.scope_key]
    state.journal.alter(scope, "flows", scope.flows + 1)
    state.journal.put(scope.joins, event.flow_id, scope.joins.get(event.flow_id, 0) + 1)


def _loop_began(state: State, event: events.LoopBegan) -> None:
    instance, journal = _instance(state, event), state.journal
    state.claim(Key(event.first_item + len(event.items) - 1))
    for key, text in enumerate(event.items, start=event.first_item):
        journal.put(instance.items, Key(key), LoopItem(Key(key), text))
        if is_large(text):
            _mark_large(journal, instance, Key(key), None)
    journal.alter(instance.elements[event.key], "loop", LoopProgress(event.first_item, len(event.items)))


def _loop_item_completed(state: State, event: events.LoopItemCompleted) -> None:
    instance, journal = _instance(state, event), state.journal
    body = instance.elements[event.key]
    loop = cast("LoopProgress", body.loop)
    item = instance.items[event.item_key]
    journal.alter(item, "output", event.output)
    if event.output is not None and item.is_large:
        _mark_large(journal, instance, item.key, None)
    size = loop.octets if event.output is None else loop.octets + octets(event.output)
    following = msgspec.structs.replace(
        loop, completed=loop.completed + 1, is_done=loop.is_done or event.is_last, octets=size
    )
    journal.alter(body, "loop", following)
    if event.is_last:
        state.calls.mark(body, journal)


def _elements_planned(state: State, event: events.ElementsPlanned) -> None:
    _plan(state.journal, _instance(state, event).elements[event.key], event.number)


def _plan(journal: Journal, ad_hoc: ElementInstance, number: int) -> None:
    planned = ad_hoc.ad_hoc.planned + number
    journal.alter(ad_hoc, "ad_hoc", msgspec.structs.replace(ad_hoc.ad_hoc, planned=planned))


def _output_collected(state: State, event: events.OutputCollected) -> None:
    state.claim(event.item_key)
    instance = _instance(state, event)
    state.journal.note(instance.forget_last_output, event.key)
    instance.collect(LoopItem(event.item_key, event.name, event.output, event.key))
    if is_large(event.output):
        _mark_large(state.journal, instance, event.item_key, None)


def _outputs_merged(state: State, event: events.OutputsMerged) -> None:
    _drop_outputs(state.journal, _instance(state, event), event.key)


def _drop_outputs(journal: Journal, instance: ProcessInstance, key: Key) -> None:
    keys = journal.drop(instance.collected, key)
    _drop_items(journal, instance, keys or ())


def _drop_items(journal: Journal, instance: ProcessInstance, keys: Iterable[Key]) -> None:
    for key in keys:
        journal.drop(instance.items, key)
        if instance.large:
            _mark_gone(journal, instance, (key,))


def _ad_hoc_condition_evaluated(state: State, event: events.AdHocConditionEvaluated) -> None:
    element = _instance(state, event).elements[event.key]
    following = msgspec.structs.replace(
        element.ad_hoc, is_done=event.is_fulfilled, cancels_remaining=event.cancels_remaining
    )
    state.journal.alter(element, "ad_hoc", following)
    state.calls.mark(element, state.journal)


def _process_called(state: State, event: events.ProcessCalled) -> None:
    instance = _instance(state, event)
    element = instance.elements[event.key]
    state.journal.alter(element, "called_key", event.called_key)
    # This command also created the called process instance, and the undo removes it with its indexes.
    state.calls.call(instance, element, event.called_key)


def _call_ended(state: State, event: events.CallEnded) -> None:
    element = _instance(state, event).elements[event.key]
    state.journal.alter(element, "called_key", None)


def _conditionals_evaluated(state: State, event: events.ConditionalsEvaluated) -> None:
    state.claim(event.key)


def _activities_completed(state: State, event: events.ActivitiesCompleted) -> None:
    compensable = _instance(state, event).elements[event.key].compensable
    for activity_id, count in event.counts.items():
        state.journal.put(compensable, activity_id, compensable.get(activity_id, 0) + count)


def _compensation_triggered(state: State, event: events.CompensationTriggered) -> None:
    elements, journal = _instance(state, event).elements, state.journal
    for activity_id in event.activity_ids:
        count = elements[event.scope_key].compensable[activity_id]
        journal.drop(elements[event.scope_key].compensable, activity_id)
        journal.put(elements[event.key].compensable, activity_id, count)


def _compensation_invoked(state: State, event: events.CompensationInvoked) -> None:
    compensable = _instance(state, event).elements[event.key].compensable
    left = compensable[event.activity_id] - 1
    if left:
        state.journal.put(compensable, event.activity_id, left)
    else:
        state.journal.drop(compensable, event.activity_id)


def _subscription_opened(state: State, event: events.SubscriptionOpened) -> None:
    instance, journal, opened = _instance(state, event), state.journal, event.subscription
    state.claim(opened.key)
    earlier = instance.subscriptions.get(opened.key)
    if earlier is None:
        journal.note(instance.close, opened)
        journal.note(state.unlist, instance, opened)
        journal.put(state.owners, opened.key, instance.head.key)
        state.enlist(instance, opened)
    else:
        journal.note(state.enlist, instance, earlier)
        journal.note(state.unlist, instance, opened)
        journal.note(instance.open, earlier)
        state.unlist(instance, earlier)
        state.enlist(instance, opened)
    instance.open(opened)


def _subscription_closed(state: State, event: events.SubscriptionClosed) -> None:
    instance, journal = _instance(state, event), state.journal
    closed = instance.subscriptions[event.key]
    journal.note(instance.open, closed)
    journal.note(state.enlist, instance, closed)
    journal.drop(state.owners, event.key)
    instance.close(closed)
    state.unlist(instance, closed)


def _subscription_moved(state: State, event: events.SubscriptionMoved) -> None:
    subscriptions = _instance(state, event).subscriptions
    moved = msgspec.structs.replace(subscriptions[event.key], is_moving=event.is_moving)
    state.journal.put(subscriptions, event.key, moved)


def _message_correlated(state: State, event: events.MessageCorrelated) -> None:
    """Changes nothing but the last key: the event exists for searches."""
    state.claim(event.key)


def _message_starts_changed(_: State, event: events.MessageStartsChanged) -> None:
    """Changes nothing: each partition derives the start events of the latest version itself."""


def _work_postponed(state: State, event: events.WorkPostponed) -> None:
    instance = _instance(state, event)
    state.journal.alter(instance, "work", instance.work + event.work)
    state.journal.alter(instance, "activations", event.activations)
    state.journal.alter(instance, "postponed_at", event.at)


def _work_resumed(state: State, event: events.WorkResumed) -> None:
    instance = _instance(state, event)
    state.journal.alter(instance, "work", ())
    state.journal.alter(instance, "activations", 0)
    state.journal.alter(instance, "postponed_at", None)


# Variables


def _variable_created(state: State, event: events.VariableCreated) -> None:
    state.claim(event.key)
    instance = _instance(state, event)
    variables = instance.variables
    if event.scope_key not in variables:
        state.journal.put(variables, event.scope_key, {})
    state.journal.put(variables[event.scope_key], event.name, Variable(event.key, event.value))
    if instance.places is not None:
        instance.places[event.key] = (event.scope_key, event.name)
    if is_large(event.value):
        _mark_large(state.journal, instance, event.key, (event.scope_key, event.name))


def _variable_updated(state: State, event: events.VariableUpdated) -> None:
    instance = _instance(state, event)
    variable = instance.variables[event.scope_key][event.name]
    state.journal.alter(variable, "value", event.value)
    if variable.key in instance.large or is_large(event.value):
        _mark_large(state.journal, instance, variable.key, (event.scope_key, event.name))


def _mark_large(journal: Journal, instance: ProcessInstance, key: Key, place: tuple[Key, str] | None) -> None:
    """Note that the value of a variable at this place, or of an item, is or was large."""
    if key not in instance.large:
        journal.put(instance.large, key, place)
    journal.mark(Kind.PROCESS_INSTANCE, instance.head.key, key)


def _mark_gone(journal: Journal, instance: ProcessInstance, keys: Iterable[Key]) -> None:
    """Note those of the removed records that had large values."""
    for key in keys:
        if key in instance.large:
            journal.mark(Kind.PROCESS_INSTANCE, instance.head.key, key)


# Jobs


def _job_created(state: State, event: events.JobCreated) -> None:
    state.claim(event.key)
    instance = _instance(state, event)
    job = Job(
        event.key,
        event.element_instance_key,
        event.element_id,
        event.type,
        event.retries,
        event.headers,
        kind=event.kind,
        listener_event_type=event.listener_event_type,
        is_global=event.is_global,
    )
    state.journal.note(state.remove_job, instance, job)
    state.add_job(instance, job)
    state.offer(instance, job)


def _job_activated(state: State, event: events.JobActivated) -> None:
    instance, job = _job(state, event, event.key)
    state.withdraw(instance, job)
    state.journal.keep(job)
    job.state, job.due, job.worker = _JOB_ACTIVATED, event.deadline, event.worker


def _job_offered(
    state: State, event: events.JobYielded | events.JobTimedOut | events.JobBackOffEnded
) -> None:
    instance, job = _job(state, event, event.key)
    _offer(state, instance, job)


def _offer(state: State, instance: ProcessInstance, job: Job) -> None:
    _turn(state, job, JobState.ACTIVATABLE)
    state.offer(instance, job)


def _turn(state: State, job: Job, following: JobState, *, due: datetime | None = None) -> None:
    state.journal.keep(job)
    job.state, job.due = following, due


def _job_failed(state: State, event: events.JobFailed) -> None:
    instance, job = _job(state, event, event.key)
    state.withdraw(instance, job)
    state.journal.alter(job, "retries", event.retries)
    if event.retries <= 0:
        _turn(state, job, JobState.FAILED)
    elif event.offered_at is None:
        _offer(state, instance, job)
    else:
        _turn(state, job, JobState.BACKING_OFF, due=event.offered_at)


def _job_withheld(state: State, event: events.JobWithheld) -> None:
    instance, job = _job(state, event, event.key)
    state.withdraw(instance, job)
    _turn(state, job, JobState.FAILED)


def _job_error_thrown(state: State, event: events.JobErrorThrown) -> None:
    if event.is_caught:
        _job_gone(state, event)
        return
    instance, job = _job(state, event, event.key)
    state.withdraw(instance, job)
    _turn(state, job, JobState.ERROR_THROWN)


def _job_retries_updated(state: State, event: events.JobRetriesUpdated) -> None:
    state.journal.alter(_job(state, event, event.key)[1], "retries", event.retries)


def _job_deadline_updated(state: State, event: events.JobDeadlineUpdated) -> None:
    state.journal.alter(_job(state, event, event.key)[1], "due", event.deadline)


def _job_completed(state: State, event: events.JobCompleted) -> None:
    instance, job = _job(state, event, event.key)
    element = instance.elements[job.element_instance_key]
    if job.kind is EXECUTION_LISTENER:
        state.journal.alter(element, "progress", element.progress + 1)
    elif job.kind is TASK_LISTENER:
        user_task = instance.user_tasks[cast("Key", element.user_task_key)]
        state.journal.alter(user_task, "transition", _listened(user_task.begun, job))
    _remove_job(state, instance, job)


def _listened(transition: UserTaskTransition, job: Job) -> UserTaskTransition:
    if job.is_global:
        return msgspec.structs.replace(transition, globally_listened=transition.globally_listened + 1)
    return msgspec.structs.replace(transition, listened=transition.listened + 1)


def _job_gone(state: State, event: events.JobCanceled | events.JobErrorThrown) -> None:
    instance, job = _job(state, event, event.key)
    _remove_job(state, instance, job)


def _remove_job(state: State, instance: ProcessInstance, job: Job) -> None:
    state.withdraw(instance, job)
    state.journal.note(state.add_job, instance, job)
    state.remove_job(instance, job)


# User tasks


def _user_task_created(state: State, event: events.UserTaskCreated) -> None:
    state.claim(event.key)
    instance, journal = _instance(state, event), state.journal
    user_task = UserTask(
        event.key,
        event.element_instance_key,
        event.element_id,
        candidate_groups=event.candidate_groups,
        candidate_users=event.candidate_users,
        due_date=event.due_date,
        follow_up_date=event.follow_up_date,
        priority=event.priority,
        form_key=event.form_key,
    )
    journal.put(instance.user_tasks, event.key, user_task)
    journal.put(state.owners, event.key, instance.head.key)
    journal.alter(instance.elements[event.element_instance_key], "user_task_key", event.key)


def _user_task_assigned(state: State, event: events.UserTaskAssigned) -> None:
    state.journal.alter(_instance(state, event).user_tasks[event.key], "assignee", event.assignee)


def _user_task_updated(state: State, event: events.UserTaskUpdated) -> None:
    user_task = _instance(state, event).user_tasks[event.key]
    if event.assignee is not None:
        state.journal.alter(user_task, "assignee", event.assignee)
    for field in ("candidate_groups", "candidate_users", "due_date", "follow_up_date", "priority"):
        state.journal.alter(user_task, field, getattr(event, field))


def _user_task_transition_began(state: State, event: events.UserTaskTransitionBegan) -> None:
    state.claim(event.transition.key)
    state.journal.alter(_instance(state, event).user_tasks[event.key], "transition", event.transition)


def _user_task_corrected(state: State, event: events.UserTaskCorrected) -> None:
    user_task = _instance(state, event).user_tasks[event.key]
    corrected = msgspec.structs.replace(user_task.begun, values=event.values, corrected=event.corrected)
    state.journal.alter(user_task, "transition", corrected)


def _user_task_transition_ended(state: State, event: events.UserTaskTransitionEnded) -> None:
    state.journal.alter(_instance(state, event).user_tasks[event.key], "transition", None)


def _user_task_gone(state: State, event: events.UserTaskCompleted | events.UserTaskCanceled) -> None:
    instance, journal = _instance(state, event), state.journal
    journal.drop(instance.user_tasks, event.key)
    journal.drop(state.owners, event.key)
    journal.alter(instance.elements[event.element_instance_key], "user_task_key", None)


# Incidents


def _incident_raised(state: State, event: events.IncidentRaised) -> None:
    state.claim(event.key)
    instance, journal = _instance(state, event), state.journal
    incident = OpenIncident(event.key, event.element_instance_key, event.job_key, event.error_type)
    journal.put(instance.incidents, event.key, incident)
    journal.put(state.owners, event.key, instance.head.key)
    journal.alter(instance.elements[event.element_instance_key], "incident_key", event.key)
    if event.job_key is not None:
        journal.alter(instance.jobs[event.job_key], "incident_key", event.key)


def _incident_resolved(state: State, event: events.IncidentResolved) -> None:
    instance, journal = _instance(state, event), state.journal
    journal.drop(instance.incidents, event.key)
    journal.drop(state.owners, event.key)
    journal.alter(instance.elements[event.element_instance_key], "incident_key", None)
    job = instance.jobs.get(event.job_key) if event.job_key is not None else None
    if job is not None:
        journal.alter(job, "incident_key", None)
        _offer(state, instance, job)


def _instance(state: State, event: events.InstanceEvent) -> ProcessInstance:
    """The process instance that the event changes; the journal notes it as changed."""
    instance = state.instances[event.instance.key]
    if instance is not state.journal.whole:
        _enter(state.journal, instance, event)
    return instance


def _enter(journal: Journal, instance: ProcessInstance, event: events.InstanceEvent) -> None:
    if instance.places is None:
        journal.enter(Kind.PROCESS_INSTANCE, event.instance.key, whole=instance)
    else:
        records = changed_records(instance, event)
        journal.enter(Kind.PROCESS_INSTANCE, event.instance.key, records)


def _job(state: State, event: events.InstanceEvent, key: Key) -> tuple[ProcessInstance, Job]:
    instance = _instance(state, event)
    return instance, instance.jobs[key]


Applier = Callable[[State, events.Event], None]

APPLIERS: Mapping[type[events.Event], Applier] = cast(
    "Mapping[type[events.Event], Applier]",
    {
        events.DeploymentCreated: _deployment_created,
        events.ProcessDefinitionDeployed: _process_definition_deployed,
        events.ProcessDefinitionAdopted: _process_definition_adopted,
        events.ProcessDefinitionDeleted: _process_definition_deleted,
        events.DeletionAdopted: _deletion_adopted,
        # decisions
        decision_events.DecisionRequirementsDeployed: _decision_requirements_deployed,
        decision_events.DecisionRequirementsAdopted: _decision_requirements_adopted,
        decision_events.DecisionRequirementsDeleted: _decision_requirements_deleted,
        decision_events.DecisionEvaluated: _decision_evaluated,
        decision_events.DecisionInstanceDeleted: _decision_instance_deleted,
        # forms
        form_events.FormDeployed: _form_deployed,
        form_events.FormAdopted: _form_adopted,
        form_events.FormDeleted: _form_deleted,
        # generic resources
        generic_resource_events.GenericResourceDeployed: _generic_resource_deployed,
        generic_resource_events.GenericResourceAdopted: _generic_resource_adopted,
        generic_resource_events.GenericResourceDeleted: _generic_resource_deleted,
        # cluster variables
        cluster_variable_events.ClusterVariableSet: _cluster_variable_set,
        cluster_variable_events.ClusterVariableAdopted: _cluster_variable_adopted,
        cluster_variable_events.ClusterVariableDeleted: _cluster_variable_deleted,
        cluster_variable_events.ClusterVariableDeletionAdopted: _cluster_variable_deleted,
        # global task listeners
        global_task_listener_events.GlobalTaskListenerSet: _global_task_listener_set,
        global_task_listener_events.GlobalTaskListenerAdopted: _global_task_listener_adopted,
        global_task_listener_events.GlobalTaskListenerDeleted: _global_task_listener_deleted,
        global_task_listener_events.GlobalTaskListenerDeletionAdopted: _global_task_listener_deleted,
        # process and element instances
        events.ProcessInstanceCreated: _process_instance_created,
        events.ProcessInstanceDeleted: _process_instance_deleted,
        events.VariablesErased: _variables_erased,
        events.ProcessInstanceMigrated: _process_instance_migrated,
        events.ElementActivating: _element_activating,
        events.ElementActivated: _element_activated,
        events.ElementProgressed: _element_progressed,
        events.ElementInterrupted: _element_interrupted,
        events.InterruptionFinished: _interruption_finished,
        events.InterruptionLifted: _interruption_lifted,
        events.EventCaught: _event_caught,
        events.ElementCompleting: _element_completing,
        events.ElementCompleted: _element_completed,
        events.ElementTerminating: _element_terminating,
        events.ElementTerminated: _element_terminated,
        events.SequenceFlowTaken: _sequence_flow_taken,
        events.LoopBegan: _loop_began,
        events.LoopItemCompleted: _loop_item_completed,
        events.ElementsPlanned: _elements_planned,
        events.OutputCollected: _output_collected,
        events.OutputsMerged: _outputs_merged,
        events.AdHocConditionEvaluated: _ad_hoc_condition_evaluated,
        events.ProcessCalled: _process_called,
        events.CallEnded: _call_ended,
        events.ConditionalsEvaluated: _conditionals_evaluated,
        events.ActivitiesCompleted: _activities_completed,
        events.CompensationTriggered: _compensation_triggered,
        events.CompensationInvoked: _compensation_invoked,
        events.SubscriptionOpened: _subscription_opened,
        events.SubscriptionClosed: _subscription_closed,
        events.SubscriptionMoved: _subscription_moved,
        events.MessageCorrelated: _message_correlated,
        events.MessageStartsChanged: _message_starts_changed,
        events.WorkPostponed: _work_postponed,
        events.WorkResumed: _work_resumed,
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
        events.JobWithheld: _job_withheld,
        events.JobErrorThrown: _job_error_thrown,
        events.JobRetriesUpdated: _job_retries_updated,
        events.JobDeadlineUpdated: _job_deadline_updated,
        events.JobCompleted: _job_completed,
        events.JobCanceled: _job_gone,
        # user tasks
        events.UserTaskCreated: _user_task_created,
        events.UserTaskAssigned: _user_task_assigned,
        events.UserTaskUpdated: _user_task_updated,
        events.UserTaskTransitionBegan: _user_task_transition_began,
        events.UserTaskCorrected: _user_task_corrected,
        events.UserTaskTransitionEnded: _user_task_transition_ended,
        events.UserTaskCompleted: _user_task_gone,
        events.UserTaskCanceled: _user_task_gone,
        # incidents
        events.IncidentRaised: _incident_raised,
        events.IncidentResolved: _incident_resolved,
        **MESSAGE_APPLIERS,
        **SIGNAL_APPLIERS,
        **BATCH_APPLIERS,
        **START_TIMER_APPLIERS,
        **TENANT_APPLIERS,
    },
)
