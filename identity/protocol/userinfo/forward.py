"""Forward authentication by access token: the user of a request, for the headers of the proxy."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from identity.directory.user import User
from identity.foundation.tenants import Tenant
from identity.foundation.vocabulary import Scope
from identity.protocol.userinfo.presented import PresentedToken, PresentedTokens

# RFC 8176: methods beyond a password.
_FACTORS = frozenset({"mfa", "hwk", "swk", "otp"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Claims that the scopes do not open are empty; `user_id` is the subject that the client knows."""

    user_id: str
    roles: tuple[str, ...]
    groups: tuple[str, ...]
    email: str
    is_email_verified: bool
    given_name: str
    family_name: str
    is_mfa: bool


class ForwardAuthentication:
    def __init__(self, tokens: PresentedTokens) -> None:
        self._tokens = tokens

    async def caller(self, tenant: Tenant, presented: PresentedToken) -> Caller:
        """Raises InvalidToken, InsufficientScope, InvalidDpopProof, UseDpopNonce."""
        bearer = await self._tokens.person(tenant, presented)
        return caller_of(
            bearer.user,
            subject=bearer.token.claims.sub,
            oauth_scopes=bearer.token.claims.oauth_scopes,
            amr=bearer.token_set.authentication.amr,
        )


def caller_of(user: User, *, subject: str, oauth_scopes: Collection[str], amr: Iterable[str]) -> Caller:
    has_email, has_profile = Scope.EMAIL in oauth_scopes, Scope.PROFILE in oauth_scopes
    return Caller(
        user_id=subject,
        roles=user.roles,
        groups=user.groups if Scope.GROUPS in oauth_scopes else (),
        email=user.email if has_email else "",
        is_email_verified=has_email and user.is_email_verified,
        given_name=user.given_name if has_profile else "",
        family_name=user.family_name if has_profile else "",
        is_mfa=not _FACTORS.isdisjoint(amr),
    )
