"""Results of a job beside its variables: a closed union, whose members the wire names by `type`.

A kind of job has one type of result, or none.
"""

from collections.abc import Mapping

import msgspec

from server.engine.job_kinds import JobKind
from server.engine.user_task_changes import Corrections
from server.engine.work import Activation


class JobResult(msgspec.Struct, frozen=True, omit_defaults=True, gc=False, tag_field="type"):
    """Base of all results."""


class UserTaskResult(JobResult, frozen=True, tag="userTask"):
    """Of a task listener: it denies what is being done with its user task, or corrects the user task."""

    is_denied: bool = False
    denied_reason: str = ""
    corrections: Corrections | None = None


class AdHocSubProcessResult(JobResult, frozen=True, tag="adHocSubProcess"):
    """Of an ad-hoc sub-process: it activates elements, or is complete once nothing is active in it.

    With `cancels_remaining`, what is active already is terminated.
    """

    activations: tuple[Activation, ...] = ()
    is_fulfilled: bool = False
    cancels_remaining: bool = False


AnyJobResult = UserTaskResult | AdHocSubProcessResult

RESULTS: Mapping[JobKind, type[JobResult]] = {
    JobKind.TASK_LISTENER: UserTaskResult,
    JobKind.AD_HOC_SUB_PROCESS: AdHocSubProcessResult,
}
"""Kinds of jobs whose completion may have a result; a result of another type, or of another kind of job, is refused."""
