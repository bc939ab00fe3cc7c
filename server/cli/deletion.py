"""`gnomon delete`: delete a process definition or a requirements graph."""

from typing import Annotated

import typer

from gnomon.engine.v1 import resource_service_pb2 as pb
from gnomon.engine.v1.resource_service_pb2_grpc import ResourceServiceStub
from server.cli.client_command import client_command
from server.cli.output import Output
from server.cli.session import Session
from server.cli.tables import table_of
from server.cli.terminal_table import Columns

COLUMNS = Columns("resources", {"Deleted": "resource_key"}, expendable=())


@client_command
async def delete(
    session: Session,
    output: Output,
    key: Annotated[int, typer.Argument(min=1, help="Key of the process definition or requirements graph.")],
) -> None:
    request = pb.DeleteResourceRequest(resource_key=key)
    answer = await session.call(ResourceServiceStub(session.channel).DeleteResource, request)
    output.show(answer, table_of([answer], COLUMNS))
