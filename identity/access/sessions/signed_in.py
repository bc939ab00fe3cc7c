"""The user who is signed in at a browser, for calls of the process API.

The session works like a token without scopes: the user has all of the user's permissions. A support person who acts as
the user has them without those of administration.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from identity.access.sessions.session import Session
from identity.access.sessions.sessions import has_csrf
from identity.directory.holdings import without_administration
from identity.directory.principals import Principal
from identity.foundation.tenants import Tenant, Tenants
from server.platform.errors import NotFound, PermissionDenied, Unauthenticated


@dataclass(frozen=True, slots=True)
class PresentedSession:
    """A session cookie and its tenant, empty for the default one."""

    tenant_id: str
    cookie: str = field(repr=False)


class Sessions(Protocol):
    async def find(self, tenant: Tenant, cookie: str, peer_address: str) -> Session | None: ...


class Principals(Protocol):
    async def of(self, subject: str, issuer: str) -> Principal: ...


class SignedInPrincipals:
    def __init__(self, tenants: Tenants, sessions: Sessions, principals: Principals) -> None:
        self._tenants = tenants
        self._sessions = sessions
        self._principals = principals

    async def of(
        self, presented: Sequence[PresentedSession], peer_address: str, *, csrf_token: str, is_read: bool
    ) -> tuple[Principal, Tenant]:
        """Return the user of the first session that has one, and the tenant of the session.

        A change counts only for the session with this CSRF token. Raises Unauthenticated without a session of a
        user, PermissionDenied for a change without its token.
        """
        is_anybody_signed_in = False
        for each in presented:
            found = await self._find(each, peer_address)
            if found is None:
                continue
            principal, tenant, session = found
            if is_read or has_csrf(session, csrf_token):
                return principal, tenant
            is_anybody_signed_in = True
        if is_anybody_signed_in:
            raise PermissionDenied("expected X-CSRF-Token with the token of the session")
        raise Unauthenticated("no user is signed in")

    async def _find(
        self, presented: PresentedSession, peer_address: str
    ) -> tuple[Principal, Tenant, Session] | None:
        try:
            tenant = self._tenants.find(presented.tenant_id)
            session = await self._sessions.find(tenant, presented.cookie, peer_address)
            if session is None or session.authentication is None:
                return None
            principal = await self._principals.of(session.user_id, tenant.issuer)
        except NotFound:
            return None
        principal = replace(principal, ids=principal.ids | {session.sid})
        if session.is_impersonated:
            standing = without_administration(principal.standing)
            principal = replace(principal, standing=standing, acting=session.impersonator_id)
        return principal, tenant, session
