"""Resolves users, clients and their valid tokens to principals with their permissions."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from identity.directory.claims import NO_CLAIMS, Claims
from identity.directory.client import Client
from identity.directory.clients import Clients
from identity.directory.holdings import Standing
from identity.directory.standings import Standings, TenantHolder
from identity.directory.user import User
from identity.foundation.tenants import Tenant, Tenants
from server.platform.clock import Clock
from server.platform.errors import NotFound
from server.platform.records import Records

_SUB = "sub"


class PrincipalKind(StrEnum):
    USER = "USER"
    CLIENT = "CLIENT"


@dataclass(frozen=True, slots=True)
class Principal:
    """`acting` is the id of the user who acts as the subject, such as a support person; empty if the subject acts.

    `ids` are those of everything that the principal depends on, as changes of the directory name them.
    """

    subject: str
    kind: PrincipalKind
    standing: Standing
    acting: str = ""
    ids: frozenset[str] = frozenset()


class Principals:
    """A subject is unique within its issuer only."""

    def __init__(
        self,
        users: Records[User],
        clients: Clients,
        *,
        standings: Standings,
        tenants: Tenants,
        clock: Clock,
    ) -> None:
        self._users = users
        self._clients = clients
        self._standings = standings
        self._tenants = tenants
        self._clock = clock

    async def of(self, subject: str, issuer: str) -> Principal:
        """Return the principal of a user or client; raises NotFound when it is unknown, or it or its tenant is disabled."""
        tenant = self._tenants.find_by_issuer(issuer)
        user = await self._users.get(tenant.tenant_id, subject)
        if user is not None and user.is_active(self._clock.now()):
            return await self.of_user(user, tenant)
        client = await self._clients.find(tenant, subject)
        if client is not None and client.is_enabled:
            return await self.of_client(client, tenant)
        raise NotFound("there is no such principal")

    async def of_user(
        self, user: User, issuing: Tenant, claims: Claims = NO_CLAIMS, *, actor: str = ""
    ) -> Principal:
        """Return the principal of an active user, with the claims of a token of that user.

        Mapping rules compare the id of the user, even if the token has a pairwise subject. `actor` is the first actor of
        the token; only a user acts as another, while a client acts for a user.
        """
        acting = actor if actor and await self._users.get(issuing.tenant_id, actor) is not None else ""
        if claims:
            claims = {**claims, _SUB: frozenset({user.id})}
        standing = await self._standing(user, issuing, claims)
        ids = frozenset(filter(None, (user.id, acting)))
        return Principal(user.id, PrincipalKind.USER, standing, acting, ids)

    async def of_client(self, client: Client, issuing: Tenant, claims: Claims = NO_CLAIMS) -> Principal:
        """Return the principal of an enabled client, with the claims of a token in its own name."""
        standing = await self._standing(client, issuing, claims)
        return Principal(client.client_id, PrincipalKind.CLIENT, standing, ids=frozenset({client.client_id}))

    async def names_of(self, tenant: Tenant, user_id: str) -> Sequence[str]:
        """Return the texts by which other records name a user, the id first; raises NotFound."""
        user = await self._users.get(tenant.tenant_id, user_id)
        if user is None:
            raise NotFound("there is no such user")
        return user.names

    async def _standing(self, holder: TenantHolder, issuing: Tenant, claims: Claims) -> Standing:
        # Mapping rules of a tenant apply only to tokens of that tenant's own provider.
        is_own = holder.tenant_id == issuing.tenant_id
        return await self._standings.of(holder, claims if is_own else NO_CLAIMS)
