"""`gnomon jobs list`: list jobs."""

from typing import Annotated

import typer

from gnomon.engine.v1 import job_service_pb2 as pb
from gnomon.engine.v1.job_service_pb2_grpc import JobServiceStub
from server.cli.choices import NEWEST_FIRST, JobState, Limit, equal, page
from server.cli.client_command import client_command
from server.cli.output import Output
from server.cli.session import Session
from server.cli.tables import table_of
from server.cli.terminal_table import Columns

COLUMNS = Columns(
    "jobs",
    {
        "Key": "job_key",
        "Type": "type",
        "State": "state",
        "Retries": "retries",
        "Process": "process_definition_id",
        "Instance": "process_instance_key",
        "Element": "element_id",
        "Worker": "worker",
        "Message": "error_message",
    },
    expendable=("Worker", "Process", "Element", "Retries", "Message", "Instance", "Type"),
)


@client_command
async def list_jobs(
    session: Session,
    output: Output,
    state: Annotated[
        JobState | None, typer.Option(case_sensitive=False, help="Only those in this state.")
    ] = None,
    job_type: Annotated[str | None, typer.Option("--type", help="Only those of this type.")] = None,
    limit: Limit = 50,
) -> None:
    request = pb.SearchJobsRequest(
        filter=pb.JobFilter(state=state.filter() if state else None, type=equal(job_type)),
        sort=[pb.JobSort(field="jobKey", order=NEWEST_FIRST)],
        page=page(limit),
    )
    found = await session.call(JobServiceStub(session.channel).SearchJobs, request)
    output.show(found, table_of(found.items, COLUMNS, total=found.page.total_items))
