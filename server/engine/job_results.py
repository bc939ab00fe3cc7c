"""What the completion of a job decides beside its variables: a closed union, whose members the wire names by `type`.

A kind of job has one type of result, or none.
"""

from collections.abc import Mapping

import msgspec

from server.engine.job_kinds import JobKind
from server.engine.user_task_changes import Corrections


class JobResult(msgspec.Struct, frozen=True, omit_defaults=True, gc=False, tag_field="type"):
    """Base of all results."""


class UserTaskResult(JobResult, frozen=True, tag="userTask"):
    """Of a task listener: it denies what is being done with its user task, or corrects the user task."""

    is_denied: bool = False
    denied_reason: str = ""
    corrections: Corrections | None = None


AnyJobResult = UserTaskResult

RESULTS: Mapping[JobKind, type[JobResult]] = {JobKind.TASK_LISTENER: UserTaskResult}
"""Kinds of jobs whose completion may have a result; a result of another type, or of another kind of job, is refused."""
