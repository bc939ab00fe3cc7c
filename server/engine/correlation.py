"""Correlates messages in the home partition of their correlation key, once for each process.

A message takes a subscription by marking it. The message is then sent to the partition of the process
instance, which answers whether it still waits. If it does not, the message goes to the next subscription of
the same process. A process without a subscription starts if it has a start event for the message: in this
partition, with one instance at a time for the same correlation key.

A shortcut handles an unbuffered message that exactly one subscription of this partition waits for.
"""

from collections.abc import Iterable
from operator import attrgetter

from server.engine import message_events as happened
from server.engine import triggers
from server.engine.definitions import message_starts_of
from server.engine.events import MessageCorrelated
from server.engine.instantiation import begin_at
from server.engine.keys import Key, partition_of
from server.engine.message_commands import DeliverMessage, PublishMessage
from server.engine.messages import HomeSubscription, Message, Place
from server.engine.start_triggers import MessageStart
from server.engine.step import Step

LOADED_AT_ONCE = 100
"""Most process instances of this partition that one message may load in a turn."""


def correlate(step: Step, message: Message) -> None:
    """Send a message to a subscription of each process that has not received it, or start the process.

    The rest is postponed when the command has done enough. Messages that were published earlier and are
    postponed are sent first.
    """
    known, found = step.state.messages, list(_matching(step, message))
    _expect_loaded(step, found)
    left = len(found)
    for subscription in found[:LOADED_AT_ONCE]:
        if step.has_done_enough:
            break
        first = next(
            known.messages_for(subscription.place, subscription.process_definition_id, step.now, also=message)
        )
        send(step, first, subscription)
        left -= first is message
    if left or not _begin_processes(step, message):
        postpone(step, message)


def takes_at_once(step: Step, publication: PublishMessage, key: Key) -> bool:
    """Whether the only subscription for the message is in this partition and took it; if not, nothing has happened.

    The message is neither buffered nor in delivery, so nothing of it is stored; the correlation claims its
    key.
    """
    subscription = _only_taker(step, publication)
    instance = step.state.owner_of(subscription.key) if subscription is not None else None
    if subscription is None or instance is None:
        return False
    step.begin_element()
    waiting = instance.subscriptions.get(subscription.key)
    if waiting is None or not triggers.caught(
        step, instance, waiting, publication.variables, message_key=key
    ):
        return False
    _put_behind_others(step, subscription)
    return True


def _only_taker(step: Step, publication: PublishMessage) -> HomeSubscription | None:
    """The subscription of this partition that receives the message, if the message can have no other effect."""
    place = (publication.tenant_id, publication.name, publication.correlation_key)
    known = step.state.messages
    processes = known.candidates.get(place, ())
    if publication.time_to_live or len(processes) != 1:
        return None
    if place in known.buffered or place[:2] in step.state.starts.messages or step.has_done_enough:
        return None
    subscription = known.first(place, next(iter(processes)))
    is_here = subscription is not None and partition_of(subscription.key) == step.state.partition_id
    return subscription if is_here else None


def _put_behind_others(step: Step, subscription: HomeSubscription) -> None:
    """Move a subscription that stays open to the end of its queue, so that others take the next message first."""
    known = step.state.messages
    if subscription.key not in known.subscriptions:
        return
    if len(known.candidates[subscription.place][subscription.process_definition_id]) > 1:
        step.emit(
            happened.HomeSubscriptionOpened(
                subscription.key,
                subscription.tenant_id,
                subscription.process_instance_key,
                subscription.process_definition_id,
                subscription.message_name,
                subscription.correlation_key,
                step.next_key(),
            )
        )


def is_wanted(step: Step, place: Place) -> bool:
    """Whether a process instance waits for a message at this place, or a process would start with it."""
    if step.state.messages.candidates.get(place):
        return True
    line = step.state.starts.messages.get(place[:2])
    tenant_id, _, correlation_key = place
    return line is not None and any(
        (tenant_id, process_id, correlation_key) not in step.state.started for process_id in line.after()
    )


def _begin_processes(step: Step, message: Message) -> bool:
    """Whether every process that the message can start now has started."""
    place = message.place
    line = step.state.starts.messages.get(place[:2])
    for process_id in list(line.after()) if line is not None else ():
        while process_id not in message.process_ids and not _is_begun(step, message, process_id):
            if step.has_done_enough:
                return False
            _begin(
                step,
                next(step.state.messages.messages_for(place, process_id, step.now, also=message)),
                process_id,
            )
    return True


