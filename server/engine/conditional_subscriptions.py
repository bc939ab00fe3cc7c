"""Subscriptions of process instances to conditions."""

from datetime import datetime

from server.bpmn.executable import ConditionTrigger
from server.engine.keys import Key
from server.engine.scopes import VariableScope
from server.engine.subscriptions import ConditionalSubscription


def open_condition(
    key: Key,
    element_instance_key: Key,
    element_id: str,
    *,
    trigger: ConditionTrigger,
    scope: VariableScope,  # noqa: ARG001  # for what depends on variables
    now: datetime,  # noqa: ARG001  # for what depends on time
) -> ConditionalSubscription:
    """The subscription for the trigger."""
    return ConditionalSubscription(
        key, element_instance_key, element_id, trigger.variable_names, trigger.variable_events
    )
