"""What an element may do of its own; everything it leaves alone is done for it.

| method | when | may | next |
|---|---|---|---|
| `joins` | a flow into it was taken | say that others are still missing | ACTIVATING |
| `activate` | after input mappings | create a job, raise Incident | ACTIVATED |
| `completes_at_once` | ACTIVATED | | COMPLETING, or it waits |
| `outgoing` | before output mappings | choose flows, raise Incident | COMPLETED |
| `terminate` | TERMINATING, children gone | cancel what it started | TERMINATED |
"""

from server.bpmn.executable import Flow
from server.engine.state import ElementInstance
from server.engine.step import Step, Visit


class Behaviour:
    """Passes through: activated and completed at once, leaving on every outgoing flow."""

    completes_at_once: bool = True

    def joins(self, flow: Flow, scope: ElementInstance) -> tuple[str, ...]:  # noqa: ARG002  # for joining elements
        """Ids of the flows whose arrival activates the element; empty when it waits for more."""
        return (flow.id,)

    def activate(self, step: Step, visit: Visit) -> None:
        pass

    def outgoing(self, step: Step, visit: Visit) -> tuple[Flow, ...]:  # noqa: ARG002  # for choosing elements
        return visit.element.outgoing

    def terminate(self, step: Step, visit: Visit) -> None:
        pass
