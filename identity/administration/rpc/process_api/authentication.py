"""AuthenticationService: facts about the caller of the process API."""

from base64 import urlsafe_b64decode
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from gnomon.directory.v1 import authentication_service_pb2 as pb
from identity.administration.rpc.process_api.tenant import tenant_message
from identity.administration.tenants.administration import TenantAdministration
from identity.directory.authorization import ACCESS, COMPONENT
from identity.directory.claims import NO_CLAIMS, Claims, claims_of
from identity.directory.client import Client
from identity.directory.clients import Clients
from identity.directory.standings import Standings
from identity.directory.user import User, UserId
from identity.directory.users import Users
from identity.foundation.tenants import Tenant, Tenants
from server.platform.call import AUTHORIZATION, Call, Grant
from server.platform.errors import NotFound


@dataclass(frozen=True, slots=True)
class _Names:
    username: str
    display_name: str | None = None
    email: str | None = None


class AuthenticationServicer:
    def __init__(
        self,
        tenants: Tenants,
        users: Users,
        clients: Clients,
        *,
        standings: Standings,
        administration: TenantAdministration,
    ) -> None:
        self._tenants = tenants
        self._standings = standings
        self._administration = administration
        self._users = users
        self._clients = clients

    async def get_authentication(
        self, _request: pb.GetAuthenticationRequest, call: Call
    ) -> pb.GetAuthenticationResponse:
        """Raises NotFound when the caller was removed a moment ago."""
        issuer, claims = self._tenants.find(call.principal.issuing_tenant_id), _claims(call)
        holder = await self._holder(call.principal.subject, issuer)
        is_own = holder.tenant_id == issuer.tenant_id
        held = await self._standings.held(holder, claims if is_own else NO_CLAIMS)
        names = _names(holder, _pairwise_subject(call, claims))
        shown = pb.Authentication(
            username=names.username,
            display_name=names.display_name,
            email=names.email,
            groups=sorted(group.name for group in held.groups),
            roles=sorted({*held.built_in, *(role.name for role in held.roles)}),
            authorized_components=sorted(_components(call.principal.grants)),
        )
        tenants = await self._administration.of_ids(call.principal.tenant_ids)
        shown.tenants.extend(map(tenant_message, tenants))
        return pb.GetAuthenticationResponse(authentication=shown)

    async def _holder(self, subject: str, issuer: Tenant) -> User | Client:
        user = await self._users.find(issuer, UserId(subject))
        if user is not None:
            return user
        client = await self._clients.find(issuer, subject)
        if client is None:
            raise NotFound("there is no such user or client")
        return client


def _pairwise_subject(call: Call, claims: Claims) -> str:
    """Return the subject of the token if it is pairwise, else an empty text."""
    subjects = claims.get("sub", frozenset()) - {call.principal.subject}
    return next(iter(subjects), "")


def _names(holder: User | Client, pairwise: str) -> _Names:
    """Return the names of the caller; a client with pairwise subjects gets none that identifies its user to others."""
    if pairwise:
        return _Names(pairwise)
    if isinstance(holder, User):
        return _Names(holder.username, holder.name or None, holder.email)
    return _Names(holder.id, holder.name or None)


def _components(grants: Iterable[Grant]) -> Iterator[str]:
    for resource_type, permission_type, resource_id in grants:
        if (resource_type, permission_type) == (COMPONENT, ACCESS):
            yield resource_id


def _claims(call: Call) -> Claims:
    """Return the claims of the token of a call, which the interceptors verified; none in a session."""
    _, _, token = call.metadata.get(AUTHORIZATION, "").partition(" ")
    if not token:
        return NO_CLAIMS
    payload = token.split(".")[1]
    return claims_of(urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
