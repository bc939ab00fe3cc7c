"""Appliers of the events of messages in their home partition."""

from collections.abc import Callable, Mapping
from typing import cast

from server.engine import message_events as events
from server.engine.events import Event
from server.engine.keys import Key
from server.engine.messages import HomeSubscription, Message
from server.engine.pages import Kind
from server.engine.sent import CommandSent
from server.engine.state import State


def _published(state: State, event: events.MessagePublished) -> None:
    state.claim(event.key)
    message = Message(
        event.key,
        event.tenant_id,
        event.name,
        event.correlation_key,
        event.message_id,
        event.variables,
        event.expires_at,
        is_expired=event.is_expired,
    )
    state.journal.enter(Kind.MESSAGE, event.key)
    state.messages.publish(message, state.journal)


def _sent(state: State, event: events.MessageSent) -> None:
    message = _message(state, event.key)
    subscription = _subscription(state, event.subscription_key)
    process_id = subscription.process_definition_id
    state.journal.note(state.messages.offer_again, message, process_id)
    state.journal.put(message.process_ids, process_id, None)
    state.journal.put(message.deliveries, subscription.key, process_id)
    state.messages.occupy(subscription, message.key, state.journal)


def _process_begun(state: State, event: events.ProcessBegun) -> None:
    message, process_id = _message(state, event.key), event.process_definition_id
    state.journal.note(state.messages.offer_again, message, process_id)
    state.journal.put(message.process_ids, process_id, None)


def _settled(state: State, event: events.MessageSettled) -> None:
    state.claim(event.number)
    message = _message(state, event.key)
    process_id = state.journal.drop(message.deliveries, event.subscription_key)
    if not event.is_taken:
        # The process instance itself closes the subscription.
        _offer_again(state, message, process_id)
    elif event.subscription_key in state.messages.subscriptions:
        subscription = _subscription(state, event.subscription_key)
        state.messages.release(subscription, event.number, state.journal)


def _offer_again(state: State, message: Message, process_id: str | None) -> None:
    assert process_id is not None, "what is settled was under way"  # noqa: S101  # narrows the type
    state.journal.drop(message.process_ids, process_id)
    state.messages.offer_again(message, process_id)


def _taken_back(state: State, event: events.MessageTakenBack) -> None:
    message = _message(state, event.key)
    process_id = state.journal.drop(message.deliveries, event.subscription_key)
    _offer_again(state, message, process_id)
    if event.subscription_key in state.messages.subscriptions:
        subscription = _subscription(state, event.subscription_key)
        state.messages.release(subscription, subscription.number, state.journal)


def _postponed(state: State, event: events.MessagePostponed) -> None:
    state.journal.alter(_message(state, event.key), "postponed_at", event.at)


def _resumed(state: State, event: events.MessageResumed) -> None:
    state.journal.alter(_message(state, event.key), "postponed_at", None)


def _expired(state: State, event: events.MessageExpired) -> None:
    state.journal.alter(_message(state, event.key), "is_expired", value=True)


def _removed(state: State, event: events.MessageRemoved) -> None:
    state.messages.remove(_message(state, event.key), state.journal)


def _subscription_opened(state: State, event: events.HomeSubscriptionOpened) -> None:
    state.claim(event.number)
    earlier = state.messages.subscriptions.get(event.key)
    subscription = HomeSubscription(
        event.key,
        event.tenant_id,
        event.process_instance_key,
        event.process_definition_id,
        event.message_name,
        event.correlation_key,
        event.number,
        earlier.message_key if earlier is not None else None,
    )
    state.journal.enter(Kind.MESSAGE_SUBSCRIPTION, event.key)
    state.messages.open(subscription, state.journal)


def _subscription_closed(state: State, event: events.HomeSubscriptionClosed) -> None:
    state.messages.close(_subscription(state, event.key), state.journal)


def _command_sent(_: State, event: CommandSent) -> None:
    """Changes nothing: the outbox has the command."""


def _message(state: State, key: Key) -> Message:
    """The message that the event changes; the journal notes it as changed."""
    state.journal.enter(Kind.MESSAGE, key)
    return state.messages.messages[key]


def _subscription(state: State, key: Key) -> HomeSubscription:
    """The subscription that the event changes; the journal notes it as changed."""
    state.journal.enter(Kind.MESSAGE_SUBSCRIPTION, key)
    return state.messages.subscriptions[key]


MESSAGE_APPLIERS: Mapping[type[Event], Callable[[State, Event], None]] = cast(
    "Mapping[type[Event], Callable[[State, Event], None]]",
    {
        events.MessagePublished: _published,
        events.MessageSent: _sent,
        events.ProcessBegun: _process_begun,
        events.MessageSettled: _settled,
        events.MessageTakenBack: _taken_back,
        events.MessagePostponed: _postponed,
        events.MessageResumed: _resumed,
        events.MessageExpired: _expired,
        events.MessageRemoved: _removed,
        events.HomeSubscriptionOpened: _subscription_opened,
        events.HomeSubscriptionClosed: _subscription_closed,
        CommandSent: _command_sent,
    },
)
