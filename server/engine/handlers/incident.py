"""Resolves an incident: the failed step is tried again."""

from server.engine import execution, faults, user_task_transitions
from server.engine.answers import DONE, Done
from server.engine.incidents import ErrorType
from server.engine.process_instance_commands import ResolveIncident
from server.engine.rejection import Rejected, RejectionType
from server.engine.step import Step


def resolve(command: ResolveIncident, step: Step) -> Done:
    instance = step.state.owner_of(command.incident_key)
    if (
        instance is None
        or instance.head.tenant_id != command.tenant_id
        or command.incident_key not in instance.incidents
    ):
        raise Rejected(RejectionType.NOT_FOUND, f"no open incident with key {command.incident_key}")
    incident = instance.incidents[command.incident_key]
    if incident.job_key is not None:
        _expect_retries(instance.jobs[incident.job_key].retries, command)
    step.resolve_incident(instance, command.incident_key)
    if incident.job_key is None:
        visit = step.visit(instance, instance.elements[incident.element_instance_key])
        user_task = user_task_transitions.pending(visit)
        if user_task is not None:
            user_task_transitions.retry(step, visit, user_task)
        else:
            execution.proceed(step, visit)
        if incident.error_type is ErrorType.UNKNOWN:
            step.following.extend(faults.overdue(step, instance, visit.instance.key))
    return DONE


def _expect_retries(retries: int, command: ResolveIncident) -> None:
    if retries <= 0:
        raise Rejected(
            RejectionType.INVALID_STATE,
            f"the job of incident {command.incident_key} has no retries left: update its retries first",
        )
