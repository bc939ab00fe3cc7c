"""ID token hints of relying parties: OpenID Connect Core 1.0 §3.1.2.1.

An expired hint is accepted, but it must be of this provider.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from identity.directory.client import Client
from identity.directory.subjects import Subjects, UnknownSubject
from identity.directory.user import UserId
from identity.foundation.errors import InvalidToken
from identity.foundation.tenants import Tenant

# Verifies signature and issuer, not the expiry; raises InvalidToken.
Verify = Callable[[str, Tenant], Awaitable[Mapping[str, object]]]


class Clients(Protocol):
    async def find(self, tenant: Tenant, client_id: str) -> Client | None: ...


_ID_TOKEN = "Id"  # noqa: S105  # a claim's value


@dataclass(frozen=True, slots=True)
class Hint:
    client_id: str
    user_id: UserId
    sid: str


class IdTokenHints:
    def __init__(self, verify: Verify, clients: Clients, subjects: Subjects) -> None:
        self._verify = verify
        self._clients = clients
        self._subjects = subjects

    async def read(self, token: str, tenant: Tenant) -> Hint:
        """Raises InvalidToken unless it is an ID token of the tenant's provider."""
        claims = await self._verify(token, tenant)
        subject, client_id, sid = (
            claims.get("sub"),
            claims.get("azp") or claims.get("aud"),
            claims.get("sid", ""),
        )
        if claims.get("typ") != _ID_TOKEN or not isinstance(subject, str) or not isinstance(client_id, str):
            raise InvalidToken("the hint is not an ID token")
        user_id = await self._user_id(tenant, client_id, subject)
        return Hint(client_id, user_id, sid if isinstance(sid, str) else "")

    async def _user_id(self, tenant: Tenant, client_id: str, subject: str) -> UserId:
        client = await self._clients.find(tenant, client_id)
        if client is None:
            return UserId(subject)
        try:
            return self._subjects.user_of(tenant, client, subject)
        except UnknownSubject as error:
            raise InvalidToken("the hint is of another sector than its client is now") from error
