"""`gnomon instances cancel`: cancel a process instance."""

from typing import Annotated

import typer

from gnomon.engine.v1 import process_instance_service_pb2 as pb
from gnomon.engine.v1.process_instance_service_pb2_grpc import ProcessInstanceServiceStub
from server.cli.client_command import client_command
from server.cli.instance import show_instance
from server.cli.output import Output
from server.cli.session import Session


@client_command
async def cancel(
    session: Session,
    output: Output,
    key: Annotated[int, typer.Argument(min=1, help="Key of the process instance.")],
) -> None:
    request = pb.CancelProcessInstanceRequest(process_instance_key=key)
    await session.call(ProcessInstanceServiceStub(session.channel).CancelProcessInstance, request)
    await show_instance(session, output, key)
