"""Requires that a session showed the user's second factor, if there is one: OWASP ASVS 5, 7.5.1.

A session may be older than the factor, opened with a stolen password. In such a session the user shows the factor
before changing any means of authentication. After that, the session counts as one that showed it.
"""

from typing import Protocol

from identity.access.person import Person
from identity.directory.user import User, UserId
from identity.foundation.tenants import Tenant
from server.platform.errors import PermissionDenied


class Users(Protocol):
    async def find(self, tenant: Tenant, user_id: UserId) -> User | None: ...


class Sessions(Protocol):
    async def note_factor(self, tenant: Tenant, sid: str) -> None: ...


class ShownFactors:
    def __init__(self, users: Users, sessions: Sessions) -> None:
        self._users = users
        self._sessions = sessions

    async def expect(self, person: Person) -> None:
        """Raise PermissionDenied when the person has a second factor that the session did not show."""
        if person.actor.has_shown_factor:
            return
        user = await self._users.find(person.tenant, person.user_id)
        if user is not None and user.has_second_factor:
            raise PermissionDenied(
                "the account has a second factor; show it in this session first", cause="OWN_FACTOR_REQUIRED"
            )

    async def note(self, person: Person) -> None:
        """Record that the session showed a second factor."""
        await self._sessions.note_factor(person.tenant, person.actor.session)
