"""Pending work of a modification: element instances to activate and to terminate.

Elements are entered before others are terminated, so their flow scopes stay active.
"""

from itertools import islice
from typing import Final

from server.engine import execution
from server.engine.lifecycle import ACTIVATING, TERMINATING
from server.engine.process_instance import ElementInstance, ProcessInstance
from server.engine.step import Step
from server.engine.work import ActivateInstances, TerminateInstances

TERMINATED_AT_ONCE: Final = 16
"""Most element instances that are terminated before the resulting work runs."""


def activate_instances(
    step: Step, process_instance: ProcessInstance, root: ElementInstance, work: ActivateInstances
) -> None:
    """Activate the first element instance; the others follow before the work that it causes."""
    first, *others = work.element_instance_keys
    if others:
        step.prefer(process_instance, ActivateInstances(root.key, tuple(others)))
    instance = process_instance.elements.get(first)
    if instance is not None and instance.state is ACTIVATING:
        execution.activate(step, step.visit(process_instance, instance))


def terminate_instances(
    step: Step, process_instance: ProcessInstance, root: ElementInstance, work: TerminateInstances
) -> None:
    """Terminate some element instances; the others follow when the descendants of the first ones are gone."""
    keys = iter(work.element_instance_keys)
    now = tuple(islice(keys, TERMINATED_AT_ONCE))
    later = tuple(keys)
    if later:
        step.prefer(process_instance, TerminateInstances(root.key, later))
    for key in now:
        instance = process_instance.elements.get(key)
        if instance is not None and instance.state is not TERMINATING:
            execution.terminate(step, process_instance, instance)
