"""From the subject of a token to what its bearer may do."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from identity.clients.client import Client, ClientId
from identity.directory.user import User, UserId
from identity.vocabulary import Permission
from server.platform.call import TenantId
from server.platform.errors import NotFound


class PrincipalKind(StrEnum):
    USER = "USER"
    CLIENT = "CLIENT"


@dataclass(frozen=True, slots=True)
class Principal:
    subject: str
    kind: PrincipalKind
    tenant_ids: tuple[TenantId, ...]
    permissions: tuple[Permission, ...]


class Users(Protocol):
    async def find(self, user_id: UserId, /) -> User | None: ...


class Clients(Protocol):
    async def find(self, client_id: ClientId, /) -> Client | None: ...


class Principals:
    def __init__(self, users: Users, clients: Clients) -> None:
        self._users = users
        self._clients = clients

    async def of(self, subject: str) -> Principal:
        """Return who is behind a subject; raises NotFound when there is none or it is disabled."""
        user = await self._users.find(UserId(subject))
        if user is not None and user.is_enabled:
            return Principal(subject, PrincipalKind.USER, user.tenant_ids, user.permissions)
        client = await self._clients.find(ClientId(subject))
        if client is not None and client.is_enabled:
            return Principal(subject, PrincipalKind.CLIENT, client.tenant_ids, client.permissions)
        raise NotFound("there is no such principal")
