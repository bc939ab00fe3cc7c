"""Modification of process instances."""

from collections.abc import Iterable

from gnomon.engine.v1 import process_instance_service_pb2 as own_pb
from gnomon.gateway_protocol import gateway_pb2 as pb
from server.gateway.fields import key_of, reference_of
from server.platform.errors import InvalidArgument

Request = pb.ModifyProcessInstanceRequest


def modification(request: Request) -> own_pb.ModifyProcessInstanceRequest:
    """Translate a modification; raises InvalidArgument."""
    return own_pb.ModifyProcessInstanceRequest(
        process_instance_key=request.processInstanceKey,
        operation_reference=reference_of(
            request.operationReference, is_given=request.HasField("operationReference")
        ),
        activate_instructions=[
            own_pb.ProcessInstanceModificationActivateInstruction(
                element_id=each.elementId,
                variable_instructions=_variables(each.variableInstructions),
                ancestor_element_instance_key=key_of(each.ancestorElementInstanceKey),
            )
            for each in request.activateInstructions
        ],
        move_instructions=map(_move, request.moveInstructions),
        terminate_instructions=[
            own_pb.ProcessInstanceModificationTerminateInstruction(
                element_instance_key=key_of(each.elementInstanceKey), element_id=each.elementId or None
            )
            for each in request.terminateInstructions
        ],
    )


def _move(move: Request.MoveInstruction) -> own_pb.ProcessInstanceModificationMoveInstruction:
    key = key_of(move.sourceElementInstanceKey)
    return own_pb.ProcessInstanceModificationMoveInstruction(
        source_element_instruction=own_pb.SourceElementInstruction(
            source_type="byId" if key is None else "byKey",
            source_element_id=move.sourceElementId or None,
            source_element_instance_key=key,
        ),
        target_element_id=move.targetElementId,
        ancestor_scope_instruction=_ancestor(move),
        variable_instructions=_variables(move.variableInstructions),
    )


def _ancestor(move: Request.MoveInstruction) -> own_pb.AncestorScopeInstruction | None:
    key = key_of(move.ancestorElementInstanceKey)
    wishes = {
        "direct": key is not None,
        "inferred": move.inferAncestorScopeFromSourceHierarchy,
        "sourceParent": move.useSourceParentKeyAsAncestorScopeKey,
    }
    chosen = [name for name, is_chosen in wishes.items() if is_chosen]
    if len(chosen) > 1:
        raise InvalidArgument(
            "moveInstructions: expected one of ancestorElementInstanceKey, inferAncestorScopeFromSourceHierarchy and "
            "useSourceParentKeyAsAncestorScopeKey at most"
        )
    if not chosen:
        return None
    return own_pb.AncestorScopeInstruction(ancestor_scope_type=chosen[0], ancestor_element_instance_key=key)


def _variables(
    instructions: Iterable[Request.VariableInstruction],
) -> list[own_pb.ModifyProcessInstanceVariableInstruction]:
    return [
        own_pb.ModifyProcessInstanceVariableInstruction(
            variables=each.variables.encode(), scope_id=each.scopeId
        )
        for each in instructions
    ]
