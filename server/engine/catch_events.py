"""Subscriptions of element instances, opened while the instances are active.

An activity subscribes to its boundary events, a scope to the start events of its event sub-processes, a catch
event to its own trigger. `triggers` handles what happens when a subscription is triggered.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from server.bpmn.executable import (
    CodedTrigger,
    ConditionTrigger,
    Element,
    ElementType,
    MessageTrigger,
    SignalTrigger,
    TimerTrigger,
    Trigger,
)
from server.engine import events
from server.engine.conditional_subscriptions import open_condition
from server.engine.expressions import is_met
from server.engine.keys import Key
from server.engine.lifecycle import ElementState
from server.engine.limits import ENTERING_STEPS
from server.engine.message_subscriptions import open_message, report_closed, report_opened
from server.engine.process_instance import ElementInstance, ProcessInstance
from server.engine.scopes import VariableScope
from server.engine.signal_subscriptions import open_signal
from server.engine.step import Step, Visit
from server.engine.subscriptions import AnySubscription, MessageSubscription
from server.engine.timers import open_timer
from server.engine.work import Meet


class Prepared(NamedTuple):
    """A subscription that is about to be opened; `is_met` is true for a condition that is already true."""

    subscription: AnySubscription
    is_met: bool


def subscribe(step: Step, visit: Visit, catches: Sequence[Element]) -> bool:
    """Subscribe to the triggers of all these events, or of none; raises Incident.

    Returns whether one of them is a condition that is already true; its event is triggered next.
    """
    opened = prepared(step, visit, catches, first_key=step.next_key())
    open_prepared(step, visit.process_instance, opened)
    return any(each.is_met for each in opened)


def open_prepared(step: Step, process_instance: ProcessInstance, opened: Sequence[Prepared]) -> None:
    for each in opened:
        open_subscription(step, process_instance, each.subscription)
    for each in reversed(opened):
        if each.is_met:
            meet = Meet(each.subscription.element_instance_key, each.subscription.key)
            step.prefer(process_instance, meet)


def open_subscription(step: Step, process_instance: ProcessInstance, subscription: AnySubscription) -> None:
    properties = _message_properties(step, process_instance, subscription)
    step.emit(events.SubscriptionOpened(process_instance.head, subscription, properties))
    if isinstance(subscription, MessageSubscription):
        report_opened(step, process_instance.head, subscription)


def _message_properties(
    step: Step, process_instance: ProcessInstance, subscription: AnySubscription
) -> Mapping[str, str]:
    if not isinstance(subscription, MessageSubscription):
        return {}
    host = process_instance.elements[subscription.element_instance_key]
    trigger = step.process_of(process_instance).of(subscription.element_id, host.type).trigger
    return trigger.properties if isinstance(trigger, MessageTrigger) else {}


def close_subscription(
    step: Step, process_instance: ProcessInstance, key: Key, *, is_correlated: bool = False
) -> None:
    """Close a subscription; `is_correlated` is true when a message triggered it."""
    subscription = process_instance.subscriptions[key]
    is_message = isinstance(subscription, MessageSubscription)
    if isinstance(subscription, MessageSubscription):
        # The home partition is updated first, in case it is this one: all later changes then concern the
        # process instance alone.
        report_closed(step, process_instance.head, subscription)
    step.emit(
        events.SubscriptionClosed(
            process_instance.head, key, is_message=is_message, is_correlated=is_correlated
        )
    )


def unsubscribe(step: Step, process_instance: ProcessInstance, instance: ElementInstance) -> None:
    """Close all subscriptions of the element instance."""
    for key in process_instance.subscribed(instance.key):
        close_subscription(step, process_instance, key)


def prepared(step: Step, visit: Visit, catches: Sequence[Element], *, first_key: Key) -> list[Prepared]:
    """The subscriptions for these events, not opened yet, with consecutive keys from `first_key`. Raises Incident.

    Events without a row in `_OPENERS` need no subscription: the engine looks for their catch event when they
    are thrown.
    """
    scope = VariableScope(step, visit.process_instance, scope_key=visit.instance.key)
    opened = [catch for catch in catches if type(catch.trigger) in _OPENERS]
    return [
        Prepared(
            _OPENERS[type(catch.trigger)](
                Key(first_key + place),
                visit.instance.key,
                catch.id,
                trigger=catch.trigger,
                scope=scope,
                now=step.now,
                **_key_scope(step, visit, catch),
            ),
            isinstance(catch.trigger, ConditionTrigger) and is_met(catch.trigger.condition, scope),
        )
        for place, catch in enumerate(opened)
    ]


def _key_scope(step: Step, visit: Visit, catch: Element) -> Mapping[str, VariableScope]:
    """The scope for the correlation key of a boundary event: outside of its activity, as on Zeebe."""
    if catch.type is not ElementType.BOUNDARY_EVENT or not isinstance(catch.trigger, MessageTrigger):
        return {}
    outside = visit.instance.scope_key or visit.instance.key
    return {"key_scope": VariableScope(step, visit.process_instance, scope_key=outside)}


def unsubscribe_from(
    step: Step, process_instance: ProcessInstance, instance: ElementInstance, catches: Collection[Element]
) -> None:
    """Close the subscriptions to these events."""
    ids = {catch.id for catch in catches}
    for key in process_instance.subscribed(instance.key):
        if process_instance.subscriptions[key].element_id in ids:
            close_subscription(step, process_instance, key)


class Caught(NamedTuple):
    """An element instance, its process instance, and the event that it catches."""

    process_instance: ProcessInstance
    host: ElementInstance
    catch: Element


def catcher_of(
    step: Step,
    process_instance: ProcessInstance,
    instance: ElementInstance,
    thrown: type[CodedTrigger],
    code: str,
) -> Caught | None:
    """The event that catches the thrown code, searched outwards from the throwing element instance.

    At one element instance, an event with this code comes before one for every code, and the start of an
    event sub-process before a boundary event. From a called process instance the search continues at the call
    activity. It stops at an element instance that is being terminated or emptied. Raises NotLoaded.
    """
    for holder, around in _outwards(step, process_instance, instance):
        if around.state is ElementState.TERMINATING or around.is_being_emptied:
            return None
        catches: dict[str | None, Element] = {}
        for catch in step.visit(holder, around).element.catches:
            if isinstance(catch.trigger, thrown) and is_open(around, catch):
                catches.setdefault(catch.trigger.code, catch)
        found = catches.get(code) or catches.get(None)
        if found is not None:
            return Caught(holder, around, found)
    return None


def _outwards(
    step: Step, process_instance: ProcessInstance, instance: ElementInstance
) -> Iterator[tuple[ProcessInstance, ElementInstance]]:
    """The element instance and its enclosing ones, innermost first, across call activities, with their process instances."""
    holder, around = process_instance, instance
    while True:
        yield holder, around
        caller = holder.head.caller
        if around.scope_key is not None:
            around = holder.elements[around.scope_key]
        elif caller is not None:
            step.state.expect_loaded((caller.process_instance_key,))
            step.charge(ENTERING_STEPS)
            holder = step.state.instances[caller.process_instance_key]
            around = holder.elements[caller.element_instance_key]
        else:
            return


def is_open(host: ElementInstance, catch: Element) -> bool:
    """Whether this event can trigger the element instance now."""
    if catch.type is ElementType.START_EVENT:
        return host.state is ElementState.ACTIVATED and is_waited_for(host, catch)
    return host.state is not ElementState.TERMINATING


def can_catch(process_instance: ProcessInstance, host: ElementInstance, catch: Element) -> bool:
    """Whether this event can still trigger the element instance, and no scope around it is ending.

    False is final: a scope stays active from its activation until it is left.
    """
    scope_key = host.scope_key
    while scope_key is not None:
        scope = process_instance.elements[scope_key]
        if scope.state is ElementState.TERMINATING or scope.is_being_emptied:
            return False
        if scope.ends_remaining:
            return False
        scope_key = scope.scope_key
    return is_open(host, catch)


def is_waited_for(host: ElementInstance, catch: Element) -> bool:
    """Whether the scope still waits for the event: once interrupted, it starts no more event sub-processes."""
    return catch.type is not ElementType.START_EVENT or host.interruption is None


# Opens the subscription to each kind of trigger; the functions raise Incident.
_OPENERS: Mapping[type[Trigger | None], Callable[..., AnySubscription]] = {
    TimerTrigger: open_timer,
    MessageTrigger: open_message,
    SignalTrigger: open_signal,
    ConditionTrigger: open_condition,
}
