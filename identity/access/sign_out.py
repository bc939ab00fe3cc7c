"""Signs a user out: refuses all sessions and grants at once, then removes them and notifies relying parties."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Protocol

from identity.access.sessions.session import Session
from identity.directory.user import User, UserId
from identity.foundation.tenants import Tenant
from server.platform.clock import Clock
from server.platform.errors import Unavailable
from server.platform.records import Changed, Records

# One round ends up to a thousand sessions.
_MOST_ROUNDS = 100
_ATTEMPTS = 20


class SessionTermination(Protocol):
    async def end_all(self, tenant: Tenant, user_id: UserId, *, but: str = "") -> Sequence[Session]: ...

    async def outlast(self, tenant: Tenant, user_id: UserId, sid: str, *, not_before: datetime) -> None: ...


class TokenSets(Protocol):
    async def remove_of_user(self, tenant: Tenant, user_id: str) -> None: ...


class SignOut:
    def __init__(
        self, termination: SessionTermination, token_sets: TokenSets, users: Records[User], clock: Clock
    ) -> None:
        self._termination = termination
        self._token_sets = token_sets
        self._users = users
        self._clock = clock

    async def everywhere(self, tenant: Tenant, user_id: UserId, *, but: str = "") -> None:
        """End all sessions of a user and revoke every grant, including devices and offline access.

        The session with the `sid` of `but` stays, without the tokens that were issued in it. The first write refuses all
        others, so an interrupted call leaves records that have no effect. Raises Unavailable.
        """
        await self._refuse(tenant, user_id, but)
        await self.finish(tenant, user_id, but=but)

    async def begin(self, tenant: Tenant, user: User, *, but: str = "") -> User:
        """Return the user with a `not_before` of now, for a caller that stores it and then calls `finish`."""
        not_before = self._clock.now()
        if but:
            await self._termination.outlast(tenant, user.user_id, but, not_before=not_before)
        return replace(user, not_before=not_before)

    async def finish(self, tenant: Tenant, user_id: UserId, *, but: str = "") -> None:
        """Remove what the stored `not_before` of the user refuses, or what a deleted user left."""
        for _ in range(_MOST_ROUNDS):
            if not await self._termination.end_all(tenant, user_id, but=but):
                break
        await self._token_sets.remove_of_user(tenant, user_id)

    async def _refuse(self, tenant: Tenant, user_id: UserId, but: str) -> None:
        for _ in range(_ATTEMPTS):
            user = await self._users.get(tenant.tenant_id, user_id)
            if user is None:
                return
            try:
                await self._users.replace(await self.begin(tenant, user, but=but))
            except Changed:
                continue
            return
        raise Unavailable.untouched("too many requests change the user at the same time")
