"""DirectoryService."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import groupby

from gnomon.identity.v1 import directory_service_pb2 as pb
from identity.access.dpop.proofs import DpopProofs
from identity.access.sessions.signed_in import PresentedSession, SignedInPrincipals
from identity.access.tokens.active import ActiveTokens
from identity.access.tokens.claims_of_access_token import access_token_claims
from identity.directory.claims import claims_of
from identity.directory.principals import Principal, PrincipalKind, Principals
from identity.directory.version import DirectoryVersion
from identity.foundation.errors import InvalidToken
from identity.foundation.tenants import Tenant, Tenants
from identity.foundation.vocabulary import Permission
from server.platform.call import ANONYMOUS, Call, Grant
from server.platform.errors import NotFound, Unauthenticated

_KINDS = {
    PrincipalKind.USER: pb.PRINCIPAL_KIND_USER,
    PrincipalKind.CLIENT: pb.PRINCIPAL_KIND_CLIENT,
}


class DirectoryServicer:
    def __init__(
        self,
        tenants: Tenants,
        principals: Principals,
        *,
        tokens: ActiveTokens,
        signed_in: SignedInPrincipals,
        proofs: DpopProofs,
        version: DirectoryVersion,
    ) -> None:
        self._tenants = tenants
        self._principals = principals
        self._tokens = tokens
        self._signed_in = signed_in
        self._proofs = proofs
        self._version = version

    async def get_principal(self, request: pb.GetPrincipalRequest, call: Call) -> pb.GetPrincipalResponse:
        tenant = self._tenant(request.issuer, call)
        if request.claims:
            principal = await self._of_token(tenant, request)
        else:
            principal = await self._principals.of(request.subject, request.issuer)
        return pb.GetPrincipalResponse(principal=_message(principal, tenant))

    async def _of_token(self, tenant: Tenant, request: pb.GetPrincipalRequest) -> Principal:
        """Raises Unauthenticated for a token that is not valid any more, NotFound for one of another subject."""
        claims = claims_of(request.claims)
        try:
            token = await self._tokens.check(access_token_claims(request.claims), tenant)
        except InvalidToken as error:
            raise Unauthenticated(error.detail) from error
        subject = token.client.client_id if token.user is None else token.claims.sub
        if subject != request.subject:
            raise NotFound("there is no such principal")
        if token.user is None:
            principal = await self._principals.of_client(token.client, tenant, claims)
        else:
            actor = "" if token.claims.act is None else token.claims.act.first
            principal = await self._principals.of_user(token.user, tenant, claims, actor=actor)
        return replace(principal, ids=principal.ids.union(token.ids))

    async def check_dpop_proof(
        self, request: pb.CheckDpopProofRequest, call: Call
    ) -> pb.CheckDpopProofResponse:
        tenant = self._tenant(request.issuer, call)
        jkt = await self._proofs.thumbprint(tenant, request.dpop, access_token=request.access_token)
        return pb.CheckDpopProofResponse(jkt=jkt)

    def _tenant(self, issuer: str, call: Call) -> Tenant:
        """Raises NotFound for a provider about which the caller may not ask."""
        tenant = self._tenants.find_by_issuer(issuer)
        if not self._may_ask(tenant, call):
            raise NotFound("there is no such principal")
        return tenant

    def _may_ask(self, tenant: Tenant, call: Call) -> bool:
        """Whether the caller is a service of this process, or may act in the tenant or in the default one."""
        known = {tenant.tenant_id, self._tenants.default.tenant_id}
        return call.principal is ANONYMOUS or not call.principal.tenant_ids.isdisjoint(known)

    async def list_user_names(self, request: pb.ListUserNamesRequest, call: Call) -> pb.ListUserNamesResponse:
        tenant = self._tenants.find(request.tenant_id)
        if not self._may_ask(tenant, call):
            raise NotFound("there is no such tenant")
        return pb.ListUserNamesResponse(names=await self._principals.names_of(tenant, request.user_id))

    async def get_signed_in_principal(
        self, request: pb.GetSignedInPrincipalRequest, _call: Call
    ) -> pb.GetSignedInPrincipalResponse:
        principal, tenant = await self._signed_in.of(
            [PresentedSession(session.tenant_id, session.cookie) for session in request.sessions],
            request.peer_address,
            csrf_token=request.csrf_token,
            is_read=request.is_read,
        )
        return pb.GetSignedInPrincipalResponse(principal=_message(principal, tenant))

    async def await_signed_in_change(
        self, request: pb.AwaitSignedInChangeRequest, _call: Call
    ) -> pb.AwaitSignedInChangeResponse:
        principal, _ = await self._signed_in.of(
            [PresentedSession(session.tenant_id, session.cookie) for session in request.sessions],
            request.peer_address,
            csrf_token="",
            is_read=True,
        )
        known = request.version
        number = await self._version.affecting(
            principal.ids, known, seconds=request.wait_secs if known else 0
        )
        return pb.AwaitSignedInChangeResponse(version=number)

    async def await_directory_version(
        self, request: pb.AwaitDirectoryVersionRequest, _call: Call
    ) -> pb.AwaitDirectoryVersionResponse:
        growth = await self._version.beyond(request.version, seconds=request.wait_secs)
        return pb.AwaitDirectoryVersionResponse(version=growth.number, affected_ids=sorted(growth.ids))


def _message(principal: Principal, issuing: Tenant) -> pb.Principal:
    return pb.Principal(
        subject=principal.subject,
        kind=_KINDS[principal.kind],
        tenant_ids=sorted(principal.standing.tenant_ids),
        permissions=filter(principal.standing.permissions.__contains__, Permission),
        issuing_tenant_id=issuing.tenant_id,
        grants=_grants(principal.standing.grants),
        acting=principal.acting,
        depends_on=sorted(principal.ids),
    )


def _grants(grants: Iterable[Grant]) -> Iterator[pb.Grant]:
    """Return one message for each resource."""
    by_resource = groupby(sorted(grants), key=lambda grant: (grant.resource_type, grant.resource_id))
    for (resource_type, resource_id), of_resource in by_resource:
        names = (grant.permission_type for grant in of_resource)
        yield pb.Grant(resource_type=resource_type, resource_id=resource_id, permission_types=names)
