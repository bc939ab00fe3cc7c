"""Migrates the subscriptions of a process instance.

Subscriptions of mapped events stay as they are, timers with their remaining time. Subscriptions of other
events are closed, and new ones are opened for events of the target that nothing is mapped to.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import msgspec

from server.bpmn.executable import ConditionTrigger, Element
from server.engine import catch_events, events
from server.engine.catch_events import Prepared
from server.engine.handlers.migration_plan import MigrationPlan
from server.engine.incidents import Incident
from server.engine.keys import Key
from server.engine.message_subscriptions import report_moved
from server.engine.process_instance import ElementInstance, ProcessInstance
from server.engine.step import Step, Visit
from server.engine.subscriptions import ConditionalSubscription, MessageSubscription


@dataclass(frozen=True, slots=True)
class SubscriptionMigration:
    """The changes to subscriptions; `kept` has the new element ids by subscription key."""

    kept: Mapping[Key, str]
    closed: tuple[Key, ...]
    opened: tuple[Prepared, ...]


def subscription_migration(
    plan: MigrationPlan, step: Step, instance: ProcessInstance
) -> SubscriptionMigration:
    """The changes that the migration makes to subscriptions, not carried out yet; raises Rejected."""
    for subscription in instance.subscriptions.values():
        if isinstance(subscription, MessageSubscription) and subscription.is_moving:
            raise plan.invalid_state(
                f"the message subscription of catch event '{subscription.element_id}' is still on its way after the"
                " last migration: try again"
            )
    kept = dict(_kept(plan, instance))
    closed = tuple(key for key in instance.subscriptions if key not in kept)
    opened: list[Prepared] = []
    for element in instance.elements.values():
        opened += _opened(plan, step, instance, element, first_key=Key(step.next_key() + len(opened)))
    return SubscriptionMigration(kept, closed, tuple(opened))


def _kept(plan: MigrationPlan, instance: ProcessInstance) -> Iterator[tuple[Key, str]]:
    for key, subscription in instance.subscriptions.items():
        if subscription.element_id not in plan.mapping:
            continue
        host = instance.elements[subscription.element_instance_key]
        source = plan.source.of(host.element_id, host.type)
        catch = (
            source if subscription.element_id == source.id else plan.source.elements[subscription.element_id]
        )
        _check(plan, source, catch)
        yield key, plan.mapping[subscription.element_id]


def _check(plan: MigrationPlan, host: Element, catch: Element) -> None:
    """Check that a catch event is mapped to one on its host's target, and that no other is mapped to that one."""
    target = plan.target.elements[plan.mapping[catch.id]]
    target = target.inner if catch.is_repeated and target.inner is not None else target
    if catch is not host and target not in plan.counterpart(host).catches:
        raise plan.invalid_state(
            f"catch event '{catch.id}' of element '{host.id}' is mapped to '{target.id}', which is on another element"
        )
    if type(target.trigger) is not type(catch.trigger):
        raise plan.invalid_state(f"catch events '{catch.id}' and '{target.id}' wait for different triggers")
    others = [other.id for other in host.catches if plan.mapping.get(other.id) == target.id]
    if len(others) > 1:
        raise plan.invalid_state(
            f"catch events '{others[0]}' and '{others[1]}' are both mapped to '{target.id}'"
        )


def _opened(
    plan: MigrationPlan, step: Step, instance: ProcessInstance, element: ElementInstance, *, first_key: Key
) -> list[Prepared]:
    source = plan.source.of(element.element_id, element.type)
    if not element.has_subscribed(len(source.start_listeners)):
        return []
    target = plan.counterpart(source)
    mapped = {plan.mapping.get(catch.id) for catch in source.catches}
    unmapped = [
        catch
        for catch in target.catches
        if catch.id not in mapped and catch_events.is_waited_for(element, catch)
    ]
    try:
        found = catch_events.prepared(step, Visit(instance, target, element), unmapped, first_key=first_key)
    except Incident as incident:
        raise plan.invalid_state(f"element '{target.id}' cannot wait: {incident.message}") from incident
    _check_message_names(plan, instance, element, found)
    return found


def _check_message_names(
    plan: MigrationPlan, instance: ProcessInstance, element: ElementInstance, opened: Iterable[Prepared]
) -> None:
    """Check that no element instance would wait for the same message twice, in an old and a new subscription."""
    own = map(instance.subscriptions.__getitem__, instance.subscribed(element.key))
    names = {each.message_name: each.element_id for each in own if isinstance(each, MessageSubscription)}
    for subscription, _ in opened:
        if isinstance(subscription, MessageSubscription) and subscription.message_name in names:
            name = subscription.message_name
            raise plan.invalid_state(
                f"catch event '{subscription.element_id}' waits for the message '{name}', as catch event"
                f" '{names[name]}' does already: map '{names[name]}' to it"
            )


def message_subscriptions(instance: ProcessInstance, migration: SubscriptionMigration) -> tuple[Key, ...]:
    """The kept subscriptions that wait for messages."""
    return tuple(
        key for key in migration.kept if isinstance(instance.subscriptions[key], MessageSubscription)
    )


def emit_closed(step: Step, instance: ProcessInstance, migration: SubscriptionMigration) -> None:
    for key in migration.closed:
        catch_events.close_subscription(step, instance, key)


def emit_opened(step: Step, instance: ProcessInstance, migration: SubscriptionMigration) -> None:
    catch_events.open_prepared(step, instance, migration.opened)


def report_kept(step: Step, instance: ProcessInstance, migration: SubscriptionMigration) -> None:
    """Report the process id to the homes of kept message subscriptions, because it may have changed."""
    for key in migration.kept:
        report_moved(step, instance.head, instance.subscriptions[key])


def emit_conditions(step: Step, instance: ProcessInstance, migration: SubscriptionMigration) -> None:
    """Replace the variable filters of kept conditions by those of the target."""
    for key in migration.kept:
        kept = instance.subscriptions[key]
        if not isinstance(kept, ConditionalSubscription):
            continue
        host = instance.elements[kept.element_instance_key]
        trigger = step.process_of(instance).of(kept.element_id, host.type).trigger
        if isinstance(trigger, ConditionTrigger):
            renewed = msgspec.structs.replace(
                kept, variable_names=trigger.variable_names, variable_events=trigger.variable_events
            )
            step.emit(events.SubscriptionOpened(instance.head, renewed))
