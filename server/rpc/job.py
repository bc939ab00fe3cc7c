"""Servicer for jobs: activation, results of workers, reads."""

from datetime import datetime, timedelta
from math import inf

from google.rpc.status_pb2 import Status

from gnomon.engine.v1 import job_pb2 as entity_pb
from gnomon.engine.v1 import job_service_pb2 as pb
from server.engine.answers import ActivatedJob, UserTaskProperties
from server.engine.job_commands import ActivateJobs, CompleteJob, FailJob, ThrowJobError, UpdateJob
from server.engine.job_kinds import JobKind, ListenerEventType
from server.engine.keys import Key
from server.engine.variables import join
from server.partition.config import JobsConfig
from server.partition.job_streams import MOST_IN_HAND, JobStreams
from server.partition.router import Router
from server.platform.call import Call
from server.platform.dispatch import Refused, ResponseStream, unnoticed
from server.platform.policy import policy_of
from server.rpc import job_statistics
from server.rpc.dates import rfc_3339
from server.rpc.job_results import result_of
from server.rpc.origin import origin_of
from server.rpc.parts import outcomes_of
from server.rpc.reads import search
from server.rpc.variables import variables_of
from server.store.ports import Store
from server.store.searchables import JOBS

MILLISECOND = timedelta(milliseconds=1)
# The time that an answer needs to reach its caller.
ANSWER_SECONDS = 0.25

_COMPLETE_JOB = policy_of(pb.DESCRIPTOR.services_by_name["JobService"].methods_by_name["CompleteJob"])
_KINDS = {kind: entity_pb.JobKind.Value(f"JOB_KIND_{kind}") for kind in JobKind}
_LISTENER_EVENT_TYPES = {
    event_type: entity_pb.JobListenerEventType.Value(f"JOB_LISTENER_EVENT_TYPE_{event_type}")
    for event_type in ListenerEventType
}


class JobServicer:
    """Servicer for jobs; `refused` is called for each part of a multi-command call that no partition received."""

    def __init__(
        self,
        store: Store,
        router: Router,
        config: JobsConfig,
        streams: JobStreams,
        *,
        refused: Refused = unnoticed,
    ) -> None:
        self._store = store
        self._router = router
        self._config = config
        self._streams = streams
        self._refused = refused

    async def activate_jobs(self, request: pb.ActivateJobsRequest, call: Call) -> pb.ActivateJobsResponse:
        command = _activation(request, call, request.max_jobs_to_activate)
        answer = await self._router.activate(command, self._patience(request, call))
        return pb.ActivateJobsResponse(jobs=map(_activated, answer.jobs))

    def _patience(self, request: pb.ActivateJobsRequest, call: Call) -> float:
        """Seconds to wait for jobs: 0 for a negative timeout, the configured time for a timeout of 0.

        The wait ends before the caller's deadline, so that the caller receives the answer.
        """
        if request.request_timeout < 0:
            return 0
        seconds = request.request_timeout / 1000 or self._config.long_poll_seconds
        left = inf if call.time_remaining is None else call.time_remaining - ANSWER_SECONDS
        return max(0, min(seconds, self._config.longest_poll_seconds, left))

    async def stream_activated_jobs(
        self,
        request: pb.StreamActivatedJobsRequest,
        call: Call,
        stream: ResponseStream[pb.StreamActivatedJobsResponse],
    ) -> None:
        command = _activation(request, call, MOST_IN_HAND)

        async def write(job: ActivatedJob) -> None:
            await stream.write(pb.StreamActivatedJobsResponse(job=_activated(job)))

        await self._streams.push(command, write=write, admit=stream.admit)

    async def complete_job(self, request: pb.CompleteJobRequest, call: Call) -> pb.CompleteJobResponse:
        command = CompleteJob(
            call.tenant_id,
            Key(request.job_key),
            variables_of(request.variables),
            result_of(request.result),
        )
        await self._router.submit(command, origin_of(request, call))
        return pb.CompleteJobResponse()

    async def complete_jobs(self, request: pb.CompleteJobsRequest, call: Call) -> pb.CompleteJobsResponse:
        outcomes = await outcomes_of(
            request.completions, call, _COMPLETE_JOB, serve=self.complete_job, refused=self._refused
        )
        return pb.CompleteJobsResponse(
            outcomes=[outcome if isinstance(outcome, Status) else Status() for outcome in outcomes]
        )

    async def fail_job(self, request: pb.FailJobRequest, call: Call) -> pb.FailJobResponse:
        command = FailJob(
            tenant_id=call.tenant_id,
            job_key=Key(request.job_key),
            retries=request.retries,
            error_message=request.error_message,
            retry_back_off=request.retry_back_off * MILLISECOND,
            variables=variables_of(request.variables),
        )
        await self._router.submit(command, origin_of(request, call))
        return pb.FailJobResponse()

    async def throw_job_error(self, request: pb.ThrowJobErrorRequest, call: Call) -> pb.ThrowJobErrorResponse:
        command = ThrowJobError(
            tenant_id=call.tenant_id,
            job_key=Key(request.job_key),
            error_code=request.error_code,
            error_message=request.error_message,
            variables=variables_of(request.variables),
        )
        await self._router.submit(command, origin_of(request, call))
        return pb.ThrowJobErrorResponse()

    async def update_job(self, request: pb.UpdateJobRequest, call: Call) -> pb.UpdateJobResponse:
        changes = request.changeset
        command = UpdateJob(
            tenant_id=call.tenant_id,
            job_key=Key(request.job_key),
            retries=changes.retries if changes.HasField("retries") else None,
            timeout=changes.timeout * MILLISECOND if changes.HasField("timeout") else None,
        )
        await self._router.submit(command, origin_of(request, call))
        return pb.UpdateJobResponse()

    async def search_jobs(self, request: pb.SearchJobsRequest, call: Call) -> pb.SearchJobsResponse:
        return await search(self._store, JOBS, request, pb.SearchJobsResponse, call)

    async def get_global_job_statistics(
        self, request: pb.GetGlobalJobStatisticsRequest, call: Call
    ) -> pb.GetGlobalJobStatisticsResponse:
        return await job_statistics.of_all(self._store, request, call)

    async def get_job_type_statistics(
        self, request: pb.GetJobTypeStatisticsRequest, call: Call
    ) -> pb.GetJobTypeStatisticsResponse:
        return await job_statistics.by_type(self._store, request, call)

    async def get_job_worker_statistics(
        self, request: pb.GetJobWorkerStatisticsRequest, call: Call
    ) -> pb.GetJobWorkerStatisticsResponse:
        return await job_statistics.by_worker(self._store, request, call)

    async def get_job_time_series_statistics(
        self, request: pb.GetJobTimeSeriesStatisticsRequest, call: Call
    ) -> pb.GetJobTimeSeriesStatisticsResponse:
        return await job_statistics.by_time(self._store, request, call)

    async def get_job_error_statistics(
        self, request: pb.GetJobErrorStatisticsRequest, call: Call
    ) -> pb.GetJobErrorStatisticsResponse:
        return await job_statistics.by_error(self._store, request, call)


