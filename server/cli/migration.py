"""`gnomon instances migrate`: migrate a process instance to another process definition."""

from typing import Annotated

import typer

from gnomon.engine.v1 import process_instance_pb2
from gnomon.engine.v1 import process_instance_service_pb2 as pb
from gnomon.engine.v1.process_instance_service_pb2_grpc import ProcessInstanceServiceStub
from server.cli.client_command import client_command
from server.cli.instance import show_instance
from server.cli.output import Output
from server.cli.session import Session


@client_command
async def migrate(
    session: Session,
    output: Output,
    key: Annotated[int, typer.Argument(min=1, help="Key of the process instance.")],
    *,
    to: Annotated[
        int,
        typer.Option(metavar="KEY", min=1, help="Key of the target process definition.", show_default=False),
    ],
    mapping: Annotated[
        list[str] | None,
        typer.Option("--map", metavar="ELEMENT=ELEMENT", help="Source and target element; may be repeated."),
    ] = None,
) -> None:
    request = pb.MigrateProcessInstanceRequest(
        process_instance_key=key,
        target_process_definition_key=to,
        mapping_instructions=[_instruction(each) for each in mapping or ()],
    )
    await session.call(ProcessInstanceServiceStub(session.channel).MigrateProcessInstance, request)
    await show_instance(session, output, key)


def _instruction(text: str) -> process_instance_pb2.MappingInstruction:
    source, separator, target = text.partition("=")
    if not (source and separator and target):
        raise typer.BadParameter(f"expected a source and a target as a=b, found {text!r}", param_hint="--map")
    return process_instance_pb2.MappingInstruction(source_element_id=source, target_element_id=target)
