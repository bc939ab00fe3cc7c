"""Job commands of workers: complete, fail, throw error, update."""

from collections.abc import Mapping

from server.bpmn.executable import ErrorTrigger
from server.engine import ad_hoc, catch_events, events, execution, triggers, user_task_transitions
from server.engine.answers import DONE, Done
from server.engine.incidents import ErrorType, Incident
from server.engine.job_commands import CompleteJob, FailJob, ThrowJobError, UpdateJob
from server.engine.job_kinds import (
    BPMN_ELEMENT,
    EXECUTION_LISTENER,
    TASK_LISTENER,
    JobKind,
    ListenerEventType,
)
from server.engine.job_results import RESULTS, AdHocSubProcessResult, JobResult, UserTaskResult
from server.engine.keys import Key
from server.engine.process_instance import Job, JobState, ProcessInstance
from server.engine.rejection import Rejected, RejectionType
from server.engine.scopes import propagate, set_all_local
from server.engine.step import Step, Visit
from server.engine.throw_events import uncaught_error
from server.engine.variables import Variables

# A worker may complete a job after its deadline while the job exists, but not after failing it.
_OPEN = frozenset({JobState.ACTIVATABLE, JobState.ACTIVATED})

_NO_RETRIES: Mapping[JobKind, ErrorType] = {
    JobKind.BPMN_ELEMENT: ErrorType.JOB_NO_RETRIES,
    JobKind.EXECUTION_LISTENER: ErrorType.EXECUTION_LISTENER_NO_RETRIES,
    JobKind.AD_HOC_SUB_PROCESS: ErrorType.AD_HOC_SUB_PROCESS_NO_RETRIES,
    JobKind.TASK_LISTENER: ErrorType.TASK_LISTENER_NO_RETRIES,
}

_LISTENERS = frozenset({JobKind.EXECUTION_LISTENER, JobKind.TASK_LISTENER})


def complete(command: CompleteJob, step: Step) -> Done:
    instance, job = _job(step, command.tenant_id, command.job_key)
    _expect(job, _OPEN)
    if command.result is not None:
        _expect_result(job, command.result)
    visit = _visit(step, instance, job)
    if isinstance(command.result, AdHocSubProcessResult):
        _expect_decision(step, visit, command.result)
    if job.kind is TASK_LISTENER:
        _expect_no_variables(job, command.variables)
        result = command.result if isinstance(command.result, UserTaskResult) else UserTaskResult()
        user_task_transitions.answer(step, visit, job, result)
        return DONE
    step.emit(events.JobCompleted(instance.head, job.key))
    if job.kind is EXECUTION_LISTENER:
        set_all_local(step, instance, _listener_scope(job, visit), command.variables)
        execution.proceed(step, visit)
        return DONE
    # With output mappings, the variables stay local until the mappings have read them.
    is_mapped = bool(visit.element.output_mappings) and job.kind is BPMN_ELEMENT
    merge = set_all_local if is_mapped else propagate
    merge(step, instance, visit.instance.key, command.variables)
    if job.kind is BPMN_ELEMENT:
        execution.complete(step, visit)
    elif isinstance(command.result, AdHocSubProcessResult):
        ad_hoc.decide(step, visit, command.result)
    return DONE


def _listener_scope(job: Job, visit: Visit) -> Key:
    """The scope for the variables of a listener: the element's at its start, the surrounding one at its end."""
    if job.listener_event_type is ListenerEventType.END and visit.instance.scope_key is not None:
        return visit.instance.scope_key
    return visit.instance.key


def fail(command: FailJob, step: Step) -> Done:
    instance, job = _job(step, command.tenant_id, command.job_key)
    _expect(job, frozenset({JobState.ACTIVATED}))
    if job.kind is TASK_LISTENER:
        _expect_no_variables(job, command.variables)
    visit = _visit(step, instance, job)
    retries = max(command.retries, 0)
    backs_off = retries and command.retry_back_off
    offered_at = step.after(command.retry_back_off) if backs_off else None
    step.emit(events.JobFailed(instance.head, job.key, retries, command.error_message, offered_at))
    set_all_local(step, instance, visit.instance.key, command.variables)
    if not retries:
        message = command.error_message or "No more retries left."
        step.raise_incident(visit, Incident(_NO_RETRIES[job.kind], message), job)
    return DONE


def throw_error(command: ThrowJobError, step: Step) -> Done:
    """Throw an error to the innermost event around the job that catches it; raises an incident if there is none.

    The catching event receives the variables.
    """
    instance, job = _job(step, command.tenant_id, command.job_key)
    if job.kind in _LISTENERS:
        reason = f"job {job.key} has the kind {job.kind}: a listener throws no errors"
        raise Rejected(RejectionType.INVALID_STATE, reason)
    _expect(job, _OPEN)
    visit = _visit(step, instance, job)
    caught = catch_events.catcher_of(step, instance, visit.instance, ErrorTrigger, command.error_code)
    step.emit(
        events.JobErrorThrown(
            instance.head, job.key, command.error_code, command.error_message, is_caught=caught is not None
        )
    )
    if caught is not None:
        triggers.trigger(step, caught.process_instance, caught.host, caught.catch.id, command.variables)
        return DONE
    step.raise_incident(visit, uncaught_error(command.error_code, command.error_message), job)
    return DONE


def update(command: UpdateJob, step: Step) -> Done:
    instance, job = _job(step, command.tenant_id, command.job_key)
    if command.timeout is not None:
        _expect(job, frozenset({JobState.ACTIVATED}))
    if command.retries is not None:
        step.emit(events.JobRetriesUpdated(instance.head, job.key, command.retries))
    if command.timeout is not None:
        step.emit(events.JobDeadlineUpdated(instance.head, job.key, step.after(command.timeout)))
    return DONE


def _job(step: Step, tenant_id: str, key: Key) -> tuple[ProcessInstance, Job]:
    instance = step.state.owner_of(key)
    if instance is None or instance.head.tenant_id != tenant_id or key not in instance.jobs:
        raise Rejected(RejectionType.NOT_FOUND, f"no job with key {key}")
    return instance, instance.jobs[key]


def _expect(job: Job, states: frozenset[JobState]) -> None:
    if job.state not in states:
        expected = " or ".join(sorted(states))
        raise Rejected(RejectionType.INVALID_STATE, f"job {job.key} is {job.state}, not {expected}")


def _expect_result(job: Job, result: JobResult) -> None:
    if RESULTS.get(job.kind) is not type(result):
        found = type(result).__struct_config__.tag
        reason = f"result.type: '{found}' is not one of job {job.key}, which has the kind {job.kind}"
        raise Rejected(RejectionType.INVALID_ARGUMENT, reason)


def _expect_decision(step: Step, visit: Visit, result: AdHocSubProcessResult) -> None:
    if result.activations and result.is_fulfilled:
        raise Rejected(
            RejectionType.INVALID_ARGUMENT,
            "result.activateElements: expected none together with isCompletionConditionFulfilled: true",
        )
    ad_hoc.expect_elements(step, visit, result.activations)


def _expect_no_variables(job: Job, variables: Variables) -> None:
    if variables:
        reason = f"variables: expected none, job {job.key} has the kind {job.kind}"
        raise Rejected(RejectionType.INVALID_ARGUMENT, reason)


def _visit(step: Step, instance: ProcessInstance, job: Job) -> Visit:
    return step.visit(instance, instance.elements[job.element_instance_key])
