"""Results of a job beside its variables: a closed union, tagged by `type` on the wire.

Each kind of job has one type of result, or none.
"""

from collections.abc import Mapping

import msgspec

from server.engine.job_kinds import JobKind
from server.engine.user_task_changes import Corrections
from server.engine.work import Activation


class JobResult(msgspec.Struct, frozen=True, omit_defaults=True, gc=False, tag_field="type"):
    """Base of all results."""


class UserTaskResult(JobResult, frozen=True, tag="userTask"):
    """Result of a task listener: denies the transition of its user task, or corrects the user task."""

    is_denied: bool = False
    denied_reason: str = ""
    corrections: Corrections | None = None


class AdHocSubProcessResult(JobResult, frozen=True, tag="adHocSubProcess"):
    """Result of an ad-hoc sub-process job: activates elements, or completes it once nothing is active inside.

    With `cancels_remaining`, active children are terminated.
    """

    activations: tuple[Activation, ...] = ()
    is_fulfilled: bool = False
    cancels_remaining: bool = False


AnyJobResult = UserTaskResult | AdHocSubProcessResult

RESULTS: Mapping[JobKind, type[JobResult]] = {
    JobKind.TASK_LISTENER: UserTaskResult,
    JobKind.AD_HOC_SUB_PROCESS: AdHocSubProcessResult,
}
"""The type of result by kind of job; a result of another type, or of another kind of job, is rejected."""
