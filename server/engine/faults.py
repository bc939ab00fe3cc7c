"""Faults of due commands: the element that the command is for gets an incident, and its resolution repeats the command.

Nothing else would show that a timer, a job's deadline or postponed work was not carried out.
"""

from collections.abc import Iterator

from server.engine.commands import Command
from server.engine.incidents import ErrorType, faulted
from server.engine.job_commands import EndJobBackOff, TimeOutJob
from server.engine.keys import Key
from server.engine.process_instance import ElementInstance, JobState, ProcessInstance
from server.engine.process_instance_commands import ContinueProcessInstance
from server.engine.state import State
from server.engine.step import Step
from server.engine.subscriptions import TimerSubscription
from server.engine.timer_commands import TriggerTimer


def place_of(state: State, command: Command) -> tuple[ProcessInstance, ElementInstance] | None:
    """The process instance and element instance that a due command is for; None for those of other entities."""
    if not isinstance(command, TriggerTimer | TimeOutJob | EndJobBackOff | ContinueProcessInstance):
        return None
    (key,) = command.address.keys
    instance = state.instances.get(state.owners.get(key, key))
    if instance is None:
        return None
    waiting = instance.subscriptions.get(key) or instance.jobs.get(key)
    return instance, instance.elements[instance.head.key if waiting is None else waiting.element_instance_key]


def report(step: Step, instance: ProcessInstance, element: ElementInstance, fault: Exception) -> None:
    """Raise an incident, unless one of this type is open at the element."""
    if not any(
        (each.element_instance_key, each.error_type) == (element.key, ErrorType.UNKNOWN)
        for each in instance.incidents.values()
    ):
        step.raise_incident(step.visit(instance, element), faulted(fault))


def overdue(step: Step, instance: ProcessInstance, element_key: Key) -> Iterator[Command]:
    """The due commands for an element instance that were not carried out."""
    tenant_id = instance.head.tenant_id
    for subscription in instance.subscriptions.values():
        if (
            isinstance(subscription, TimerSubscription)
            and subscription.element_instance_key == element_key
            and subscription.due <= step.now
        ):
            yield TriggerTimer(tenant_id, subscription.key, subscription.due)
    for job in instance.jobs.values():
        if job.element_instance_key != element_key or job.due is None or job.due > step.now:
            continue
        if job.state is JobState.ACTIVATED:
            yield TimeOutJob(tenant_id, job.key, job.due)
        elif job.state is JobState.BACKING_OFF:
            yield EndJobBackOff(tenant_id, job.key, job.due)
    if instance.work and element_key == instance.head.key:
        yield ContinueProcessInstance(tenant_id, instance.head.key)
