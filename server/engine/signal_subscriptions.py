"""Signal subscriptions of process instances."""

from datetime import datetime

from server.bpmn.executable import SignalTrigger
from server.engine.expressions import string_of
from server.engine.keys import Key
from server.engine.message_subscriptions import bounded
from server.engine.scopes import VariableScope
from server.engine.subscriptions import SignalSubscription


def open_signal(
    key: Key,
    element_instance_key: Key,
    element_id: str,
    *,
    trigger: SignalTrigger,
    scope: VariableScope,
    now: datetime,  # noqa: ARG001  # for what depends on time
) -> SignalSubscription:
    """The subscription for the trigger; raises Incident."""
    name = bounded(string_of(trigger.name, scope), f"name of the signal of '{element_id}'")
    return SignalSubscription(key, element_instance_key, element_id, name)
