"""Sets variables of an active scope for a caller, and erases variables of a process instance."""

from collections.abc import Collection

from server.engine import scopes, task_listeners, user_task_transitions
from server.engine.answers import DONE, Done, TransitionBegun
from server.engine.events import VariablesErased
from server.engine.handlers.user_task import begun_before
from server.engine.job_kinds import ListenerEventType
from server.engine.keys import Key
from server.engine.lifecycle import ElementState
from server.engine.limits import VARIABLE_STEPS
from server.engine.process_instance import ProcessInstance, UserTask
from server.engine.process_instance_commands import SetVariables
from server.engine.rejection import Rejected, RejectionType
from server.engine.step import Step, Visit

ERASED = "null"
"""The value of an erased variable in an active scope."""


def set_variables(command: SetVariables, step: Step) -> Done | TransitionBegun:
    instance = step.state.instance(command.process_instance_key)
    scope = instance.elements.get(command.element_instance_key) if instance is not None else None
    if (
        instance is None
        or instance.head.tenant_id != command.tenant_id
        or scope is None
        or scope.state is ElementState.TERMINATING
    ):
        raise Rejected(
            RejectionType.NOT_FOUND,
            f"no active element instance or process instance with key {command.element_instance_key}",
        )
    visit = step.visit(instance, scope)
    if scope.user_task_key is not None:
        return _update(command, step, visit, instance.user_tasks[scope.user_task_key])
    user_task_transitions.set_variables(step, visit, command.variables, is_local=command.is_local)
    return DONE


def _update(command: SetVariables, step: Step, visit: Visit, user_task: UserTask) -> Done | TransitionBegun:
    """Set variables at a user task, after its task listeners."""
    begun = begun_before(step, user_task)
    if begun is not None:
        return begun
    transition = task_listeners.begin(
        step,
        visit,
        user_task,
        ListenerEventType.UPDATING,
        user_task.values,
        action="update",
        variables=command.variables,
        is_local=command.is_local,
        requester=step.requester,
    )
    if transition is not None:
        return TransitionBegun(transition.key)
    user_task_transitions.set_variables(step, visit, command.variables, is_local=command.is_local)
    return DONE


def erase(tenant_id: str, key: Key, names: tuple[str, ...], step: Step) -> None:
    """Erase variables of an active or ended process instance, which the store has for the tenant; without names, all."""
    instance = step.state.instance(key)
    if instance is not None and instance.head.tenant_id != tenant_id:
        raise Rejected(RejectionType.NOT_FOUND, f"there is no process instance with key {key}")
    if instance is not None:
        _erase_active(instance, names, step)
    step.emit(
        VariablesErased(
            step.next_key(),
            tenant_id,
            key,
            names,
            tuple(instance.incidents) if instance is not None else (),
            tuple(instance.jobs) if instance is not None else (),
        )
    )


def _erase_active(instance: ProcessInstance, names: Collection[str], step: Step) -> None:
    for scope_key, scope in list(instance.variables.items()):
        erased = [name for name in scope if not names or name in names]
        step.charge(len(erased) * VARIABLE_STEPS)
        for name in erased:
            scopes.set_local(step, instance, scope_key, name, ERASED)
