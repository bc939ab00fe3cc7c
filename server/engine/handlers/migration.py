"""Migrates a process instance to another process definition; active elements are mapped by id.

All or nothing. Nothing is evaluated again: jobs, user tasks, incidents, variables and subscriptions keep
their state and their keys. The job of a user task ends where the target has a native user task.
"""

from collections.abc import Mapping

import msgspec

from server.bpmn.executable import Element, ElementType
from server.engine import events, execution
from server.engine.answers import DONE, Done
from server.engine.definitions import Definition
from server.engine.handlers.compensation_migration import compensable_after
from server.engine.handlers.migration_plan import MigrationPlan, migration_plan
from server.engine.handlers.subscription_migration import (
    emit_closed,
    emit_conditions,
    emit_opened,
    message_subscriptions,
    report_kept,
    subscription_migration,
)
from server.engine.handlers.user_task_migration import emit_created, emit_job_gone, user_task_migrations
from server.engine.keys import Key
from server.engine.lifecycle import ElementState
from server.engine.migration_commands import MigrateProcessInstance
from server.engine.process_instance import ElementInstance, ProcessInstance
from server.engine.rejection import Rejected, RejectionType
from server.engine.step import Step
from server.engine.work import Join


def migrate(command: MigrateProcessInstance, step: Step) -> Done:
    instance = _instance(command, step)
    target = _target(command, step)
    if instance.work:
        raise Rejected(
            RejectionType.INVALID_STATE,
            f"process instance {instance.head.key} is still executing: migrate it when it waits",
        )
    source = step.state.definition_of(instance).process
    _expect_alone(step, instance, target)
    plan = migration_plan(command.process_instance_key, source, target.process, command.mapping_instructions)
    elements = tuple(_migrated(plan, instance, element) for element in instance.elements.values())
    subscriptions = subscription_migration(plan, step, instance)
    user_tasks = user_task_migrations(plan, step, instance)
    began = instance.message_start
    emit_closed(step, instance, subscriptions)
    for user_task in user_tasks:
        emit_job_gone(step, user_task)
    head = _head(instance.head, target)
    ended = {user_task.job_key for user_task in user_tasks}
    kept = tuple(_without_job(each) if each.job_key in ended else each for each in elements)
    messages = message_subscriptions(instance, subscriptions)
    step.emit(events.ProcessInstanceMigrated(head, kept, dict(subscriptions.kept), messages))
    if head.process_definition_id != source.id:
        report_kept(step, instance, subscriptions)
        execution.make_room(step, began)
    emit_conditions(step, instance, subscriptions)
    emit_opened(step, instance, subscriptions)
    for user_task in user_tasks:
        emit_created(step, user_task)
    for element in instance.elements.values():
        if target.process.of(element.element_id, instance.elements[element.key].type).inclusive_joins:
            step.defer(instance, Join(element.key))
    return DONE


def _without_job(element: events.MigratedElement) -> events.MigratedElement:
    return msgspec.structs.replace(element, job_key=None, incident_key=None)


def _instance(command: MigrateProcessInstance, step: Step) -> ProcessInstance:
    instance = step.state.instance(command.process_instance_key)
    if instance is None or instance.head.tenant_id != command.tenant_id:
        raise Rejected(
            RejectionType.NOT_FOUND, f"no active process instance with key {command.process_instance_key}"
        )
    return instance


def _expect_alone(step: Step, instance: ProcessInstance, target: Definition) -> None:
    """Raises Rejected when a message with the same correlation key began an instance of the target process."""
    head, key = instance.head, instance.correlation_key
    is_elsewhere = target.process_definition_id != head.process_definition_id
    if is_elsewhere and (head.tenant_id, target.process_definition_id, key) in step.state.started:
        raise Rejected(
            RejectionType.INVALID_STATE,
            f"process instance {head.key} cannot be migrated: process '{target.process_definition_id}' has an"
            f" active instance that a message with the correlation key '{key}' began",
        )


