"""`gnomon signals`: broadcast a signal to process instances."""

from typing import Annotated

import typer

from gnomon.engine.v1 import signal_service_pb2 as pb
from gnomon.engine.v1.signal_service_pb2_grpc import SignalServiceStub
from server.cli.client_command import client_command
from server.cli.output import Output
from server.cli.session import Session
from server.cli.tables import table_of
from server.cli.terminal_table import Columns
from server.cli.variables import HELP, parse_variables

COLUMNS = Columns("signals", {"Key": "signal_key", "Tenant": "tenant_id"}, expendable=("Tenant",))


@client_command
async def broadcast(
    session: Session,
    output: Output,
    name: Annotated[str, typer.Argument(help="Name of the signal.")],
    *,
    variables: Annotated[str, typer.Option(help=HELP)] = "{}",
) -> None:
    request = pb.BroadcastSignalRequest(signal_name=name, variables=parse_variables(variables))
    answer = await session.call(SignalServiceStub(session.channel).BroadcastSignal, request)
    output.show(answer, table_of([answer], COLUMNS))
