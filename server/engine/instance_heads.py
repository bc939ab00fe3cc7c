"""Creates the head of a process instance, with the facts that its creation fixes."""

from server.engine.definitions import Definition
from server.engine.events import Caller, InstanceHead
from server.engine.step import Step


def head_of(
    step: Step,
    definition: Definition,
    *,
    tags: tuple[str, ...] = (),
    business_id: str | None = None,
    caller: Caller | None = None,
) -> InstanceHead:
    """The head of a process instance that is about to be created."""
    process = step.process_by(definition)
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
        caller,
    )
