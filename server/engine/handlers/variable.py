"""Sets variables of an active scope for a caller."""

from server.engine import task_listeners, user_task_transitions
from server.engine.answers import DONE, Done, TransitionBegun
from server.engine.handlers.user_task import begun_before
from server.engine.job_kinds import ListenerEventType
from server.engine.lifecycle import ElementState
from server.engine.process_instance import UserTask
from server.engine.process_instance_commands import SetVariables
from server.engine.rejection import Rejected, RejectionType
from server.engine.step import Step, Visit


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
