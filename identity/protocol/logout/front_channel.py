"""Addresses that the browser loads to sign the user out: OpenID Connect Front-Channel Logout 1.0, SAML 2.0 Profiles §4.4."""

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


class SamlApplicationLogout(Protocol):
    async def uri(self, tenant: Tenant, client: Client, session: Session) -> str: ...


class UpstreamSamlLogout(Protocol):
    async def uri(self, tenant: Tenant, session: Session) -> str: ...


class FrontChannel:
    """`upstream` is None where no upstream provider is used."""

    def __init__(
        self,
        clients: Clients,
        subjects: Subjects,
        saml: SamlApplicationLogout,
        *,
        upstream: UpstreamSamlLogout | None = None,
    ) -> None:
        self._clients = clients
        self._subjects = subjects
        self._saml = saml
        self._upstream = upstream

    async def uris(self, tenant: Tenant, session: Session, *, but: str = "") -> tuple[str, ...]:
        """Return the addresses of clients that got tokens or assertions in the session, the last ones first.

        The address of the SAML provider that the user signed in at comes before them.

        There are at most MAX_FRAMES, and none of the client `but`. `iss` and `sid` are always present, so that every
        client knows which session ended: §3.
        """
        upstream = await self._upstream.uri(tenant, session) if self._upstream is not None else ""
        found = [upstream] if upstream else []
        for client_id in reversed(session.clients):
            client = await self._clients.find(tenant, client_id) if client_id != but else None
            if client is not None and client.is_enabled:
                found += await self._of_client(tenant, client, session)
            if len(found) >= MAX_FRAMES:
                break
        return tuple(found[:MAX_FRAMES])

    async def _of_client(self, tenant: Tenant, client: Client, session: Session) -> list[str]:
        sid = self._subjects.session_of(tenant, client, session.sid)
        uri = client.frontchannel_logout_uri
        saml = await self._saml.uri(tenant, client, session)
        return list(filter(None, (_with_session(uri, tenant, sid) if uri else "", saml)))


def _with_session(uri: str, tenant: Tenant, sid: str) -> str:
    return f"{uri}{'&' if '?' in uri else '?'}{urlencode({'iss': tenant.issuer, 'sid': sid})}"
