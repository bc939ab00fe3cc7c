"""`gnomon instances delete`: delete the history of a process instance."""

from typing import Annotated

import typer

from gnomon.engine.v1 import process_instance_service_pb2 as pb
from gnomon.engine.v1.process_instance_service_pb2_grpc import ProcessInstanceServiceStub
from server.cli.client_command import client_command
from server.cli.output import Output
from server.cli.session import Session
from server.cli.tables import table_of
from server.cli.terminal_table import Columns

COLUMNS = Columns("process instances", {"Deleted": "process_instance_key"}, expendable=())


@client_command
async def delete(
    session: Session,
    output: Output,
    key: Annotated[int, typer.Argument(min=1, help="Key of a process instance that has ended.")],
) -> None:
    request = pb.DeleteProcessInstanceRequest(process_instance_key=key)
    answer = await session.call(ProcessInstanceServiceStub(session.channel).DeleteProcessInstance, request)
    output.show(answer, table_of([request], COLUMNS))
