"""`gnomon start`: start a process instance, and wait for its end if requested."""

from typing import Annotated

import msgspec
import typer
from rich.console import Group, RenderableType
from rich.json import JSON

from gnomon.engine.v1 import process_instance_service_pb2 as pb
from gnomon.engine.v1.process_instance_service_pb2_grpc import ProcessInstanceServiceStub
from server.cli.client_command import client_command
from server.cli.output import Output
from server.cli.session import CALL_SECONDS, Session
from server.cli.variables import HELP, parse_variables

_MOST_SECONDS = 3600


@client_command
async def start(
    session: Session,
    output: Output,
    process: Annotated[str, typer.Argument(help="Id of the process.")],
    variables: Annotated[str, typer.Option(help=HELP)] = "{}",
    version: Annotated[int, typer.Option(min=-1, help="Version; -1 is the latest.")] = -1,
    *,
    is_awaited: Annotated[
        bool, typer.Option("--await", help="Wait for its end, and show its variables.")
    ] = False,
    await_seconds: Annotated[
        int, typer.Option("--timeout", min=1, max=_MOST_SECONDS, help="Seconds that --await waits.")
    ] = 60,
) -> None:
    request = pb.CreateProcessInstanceRequest(
        process_definition_id=process,
        process_definition_version=version,
        variables=parse_variables(variables),
        await_completion=is_awaited,
        request_timeout=await_seconds * 1000 if is_awaited else 0,
    )
    method = ProcessInstanceServiceStub(session.channel).CreateProcessInstance
    answer = await session.call(method, request, seconds=CALL_SECONDS + (await_seconds if is_awaited else 0))
    output.show(answer, _shown(answer, is_awaited=is_awaited))


def _shown(answer: pb.CreateProcessInstanceResponse, *, is_awaited: bool) -> RenderableType:
    process = f"{answer.process_definition_id} version {answer.process_definition_version}"
    if not is_awaited:
        return f"Started {process}: {answer.process_instance_key}"
    return Group(
        f"Completed {process}: {answer.process_instance_key}", JSON.from_data(_decoded(answer.variables))
    )


def _decoded(variables: bytes) -> object:
    return msgspec.json.decode(variables or b"{}")
