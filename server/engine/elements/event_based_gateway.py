"""Event-based gateway: waits for the events behind it, and continues with the first that is triggered."""

from server.bpmn.executable import Flow
from server.engine.behaviour import Behaviour
from server.engine.step import Step, Visit


class EventBasedGateway(Behaviour):
    is_migratable = True

    def waits(self, visit: Visit) -> bool:  # noqa: ARG002  # for elements that look at themselves
        return True

    def outgoing(self, step: Step, visit: Visit) -> tuple[Flow, ...]:  # noqa: ARG002  # it needs no variables
        caught = visit.instance.caught
        assert caught is not None, "completed by what it catches alone"  # noqa: S101  # narrows the type
        return tuple(flow for flow in visit.element.outgoing if flow.target.id == caught.element_id)
