"""What throwing events throw, and what catches it.

A thrown event goes outwards from the scope that it is thrown in, and carries no variables.
"""

from server.bpmn.executable import ErrorTrigger, EscalationTrigger, Termination, ThrownError
from server.engine import catch_events
from server.engine.catch_events import Caught
from server.engine.expressions import string_of
from server.engine.incidents import ErrorType, Incident
from server.engine.scopes import VariableScope
from server.engine.step import Step, Visit


def caught(step: Step, visit: Visit) -> Caught | None:
    """What catches the result of an event, if it is one that is caught; raises Incident."""
    result = visit.element.result
    if result is None or isinstance(result, Termination):
        return None
    scope = VariableScope(step, visit.process_instance, scope_key=visit.instance.key)
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
