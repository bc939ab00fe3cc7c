"""What workers say about a job: completed, failed, an error, or a change to it."""

from server.engine import events, execution
from server.engine.answers import DONE, Done
from server.engine.commands import CompleteJob, FailJob, ThrowJobError, UpdateJob
from server.engine.incidents import ErrorType, Incident
from server.engine.keys import Key
from server.engine.rejection import Rejected, RejectionType
from server.engine.scopes import propagate, set_all_local
from server.engine.state import Job, JobState, ProcessInstance
from server.engine.step import Step, Visit

# A worker whose deadline passed may still bring its result, as long as the job is there.
_OPEN = frozenset({JobState.ACTIVATABLE, JobState.ACTIVATED, JobState.BACKING_OFF})


def complete(command: CompleteJob, step: Step) -> Done:
    instance, job = _job(step, command.tenant_id, command.job_key)
    _expect(job, _OPEN)
    visit = _visit(step, instance, job)
    step.emit(events.JobCompleted(instance.head, job.key))
    if visit.element.output_mappings:
        set_all_local(step, instance, visit.instance.key, command.variables)
    else:
        propagate(step, instance, visit.instance.key, command.variables)
    execution.complete(step, visit)
    return DONE


def fail(command: FailJob, step: Step) -> Done:
    instance, job = _job(step, command.tenant_id, command.job_key)
    _expect(job, frozenset({JobState.ACTIVATED}))
    visit = _visit(step, instance, job)
    retries = max(command.retries, 0)
    backs_off = retries and command.retry_back_off
    offered_at = step.now + command.retry_back_off if backs_off else None
    step.emit(events.JobFailed(instance.head, job.key, retries, command.error_message, offered_at))
    set_all_local(step, instance, visit.instance.key, command.variables)
    if not retries:
        message = command.error_message or "No more retries left."
        step.raise_incident(visit, Incident(ErrorType.JOB_NO_RETRIES, message), job)
    return DONE


def throw_error(command: ThrowJobError, step: Step) -> Done:
    """No element of this release catches errors, so each becomes an incident."""
    instance, job = _job(step, command.tenant_id, command.job_key)
    _expect(job, _OPEN)
    visit = _visit(step, instance, job)
    step.emit(events.JobErrorThrown(instance.head, job.key, command.error_code, command.error_message))
    set_all_local(step, instance, visit.instance.key, command.variables)
    message = f"Expected to throw an error event with the code '{command.error_code}', but it was not caught."
    if command.error_message:
        message = f"{message} Error message: '{command.error_message}'"
    step.raise_incident(visit, Incident(ErrorType.UNHANDLED_ERROR_EVENT, message), job)
    return DONE


def update(command: UpdateJob, step: Step) -> Done:
    instance, job = _job(step, command.tenant_id, command.job_key)
    if command.timeout is not None:
        _expect(job, frozenset({JobState.ACTIVATED}))
    step.enter(instance.head.key)
    if command.retries is not None:
        step.emit(events.JobRetriesUpdated(instance.head, job.key, command.retries))
    if command.timeout is not None:
        step.emit(events.JobDeadlineUpdated(instance.head, job.key, step.now + command.timeout))
    return DONE


def _job(step: Step, tenant_id: str, key: Key) -> tuple[ProcessInstance, Job]:
    instance = step.state.owner_of_job(key)
    if instance is None or instance.head.tenant_id != tenant_id:
        raise Rejected(RejectionType.NOT_FOUND, f"no job with key {key}")
    return instance, instance.jobs[key]


def _expect(job: Job, states: frozenset[JobState]) -> None:
    if job.state not in states:
        expected = " or ".join(sorted(states))
        raise Rejected(RejectionType.INVALID_STATE, f"job {job.key} is {job.state}, not {expected}")


def _visit(step: Step, instance: ProcessInstance, job: Job) -> Visit:
    step.enter(instance.head.key)
    return step.visit(instance, instance.elements[job.element_instance_key])
