"""Activation, completion, failure and updates of jobs."""

from collections.abc import Mapping

import msgspec

from gnomon.engine.v1 import job_pb2 as own_entity_pb
from gnomon.engine.v1 import job_service_pb2 as own_pb
from gnomon.gateway_protocol import gateway_pb2 as pb
from server.gateway.fields import reference_of, tenants_of
from server.gateway.job_results import result_of

# The limits of the contract.
MAX_JOBS = 10_000
MAX_WAIT_MILLISECONDS = 3_600_000

_KINDS: Mapping[int, pb.ActivatedJob.JobKind.ValueType] = {
    own_entity_pb.JobKind.Value(f"JOB_KIND_{name}"): number
    for name, number in pb.ActivatedJob.JobKind.items()
}
_EVENT_TYPES: Mapping[int, pb.ActivatedJob.ListenerEventType.ValueType] = {
    own_entity_pb.JobListenerEventType.Value(f"JOB_LISTENER_EVENT_TYPE_{name}"): number
    for name, number in pb.ActivatedJob.ListenerEventType.items()
}


def activation(request: pb.ActivateJobsRequest) -> own_pb.ActivateJobsRequest:
    tenants, tenant_filter = _tenants(request)
    return own_pb.ActivateJobsRequest(
        type=request.type,
        worker=request.worker,
        timeout=request.timeout,
        max_jobs_to_activate=min(request.maxJobsToActivate, MAX_JOBS),
        fetch_variable=request.fetchVariable,
        request_timeout=min(request.requestTimeout, MAX_WAIT_MILLISECONDS),
        tenant_ids=tenants,
        tenant_filter=tenant_filter,
    )


def subscription(request: pb.StreamActivatedJobsRequest) -> own_pb.StreamActivatedJobsRequest:
    tenants, _ = _tenants(request)
    return own_pb.StreamActivatedJobsRequest(
        type=request.type,
        worker=request.worker,
        timeout=request.timeout,
        fetch_variable=request.fetchVariable,
        tenant_ids=tenants,
    )


def _tenants(
    request: pb.ActivateJobsRequest | pb.StreamActivatedJobsRequest,
) -> tuple[list[str], own_pb.TenantFilter.ValueType]:
    """Return tenant ids and filter; the caller's assigned tenants need no ids."""
    if request.tenantFilter == pb.ASSIGNED:
        return [], own_pb.TENANT_FILTER_ASSIGNED
    return tenants_of(request.tenantIds), own_pb.TENANT_FILTER_UNSPECIFIED


def activated(answer: own_pb.ActivateJobsResponse) -> pb.ActivateJobsResponse:
    return pb.ActivateJobsResponse(jobs=map(activated_job, answer.jobs))


def activated_job(job: own_entity_pb.ActivatedJob) -> pb.ActivatedJob:
    return pb.ActivatedJob(
        key=job.job_key,
        type=job.type,
        processInstanceKey=job.process_instance_key,
        bpmnProcessId=job.process_definition_id,
        processDefinitionVersion=job.process_definition_version,
        processDefinitionKey=job.process_definition_key,
        elementId=job.element_id,
        elementInstanceKey=job.element_instance_key,
        customHeaders=msgspec.json.encode(dict(job.custom_headers)).decode(),
        worker=job.worker,
        retries=job.retries,
        deadline=job.deadline,
        variables=job.variables.decode(),
        tenantId=job.tenant_id,
        userTask=_user_task(job.user_task) if job.HasField("user_task") else None,
        kind=_KINDS[job.kind],
        listenerEventType=_EVENT_TYPES[job.listener_event_type],
        tags=job.tags,
    )


def _user_task(task: own_entity_pb.UserTaskProperties) -> pb.UserTaskProperties:
    return pb.UserTaskProperties(
        action=task.action,
        assignee=task.assignee if task.HasField("assignee") else None,
        candidateGroups=task.candidate_groups,
        candidateUsers=task.candidate_users,
        changedAttributes=task.changed_attributes,
        dueDate=task.due_date if task.HasField("due_date") else None,
        followUpDate=task.follow_up_date if task.HasField("follow_up_date") else None,
        formKey=task.form_key if task.HasField("form_key") else None,
        priority=task.priority if task.HasField("priority") else None,
        userTaskKey=task.user_task_key if task.HasField("user_task_key") else None,
    )


def completion(request: pb.CompleteJobRequest) -> own_pb.CompleteJobRequest:
    return own_pb.CompleteJobRequest(
        job_key=request.jobKey,
        variables=request.variables.encode(),
        result=result_of(request.result) if request.HasField("result") else None,
    )


def failure(request: pb.FailJobRequest) -> own_pb.FailJobRequest:
    return own_pb.FailJobRequest(
        job_key=request.jobKey,
        retries=request.retries,
        error_message=request.errorMessage,
        retry_back_off=request.retryBackOff,
        variables=request.variables.encode(),
    )


def error(request: pb.ThrowErrorRequest) -> own_pb.ThrowJobErrorRequest:
    return own_pb.ThrowJobErrorRequest(
        job_key=request.jobKey,
        error_code=request.errorCode,
        error_message=request.errorMessage,
        variables=request.variables.encode(),
    )


def retries(request: pb.UpdateJobRetriesRequest) -> own_pb.UpdateJobRequest:
    return _update(request, own_pb.JobChangeset(retries=request.retries))


def deadline(request: pb.UpdateJobTimeoutRequest) -> own_pb.UpdateJobRequest:
    return _update(request, own_pb.JobChangeset(timeout=request.timeout))


def _update(
    request: pb.UpdateJobRetriesRequest | pb.UpdateJobTimeoutRequest, changes: own_pb.JobChangeset
) -> own_pb.UpdateJobRequest:
    return own_pb.UpdateJobRequest(
        job_key=request.jobKey,
        changeset=changes,
        operation_reference=reference_of(
            request.operationReference, is_given=request.HasField("operationReference")
        ),
    )
