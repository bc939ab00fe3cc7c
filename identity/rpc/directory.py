"""DirectoryService."""

from gnomon.identity.v1 import directory_service_pb2 as pb
from identity.directory.claims import NO_CLAIMS, claims_of
from identity.directory.principals import PrincipalKind, Principals
from identity.directory.version import DirectoryVersion
from identity.tenants import Tenants
from identity.vocabulary import Permission
from server.platform.call import ANONYMOUS, Call
from server.platform.errors import NotFound

_KINDS = {
    PrincipalKind.USER: pb.PRINCIPAL_KIND_USER,
    PrincipalKind.CLIENT: pb.PRINCIPAL_KIND_CLIENT,
}


class DirectoryServicer:
    def __init__(self, tenants: Tenants, principals: Principals, version: DirectoryVersion) -> None:
        self._tenants = tenants
        self._principals = principals
        self._version = version

    async def get_principal(self, request: pb.GetPrincipalRequest, call: Call) -> pb.GetPrincipalResponse:
        tenant = self._tenants.find_by_issuer(request.issuer)
        # Services of this process and callers with access to the default tenant may resolve every subject.
        known = {tenant.tenant_id, self._tenants.default.tenant_id}
        if call.principal is not ANONYMOUS and call.principal.tenant_ids.isdisjoint(known):
            raise NotFound("there is no such principal")
        claims = claims_of(request.claims) if request.claims else NO_CLAIMS
        principal = await self._principals.of(request.subject, request.issuer, claims)
        return pb.GetPrincipalResponse(
            principal=pb.Principal(
                subject=principal.subject,
                kind=_KINDS[principal.kind],
                tenant_ids=sorted(principal.standing.tenant_ids),
                permissions=filter(principal.standing.permissions.__contains__, Permission),
            )
        )

    async def await_directory_version(
        self, request: pb.AwaitDirectoryVersionRequest, _call: Call
    ) -> pb.AwaitDirectoryVersionResponse:
        version = await self._version.beyond(request.version, seconds=request.wait_secs)
        return pb.AwaitDirectoryVersionResponse(version=version)
