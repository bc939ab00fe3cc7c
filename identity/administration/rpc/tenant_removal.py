"""TenantRemovalService."""

from gnomon.identity.v1 import tenant_removal_service_pb2 as pb
from identity.administration.tenants.removal import TenantRemoval
from identity.directory.tenants.tenant_record import RemovalPhase, TenantRecord
from server.platform.call import Call, TenantId


class TenantRemovalServicer:
    def __init__(self, removal: TenantRemoval) -> None:
        self._removal = removal

    async def list_tenant_removals(
        self, _request: pb.ListTenantRemovalsRequest, _call: Call
    ) -> pb.ListTenantRemovalsResponse:
        found = await self._removal.under_way()
        return pb.ListTenantRemovalsResponse(removals=map(self._message, found))

    async def report_tenant_removal(
        self, request: pb.ReportTenantRemovalRequest, _call: Call
    ) -> pb.ReportTenantRemovalResponse:
        removal = request.removal
        await self._removal.note(
            TenantId(removal.tenant_id),
            removal.number,
            RemovalPhase.RELEASING if removal.releasing else RemovalPhase.CLEARING,
            rows_left=request.rows_left,
            is_done=request.done,
        )
        return pb.ReportTenantRemovalResponse()

    def _message(self, record: TenantRecord) -> pb.TenantRemoval:
        return pb.TenantRemoval(
            tenant_id=record.id,
            number=record.removal_number,
            settled=self._removal.is_settled(record),
            releasing=record.removal is RemovalPhase.RELEASING,
        )
