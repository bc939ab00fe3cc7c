"""Life cycle of an element: each method is a step that a kind of element may override.

| method | when | may | next |
|---|---|---|---|
| `joins` | a flow into it was taken | say that others are still missing | ACTIVATING |
| `activate` | input mappings, start listeners and subscriptions are done | create a job, raise Incident | ACTIVATED |
| `activated` | ACTIVATED | begin what it contains | |
| `waits` | after that | say that it goes on by itself later | COMPLETING, or it waits |
| `outgoing` | before output mappings and end listeners | choose flows, raise Incident | |
| `complete` | after them | leave its result behind | COMPLETED |
| `emptied` | a path in it ended and nothing is active there | go on with something else | COMPLETING, or it waits |
| `terminate` | TERMINATING, children gone | say that something else has to end first | TERMINATED, or it waits |

An element that waits goes on by `execution.complete`, or by `execution.end_termination`.
"""

from server.bpmn.executable import Flow
from server.engine.process_instance import ElementInstance
from server.engine.step import Step, Visit


class Behaviour:
    """Passes through: activated and completed at once, leaving on every outgoing flow.

    `is_migratable` says whether an active instance can go on as an element of another version.
    """

    is_migratable: bool = False

    def joins(self, flow: Flow, scope: ElementInstance) -> tuple[str, ...]:  # noqa: ARG002  # for joining elements
        """Ids of the flows whose arrival activates the element; empty when it waits for more."""
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
        """Whether nothing keeps the element instance any more."""
        return True
