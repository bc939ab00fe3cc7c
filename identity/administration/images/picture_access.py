"""Access control of users' pictures that are not public."""

from typing import Protocol

from gnomon.identity.v1 import caller_pb2 as pb
from identity.access.callers import Actor, AdministrationArea, Right
from identity.access.tokens.active import ActiveToken
from identity.directory.user import UserId
from identity.foundation.errors import InvalidToken
from identity.foundation.tenants import Tenant
from identity.foundation.vocabulary import Scope, TokenType


class Callers(Protocol):
    async def expect_self_or(
        self, tenant: Tenant, caller: pb.Caller, user_id: UserId, area: AdministrationArea, right: Right
    ) -> Actor: ...


class Tokens(Protocol):
    async def find(self, token: str, tenant: Tenant) -> ActiveToken: ...


class PictureAccess:
    def __init__(self, callers: Callers, tokens: Tokens, *, is_public: bool) -> None:
        self._callers = callers
        self._tokens = tokens
        self.is_public = is_public

    async def expect_may_see(self, tenant: Tenant, user_id: UserId, caller: pb.Caller) -> None:
        """Admit everybody if pictures are public; else the user, its clients and callers who may read the account.

        Raises Unauthenticated, PermissionDenied.
        """
        if self.is_public or (caller.access_token and await self._is_shown(tenant, user_id, caller)):
            return
        await self._callers.expect_self_or(tenant, caller, user_id, AdministrationArea.USERS, Right.READ)

    async def _is_shown(self, tenant: Tenant, user_id: UserId, caller: pb.Caller) -> bool:
        """Whether the token opens the claim `picture`: OpenID Connect Core 1.0 §5.4."""
        try:
            token = await self._tokens.find(caller.access_token, tenant)
        except InvalidToken:
            return False
        is_own = token.user is not None and token.user.user_id == user_id
        is_bearer = token.claims.typ is TokenType.BEARER
        return is_own and is_bearer and Scope.PROFILE in token.claims.oauth_scopes
