"""Reactions of element instances to caught events."""

from collections.abc import Callable, Mapping

from server.bpmn.executable import Element, ElementType
from server.engine import catch_events, events, execution
from server.engine.keys import Key
from server.engine.message_subscriptions import report_correlated
from server.engine.process_instance import ElementInstance, ProcessInstance
from server.engine.scopes import propagate, set_all_local
from server.engine.step import Step
from server.engine.subscriptions import AnySubscription, MessageSubscription
from server.engine.variables import Variables
from server.engine.work import Catch


def take(
    step: Step,
    process_instance: ProcessInstance,
    subscription: AnySubscription,
    variables: Variables,
    *,
    message_key: Key | None = None,
) -> bool:
    """Trigger a subscription and return whether the element instance could catch the event; if not, close it.

    `message_key` is the message for a message subscription.
    """
    if caught(step, process_instance, subscription, variables, message_key=message_key):
        return True
    catch_events.close_subscription(step, process_instance, subscription.key)
    return False


def caught(
    step: Step,
    process_instance: ProcessInstance,
    subscription: AnySubscription,
    variables: Variables,
    *,
    message_key: Key | None = None,
) -> bool:
    """Trigger a subscription and return whether the element instance could catch the event; if not, do nothing."""
    host = process_instance.elements[subscription.element_instance_key]
    catch = step.process_of(process_instance).of(subscription.element_id, host.type)
    if not catch_events.can_catch(process_instance, host, catch):
        return False
    if catch.is_interrupting:
        is_correlated = message_key is not None
        catch_events.close_subscription(step, process_instance, subscription.key, is_correlated=is_correlated)
    if isinstance(subscription, MessageSubscription) and message_key is not None:
        report_correlated(step, process_instance.head, subscription, message_key)
    _react(step, process_instance, host, catch, variables)
    return True


def trigger(
    step: Step,
    process_instance: ProcessInstance,
    instance: ElementInstance,
    element_id: str,
    variables: Variables,
) -> None:
    """Let the element instance catch the event with this id, which is itself or one attached to its element."""
    catch = step.process_of(process_instance).of(element_id, instance.type)
    if catch_events.is_open(instance, catch):
        _react(step, process_instance, instance, catch, variables)


def _react(
    step: Step,
    process_instance: ProcessInstance,
    instance: ElementInstance,
    catch: Element,
    variables: Variables,
) -> None:
    is_behind = instance.type is ElementType.EVENT_BASED_GATEWAY
    reaction = _behind_gateway if is_behind else _CAUGHT[catch.type]
    reaction(step, process_instance, instance, catch, variables)


def catch(step: Step, process_instance: ProcessInstance, scope: ElementInstance, work: Catch) -> None:
    trigger(step, process_instance, scope, work.element_id, {})


def _itself(
    step: Step,
    process_instance: ProcessInstance,
    instance: ElementInstance,
    catch: Element,
    variables: Variables,
) -> None:
    merge = set_all_local if catch.output_mappings else propagate
    merge(step, process_instance, instance.key, variables)
    execution.complete(step, step.visit(process_instance, instance))


def _behind_gateway(
    step: Step,
    process_instance: ProcessInstance,
    gateway: ElementInstance,
    catch: Element,
    variables: Variables,
) -> None:
    """Let a gateway catch the event; it closes its other subscriptions, even if it cannot complete yet."""
    catch_events.unsubscribe(step, process_instance, gateway)
    step.emit(events.EventCaught(process_instance.head, gateway.key, catch.id, dict(variables)))
    execution.complete(step, step.visit(process_instance, gateway))


def _on_boundary(
    step: Step,
    process_instance: ProcessInstance,
    host: ElementInstance,
    catch: Element,
    variables: Variables,
) -> None:
    if catch.is_interrupting:
        step.emit(events.ElementInterrupted(process_instance.head, host.key, catch.id, dict(variables)))
        execution.terminate(step, process_instance, host)
    else:
        execution.enter_caught(step, process_instance, host, catch, variables)


def _in_event_sub_process(
    step: Step,
    process_instance: ProcessInstance,
    scope: ElementInstance,
    start: Element,
    variables: Variables,
) -> None:
    if not start.is_interrupting:
        execution.enter_event_sub_process(step, process_instance, scope, start, variables)
        return
    step.emit(events.ElementInterrupted(process_instance.head, scope.key, start.id, dict(variables)))
    execution.empty(step, process_instance, scope)


Catcher = Callable[[Step, ProcessInstance, ElementInstance, Element, Variables], None]

# Reactions by the type of the caught event.
_CAUGHT: Mapping[ElementType, Catcher] = {
    ElementType.INTERMEDIATE_CATCH_EVENT: _itself,
    ElementType.RECEIVE_TASK: _itself,
    ElementType.BOUNDARY_EVENT: _on_boundary,
    ElementType.START_EVENT: _in_event_sub_process,
}
