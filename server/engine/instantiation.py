"""Creates process instances at triggered start events."""

from server.engine import events, execution
from server.engine.instance_heads import head_of
from server.engine.process_instance import ProcessInstance
from server.engine.starts import Start
from server.engine.step import Step
from server.engine.variables import Variables


def begin_at(step: Step, start: Start, variables: Variables, correlation_key: str = "") -> ProcessInstance:
    """Create a process instance at a triggered start event, with the variables of the trigger."""
    head = head_of(step, step.state.definitions[start.process_definition_key])
    step.begin_element()
    instance = step.create(head, correlation_key)
    step.emit(events.EventCaught(head, head.key, start.element_id, dict(variables)))
    execution.start(step, instance)
    return instance
