"""Begins process instances."""

from server.engine import events, execution
from server.engine.definitions import Definition
from server.engine.events import InstanceHead
from server.engine.process_instance import ProcessInstance
from server.engine.starts import Start
from server.engine.step import Step
from server.engine.variables import Variables


def head_of(
    step: Step, definition: Definition, *, tags: tuple[str, ...] = (), business_id: str | None = None
) -> InstanceHead:
    """Of a process instance that is about to be created."""
    process = definition.process
    return InstanceHead(
        step.next_key(),
        definition.tenant_id,
        definition.key,
        process.id,
        definition.version,
        process.name,
        process.version_tag,
        tags,
        business_id,
    )


def begin_at(step: Step, start: Start, variables: Variables, correlation_key: str = "") -> ProcessInstance:
    """Begin a process instance at a start event that was triggered, with what came with its trigger."""
    head = head_of(step, step.state.definitions[start.process_definition_key])
    step.begin_element()
    instance = step.create(head, correlation_key)
    step.emit(events.EventCaught(head, head.key, start.element_id, dict(variables)))
    execution.start(step, instance)
    return instance