def _is_begun(step: Step, message: Message, process_id: str) -> bool:
    """Whether an instance that a message with this correlation key started still runs."""
    return (message.tenant_id, process_id, message.correlation_key) in step.state.started


def _begin(step: Step, message: Message, process_id: str) -> None:
    start = step.state.starts.messages[message.place[:2]][process_id]
    step.emit(happened.ProcessBegun(message.key, process_id))
    begun = begin_at(step, start, message.variables, message.correlation_key)
    definition = step.state.definitions[start.process_definition_key]
    subscription_key = next(
        key for key, each in message_starts_of(definition).items() if each.element_id == start.element_id
    )
    step.emit(
        MessageCorrelated(
            begun.head,
            step.next_key(),
            message.key,
            subscription_key,
            start.element_id,
            None,
            message.name,
            message.correlation_key,
        )
    )


def begin_next(step: Step, tenant_id: str, process_id: str, correlation_key: str) -> None:
    """Start a process with the oldest message that waits for the end of its previous instance."""
    latest = step.state.latest(tenant_id, process_id)
    if latest is None or (tenant_id, process_id, correlation_key) in step.state.started:
        return
    names = [start.message_name for start in latest.starts if isinstance(start, MessageStart)]
    places = [(tenant_id, name, correlation_key) for name in names]
    buffered = (next(step.state.messages.messages_for(place, process_id, step.now), None) for place in places)
    message = min((each for each in buffered if each is not None), key=attrgetter("key"), default=None)
    if message is None:
        return
    if step.has_done_enough:
        postpone(step, message)
        return
    _begin(step, message, process_id)
    end_if_over(step, message)


def postpone(step: Step, message: Message) -> None:
    """Continue the correlation of a message in a later turn."""
    if message.postponed_at is None:
        step.emit(happened.MessagePostponed(message.key, message.tenant_id, step.now))


def take_back(step: Step, message: Message, subscription_key: Key) -> None:
    """Undo the sending of a message within this partition, whose delivery was skipped because the command had done enough."""
    step.emit(happened.MessageTakenBack(message.key, subscription_key))
    postpone(step, message)


def _matching(step: Step, message: Message) -> Iterable[HomeSubscription]:
    """The oldest subscription of each process that has not received the message."""
    known = step.state.messages
    for process_id in known.candidates.get(message.place, ()):
        if process_id not in message.process_ids:
            subscription = known.first(message.place, process_id)
            if subscription is not None:
                yield subscription


def _expect_loaded(step: Step, found: Iterable[HomeSubscription]) -> None:
    """Raises NotLoaded with all needed process instances of this partition at once, so that they are loaded together."""
    here = step.state.partition_id
    keys = [each.process_instance_key for each in found if partition_of(each.process_instance_key) == here]
    step.state.expect_loaded(keys[:LOADED_AT_ONCE])


def correlate_buffered(step: Step, subscription: HomeSubscription) -> None:
    """Send the oldest matching message to a subscription that can take one now."""
    place, process_id = subscription.place, subscription.process_definition_id
    message = next(step.state.messages.messages_for(place, process_id, step.now), None)
    if message is None:
        return
    if step.has_done_enough:
        postpone(step, message)
        return
    send(step, message, subscription)


def send(step: Step, message: Message, subscription: HomeSubscription) -> None:
    step.emit(happened.MessageSent(message.key, subscription.key))
    command = DeliverMessage(message.tenant_id, message.key, subscription.key, message.variables)
    step.send(partition_of(subscription.key), command)


def settle(step: Step, message: Message, subscription_key: Key, *, is_taken: bool) -> None:
    """Record whether the subscription took the message, and continue with both of them."""
    step.emit(happened.MessageSettled(message.key, subscription_key, is_taken, step.next_key()))
    if not is_taken:
        correlate(step, message)
    subscription = step.state.messages.subscriptions.get(subscription_key)
    if subscription is not None:
        correlate_buffered(step, subscription)
    end_if_over(step, message)


def end_if_over(step: Step, message: Message) -> None:
    if message.is_over:
        step.emit(happened.MessageRemoved(message.key))
