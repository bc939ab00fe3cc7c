"""Messages: published in the home partition of their correlation key, and caught by process instances of any partition."""

from server.engine import correlation, events, triggers
from server.engine import message_events as happened
from server.engine.answers import DONE, CorrelatedMessage, Done, PublishedMessage
from server.engine.keys import Key, partition_of
from server.engine.message_commands import (
    BeginNext,
    CloseMessageSubscription,
    ConfirmMessageSubscription,
    ContinueMessage,
    CorrelateMessage,
    DeliverMessage,
    ExpireMessage,
    OpenMessageSubscription,
    PublishMessage,
    SettleMessage,
)
from server.engine.rejection import Rejected, RejectionType
from server.engine.step import Step

# In the home partition


def publish(command: PublishMessage, step: Step) -> PublishedMessage:
    _expect_publishable(command, step)
    return PublishedMessage(_publish(command, step))


def correlate(command: CorrelateMessage, step: Step) -> CorrelatedMessage:
    """Correlate a message; the answer has a process instance that received it or will receive it in another partition."""
    name, correlation_key = command.name, command.correlation_key
    if not correlation.is_wanted(step, (command.tenant_id, name, correlation_key)):
        raise Rejected(
            RejectionType.NOT_FOUND,
            f"no subscription waits for a message '{name}' with the correlation key '{correlation_key}'",
        )
    publication = PublishMessage(
        tenant_id=command.tenant_id, name=name, correlation_key=correlation_key, variables=command.variables
    )
    _expect_publishable(publication, step)
    key = _publish(publication, step)
    return CorrelatedMessage(key, _correlated(step))


def _correlated(step: Step) -> Key:
    """The key of a process instance that the message created, or of one that waited for it."""
    for event in step.events:
        if isinstance(event, events.MessageCorrelated):
            return event.instance.key
    sent = next(event for event in step.events if isinstance(event, happened.MessageSent))
    return step.state.messages.subscriptions[sent.subscription_key].process_instance_key


def _publish(command: PublishMessage, step: Step) -> Key:
    key = step.next_key()
    if correlation.takes_at_once(step, command, key):
        return key
    step.emit(
        happened.MessagePublished(
            key,
            command.tenant_id,
            command.name,
            command.correlation_key,
            command.message_id,
            dict(command.variables),
            step.after(command.time_to_live),
            is_expired=not command.time_to_live,
        )
    )
    message = step.state.messages.messages[key]
    correlation.correlate(step, message)
    correlation.end_if_over(step, message)
    return key


def _expect_publishable(command: PublishMessage, step: Step) -> None:
    known, most = step.state.messages, step.state.limits.tenant_messages
    if command.message_id:
        name = (command.tenant_id, command.name, command.correlation_key, command.message_id)
        if name in known.ids:
            raise Rejected(
                RejectionType.ALREADY_EXISTS,
                f"a message '{command.name}' with id '{command.message_id}' is buffered already",
            )
    if known.counts.get(command.tenant_id, 0) >= most:
        raise Rejected(RejectionType.EXHAUSTED, f"the tenant has {most} messages in the buffer already")


def go_on(command: ContinueMessage, step: Step) -> Done:
    """Continue a postponed correlation; does nothing when it has ended meanwhile."""
    message = step.state.messages.messages.get(command.message_key)
    if message is None or message.postponed_at is None:
        return DONE
    step.emit(happened.MessageResumed(message.key, message.tenant_id, message.expires_at, message.is_expired))
    correlation.correlate(step, message)
    correlation.end_if_over(step, message)
    return DONE


def expire(command: ExpireMessage, step: Step) -> Done:
    """Expire a message; does nothing when the message was removed already."""
    message = step.state.messages.messages.get(command.message_key)
    if message is not None and not message.is_expired:
        step.emit(happened.MessageExpired(message.key))
        correlation.end_if_over(step, message)
    return DONE


def open_subscription(command: OpenMessageSubscription, step: Step) -> Done:
    known = step.state.messages
    step.emit(
        happened.HomeSubscriptionOpened(
            command.subscription_key,
            command.tenant_id,
            command.process_instance_key,
            command.process_definition_id,
            command.message_name,
            command.correlation_key,
            step.next_key(),
        )
    )
    subscription = known.subscriptions[command.subscription_key]
    if command.is_to_be_confirmed:
        confirmation = ConfirmMessageSubscription(command.tenant_id, command.subscription_key)
        step.send(partition_of(command.subscription_key), confirmation)
    if subscription.message_key is None:
        correlation.correlate_buffered(step, subscription)
    return DONE


def close_subscription(command: CloseMessageSubscription, step: Step) -> Done:
    if command.subscription_key in step.state.messages.subscriptions:
        step.emit(happened.HomeSubscriptionClosed(command.subscription_key))
    return DONE


def begin_next(command: BeginNext, step: Step) -> Done:
    correlation.begin_next(step, command.tenant_id, command.process_definition_id, command.correlation_key)
    return DONE


def settle(command: SettleMessage, step: Step) -> Done:
    message = step.state.messages.messages.get(command.message_key)
    if message is not None and command.subscription_key in message.deliveries:
        correlation.settle(step, message, command.subscription_key, is_taken=command.is_taken)
    return DONE


# In the partition of the process instance


def confirm(command: ConfirmMessageSubscription, step: Step) -> Done:
    """Record that the home partition knows the new process id; does nothing when the subscription was closed."""
    instance = step.state.owner_of(command.subscription_key)
    if instance is not None:
        step.emit(events.SubscriptionMoved(instance.head, command.subscription_key, is_moving=False))
    return DONE


def deliver(command: DeliverMessage, step: Step) -> Done:
    """Trigger the event that waits for the message, if it still can be, and report the outcome to the home partition."""
    home = partition_of(command.message_key)
    if home == step.state.partition_id and step.has_done_enough:
        message = step.state.messages.messages[command.message_key]
        correlation.take_back(step, message, command.subscription_key)
        return DONE
    step.begin_element()
    instance = step.state.owner_of(command.subscription_key)
    subscription = instance.subscriptions.get(command.subscription_key) if instance is not None else None
    is_taken = (
        instance is not None
        and subscription is not None
        and triggers.take(step, instance, subscription, command.variables, message_key=command.message_key)
    )
    settled = SettleMessage(
        command.tenant_id, command.message_key, command.subscription_key, is_taken=is_taken
    )
    step.send(home, settled)
    return DONE
