"""Compensation after a migration: completed activities remain compensable if their boundary events are mapped."""

from collections.abc import Mapping
from typing import cast

from server.bpmn.executable import Element
from server.engine.compensation import ids_around
from server.engine.handlers.migration_plan import MigrationPlan


def compensable_after(plan: MigrationPlan, scope: Element, counts: Mapping[str, int]) -> dict[str, int]:
    """The counts of a source scope, by the activity ids of the target; raises Rejected."""
    moved: dict[str, int] = {}
    for activity_id, count in counts.items():
        boundary = cast("Element", plan.source.elements[activity_id].compensation)
        if boundary.id not in plan.mapping:
            continue
        activity = _compensated(plan, boundary, activity_id)
        if not _is_inside(plan, plan.source.elements[activity_id], activity, scope):
            raise plan.invalid_state(
                f"catch event '{boundary.id}' is mapped to '{plan.mapping[boundary.id]}', which is in another flow scope"
            )
        if activity.id in moved:
            raise plan.invalid_state(f"several catch events are mapped to '{plan.mapping[boundary.id]}'")
        moved[activity.id] = count
    return moved


def _is_inside(plan: MigrationPlan, source: Element, target: Element, scope: Element) -> bool:
    """Whether the activity stays in the scope, or inside it if it was in a completed sub-process."""
    if source.flow_scope is scope:
        return target.flow_scope is plan.counterpart(scope)
    return plan.counterpart(scope).id in ids_around(plan.target, target.id)


def _compensated(plan: MigrationPlan, boundary: Element, activity_id: str) -> Element:
    """The activity of the target whose compensation boundary event this one is mapped to."""
    target_id = plan.mapping[boundary.id]
    found = (
        element
        for element in plan.target.elements.values()
        if element.compensation is not None and element.compensation.id == target_id
    )
    activity = next(found, None)
    if activity is None:
        raise plan.invalid_state(
            f"catch events '{boundary.id}' and '{target_id}' wait for different triggers"
        )
    if plan.mapping.get(activity_id, activity.id) != activity.id:
        raise plan.invalid_state(
            f"catch event '{boundary.id}' of element '{activity_id}' is mapped to '{target_id}',"
            " which is on another element"
        )
    return activity
