"""Closed sets of option values, and their form in a request."""

from enum import StrEnum
from typing import Annotated

import typer

from gnomon.engine.v1 import incident_pb2, job_pb2, process_instance_pb2, user_task_pb2
from gnomon.query.v1 import filter_pb2, page_pb2

MOST_ITEMS = 500

Limit = Annotated[int, typer.Option(min=1, max=MOST_ITEMS, help="Maximum number of rows, the newest.")]


class InstanceState(StrEnum):
    ACTIVE = "ACTIVE"
    COMPLETED = "COMPLETED"
    TERMINATED = "TERMINATED"

    def filter(self) -> process_instance_pb2.ProcessInstanceStateFilter:
        value = process_instance_pb2.ProcessInstanceState.Value(f"PROCESS_INSTANCE_STATE_{self}")
        return process_instance_pb2.ProcessInstanceStateFilter(eq=value)


class IncidentState(StrEnum):
    ACTIVE = "ACTIVE"
    RESOLVED = "RESOLVED"

    def filter(self) -> incident_pb2.IncidentStateFilter:
        value = incident_pb2.IncidentState.Value(f"INCIDENT_STATE_{self}")
        return incident_pb2.IncidentStateFilter(eq=value)


class JobState(StrEnum):
    CREATED = "CREATED"
    COMPLETED = "COMPLETED"
    FAILED = "FAILED"
    TIMED_OUT = "TIMED_OUT"
    CANCELED = "CANCELED"
    ERROR_THROWN = "ERROR_THROWN"
    RETRIES_UPDATED = "RETRIES_UPDATED"
    MIGRATED = "MIGRATED"

    def filter(self) -> job_pb2.JobStateFilter:
        return job_pb2.JobStateFilter(eq=job_pb2.JobState.Value(f"JOB_STATE_{self}"))


class UserTaskState(StrEnum):
    CREATED = "CREATED"
    COMPLETED = "COMPLETED"
    CANCELED = "CANCELED"

    def filter(self) -> user_task_pb2.UserTaskStateFilter:
        value = user_task_pb2.UserTaskState.Value(f"USER_TASK_STATE_{self}")
        return user_task_pb2.UserTaskStateFilter(eq=value)


def equal(text: str | None) -> filter_pb2.StringFilter | None:
    return None if text is None else filter_pb2.StringFilter(eq=text)


def page(limit: int) -> page_pb2.PageRequest:
    return page_pb2.PageRequest(limit=limit)


NEWEST_FIRST = page_pb2.SORT_ORDER_DESC
