"""Activates elements of an active ad-hoc sub-process for a caller."""

from collections import Counter

from server.engine import ad_hoc
from server.engine.answers import DONE, Done
from server.engine.lifecycle import ACTIVATED
from server.engine.process_instance_commands import ActivateAdHocSubProcessActivities
from server.engine.rejection import Rejected, RejectionType
from server.engine.step import Step, Visit


def activate(command: ActivateAdHocSubProcessActivities, step: Step) -> Done:
    visit = _visit(command, step)
    prefix = (
        "Expected to activate activities for ad-hoc sub-process with key"
        f" '{command.ad_hoc_sub_process_instance_key}', but"
    )
    instance = visit.instance
    if instance.state is not ACTIVATED or instance.interruption is not None or instance.ends_remaining:
        raise Rejected(RejectionType.INVALID_STATE, f"{prefix} it is not active.")
    ids = Counter(each.element_id for each in command.elements)
    if len(ids) < len(command.elements):
        raise Rejected(RejectionType.INVALID_ARGUMENT, f"{prefix} duplicate activities were given.")
    ad_hoc.expect_elements(step, visit, command.elements)
    ad_hoc.activate(step, visit, command.elements, cancels_remaining=command.cancels_remaining)
    return DONE


def _visit(command: ActivateAdHocSubProcessActivities, step: Step) -> Visit:
    key = command.ad_hoc_sub_process_instance_key
    process_instance = step.state.instance(command.process_instance_key)
    if process_instance is not None and process_instance.head.tenant_id == command.tenant_id:
        instance = process_instance.elements.get(key)
        visit = step.visit(process_instance, instance) if instance is not None else None
        if visit is not None and visit.element.ad_hoc is not None:
            return visit
    reason = (
        "Expected to activate activities for ad-hoc sub-process but no ad-hoc sub-process instance found with key"
        f" '{key}'."
    )
    raise Rejected(RejectionType.NOT_FOUND, reason)
