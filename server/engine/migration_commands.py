"""Migration of process instances, and its mappings."""

from dataclasses import dataclass

from server.engine.addresses import Address, OwnersOf
from server.engine.keys import Key


@dataclass(frozen=True, slots=True)
class MappingInstruction:
    """The target of an active element, or of a sequence flow that waits at a joining gateway."""

    source_element_id: str
    target_element_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MigrateProcessInstance:
    tenant_id: str
    process_instance_key: Key
    target_process_definition_key: Key
    mapping_instructions: tuple[MappingInstruction, ...]

    @property
    def address(self) -> Address:
        return OwnersOf((self.process_instance_key,))
