"""DirectoryService."""

from gnomon.identity.v1 import directory_service_pb2 as pb
from identity.directory.principals import PrincipalKind, Principals
from server.platform.call import Call

_KINDS = {
    PrincipalKind.USER: pb.PRINCIPAL_KIND_USER,
    PrincipalKind.CLIENT: pb.PRINCIPAL_KIND_CLIENT,
}


class DirectoryServicer:
    def __init__(self, principals: Principals) -> None:
        self._principals = principals

    async def get_principal(self, request: pb.GetPrincipalRequest, _call: Call) -> pb.GetPrincipalResponse:
        principal = await self._principals.of(request.subject, request.issuer)
        return pb.GetPrincipalResponse(
            principal=pb.Principal(
                subject=principal.subject,
                kind=_KINDS[principal.kind],
                tenant_ids=principal.tenant_ids,
                permissions=principal.permissions,
            )
        )
