"""Modifies a process instance: activates elements anywhere in it, and terminates element instances.

All or nothing. The command enters the elements, with the flow scopes that are missing, and leaves the rest as
work. A scope that becomes empty is terminated, too.
"""

from server.engine.answers import DONE, Done
from server.engine.handlers.modification_entry import entered
from server.engine.handlers.modification_plan import modification_plan
from server.engine.handlers.terminations import terminations
from server.engine.lifecycle import ElementState
from server.engine.modification_commands import ModifyProcessInstance
from server.engine.process_instance import ProcessInstance
from server.engine.rejection import Rejected, RejectionType
from server.engine.step import Step
from server.engine.work import ActivateInstances, TerminateInstances


def modify(command: ModifyProcessInstance, step: Step) -> Done:
    instance = _instance(command, step)
    plan = modification_plan(command, step, instance)
    activated = entered(plan, step, instance)
    terminated = terminations(plan, step, instance)
    if terminated:
        step.defer(instance, TerminateInstances(instance.head.key, terminated))
    if activated:
        step.defer(instance, ActivateInstances(instance.head.key, activated))
    return DONE


def _instance(command: ModifyProcessInstance, step: Step) -> ProcessInstance:
    instance = step.state.instance(command.process_instance_key)
    if (
        instance is None
        or instance.head.tenant_id != command.tenant_id
        or instance.elements[instance.head.key].state is ElementState.TERMINATING
    ):
        raise Rejected(
            RejectionType.NOT_FOUND, f"no active process instance with key {command.process_instance_key}"
        )
    return instance
