"""`gnomon instances`: list process instances, or show one."""

from typing import Annotated

import typer

from gnomon.engine.v1 import process_instance_service_pb2 as pb
from gnomon.engine.v1.process_instance_service_pb2_grpc import ProcessInstanceServiceStub
from server.cli.choices import NEWEST_FIRST, InstanceState, Limit, equal, page
from server.cli.client_command import client_command
from server.cli.instance import show_instance
from server.cli.output import Output
from server.cli.session import Session
from server.cli.tables import table_of
from server.cli.terminal_table import Columns

COLUMNS = Columns(
    "process instances",
    {
        "Key": "process_instance_key",
        "Process": "process_definition_id",
        "Version": "process_definition_version",
        "State": "state",
        "Incident": "has_incident",
        "Started": "start_date",
        "Ended": "end_date",
    },
    expendable=("Ended", "Version", "Incident", "Started", "Process"),
)


@client_command
async def instances(
    session: Session,
    output: Output,
    key: Annotated[int | None, typer.Argument(min=1, help="Key of an instance to show.")] = None,
    *,
    state: Annotated[
        InstanceState | None, typer.Option(case_sensitive=False, help="Only those in this state.")
    ] = None,
    process: Annotated[str | None, typer.Option(help="Only those of the process with this id.")] = None,
    limit: Limit = 50,
) -> None:
    if key is not None:
        await show_instance(session, output, key)
        return
    matching = pb.ProcessInstanceFilter(
        state=state.filter() if state else None, process_definition_id=equal(process)
    )
    request = pb.SearchProcessInstancesRequest(
        filter=matching,
        sort=[pb.ProcessInstanceSort(field="processInstanceKey", order=NEWEST_FIRST)],
        page=page(limit),
    )
    method = ProcessInstanceServiceStub(session.channel).SearchProcessInstances
    found = await session.call(method, request)
    output.show(found, table_of(found.items, COLUMNS, total=found.page.total_items))
