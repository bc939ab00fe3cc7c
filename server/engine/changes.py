"""The records of a process instance that an event changes, adds or removes, for commits of its pages.

A row of the table runs before its event is applied. The key of the process instance stands for the data of
its head page.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import cast

from server.engine import events
from server.engine.keys import Key
from server.engine.process_instance import ProcessInstance


def changed_records(instance: ProcessInstance, event: events.InstanceEvent) -> Iterable[Key]:
    return CHANGED[type(event)](instance, event)


def _itself(instance: ProcessInstance, _: events.InstanceEvent) -> Iterable[Key]:
    return (instance.head.key,)


def _migrated(instance: ProcessInstance, event: events.ProcessInstanceMigrated) -> Iterable[Key]:
    elements = [migrated.key for migrated in event.elements]
    jobs = [migrated.job_key for migrated in event.elements if migrated.job_key is not None]
    user_tasks = [migrated.user_task_key for migrated in event.elements if migrated.user_task_key is not None]
    return (instance.head.key, *elements, *jobs, *user_tasks, *event.subscriptions)


def _with_scope(
    _: ProcessInstance, event: events.ElementActivating | events.CompensationTriggered
) -> Iterable[Key]:
    return event.key, event.scope_key


def _left(
    instance: ProcessInstance, event: events.ElementCompleted | events.ElementTerminated
) -> Iterable[Key]:
    """The element instance with its variables and items, and its scope, which loses a child."""
    element = instance.elements[event.key]
    variables = instance.variables.get(event.key, {}).values()
    loop = element.loop
    items = range(loop.first_item, loop.first_item + loop.items) if loop is not None else ()
    return (
        event.key,
        element.scope_key or event.key,
        *(variable.key for variable in variables),
        *map(Key, items),
        *instance.collected.get(event.key, ()),
    )


def _output_collected(_: ProcessInstance, event: events.OutputCollected) -> Iterable[Key]:
    return (event.item_key,)


def _outputs_merged(instance: ProcessInstance, event: events.OutputsMerged) -> Iterable[Key]:
    return instance.collected.get(event.key, ())


def _loop_began(_: ProcessInstance, event: events.LoopBegan) -> Iterable[Key]:
    return (event.key, *map(Key, range(event.first_item, event.first_item + len(event.items))))


def _loop_item_completed(_: ProcessInstance, event: events.LoopItemCompleted) -> Iterable[Key]:
    return (event.key,) if event.output is None else (event.key, event.item_key)


def _flow_taken(_: ProcessInstance, event: events.SequenceFlowTaken) -> Iterable[Key]:
    return (event.scope_key,)


def _subscription_opened(_: ProcessInstance, event: events.SubscriptionOpened) -> Iterable[Key]:
    return (event.subscription.key,)


def _nothing(_instance: ProcessInstance, _event: events.MessageCorrelated) -> Iterable[Key]:
    return ()


def _one(_: ProcessInstance, event: events.ElementActivated | events.VariableCreated) -> Iterable[Key]:
    """The record with the key of the event."""
    return (event.key,)


def _with_element(
    _: ProcessInstance, event: events.UserTaskCreated | events.UserTaskCompleted | events.UserTaskCanceled
) -> Iterable[Key]:
    return event.key, event.element_instance_key


def _job_created(_: ProcessInstance, event: events.JobCreated) -> Iterable[Key]:
    return event.key, event.element_instance_key


def _job_gone(
    instance: ProcessInstance, event: events.JobCompleted | events.JobErrorThrown | events.JobCanceled
) -> Iterable[Key]:
    element_instance_key = instance.jobs[event.key].element_instance_key
    # The user task counts its completed listeners.
    user_task_key = instance.elements[element_instance_key].user_task_key
    return event.key, element_instance_key, user_task_key or event.key


def _incident(_: ProcessInstance, event: events.IncidentRaised | events.IncidentResolved) -> Iterable[Key]:
    return event.key, event.element_instance_key, event.job_key or event.key


CHANGED: Mapping[
    type[events.InstanceEvent], Callable[[ProcessInstance, events.InstanceEvent], Iterable[Key]]
] = cast(
    "Mapping[type[events.InstanceEvent], Callable[[ProcessInstance, events.InstanceEvent], Iterable[Key]]]",
    {
        events.ProcessInstanceCreated: _itself,
        events.ProcessInstanceMigrated: _migrated,
        events.ElementActivating: _with_scope,
        events.ElementActivated: _one,
        events.ElementProgressed: _one,
        events.ElementInterrupted: _one,
        events.InterruptionFinished: _one,
        events.InterruptionLifted: _one,
        events.EventCaught: _one,
        events.ElementCompleting: _one,
        events.ElementCompleted: _left,
        events.ElementTerminating: _one,
        events.ElementTerminated: _left,
        events.SequenceFlowTaken: _flow_taken,
        events.LoopBegan: _loop_began,
        events.LoopItemCompleted: _loop_item_completed,
        events.ElementsPlanned: _one,
        events.OutputCollected: _output_collected,
        events.OutputsMerged: _outputs_merged,
        events.AdHocConditionEvaluated: _one,
        events.ProcessCalled: _one,
        events.CallEnded: _one,
        events.ActivitiesCompleted: _one,
        events.CompensationTriggered: _with_scope,
        events.CompensationInvoked: _one,
        events.SubscriptionOpened: _subscription_opened,
        events.SubscriptionClosed: _one,
        events.SubscriptionMoved: _one,
        events.MessageCorrelated: _nothing,
        events.WorkPostponed: _itself,
        events.WorkResumed: _itself,
        # variables
        events.VariableCreated: _one,
        events.VariableUpdated: _one,
        # jobs
        events.JobCreated: _job_created,
        events.JobActivated: _one,
        events.JobYielded: _one,
        events.JobTimedOut: _one,
        events.JobBackOffEnded: _one,
        events.JobFailed: _one,
        events.JobWithheld: _one,
        events.JobErrorThrown: _job_gone,
        events.JobRetriesUpdated: _one,
        events.JobDeadlineUpdated: _one,
        events.JobCompleted: _job_gone,
        events.JobCanceled: _job_gone,
        # user tasks
        events.UserTaskCreated: _with_element,
        events.UserTaskAssigned: _one,
        events.UserTaskUpdated: _one,
        events.UserTaskTransitionBegan: _one,
        events.UserTaskCorrected: _one,
        events.UserTaskTransitionEnded: _one,
        events.UserTaskCompleted: _with_element,
        events.UserTaskCanceled: _with_element,
        # incidents
        events.IncidentRaised: _incident,
        events.IncidentResolved: _incident,
    },
)
