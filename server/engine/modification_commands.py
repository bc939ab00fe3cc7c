"""Modification of process instances, and its instructions."""

from dataclasses import dataclass
from enum import StrEnum

from server.engine.addresses import Address, OwnersOf
from server.engine.keys import Key
from server.engine.variables import Variables


@dataclass(frozen=True, slots=True)
class VariableInstruction:
    """Variables for the activated element or one of its flow scopes; an empty scope id is the process instance."""

    scope_id: str
    variables: Variables


@dataclass(frozen=True, slots=True, kw_only=True)
class ActivateInstruction:
    """An element to activate.

    Without an ancestor key, the element is activated in the only instance of its flow scope, or in a new one.
    """

    element_id: str
    ancestor_element_instance_key: Key | None = None
    variable_instructions: tuple[VariableInstruction, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TerminateInstruction:
    """Element instances to terminate: one by its key, or all instances of an element by its id."""

    element_instance_key: Key | None = None
    element_id: str = ""


class AncestorScopeType(StrEnum):
    """How a move finds the ancestor of its target, as the wire spells it.

    `INFERRED` is the innermost flow scope instance that source and target have in common.
    """

    DIRECT = "direct"
    INFERRED = "inferred"
    SOURCE_PARENT = "sourceParent"


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveInstruction:
    """Activates the target once for each source, and terminates the sources: one by key, or all of an element by id."""

    source_element_instance_key: Key | None = None
    source_element_id: str = ""
    target_element_id: str
    ancestor_scope_type: AncestorScopeType = AncestorScopeType.DIRECT
    ancestor_element_instance_key: Key | None = None
    variable_instructions: tuple[VariableInstruction, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ModifyProcessInstance:
    """Modify a process instance: elements are activated before others are terminated, so no scope ends between the two."""

    tenant_id: str
    process_instance_key: Key
    activate_instructions: tuple[ActivateInstruction, ...] = ()
    move_instructions: tuple[MoveInstruction, ...] = ()
    terminate_instructions: tuple[TerminateInstruction, ...] = ()

    @property
    def address(self) -> Address:
        return OwnersOf((self.process_instance_key,))