def _target(command: MigrateProcessInstance, step: Step) -> Definition:
    target = step.state.definitions.get(command.target_process_definition_key)
    if target is None or target.tenant_id != command.tenant_id or target.is_deleted:
        raise Rejected(
            RejectionType.NOT_FOUND,
            f"no process definition with key {command.target_process_definition_key}",
        )
    return target


def _head(head: events.InstanceHead, target: Definition) -> events.InstanceHead:
    return msgspec.structs.replace(
        head,
        process_definition_key=target.key,
        process_definition_id=target.process.id,
        version=target.version,
        process_name=target.process.name,
        version_tag=target.process.version_tag,
    )


def _migrated(
    plan: MigrationPlan, process_instance: ProcessInstance, instance: ElementInstance
) -> events.MigratedElement:
    source = plan.source.of(instance.element_id, instance.type)
    target = plan.counterpart(source)
    if instance.interruption is not None and not instance.interruption.is_finished:
        raise plan.invalid_state(f"active element '{source.id}' is being interrupted")
    has_yet_to_enter = (
        instance.type is ElementType.EVENT_BASED_GATEWAY or instance.state is ElementState.ACTIVATING
    )
    if instance.caught is not None and has_yet_to_enter:
        raise plan.invalid_state(f"active element '{source.id}' has caught an event")
    if instance.begins_at and instance.state is ElementState.ACTIVATING:
        raise plan.invalid_state(f"active element '{source.id}' has yet to activate '{instance.begins_at}'")
    _check_listeners(plan, instance, source, target)
    return events.MigratedElement(
        instance.key,
        target.id,
        target.name,
        instance.job_key,
        instance.incident_key,
        _joins(plan, instance.joins),
        instance.user_task_key,
        compensable_after(plan, source, instance.compensable),
        _form_key(process_instance, instance),
    )


def _form_key(process_instance: ProcessInstance, instance: ElementInstance) -> Key | None:
    user_task = process_instance.user_tasks.get(instance.user_task_key or Key(0))
    return None if user_task is None else user_task.form_key


def _check_listeners(
    plan: MigrationPlan, instance: ElementInstance, source: Element, target: Element
) -> None:
    """Check that a phase that listeners have paused continues with the same number of listeners."""
    listeners = [(len(each.start_listeners), len(each.end_listeners)) for each in (source, target)]
    if instance.progress and listeners[0] != listeners[1]:
        raise plan.invalid_state(
            f"active element '{source.id}' has begun with its listeners, of which '{target.id}' has another number"
        )


def _joins(plan: MigrationPlan, arrivals: Mapping[str, int]) -> dict[str, int]:
    """The arrivals that wait at joining gateways, by the flows of the target.

    Each gateway is mapped to a different one with at least as many incoming flows, and each flow to a
    different flow. A gateway that waits for further arrivals in the source therefore does so in the target.
    """
    gateways: dict[str, Element] = {}
    joins: dict[str, int] = {}
    for flow_id, count in arrivals.items():
        flow = plan.source.flows[flow_id]
        gateway = _joining(plan, flow.target)
        target_id = plan.mapping.get(flow_id, flow_id)
        if target_id in joins or target_id not in {incoming.id for incoming in gateway.incoming}:
            raise plan.invalid_state(
                f"taken sequence flow '{flow_id}' is not mapped to one of its own into gateway '{gateway.id}'"
            )
        if gateways.setdefault(gateway.id, flow.target) is not flow.target:
            raise plan.invalid_state(
                f"several gateways with taken flows are mapped to gateway '{gateway.id}'"
            )
        joins[target_id] = count
    return joins


def _joining(plan: MigrationPlan, gateway: Element) -> Element:
    target = plan.counterpart(gateway)
    if len(target.incoming) < len(gateway.incoming):
        raise plan.invalid_state(
            f"gateway '{target.id}' has fewer incoming sequence flows than gateway '{gateway.id}', which waits for some"
        )
    return target
