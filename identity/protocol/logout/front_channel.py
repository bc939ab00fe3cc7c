"""Addresses that the browser loads to sign the user out at relying parties: OpenID Connect Front-Channel Logout 1.0."""

from typing import Protocol
from urllib.parse import urlencode

from identity.access.sessions.session import Session
from identity.directory.client import Client
from identity.directory.subjects import Subjects
from identity.foundation.tenants import Tenant

# Maximum number of addresses that one sign-out loads.
MAX_FRAMES = 20


class Clients(Protocol):
    async def find(self, tenant: Tenant, client_id: str) -> Client | None: ...


class FrontChannel:
    def __init__(self, clients: Clients, subjects: Subjects) -> None:
        self._clients = clients
        self._subjects = subjects

    async def uris(self, tenant: Tenant, session: Session) -> tuple[str, ...]:
        """Return the addresses of clients that got tokens in the session, the last ones first, at most MAX_FRAMES.

        `iss` and `sid` are always present, so that every client knows which session ended: §3.
        """
        found: list[str] = []
        for client_id in reversed(session.clients):
            client = await self._clients.find(tenant, client_id)
            if client is not None and client.is_enabled and client.frontchannel_logout_uri:
                sid = self._subjects.session_of(tenant, client, session.sid)
                found.append(_with_session(client.frontchannel_logout_uri, tenant, sid))
            if len(found) == MAX_FRAMES:
                break
        return tuple(found)


def _with_session(uri: str, tenant: Tenant, sid: str) -> str:
    return f"{uri}{'&' if '?' in uri else '?'}{urlencode({'iss': tenant.issuer, 'sid': sid})}"
