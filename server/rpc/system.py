"""Servicer for system capabilities and usage of tenants."""

from datetime import UTC, datetime

from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp

from gnomon.buf.validate import validate_pb2
from gnomon.engine.v1 import system_service_pb2 as pb
from gnomon.engine.v1.job_service_pb2 import ActivateJobsRequest
from server.platform.call import Call
from server.platform.errors import InvalidArgument
from server.platform.query import MOST_GROUPS, Clauses, Condition, Field, Operator, Statistic
from server.store.ports import Store
from server.store.searchables import DECISION_INSTANCES, PROCESS_INSTANCES, USER_TASKS
from server.store.statistics import ASSIGNEES, EVALUATED_DECISIONS, IS_NOT_CALLED, STARTED_INSTANCES, Amount


class SystemServicer:
    def __init__(self, store: Store, max_body_bytes: int) -> None:
        self._store = store
        self._max_body_bytes = max_body_bytes

    async def get_license(self, request: pb.GetLicenseRequest, call: Call) -> pb.GetLicenseResponse:
        return pb.GetLicenseResponse(valid_license=True, license_type="none")

    async def get_system_configuration(
        self, request: pb.GetSystemConfigurationRequest, call: Call
    ) -> pb.GetSystemConfigurationResponse:
        return pb.GetSystemConfigurationResponse(
            job_metrics=pb.JobMetricsConfiguration(
                enabled=True,
                export_interval="PT0S",
                max_worker_name_length=_longest(ActivateJobsRequest, "worker"),
                max_job_type_length=_longest(ActivateJobsRequest, "type"),
                max_tenant_id_length=_longest(pb.GetUsageMetricsRequest, "tenant_id"),
                max_unique_keys=MOST_GROUPS,
            ),
            components=pb.ComponentsConfiguration(),
            deployment=pb.DeploymentConfiguration(
                is_multi_tenancy_enabled=True, max_request_size=self._max_body_bytes
            ),
            authentication=pb.AuthenticationConfiguration(can_logout=True),
            cloud=pb.CloudConfiguration(),
        )

    async def get_usage_metrics(
        self, request: pb.GetUsageMetricsRequest, call: Call
    ) -> pb.GetUsageMetricsResponse:
        """Usage of the tenant; reads everything it started in the given time."""
        begin, end = _instant(request.start_time, "startTime"), _instant(request.end_time, "endTime")
        if begin >= end:
            raise InvalidArgument("endTime: expected a time after startTime")
        started = (IS_NOT_CALLED, *_between(PROCESS_INSTANCES.fields["start_date"], begin, end))
        evaluated = _between(DECISION_INSTANCES.fields["evaluation_date"], begin, end)
        assigned = _between(USER_TASKS.fields["creation_date"], begin, end)
        usage = pb.TenantUsageMetrics(
            process_instances=await self._number(STARTED_INSTANCES, started, call),
            decision_instances=await self._number(EVALUATED_DECISIONS, evaluated, call),
            assignees=await self._number(ASSIGNEES, assigned, call),
        )
        response = pb.GetUsageMetricsResponse(
            process_instances=usage.process_instances,
            decision_instances=usage.decision_instances,
            assignees=usage.assignees,
            active_tenants=int(any((usage.process_instances, usage.decision_instances, usage.assignees))),
        )
        if request.with_tenants and response.active_tenants:
            response.tenants[call.tenant_id].CopyFrom(usage)
        return response

    async def _number(self, statistic: Statistic[Amount], clauses: Clauses, call: Call) -> int:
        found = await self._store.statistics(statistic, clauses, tenant_id=call.tenant_id)
        return sum(amount.number for amount in found)


def _longest(message_type: type[Message], name: str) -> int:
    """The maximum length of a text field in the contract."""
    rules = message_type.DESCRIPTOR.fields_by_name[name].GetOptions().Extensions[validate_pb2.field]
    return rules.string.max_len


def _between(field: Field, begin: datetime, end: datetime) -> tuple[Condition, ...]:
    return Condition(field, Operator.GTE, begin), Condition(field, Operator.LT, end)


def _instant(moment: Timestamp, name: str) -> datetime:
    try:
        return moment.ToDatetime(UTC)
    except (ValueError, OverflowError) as error:
        raise InvalidArgument(f"{name}: expected a date-time of the years 1 to 9999") from error
