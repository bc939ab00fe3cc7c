"""From the subject of a token to what its bearer may do."""

from dataclasses import dataclass
from enum import StrEnum

from identity.clients.clients import Clients
from identity.directory.user import User
from identity.tenants import Tenants
from identity.vocabulary import Permission
from server.platform.call import TenantId
from server.platform.clock import Clock
from server.platform.errors import NotFound
from server.platform.records import Records


class PrincipalKind(StrEnum):
    USER = "USER"
    CLIENT = "CLIENT"


@dataclass(frozen=True, slots=True)
class Principal:
    subject: str
    kind: PrincipalKind
    tenant_ids: tuple[TenantId, ...]
    permissions: tuple[Permission, ...]


class Principals:
    """A subject is that of an issuer: another one may give the same to somebody else."""

    def __init__(self, users: Records[User], clients: Clients, *, tenants: Tenants, clock: Clock) -> None:
        self._users = users
        self._clients = clients
        self._tenants = tenants
        self._clock = clock

    async def of(self, subject: str, issuer: str) -> Principal:
        """Return who is behind a subject; raises NotFound when there is none, or when it or its tenant is disabled."""
        tenant = self._tenants.find_by_issuer(issuer)
        user = await self._users.get(tenant.tenant_id, subject)
        if user is not None and user.is_active(self._clock.now()):
            return Principal(subject, PrincipalKind.USER, user.tenant_ids, user.permissions)
        client = await self._clients.find(tenant, subject)
        if client is not None and client.is_enabled:
            return Principal(subject, PrincipalKind.CLIENT, client.tenant_ids, client.permissions)
        raise NotFound("there is no such principal")
