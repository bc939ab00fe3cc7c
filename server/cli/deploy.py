"""`gnomon deploy`: deploy models."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Group

from gnomon.engine.v1 import deployment_service_pb2 as pb
from gnomon.engine.v1.deployment_service_pb2_grpc import DeploymentServiceStub
from server.cli.client_command import client_command
from server.cli.files import read_file
from server.cli.output import Output
from server.cli.session import Session
from server.cli.tables import table_of
from server.cli.terminal_table import Columns

PROCESSES = Columns(
    "processes",
    {
        "Process": "process_definition_id",
        "Version": "process_definition_version",
        "Key": "process_definition_key",
        "Tenant": "tenant_id",
        "File": "resource_name",
    },
    expendable=("File", "Tenant", "Version"),
)
DECISIONS = Columns(
    "decisions",
    {
        "Decision": "decision_definition_id",
        "Version": "version",
        "Key": "decision_definition_key",
        "Tenant": "tenant_id",
        "Graph": "decision_requirements_id",
    },
    expendable=("Graph", "Tenant", "Version"),
)
FORMS = Columns(
    "forms",
    {
        "Form": "form_id",
        "Version": "version",
        "Key": "form_key",
        "Tenant": "tenant_id",
        "File": "resource_name",
    },
    expendable=("File", "Tenant", "Version"),
)

RESOURCES = Columns(
    "resources",
    {
        "Resource": "resource_id",
        "Version": "version",
        "Key": "resource_key",
        "Tenant": "tenant_id",
        "File": "resource_name",
    },
    expendable=("File", "Tenant", "Version"),
)


@client_command
async def deploy(
    session: Session,
    output: Output,
    files: Annotated[
        list[Path],
        typer.Argument(help="Models, forms and other files for workers; either all are deployed or none."),
    ],
) -> None:
    request = pb.CreateDeploymentRequest(resources=map(resource, files))
    answer = await session.call(DeploymentServiceStub(session.channel).CreateDeployment, request)
    found = answer.deployments
    processes = [each.process_definition for each in found if each.HasField("process_definition")]
    decisions = [each.decision_definition for each in found if each.HasField("decision_definition")]
    forms = [each.form for each in found if each.HasField("form")]
    resources = [each.resource for each in found if each.HasField("resource")]
    tables = [
        table_of(items, columns)
        for items, columns in (
            (processes, PROCESSES),
            (decisions, DECISIONS),
            (forms, FORMS),
            (resources, RESOURCES),
        )
        if items
    ]
    output.show(answer, Group(*tables))


def resource(file: Path) -> pb.Resource:
    return pb.Resource(name=file.name, content=read_file(file))
