"""ScimApplicationService."""

from gnomon.identity.v1 import scim_application_service_pb2 as pb
from identity.access.callers import Actor, AdministrationArea, Right
from identity.access.rpc.admission import Admission
from identity.access.rpc.operations import Operations
from identity.access.rpc.records import message_of
from identity.clients.scim_applications.administration import (
    ScimApplicationAdministration,
    ScimFields,
    ScimStatus,
)
from identity.foundation.tenants import Tenant


class ScimApplicationServicer(Operations):
    def __init__(self, admission: Admission, applications: ScimApplicationAdministration) -> None:
        self._admission = admission
        self._applications = applications
        super().__init__(
            admission,
            {
                pb.ListScimApplicationsRequest: applications.page,
                pb.GetScimApplicationRequest: applications.find,
                pb.PutScimApplicationRequest: self._put,
                pb.DeleteScimApplicationRequest: applications.delete,
                pb.SynchronizeScimApplicationRequest: applications.synchronize,
                pb.TryScimApplicationRequest: applications.test,
            },
            names={"search": "text"},
            shows={ScimStatus: _message},
        )

    async def _put(self, tenant: Tenant, request: pb.PutScimApplicationRequest, actor: Actor) -> ScimStatus:
        # The service gets the users of the tenant, so the caller must be allowed to read them.
        await self._admission.of(request, AdministrationArea.USERS, Right.READ)
        fields = ScimFields(
            base_uri=request.fields.base_uri,
            bearer_token=request.bearer_token,
            sync_groups=request.fields.sync_groups,
            group_sync_prefix=request.fields.group_sync_prefix,
            is_enabled=request.fields.enabled,
        )
        return await self._applications.put(tenant, request.client_id, fields, actor=actor)


def _message(status: ScimStatus) -> pb.ScimApplication:
    application = status.application
    return message_of(
        pb.ScimApplication,
        application,
        {"last_success": "succeeded_at", "compared": "compared_at"},
        fields=message_of(pb.ScimApplicationFields, application),
        state=status.state,
        pending=status.pending,
        next_attempt=application.next_at if application.is_enabled else None,
        refused=status.refused,
        refusals=[message_of(pb.ScimRefusal, each, {"id": "local_id"}) for each in status.refusals],
    )
