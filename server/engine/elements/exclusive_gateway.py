"""Exclusive gateway: takes the first flow whose condition is true, in document order, else the default flow."""

from server.bpmn.executable import Flow
from server.engine.behaviour import Behaviour
from server.engine.expressions import is_followed
from server.engine.incidents import ErrorType, Incident
from server.engine.scopes import VariableScope
from server.engine.step import Step, Visit


class ExclusiveGateway(Behaviour):
    is_migratable = True

    def outgoing(self, step: Step, visit: Visit) -> tuple[Flow, ...]:
        element = visit.element
        scope = VariableScope(step, visit.process_instance, scope_key=visit.instance.key)
        for flow in element.outgoing:
            if flow is not element.default_flow and is_followed(flow, scope):
                return (flow,)
        if element.default_flow is not None:
            return (element.default_flow,)
        if not element.outgoing:
            return ()
        raise Incident(
            ErrorType.CONDITION_ERROR,
            "Expected at least one condition to evaluate to true, or to have a default flow",
        )
