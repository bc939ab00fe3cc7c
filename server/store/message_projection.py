"""Projects the events of message subscriptions and correlated messages to rows."""

from datetime import datetime
from typing import Final

from server.bpmn.executable import ExecutableProcess, MessageTrigger
from server.engine import events
from server.engine.definitions import message_starts_of
from server.engine.keys import Key, partition_of
from server.engine.subscriptions import MessageSubscription
from server.store import entities
from server.store.entities import (
    CorrelatedMessageSubscription,
    MessageSubscriptionState,
    MessageSubscriptionType,
)
from server.store.ports import Change, Insert, Update

Changes = list[Change]

# The two properties of an element that Camunda's connectors and agents search for.
_TOOL_NAME: Final = "io.camunda.tool:name"
_INBOUND_TYPE: Final = "inbound.type"
_CORRELATED: Final = MessageSubscriptionState.CORRELATED
_DELETED: Final = MessageSubscriptionState.DELETED


def message_starts_opened(
    event: events.ProcessDefinitionDeployed, process: ExecutableProcess, now: datetime, changes: Changes
) -> None:
    """Insert the rows of the message start events of a deployed version."""
    for key, start in message_starts_of(event).items():
        trigger = process.elements[start.element_id].trigger
        assert isinstance(trigger, MessageTrigger)  # noqa: S101  # narrows the type
        row = entities.MessageSubscription(
            message_subscription_key=key,
            tenant_id=event.tenant_id,
            process_definition_key=event.key,
            process_definition_id=event.process_definition_id,
            process_definition_name=process.name,
            process_definition_version=event.version,
            element_id=start.element_id,
            message_name=start.message_name,
            message_subscription_type=MessageSubscriptionType.START_EVENT,
            last_updated_date=now,
            extension_properties=trigger.properties,
            tool_name=trigger.properties.get(_TOOL_NAME),
            inbound_connector_type=trigger.properties.get(_INBOUND_TYPE),
        )
        changes.append(Insert(row))


def message_starts_changed(event: events.MessageStartsChanged, now: datetime, changes: Changes) -> None:
    state = MessageSubscriptionState.CREATED if event.are_open else MessageSubscriptionState.DELETED
    for key in event.keys:
        changes.append(_changed(key, now, message_subscription_state=state, is_open=event.are_open))


def subscription_opened(event: events.SubscriptionOpened, now: datetime, changes: Changes) -> None:
    head, opened, properties = event.instance, event.subscription, event.properties
    if not isinstance(opened, MessageSubscription):
        return
    row = entities.MessageSubscription(
        message_subscription_key=opened.key,
        tenant_id=head.tenant_id,
        process_definition_key=head.process_definition_key,
        process_definition_id=head.process_definition_id,
        process_definition_name=head.process_name,
        process_definition_version=head.version,
        process_instance_key=head.key,
        root_process_instance_key=head.root_key,
        element_id=opened.element_id,
        element_instance_key=opened.element_instance_key,
        message_name=opened.message_name,
        correlation_key=opened.correlation_key,
        last_updated_date=now,
        extension_properties=properties,
        tool_name=properties.get(_TOOL_NAME),
        inbound_connector_type=properties.get(_INBOUND_TYPE),
    )
    changes.append(Insert(row))


def subscription_closed(event: events.SubscriptionClosed, now: datetime, changes: Changes) -> None:
    """Close a row; a subscription that a message ended shows that the message was correlated."""
    if event.is_correlated or event.is_message:
        state = _CORRELATED if event.is_correlated else _DELETED
        values = {"last_updated_date": now, "message_subscription_state": state, "is_open": False}
        changes.append(Update(entities.MessageSubscription, event.key, values))


def subscriptions_migrated(event: events.ProcessInstanceMigrated, now: datetime, changes: Changes) -> None:
    head = event.instance
    for key in event.messages:
        changed = _changed(
            key,
            now,
            message_subscription_state=MessageSubscriptionState.MIGRATED,
            element_id=event.subscriptions[key],
            process_definition_key=head.process_definition_key,
            process_definition_id=head.process_definition_id,
            process_definition_name=head.process_name,
            process_definition_version=head.version,
        )
        changes.append(changed)


def message_correlated(event: events.MessageCorrelated, now: datetime, changes: Changes) -> None:
    """Insert the correlation; the row of a start event stays open, because it waits for further messages."""
    head = event.instance
    row = CorrelatedMessageSubscription(
        correlated_message_subscription_key=event.key,
        tenant_id=head.tenant_id,
        partition_id=partition_of(event.key),
        message_key=event.message_key,
        subscription_key=event.subscription_key,
        message_name=event.message_name,
        correlation_key=event.correlation_key or None,
        correlation_time=now,
        process_definition_key=head.process_definition_key,
        process_definition_id=head.process_definition_id,
        process_instance_key=head.key,
        root_process_instance_key=head.root_key,
        element_id=event.element_id,
        element_instance_key=event.element_instance_key,
    )
    shown = changes[-1] if changes else None
    changes.append(Insert(row))
    # A subscription that the message ended was closed just before, and shows the correlation already.
    is_shown = isinstance(shown, Update) and shown.key == event.subscription_key
    if event.element_instance_key is not None and not is_shown:
        changes.append(_changed(event.subscription_key, now, message_subscription_state=_CORRELATED))


def _changed(key: Key, now: datetime, **values: object) -> Update:
    return Update(entities.MessageSubscription, key, {"last_updated_date": now, **values})
