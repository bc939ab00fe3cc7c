"""`gnomon incidents`: list incidents and resolve them."""

from typing import Annotated

import typer

from gnomon.engine.v1 import incident_pb2
from gnomon.engine.v1 import incident_service_pb2 as pb
from gnomon.engine.v1 import job_service_pb2 as job_pb
from gnomon.engine.v1.incident_service_pb2_grpc import IncidentServiceStub
from gnomon.engine.v1.job_service_pb2_grpc import JobServiceStub
from server.cli.choices import NEWEST_FIRST, IncidentState, Limit, equal, page
from server.cli.client_command import client_command
from server.cli.output import Output
from server.cli.session import Session
from server.cli.tables import table_of
from server.cli.terminal_table import Columns

COLUMNS = Columns(
    "incidents",
    {
        "Key": "incident_key",
        "Process": "process_definition_id",
        "Instance": "process_instance_key",
        "Element": "element_id",
        "Type": "error_type",
        "State": "state",
        "Raised": "creation_time",
        "Message": "error_message",
    },
    expendable=("Raised", "State", "Process", "Element", "Instance", "Type"),
)


@client_command
async def list_incidents(
    session: Session,
    output: Output,
    state: Annotated[
        IncidentState, typer.Option(case_sensitive=False, help="Only those in this state.")
    ] = IncidentState.ACTIVE,
    process: Annotated[str | None, typer.Option(help="Only those of the process with this id.")] = None,
    limit: Limit = 50,
) -> None:
    request = pb.SearchIncidentsRequest(
        filter=pb.IncidentFilter(state=state.filter(), process_definition_id=equal(process)),
        sort=[pb.IncidentSort(field="incidentKey", order=NEWEST_FIRST)],
        page=page(limit),
    )
    found = await session.call(IncidentServiceStub(session.channel).SearchIncidents, request)
    output.show(found, table_of(found.items, COLUMNS, total=found.page.total_items))


@client_command
async def resolve(
    session: Session,
    output: Output,
    key: Annotated[int, typer.Argument(min=1, help="Key of the incident.")],
    retries: Annotated[int, typer.Option(min=1, help="Retries for its job, if it has none left.")] = 1,
) -> None:
    stub = IncidentServiceStub(session.channel)
    answer = await session.call(stub.GetIncident, pb.GetIncidentRequest(incident_key=key))
    await resolve_incident(session, answer.incident, retries)
    answer = await session.call(stub.GetIncident, pb.GetIncidentRequest(incident_key=key))
    output.show(answer, table_of([answer.incident], COLUMNS))


# The API has no error type for a listener's job without retries.
_LACKS_RETRIES = (
    incident_pb2.INCIDENT_ERROR_TYPE_JOB_NO_RETRIES,
    incident_pb2.INCIDENT_ERROR_TYPE_UNKNOWN,
)


async def resolve_incident(session: Session, incident: incident_pb2.Incident, retries: int) -> None:
    """Resolve an incident; if its job lacks retries, set them first."""
    if incident.job_key and incident.error_type in _LACKS_RETRIES:
        changeset = job_pb.JobChangeset(retries=retries)
        update = job_pb.UpdateJobRequest(job_key=incident.job_key, changeset=changeset)
        await session.call(JobServiceStub(session.channel).UpdateJob, update)
    request = pb.ResolveIncidentRequest(incident_key=incident.incident_key)
    await session.call(IncidentServiceStub(session.channel).ResolveIncident, request)
