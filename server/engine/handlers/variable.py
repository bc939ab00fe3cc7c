"""Set the variables of an active scope from outside."""

from server.engine.answers import DONE, Done
from server.engine.commands import SetVariables
from server.engine.lifecycle import ElementState
from server.engine.rejection import Rejected, RejectionType
from server.engine.scopes import propagate, set_all_local
from server.engine.step import Step


def set_variables(command: SetVariables, step: Step) -> Done:
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
    merge = set_all_local if command.is_local else propagate
    merge(step, instance, scope.key, command.variables)
    return DONE
