"""Job results; absent fields stay absent."""

from typing import Final

from gnomon.engine.v1 import job_service_pb2 as own_pb
from gnomon.engine.v1 import user_task_pb2 as own_user_task_pb
from gnomon.gateway_protocol import gateway_pb2 as pb


def result_of(result: pb.JobResult) -> own_pb.JobResult:
    fulfilled: Final = "isCompletionConditionFulfilled"
    cancels: Final = "isCancelRemainingInstances"
    return own_pb.JobResult(
        type=result.type if result.HasField("type") else None,
        denied=result.denied if result.HasField("denied") else None,
        denied_reason=result.deniedReason if result.HasField("deniedReason") else None,
        corrections=_corrections(result.corrections) if result.HasField("corrections") else None,
        activate_elements=[
            own_pb.JobResultActivateElement(element_id=each.elementId, variables=each.variables.encode())
            for each in result.activateElements
        ],
        is_completion_condition_fulfilled=(
            result.isCompletionConditionFulfilled if result.HasField(fulfilled) else None
        ),
        is_cancel_remaining_instances=(
            result.isCancelRemainingInstances if result.HasField(cancels) else None
        ),
    )


def _corrections(corrections: pb.JobResultCorrections) -> own_pb.JobResultCorrections:
    groups, users = corrections.candidateGroups, corrections.candidateUsers
    return own_pb.JobResultCorrections(
        assignee=corrections.assignee if corrections.HasField("assignee") else None,
        due_date=corrections.dueDate if corrections.HasField("dueDate") else None,
        follow_up_date=corrections.followUpDate if corrections.HasField("followUpDate") else None,
        candidate_users=_candidates(users) if corrections.HasField("candidateUsers") else None,
        candidate_groups=_candidates(groups) if corrections.HasField("candidateGroups") else None,
        priority=corrections.priority if corrections.HasField("priority") else None,
    )


def _candidates(names: pb.StringList) -> own_user_task_pb.UserTaskCandidates:
    return own_user_task_pb.UserTaskCandidates(names=names.values)
