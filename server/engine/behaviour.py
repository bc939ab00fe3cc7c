"""Life cycle of an element: each method is a step that a kind of element may override.

| method | when | may | next |
|---|---|---|---|
| `joins` | a flow into the element was taken | report that other flows are missing | ACTIVATING |
| `activate` | input mappings, start listeners and subscriptions are done | create a job, raise Incident | ACTIVATED |
| `activated` | ACTIVATED | activate the elements inside | |
| `waits` | after `activated` | report that the element completes later | COMPLETING, or it waits |
| `outgoing` | before output mappings and end listeners | choose flows, raise Incident | |
| `complete` | after output mappings and end listeners | write its result | COMPLETED |
| `emptied` | a path inside ended and nothing is active there | activate something else | COMPLETING, or it waits |
| `terminate` | TERMINATING, children gone | report that something else must end first | TERMINATED, or it waits |

A waiting element continues by `execution.complete` or `execution.end_termination`.
"""

from server.bpmn.executable import Flow
from server.engine.process_instance import ElementInstance
from server.engine.step import Step, Visit


class Behaviour:
    """Behaviour of a pass-through element: it completes at once and takes every outgoing flow.

    `is_migratable` is true when a migration can map an active instance to an element of another version.
    """

    is_migratable: bool = False

    def joins(self, flow: Flow, scope: ElementInstance) -> tuple[str, ...]:  # noqa: ARG002  # for joining elements
        """Ids of the flows that together activate the element; empty while it waits for more flows."""
        return (flow.id,)

    def activate(self, step: Step, visit: Visit) -> None:
        pass

    def activated(self, step: Step, visit: Visit) -> None:
        pass

    def waits(self, visit: Visit) -> bool:  # noqa: ARG002  # for elements that wait
        return False

    def outgoing(self, step: Step, visit: Visit) -> tuple[Flow, ...]:  # noqa: ARG002  # for choosing elements
        return visit.element.outgoing

    def complete(self, step: Step, visit: Visit) -> None:
        pass

    def emptied(self, step: Step, visit: Visit) -> bool:  # noqa: ARG002  # for elements that begin again
        """Whether the element is complete."""
        return True

    def terminate(self, step: Step, visit: Visit) -> bool:  # noqa: ARG002  # for elements that end others
        """Whether the element instance can terminate now."""
        return True
