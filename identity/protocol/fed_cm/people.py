"""The signed-in user of the browser that makes a FedCM request."""

from dataclasses import dataclass, field
from typing import Protocol

from identity.access.sessions.session import Authentication, Session
from identity.authentication.confirmation import ConfirmationPolicy, is_unconfirmed
from identity.directory.user import User, UserId
from identity.foundation.tenants import Tenant
from server.platform.clock import Clock
from server.platform.errors import Unauthenticated


class Sessions(Protocol):
    async def follow(self, tenant: Tenant, way: str, peer_address: str) -> Session | None: ...


class Users(Protocol):
    async def find(self, tenant: Tenant, user_id: UserId) -> User | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class FedCmBrowser:
    """A browser: its FedCM cookie, empty without one, and its network address."""

    way: str = field(repr=False)
    peer_address: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedIn:
    user: User
    session: Session
    authentication: Authentication


class People:
    def __init__(
        self, sessions: Sessions, users: Users, *, confirmation: ConfirmationPolicy, clock: Clock
    ) -> None:
        self._sessions = sessions
        self._users = users
        self._confirmation = confirmation
        self._clock = clock

    async def at(self, tenant: Tenant, browser: FedCmBrowser) -> SignedIn:
        """Raises Unauthenticated without a signed-in user whose account is active and confirmed."""
        session = await self._sessions.follow(tenant, browser.way, browser.peer_address)
        user = await self._users.find(tenant, UserId(session.user_id)) if session else None
        if session is None or session.authentication is None or user is None:
            raise Unauthenticated("no user is signed in")
        if not user.is_active(self._clock.now()) or await is_unconfirmed(self._confirmation, tenant, user):
            raise Unauthenticated("no user is signed in")
        return SignedIn(user=user, session=session, authentication=session.authentication)


def another_account() -> Unauthenticated:
    """Return the error for a request about another account than the signed-in one."""
    return Unauthenticated("another user is signed in", cause="ANOTHER_ACCOUNT")
