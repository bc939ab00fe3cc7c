"""`gnomon instances modify`: activate, terminate and move elements of a process instance."""

from typing import Annotated

import typer

from gnomon.engine.v1 import process_instance_service_pb2 as pb
from gnomon.engine.v1.process_instance_service_pb2_grpc import ProcessInstanceServiceStub
from server.cli.client_command import client_command
from server.cli.instance import show_instance
from server.cli.output import Output
from server.cli.session import Session
from server.cli.variables import HELP, parse_variables


@client_command
async def modify(
    session: Session,
    output: Output,
    key: Annotated[int, typer.Argument(min=1, help="Key of the process instance.")],
    *,
    activate: Annotated[
        list[str] | None, typer.Option(metavar="ELEMENT", help="Element to activate; may be repeated.")
    ] = None,
    terminate: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ELEMENT|KEY",
            help="Element, or key of an element instance, to terminate; may be repeated.",
        ),
    ] = None,
    move: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ELEMENT|KEY=ELEMENT",
            help="Element to terminate, or its key, and the element to activate in its scope; may be repeated.",
        ),
    ] = None,
    variables: Annotated[
        str, typer.Option(help=f"For the activated elements, at the process: {HELP}")
    ] = "{}",
) -> None:
    given = [pb.ModifyProcessInstanceVariableInstruction(variables=parse_variables(variables))]
    request = pb.ModifyProcessInstanceRequest(
        process_instance_key=key,
        activate_instructions=[
            pb.ProcessInstanceModificationActivateInstruction(element_id=each, variable_instructions=given)
            for each in activate or ()
        ],
        move_instructions=[_move(each, given) for each in move or ()],
        terminate_instructions=[_termination(each) for each in terminate or ()],
    )
    await session.call(ProcessInstanceServiceStub(session.channel).ModifyProcessInstance, request)
    await show_instance(session, output, key)


def _move(
    text: str, variables: list[pb.ModifyProcessInstanceVariableInstruction]
) -> pb.ProcessInstanceModificationMoveInstruction:
    source, separator, target = text.partition("=")
    if not (source and separator and target):
        raise typer.BadParameter(
            f"expected a source and a target as a=b, found {text!r}", param_hint="--move"
        )
    named = (
        pb.SourceElementInstruction(source_type="byKey", source_element_instance_key=int(source))
        if _is_key(source)
        else pb.SourceElementInstruction(source_type="byId", source_element_id=source)
    )
    return pb.ProcessInstanceModificationMoveInstruction(
        source_element_instruction=named,
        target_element_id=target,
        ancestor_scope_instruction=pb.AncestorScopeInstruction(ancestor_scope_type="inferred"),
        variable_instructions=variables,
    )


def _termination(text: str) -> pb.ProcessInstanceModificationTerminateInstruction:
    if _is_key(text):
        return pb.ProcessInstanceModificationTerminateInstruction(element_instance_key=int(text))
    return pb.ProcessInstanceModificationTerminateInstruction(element_id=text)


def _is_key(text: str) -> bool:
    """Whether a text is a key; ids never begin with a digit."""
    return text.isascii() and text.isdecimal()
