"""Inclusive gateway: takes every flow whose condition is true, and joins all flows that can still arrive."""

from server.bpmn.executable import Flow
from server.engine.behaviour import Behaviour
from server.engine.expressions import is_followed
from server.engine.incidents import ErrorType, Incident
from server.engine.process_instance import ElementInstance
from server.engine.scopes import VariableScope
from server.engine.step import Step, Visit


class InclusiveGateway(Behaviour):
    is_migratable = True

    def joins(self, flow: Flow, scope: ElementInstance) -> tuple[str, ...]:  # noqa: ARG002  # the scope decides
        """A gateway with several incoming flows is activated by `Join` work of its scope, not by one arrival."""
        return () if len(flow.target.incoming) > 1 else (flow.id,)

    def outgoing(self, step: Step, visit: Visit) -> tuple[Flow, ...]:
        """All flows whose condition is true; the default flow only if there is none."""
        element = visit.element
        scope = VariableScope(step, visit.process_instance, scope_key=visit.instance.key)
        flows = tuple(
            flow for flow in element.outgoing if flow is not element.default_flow and is_followed(flow, scope)
        )
        if flows or not element.outgoing:
            return flows
        if element.default_flow is not None:
            return (element.default_flow,)
        raise Incident(
            ErrorType.CONDITION_ERROR,
            "Expected at least one condition to evaluate to true, or to have a default flow",
        )
