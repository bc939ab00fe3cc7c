"""`gnomon messages`: publish a message to process instances."""

from typing import Annotated

import typer

from gnomon.engine.v1 import message_service_pb2 as pb
from gnomon.engine.v1.message_service_pb2_grpc import MessageServiceStub
from server.cli.client_command import client_command
from server.cli.output import Output
from server.cli.session import Session
from server.cli.tables import table_of
from server.cli.terminal_table import Columns
from server.cli.variables import HELP, parse_variables

COLUMNS = Columns("messages", {"Key": "message_key", "Tenant": "tenant_id"}, expendable=("Tenant",))

CORRELATED = Columns(
    "messages",
    {"Key": "message_key", "Process instance": "process_instance_key", "Tenant": "tenant_id"},
    expendable=("Tenant",),
)


@client_command
async def publish(
    session: Session,
    output: Output,
    name: Annotated[str, typer.Argument(help="Name of the message.")],
    *,
    key: Annotated[str, typer.Option(help="Correlation key.")] = "",
    variables: Annotated[str, typer.Option(help=HELP)] = "{}",
    ttl: Annotated[int, typer.Option(min=0, help="Seconds for which the message is buffered.")] = 0,
    message_id: Annotated[str, typer.Option("--id", help="Id, unique while the message is buffered.")] = "",
) -> None:
    request = pb.PublishMessageRequest(
        name=name,
        correlation_key=key,
        time_to_live=1000 * ttl,
        message_id=message_id,
        variables=parse_variables(variables),
    )
    answer = await session.call(MessageServiceStub(session.channel).PublishMessage, request)
    output.show(answer, table_of([answer], COLUMNS))


@client_command
async def correlate(
    session: Session,
    output: Output,
    name: Annotated[str, typer.Argument(help="Name of the message.")],
    *,
    key: Annotated[str, typer.Option(help="Correlation key.")] = "",
    variables: Annotated[str, typer.Option(help=HELP)] = "{}",
) -> None:
    request = pb.CorrelateMessageRequest(name=name, correlation_key=key, variables=parse_variables(variables))
    answer = await session.call(MessageServiceStub(session.channel).CorrelateMessage, request)
    output.show(answer, table_of([answer], CORRELATED))
