"""Starts, cancels and deletes process instances."""

from server.engine import execution
from server.engine.answers import DONE, CreatedInstance, Done
from server.engine.definitions import Definition
from server.engine.events import ProcessInstanceDeleted
from server.engine.handlers.modification_entry import entered
from server.engine.handlers.modification_plan import start_plan
from server.engine.incidents import Incident
from server.engine.instance_heads import head_of
from server.engine.lifecycle import ElementState
from server.engine.process_instance import ProcessInstance
from server.engine.process_instance_commands import (
    CancelProcessInstance,
    ContinueProcessInstance,
    CreateProcessInstance,
    DeleteProcessInstance,
)
from server.engine.rejection import Rejected, RejectionType
from server.engine.scopes import set_all_local
from server.engine.state import State
from server.engine.step import Step
from server.engine.work import ActivateInstances


def create(command: CreateProcessInstance, step: Step) -> CreatedInstance:
    definition = _definition(command, step.state)
    process = step.process_by(definition)
    if not command.start_element_ids and process.root.none_start is None:
        raise Rejected(
            RejectionType.INVALID_STATE, f"process '{process.id}' has no none start event to start from"
        )
    for element_id in command.terminates_after:
        if element_id not in process.elements:
            raise Rejected(
                RejectionType.INVALID_ARGUMENT,
                f"process '{process.id}' has no element '{element_id}' after which it could be terminated",
            )
    head = head_of(step, definition, tags=command.tags, business_id=command.business_id)
    instance = step.create(head, terminates_after=command.terminates_after)
    set_all_local(step, instance, head.key, command.variables)
    if command.start_element_ids:
        _start_at(command.start_element_ids, step, instance)
    else:
        execution.start(step, instance)
    return CreatedInstance(head)


def _start_at(element_ids: tuple[str, ...], step: Step, instance: ProcessInstance) -> None:
    """Start at elements anywhere in the process, in new flow scopes, instead of the none start event."""
    plan, root_key = start_plan(step, instance, element_ids), instance.head.key
    try:
        execution.open_flow_scope(step, step.visit(instance, instance.elements[root_key]))
    except Incident as incident:
        raise plan.refused(f"the process cannot wait for its events: {incident.message}") from incident
    step.defer(instance, ActivateInstances(root_key, entered(plan, step, instance)))


def _definition(command: CreateProcessInstance, state: State) -> Definition:
    if command.process_definition_key is not None:
        definition = state.definitions.get(command.process_definition_key)
        wanted = f"key {command.process_definition_key}"
    else:
        definition = _by_id(command, state)
        version = "latest version" if command.version is None else f"version {command.version}"
        wanted = f"id '{command.process_definition_id}' in its {version}"
    if definition is None or definition.tenant_id != command.tenant_id or definition.is_deleted:
        raise Rejected(RejectionType.NOT_FOUND, f"no process definition with {wanted}")
    return definition


def _by_id(command: CreateProcessInstance, state: State) -> Definition | None:
    if command.version is None:
        return state.latest(command.tenant_id, command.process_definition_id)
    return state.version(command.tenant_id, command.process_definition_id, command.version)


def cancel(command: CancelProcessInstance, step: Step) -> Done:
    instance = step.state.instance(command.process_instance_key)
    if instance is None or instance.head.tenant_id != command.tenant_id:
        raise Rejected(
            RejectionType.NOT_FOUND, f"no active process instance with key {command.process_instance_key}"
        )
    caller = instance.head.caller
    if caller is not None:
        raise Rejected(
            RejectionType.INVALID_STATE,
            f"process instance {instance.head.key} was started by a call activity of process instance"
            f" {caller.process_instance_key}: cancel the root process instance {caller.root_process_instance_key}"
            " instead",
        )
    root = instance.elements[instance.head.key]
    if root.state is ElementState.TERMINATING:
        raise Rejected(
            RejectionType.INVALID_STATE, f"process instance {instance.head.key} is being cancelled already"
        )
    execution.terminate(step, instance, root)
    return DONE


def delete(command: DeleteProcessInstance, step: Step) -> Done:
    """Delete the history of an ended process instance; the caller looks up in the store whether it has any."""
    key = command.process_instance_key
    instance = step.state.instance(key)
    if instance is not None and instance.head.tenant_id == command.tenant_id:
        raise Rejected(
            RejectionType.INVALID_STATE,
            f"process instance {key} has not ended: cancel it before it is deleted",
        )
    if instance is not None or not command.is_stored:
        raise Rejected(RejectionType.NOT_FOUND, f"there is no process instance with key {key}")
    step.emit(ProcessInstanceDeleted(key, command.tenant_id))
    return DONE


def go_on(command: ContinueProcessInstance, step: Step) -> Done:
    """Continue postponed work; does nothing when the process instance has ended or the work is done already.

    A called process instance below a scope that is ending waits for its own termination, which takes its work along.
    """
    if step.state.calls.waits_for_termination(command.process_instance_key):
        return DONE
    instance = step.state.instance(command.process_instance_key)
    if instance is not None and instance.work:
        step.resume(instance)
    return DONE
