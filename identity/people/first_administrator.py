"""The first administrator of a deployment whose configuration leaves the creation to the process API.

A record reserves the id of the account before the account is created. Of several attempts, in any processes, therefore
only one succeeds, and an interrupted attempt can be repeated. Once the record is marked as done, no attempt works.
"""

from collections.abc import Collection
from dataclasses import replace

from identity.access.callers import Actor, ActorKind
from identity.access.last_administrator import SETUPS, Setup
from identity.directory.holdings import ADMINISTRATOR_ROLES
from identity.directory.labels import GROUPS, ROLES
from identity.directory.user import USERS, User
from identity.foundation.mail_address import email_key
from identity.foundation.randomness import Randomness
from identity.foundation.tenants import Tenants
from identity.foundation.vocabulary import Permission
from identity.people.user_changes import UserChange
from identity.people.users import UserAdministration
from server.platform.audit import AuditNote
from server.platform.clock import Clock, to_the_millisecond
from server.platform.errors import AlreadyExists, PermissionDenied
from server.platform.records import AlreadyThere, Changed, RecordStore, every

_ID = "first_administrator"
_USER_ID_LENGTH = 24


class FirstAdministrator:
    """`is_open` is true when the configuration leaves the administrator to this; `emails` are those of its users."""

    def __init__(
        self,
        store: RecordStore,
        tenants: Tenants,
        people: UserAdministration,
        *,
        is_open: bool,
        emails: Collection[str],
        clock: Clock,
        randomness: Randomness,
    ) -> None:
        self._records = store.of(SETUPS)
        self._users = store.of(USERS)
        self._roles = store.of(ROLES)
        self._groups = store.of(GROUPS)
        self._tenants = tenants
        self._people = people
        self._is_open = is_open
        self._emails = frozenset(map(email_key, emails))
        self._clock = clock
        self._randomness = randomness

    async def create(self, change: UserChange, username: str, request_id: str) -> User:
        """Raises PermissionDenied when there is an administrator, InvalidArgument, AlreadyExists, Unavailable."""
        setup = await self._reserved()
        tenant = self._tenants.default
        account = User(
            tenant_id=tenant.tenant_id,
            id=setup.user_id,
            email="",
            tenant_ids=self._tenants.ids,
            permissions=tuple(Permission),
            created_at=self._clock.now(),
        )
        actor = Actor(ActorKind.USER, setup.user_id, username, permissions=frozenset(Permission))
        try:
            created = await self._people.create(
                tenant, change, actor, note=self._note(username, request_id), account=account
            )
        except AlreadyExists:
            if await self._users.get(tenant.tenant_id, setup.user_id) is not None:
                await self._finish(setup)
                raise _there_is_one() from None
            raise
        await self._finish(setup)
        return created

    async def _reserved(self) -> Setup:
        """Return the record with the id that the account gets; raises PermissionDenied."""
        tenant_id = self._tenants.default.tenant_id
        setup = await self._records.get(tenant_id, _ID)
        if not self._is_open or (setup is not None and setup.is_done):
            raise _there_is_one()
        if setup is None:
            new = Setup(tenant_id=tenant_id, id=_ID, user_id=self._randomness.alphanumeric(_USER_ID_LENGTH))
            try:
                setup = await self._records.insert(new)
            except AlreadyThere:
                return await self._reserved()
        if await self._is_there_one(setup):
            await self._finish(setup)
            raise _there_is_one()
        return setup

    async def _is_there_one(self, setup: Setup) -> bool:
        """Whether a user is an administrator by a role, directly or by a group, or is in the configuration."""
        tenant_id = setup.tenant_id
        if await self._users.get(tenant_id, setup.user_id) is not None:
            return True
        for email in self._emails:
            if await self._users.find(tenant_id, "email", email, most=1):
                return True
        roles = {
            role.name
            async for role in every(self._roles, tenant_id)
            if Permission.IDENTITY_WRITE in role.permissions
        } | ADMINISTRATOR_ROLES
        groups = [
            group.name async for group in every(self._groups, tenant_id) if not roles.isdisjoint(group.roles)
        ]
        for field, names in (("roles", roles), ("groups", groups)):
            for name in names:
                if await self._users.find(tenant_id, field, name, most=1):
                    return True
        return False

    async def _finish(self, setup: Setup) -> None:
        try:
            await self._records.replace(replace(setup, is_done=True))
        except Changed:
            return  # another attempt did

    def _note(self, username: str, request_id: str) -> AuditNote:
        return AuditNote(
            tenant_id=self._tenants.default.tenant_id,
            timestamp=to_the_millisecond(self._clock.now()),
            operation_type="CREATE",
            actor_type="ANONYMOUS",
            actor_id="",
            entity_type="USER",
            entity_id=username,
            related_entity_type=None,
            related_entity_id=None,
            request_id=request_id,
        )


def _there_is_one() -> PermissionDenied:
    return PermissionDenied(
        "the deployment has an administrator, so no other one is created without a credential"
    )
