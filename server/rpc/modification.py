"""Converts modification requests."""

from collections.abc import Iterable

from gnomon.engine.v1 import process_instance_service_pb2 as pb
from server.engine.keys import Key
from server.engine.modification_commands import (
    ActivateInstruction,
    AncestorScopeType,
    ModifyProcessInstance,
    MoveInstruction,
    TerminateInstruction,
    VariableInstruction,
)
from server.platform.call import Call
from server.rpc.variables import variables_of


def modification_of(request: pb.ModifyProcessInstanceRequest, call: Call) -> ModifyProcessInstance:
    return ModifyProcessInstance(
        tenant_id=call.tenant_id,
        process_instance_key=Key(request.process_instance_key),
        activate_instructions=tuple(
            ActivateInstruction(
                element_id=each.element_id,
                ancestor_element_instance_key=Key(each.ancestor_element_instance_key) or None,
                variable_instructions=_variables(each.variable_instructions),
            )
            for each in request.activate_instructions
        ),
        move_instructions=tuple(map(_move, request.move_instructions)),
        terminate_instructions=tuple(
            TerminateInstruction(
                element_instance_key=Key(each.element_instance_key) or None, element_id=each.element_id
            )
            for each in request.terminate_instructions
        ),
    )


def _move(move: pb.ProcessInstanceModificationMoveInstruction) -> MoveInstruction:
    source, ancestor = move.source_element_instruction, move.ancestor_scope_instruction
    return MoveInstruction(
        source_element_instance_key=Key(source.source_element_instance_key) or None,
        source_element_id=source.source_element_id,
        target_element_id=move.target_element_id,
        ancestor_scope_type=AncestorScopeType(ancestor.ancestor_scope_type or AncestorScopeType.DIRECT),
        ancestor_element_instance_key=Key(ancestor.ancestor_element_instance_key) or None,
        variable_instructions=_variables(move.variable_instructions),
    )


def _variables(
    instructions: Iterable[pb.ModifyProcessInstanceVariableInstruction],
) -> tuple[VariableInstruction, ...]:
    return tuple(VariableInstruction(each.scope_id, variables_of(each.variables)) for each in instructions)
