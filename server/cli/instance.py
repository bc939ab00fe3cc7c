"""`gnomon instances show`: one process instance with its elements and variables."""

from typing import Annotated

import orjson
import typer
from rich.console import Group
from rich.table import Table

from gnomon.engine.v1 import element_instance_service_pb2 as element_pb
from gnomon.engine.v1 import process_instance_pb2
from gnomon.engine.v1 import process_instance_service_pb2 as pb
from gnomon.engine.v1 import variable_service_pb2 as variable_pb
from gnomon.engine.v1.element_instance_service_pb2_grpc import ElementInstanceServiceStub
from gnomon.engine.v1.process_instance_service_pb2_grpc import ProcessInstanceServiceStub
from gnomon.engine.v1.variable_service_pb2_grpc import VariableServiceStub
from gnomon.query.v1 import filter_pb2
from server.cli.choices import MOST_ITEMS, page
from server.cli.client_command import client_command
from server.cli.element_tree import element_tree
from server.cli.output import Output, document
from server.cli.session import Session
from server.cli.tables import cell

_FACTS = {
    "Process": "process_definition_id",
    "Version": "process_definition_version",
    "Key": "process_instance_key",
    "State": "state",
    "Incident": "has_incident",
    "Started": "start_date",
    "Ended": "end_date",
    "Tenant": "tenant_id",
}


@client_command
async def show(
    session: Session,
    output: Output,
    key: Annotated[int, typer.Argument(min=1, help="Key of the process instance.")],
) -> None:
    await show_instance(session, output, key)


async def show_instance(session: Session, output: Output, key: int) -> None:
    """Print a process instance; as JSON, the document of the HTTP API plus `elementInstances` and `variables`."""
    method = ProcessInstanceServiceStub(session.channel).GetProcessInstance
    answer = await session.call(method, pb.GetProcessInstanceRequest(process_instance_key=key))
    if output.is_json:
        output.document(_document(answer, await _elements(session, key), await _variables(session, key)))
    else:
        tree = await element_tree(session, answer.process_instance)
        output.print(Group(_facts(answer.process_instance), "", tree))


async def _elements(session: Session, key: int) -> element_pb.SearchElementInstancesResponse:
    matching = element_pb.ElementInstanceFilter(process_instance_key=filter_pb2.KeyFilter(eq=key))
    request = element_pb.SearchElementInstancesRequest(filter=matching, page=page(MOST_ITEMS))
    method = ElementInstanceServiceStub(session.channel).SearchElementInstances
    return await session.call(method, request)


async def _variables(session: Session, key: int) -> dict[str, orjson.Fragment]:
    """Return the variables of the instance itself: JSON texts by name."""
    matching = variable_pb.VariableFilter(scope_key=filter_pb2.KeyFilter(eq=key))
    request = variable_pb.SearchVariablesRequest(
        filter=matching, page=page(MOST_ITEMS), truncate_values=False
    )
    found = await session.call(VariableServiceStub(session.channel).SearchVariables, request)
    return {item.name: orjson.Fragment(item.value) for item in found.items}


def _document(
    answer: pb.GetProcessInstanceResponse,
    elements: element_pb.SearchElementInstancesResponse,
    variables: dict[str, orjson.Fragment],
) -> bytes:
    members = orjson.loads(document(answer))
    items = orjson.loads(document(elements))["items"]
    return orjson.dumps({**members, "elementInstances": items, "variables": variables})


def _facts(instance: process_instance_pb2.ProcessInstance) -> Table:
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for heading, field in _FACTS.items():
        table.add_row(heading, cell(instance, field))
    return table
