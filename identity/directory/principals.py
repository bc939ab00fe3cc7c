"""Resolves the subject of a token to a principal and its permissions."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from identity.directory.claims import NO_CLAIMS, Claims
from identity.directory.clients import Clients
from identity.directory.holdings import Standing
from identity.directory.standings import Standings, TenantHolder
from identity.directory.subjects import Subjects, UnknownSubject
from identity.directory.user import User
from identity.foundation.tenants import Tenant, Tenants
from server.platform.clock import Clock
from server.platform.errors import NotFound
from server.platform.records import Records

_SUB = "sub"
_AZP = "azp"


class PrincipalKind(StrEnum):
    USER = "USER"
    CLIENT = "CLIENT"


@dataclass(frozen=True, slots=True)
class Principal:
    """`acting` is the id of the user who acts as the subject, such as a support person; empty if the subject acts."""

    subject: str
    kind: PrincipalKind
    standing: Standing
    acting: str = ""


class Principals:
    """A subject is unique within its issuer only."""

    def __init__(
        self,
        users: Records[User],
        clients: Clients,
        *,
        subjects: Subjects,
        standings: Standings,
        tenants: Tenants,
        clock: Clock,
    ) -> None:
        self._users = users
        self._clients = clients
        self._subjects = subjects
        self._standings = standings
        self._tenants = tenants
        self._clock = clock

    async def of(
        self, subject: str, issuer: str, claims: Claims = NO_CLAIMS, *, actor: str = ""
    ) -> Principal:
        """Return the principal of a subject; raises NotFound when it is unknown, or it or its tenant is disabled.

        `claims` are the claims of the token, whose client determines the meaning of a pairwise subject. The principal has
        the id of the user; mapping rules compare this id too. `actor` is the first actor of the token; only a user acts as
        another, while a client acts for a user.
        """
        tenant = self._tenants.find_by_issuer(issuer)
        user = await self._users.get(tenant.tenant_id, subject)
        if user is None and (user := await self._behind_pairwise(tenant, subject, claims)) is not None:
            claims = {**claims, _SUB: frozenset({user.id})}
        if user is not None and user.is_active(self._clock.now()):
            acting = actor if actor and await self._users.get(tenant.tenant_id, actor) is not None else ""
            return Principal(user.id, PrincipalKind.USER, await self._standing(user, tenant, claims), acting)
        client = await self._clients.find(tenant, subject)
        if client is not None and client.is_enabled:
            return Principal(subject, PrincipalKind.CLIENT, await self._standing(client, tenant, claims))
        raise NotFound("there is no such principal")

    async def names_of(self, tenant: Tenant, user_id: str) -> Sequence[str]:
        """Return the texts by which other records name a user, the id first; raises NotFound."""
        user = await self._users.get(tenant.tenant_id, user_id)
        if user is None:
            raise NotFound("there is no such user")
        return user.names

    async def _behind_pairwise(self, tenant: Tenant, subject: str, claims: Claims) -> User | None:
        client_id = next(iter(claims.get(_AZP, ())), "")
        if client_id in {"", subject}:
            return None
        client = await self._clients.find(tenant, client_id)
        if client is None or not client.has_pairwise_subjects:
            return None
        try:
            user_id = self._subjects.user_of(tenant, client, subject)
        except UnknownSubject:
            return None
        return await self._users.get(tenant.tenant_id, user_id)

    async def _standing(self, holder: TenantHolder, issuing: Tenant, claims: Claims) -> Standing:
        # Mapping rules of a tenant apply only to tokens of that tenant's own provider.
        is_own = holder.tenant_id == issuing.tenant_id
        return await self._standings.of(holder, claims if is_own else NO_CLAIMS)
