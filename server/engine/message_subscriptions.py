"""Message subscriptions of process instances, and reports about them to the home partition."""

from datetime import datetime

from server.bpmn.executable import MessageTrigger
from server.engine.events import InstanceHead, MessageCorrelated, SubscriptionMoved
from server.engine.expressions import key_text_of, string_of
from server.engine.incidents import ErrorType, Incident
from server.engine.keys import Key
from server.engine.message_commands import CloseMessageSubscription, OpenMessageSubscription
from server.engine.message_events import HomeSubscriptionClosed, HomeSubscriptionOpened
from server.engine.messages import MOST_CHARACTERS, home_of
from server.engine.scopes import VariableScope
from server.engine.step import Step
from server.engine.subscriptions import AnySubscription, MessageSubscription


def open_message(
    key: Key,
    element_instance_key: Key,
    element_id: str,
    *,
    trigger: MessageTrigger,
    scope: VariableScope,
    now: datetime,  # noqa: ARG001  # for what depends on time
    key_scope: VariableScope | None = None,
) -> MessageSubscription:
    """The subscription for the trigger; `key_scope`, if given, evaluates the correlation key. Raises Incident."""
    name = bounded(string_of(trigger.name, scope), f"name of the message of '{element_id}'")
    correlation_key = bounded(
        key_text_of(trigger.correlation_key, key_scope or scope), f"correlation key of '{element_id}'"
    )
    return MessageSubscription(key, element_instance_key, element_id, name, correlation_key)


def bounded(text: str, subject: str) -> str:
    """The text itself; raises Incident when it is too long."""
    if len(text) > MOST_CHARACTERS:
        reason = f"Expected the {subject} to have {MOST_CHARACTERS} characters at most, found {len(text)}"
        raise Incident(ErrorType.EXTRACT_VALUE_ERROR, reason)
    return text


def report_opened(step: Step, head: InstanceHead, subscription: MessageSubscription) -> None:
    """Report a new subscription to its home partition."""
    if _learns_at_once(step, head, subscription):
        # The latest key is also the highest queue position.
        step.emit(
            HomeSubscriptionOpened(
                subscription.key,
                head.tenant_id,
                head.key,
                head.process_definition_id,
                subscription.message_name,
                subscription.correlation_key,
                subscription.key,
            )
        )
    else:
        _send_opened(step, head, subscription, is_to_be_confirmed=False)


def _learns_at_once(step: Step, head: InstanceHead, subscription: MessageSubscription) -> bool:
    """Whether this partition is the home of a new subscription, and can open it directly.

    It cannot when it has a message for it, or another command to itself is pending.
    """
    if step.received or _home(step, head, subscription) != step.state.partition_id:
        return False
    place = (head.tenant_id, subscription.message_name, subscription.correlation_key)
    return place not in step.state.messages.buffered


def report_moved(step: Step, head: InstanceHead, subscription: AnySubscription) -> None:
    """Report the new process id of a subscription to its home; another partition confirms it."""
    if isinstance(subscription, MessageSubscription):
        is_remote = _home(step, head, subscription) != step.state.partition_id
        _send_opened(step, head, subscription, is_to_be_confirmed=is_remote)
        if is_remote:
            step.emit(SubscriptionMoved(head, subscription.key, is_moving=True))


def _send_opened(
    step: Step, head: InstanceHead, subscription: MessageSubscription, *, is_to_be_confirmed: bool
) -> None:
    command = OpenMessageSubscription(
        tenant_id=head.tenant_id,
        subscription_key=subscription.key,
        process_instance_key=head.key,
        process_definition_id=head.process_definition_id,
        message_name=subscription.message_name,
        correlation_key=subscription.correlation_key,
        is_to_be_confirmed=is_to_be_confirmed,
    )
    step.send(_home(step, head, subscription), command)


def report_closed(step: Step, head: InstanceHead, subscription: MessageSubscription) -> None:
    if not step.received and subscription.key in step.state.messages.subscriptions:
        step.emit(HomeSubscriptionClosed(subscription.key))
    else:
        command = CloseMessageSubscription(head.tenant_id, subscription.key)
        step.send(_home(step, head, subscription), command)


def report_correlated(
    step: Step, head: InstanceHead, subscription: MessageSubscription, message_key: Key
) -> None:
    key = step.next_key()
    step.emit(
        MessageCorrelated(
            head,
            # A message that is taken at once has the next key, which nothing else claims.
            key if key != message_key else Key(key + 1),
            message_key,
            subscription.key,
            subscription.element_id,
            subscription.element_instance_key,
            subscription.message_name,
            subscription.correlation_key,
        )
    )


def _home(step: Step, head: InstanceHead, subscription: MessageSubscription) -> int:
    return home_of(head.tenant_id, subscription.correlation_key, step.state.message_homes)
