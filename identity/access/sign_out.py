"""Signs a user out: ends sessions, revokes tokens and notifies relying parties."""

from collections.abc import Sequence
from typing import Protocol

from identity.access.sessions.session import Session
from identity.directory.user import UserId
from identity.foundation.tenants import Tenant

# One round ends up to a thousand sessions.
_MOST_ROUNDS = 100


class SessionTermination(Protocol):
    async def end_all(self, tenant: Tenant, user_id: UserId, *, but: str = "") -> Sequence[Session]: ...


class TokenSets(Protocol):
    async def remove_of_user(self, tenant: Tenant, user_id: str) -> None: ...


class SignOut:
    def __init__(self, termination: SessionTermination, token_sets: TokenSets) -> None:
        self._termination = termination
        self._token_sets = token_sets

    async def everywhere(self, tenant: Tenant, user_id: UserId, *, but: str = "") -> None:
        """End all sessions of a user and revoke every grant, including devices and offline access.

        The session with the `sid` of `but` stays, without the tokens that were issued in it.
        """
        for _ in range(_MOST_ROUNDS):
            if not await self._termination.end_all(tenant, user_id, but=but):
                break
        await self._token_sets.remove_of_user(tenant, user_id)
