"""Converts job results from requests; the wire's `type` selects the result of the engine."""

from collections.abc import Callable, Mapping

from gnomon.engine.v1 import job_service_pb2 as pb
from server.engine.job_results import AdHocSubProcessResult, AnyJobResult, UserTaskResult
from server.engine.user_task_changes import Corrections, DateChange
from server.rpc.activations import activations_of
from server.rpc.dates import date_change


def result_of(result: pb.JobResult) -> AnyJobResult | None:
    """The result of a job; None for one without members. Raises InvalidArgument."""
    if not result.ListFields():
        return None
    return _TYPES[result.type or "userTask"](result)


def _user_task(result: pb.JobResult) -> UserTaskResult:
    corrections = _corrections(result.corrections) if result.HasField("corrections") else None
    return UserTaskResult(result.denied, result.denied_reason, corrections)


def _corrections(corrections: pb.JobResultCorrections) -> Corrections:
    return Corrections(
        assignee=corrections.assignee if corrections.HasField("assignee") else None,
        candidate_groups=_names(corrections, "candidate_groups"),
        candidate_users=_names(corrections, "candidate_users"),
        due_date=_date(corrections, "due_date"),
        follow_up_date=_date(corrections, "follow_up_date"),
        priority=corrections.priority if corrections.HasField("priority") else None,
    )


def _names(corrections: pb.JobResultCorrections, field: str) -> tuple[str, ...] | None:
    return tuple(getattr(corrections, field).names) if corrections.HasField(field) else None  # type: ignore[arg-type]  # by its name


def _date(corrections: pb.JobResultCorrections, field: str) -> DateChange | None:
    if not corrections.HasField(field):  # type: ignore[arg-type]  # by its name
        return None
    return date_change(getattr(corrections, field), f"result.corrections.{field}")


def _ad_hoc_sub_process(result: pb.JobResult) -> AdHocSubProcessResult:
    return AdHocSubProcessResult(
        activations_of(result.activate_elements, "result.activateElements"),
        result.is_completion_condition_fulfilled,
        result.is_cancel_remaining_instances,
    )


_TYPES: Mapping[str, Callable[[pb.JobResult], AnyJobResult]] = {
    "userTask": _user_task,
    "adHocSubProcess": _ad_hoc_sub_process,
}
