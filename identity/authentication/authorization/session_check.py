"""Whether an existing session satisfies an authorization request, and the reason if not."""

from collections.abc import Mapping
from typing import Protocol

from identity.access.sessions.session import Authentication, Session
from identity.authentication.confirmation import ConfirmationPolicy, is_unconfirmed
from identity.authentication.requests.request import AuthorizationRequest
from identity.directory.client import Client
from identity.directory.user import User, UserId
from identity.foundation.errors import AccessDenied, InteractionRequired, ProtocolError
from identity.foundation.tenants import Tenant
from identity.foundation.vocabulary import AuthenticationContext
from server.platform.clock import Clock

_SEVERAL_FACTORS = "mfa"

# One factor at an upstream provider is as strong as a password.
_RANKS: Mapping[str, int] = {
    AuthenticationContext.FEDERATED: 0,
    AuthenticationContext.PASSWORD: 0,
    AuthenticationContext.SEVERAL_FACTORS: 1,
    AuthenticationContext.PHISHING_RESISTANT: 2,
}


class Users(Protocol):
    async def find(self, tenant: Tenant, user_id: UserId) -> User | None: ...


class SessionCheck:
    def __init__(self, users: Users, clock: Clock, *, confirmation: ConfirmationPolicy) -> None:
        self._users = users
        self._confirmation = confirmation
        self._clock = clock

    async def user(
        self, tenant: Tenant, session: Session | None, request: AuthorizationRequest
    ) -> User | None:
        """Return the signed-in user if the session satisfies the request; None when a sign-in is needed."""
        if session is None or not _is_enough(session, request):
            return None
        user = await self._users.find(tenant, UserId(session.user_id))
        if user is None or not user.is_active(self._clock.now()):
            return None
        if session.authentication is None:
            return None
        if has_more_to_prove(user, session.authentication, request.acr_values):
            return None
        return None if await is_unconfirmed(self._confirmation, tenant, user) else user


def refusal_of(client: Client, user: User, amr: tuple[str, ...]) -> ProtocolError | None:
    """Return the error when the client does not accept a user who authenticated with these methods, else None."""
    if not user.may_use(client.restrict_group_prefix):
        return AccessDenied("the user is in none of the client's groups")
    if client.requires_mfa and _SEVERAL_FACTORS not in amr:
        return InteractionRequired("the client asks for a second factor")
    return None


def has_more_to_prove(user: User, authentication: Authentication, acr_values: tuple[str, ...]) -> bool:
    """Whether the `acr` is lower than requested, and the user could reach a higher one.

    A user without a stronger factor continues: acr_values are voluntary, OpenID Connect Core 1.0 §5.5.1.1.
    """
    asked = [_RANKS[context] for context in acr_values if context in _RANKS]
    if not asked:
        return False
    return _RANKS.get(authentication.acr, 0) < min(*asked, _RANKS[_strongest_of(user)])


def _is_enough(session: Session, request: AuthorizationRequest) -> bool:
    authentication = session.authentication
    if authentication is None or request.requires_sign_in:
        return False
    if authentication.impersonator is not None and request.not_before is not None:
        # The user has not signed in: a support person acts as the user.
        return False
    is_recent = request.not_before is None or request.not_before <= authentication.at
    return is_recent and request.user_id in {"", authentication.user_id}


def _strongest_of(user: User) -> AuthenticationContext:
    if user.has_passkey:
        return AuthenticationContext.PHISHING_RESISTANT
    if user.has_second_factor:
        return AuthenticationContext.SEVERAL_FACTORS
    return AuthenticationContext.PASSWORD
