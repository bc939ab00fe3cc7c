"""Results of throwing events, and the events that catch them.

A thrown error or escalation is caught outwards from its scope, and carries no variables. A signal goes to all
process instances of the tenant, with the local variables of its event. A job worker sends the message of a
message event.
"""

from typing import NamedTuple

from server.bpmn.executable import (
    ErrorTrigger,
    EscalationTrigger,
    Termination,
    ThrownCompensation,
    ThrownError,
    ThrownMessage,
    ThrownSignal,
)
from server.engine import catch_events
from server.engine.catch_events import Caught
from server.engine.expressions import string_of
from server.engine.incidents import ErrorType, Incident
from server.engine.message_subscriptions import bounded
from server.engine.scopes import VariableScope
from server.engine.step import Step, Visit


class Signal(NamedTuple):
    """A signal that is about to be broadcast."""

    name: str


def thrown(step: Step, visit: Visit) -> Caught | Signal | None:
    """The catching event for the result of a throwing event, or the signal that it broadcasts; raises Incident."""
    result = visit.element.result
    if result is None or isinstance(result, Termination | ThrownMessage | ThrownCompensation):
        return None
    scope = VariableScope(step, visit.process_instance, scope_key=visit.instance.key)
    if isinstance(result, ThrownSignal):
        return Signal(bounded(string_of(result.name, scope), f"name of the signal of '{visit.element.id}'"))
    code = string_of(result.code, scope)
    is_error = isinstance(result, ThrownError)
    kind = ErrorTrigger if is_error else EscalationTrigger
    found = catch_events.catcher_of(step, visit.process_instance, visit.instance, kind, code)
    if found is None and is_error:
        raise uncaught_error(code)
    return found


def uncaught_error(code: str, error_message: str = "") -> Incident:
    message = f"Expected to throw an error event with the code '{code}', but it was not caught."
    if error_message:
        message = f"{message} Error message: '{error_message}'"
    return Incident(ErrorType.UNHANDLED_ERROR_EVENT, message)