def _activation(
    request: pb.ActivateJobsRequest | pb.StreamActivatedJobsRequest, call: Call, max_jobs: int
) -> ActivateJobs:
    return ActivateJobs(
        tenant_id=call.tenant_id,
        type=request.type,
        worker=request.worker,
        timeout=request.timeout * MILLISECOND,
        max_jobs=max_jobs,
        fetch_variables=tuple(request.fetch_variable),
    )


def _activated(job: ActivatedJob) -> entity_pb.ActivatedJob:
    instance = job.instance
    return entity_pb.ActivatedJob(
        type=job.type,
        process_definition_id=instance.process_definition_id,
        process_definition_version=instance.version,
        element_id=job.element_id,
        custom_headers=job.headers,
        worker=job.worker,
        retries=job.retries,
        deadline=_epoch_milliseconds(job.deadline),
        variables=join(job.variables),
        tenant_id=instance.tenant_id,
        job_key=job.key,
        process_instance_key=instance.key,
        process_definition_key=instance.process_definition_key,
        element_instance_key=job.element_instance_key,
        kind=_KINDS[job.kind],
        listener_event_type=_LISTENER_EVENT_TYPES[job.listener_event_type],
        tags=instance.tags,
        business_id=instance.business_id,
        root_process_instance_key=instance.root_key,
        user_task=None if job.user_task is None else _user_task(job.user_task),
    )


def _user_task(asked: UserTaskProperties) -> entity_pb.UserTaskProperties:
    values = asked.values
    return entity_pb.UserTaskProperties(
        action=asked.action,
        assignee=values.assignee or None,
        candidate_groups=values.candidate_groups,
        candidate_users=values.candidate_users,
        changed_attributes=asked.changed_attributes,
        due_date=None if values.due_date is None else rfc_3339(values.due_date),
        follow_up_date=None if values.follow_up_date is None else rfc_3339(values.follow_up_date),
        form_key=asked.form_key,
        priority=values.priority,
        user_task_key=asked.key,
    )


def _epoch_milliseconds(instant: datetime) -> int:
    return int(instant.timestamp() * 1000)
