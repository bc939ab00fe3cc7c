"""Administration of the users of a tenant.

Setting a new password, disabling the account or letting it expire signs the user out everywhere. A user who sets a new
password for their own account keeps the present session. An API key cannot create or change an administrator, whatever
rights it has: it could gain that administrator's rights.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from identity.access.administrators import Administrators
from identity.access.callers import Actor
from identity.access.sign_out import SignOut
from identity.directory.chosen_password import ChosenPassword
from identity.directory.user import USERS, User, UserId
from identity.directory.users import find_by_name
from identity.directory.version import DirectoryVersion
from identity.foundation.events.events import Events
from identity.foundation.events.kinds import EventType
from identity.foundation.events.new_addresses import new_address
from identity.foundation.mail_address import email_key
from identity.foundation.randomness import Randomness
from identity.foundation.removals import Removals
from identity.foundation.tenants import Tenant, Tenants
from identity.people.searches import UserSearch
from identity.people.user_changes import Labelled, UserChange, applied
from server.platform.audit import AuditNote
from server.platform.clock import Clock
from server.platform.errors import AlreadyExists, InvalidArgument, InvalidState, NotFound, Unavailable
from server.platform.query.cursor import cursors
from server.platform.records import AlreadyThere, Changed, Guard, Records, Removal

OTHER_REVISION = "OTHER_ETAG"
"""Cause of the refusal of a change for another revision of the record."""

_ID_LENGTH = 24
_ATTEMPTS = 20


class PasswordChoice(Protocol):
    async def choose(self, tenant: Tenant, user: User, password: str) -> ChosenPassword: ...


class Names(Protocol):
    async def known(self, tenant: Tenant, names: Iterable[str]) -> frozenset[str]: ...


class WelcomeMails(Protocol):
    async def greet(self, tenant: Tenant, user: User) -> None:
        """Send a mail to a user who cannot sign in yet."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class UserAdministration:
    users: Records[User]
    welcome: WelcomeMails
    roles: Names
    groups: Names
    administrators: Administrators
    tenants: Tenants
    removals: Removals
    version: DirectoryVersion
    password_choice: PasswordChoice
    reserved_usernames: Collection[str]
    sign_out: SignOut
    events: Events
    clock: Clock
    randomness: Randomness

    def __post_init__(self) -> None:
        self.removals.first(USERS, self._advance, self._sign_out)

    async def page(self, tenant: Tenant, *, after: str, most: int) -> Sequence[User]:
        """Return users in the order of their ids, beginning after `after`."""
        return await self.users.page(tenant.tenant_id, after=after, most=most)

    async def search(
        self, tenant: Tenant, search: UserSearch, *, token: str, most: int
    ) -> tuple[Sequence[User], str]:
        """Return a page of matching users, and the continuation token of the next page, empty for none.

        Raises InvalidArgument.
        """
        # One more than shown, to know whether there is a next page.
        query = search.query(token=token, most=most + 1)
        found = await self.users.matches(tenant.tenant_id, query)
        page = found[:most]
        _, end = cursors(query, page)
        return page, end if end is not None and len(found) > most else ""

    async def get(self, tenant: Tenant, user_id: UserId) -> User:
        """Raises NotFound."""
        user = await self.users.get(tenant.tenant_id, user_id)
        if user is None:
            raise NotFound("there is no such user")
        return user

    async def get_by_email(self, tenant: Tenant, email: str) -> User:
        """Raises NotFound."""
        found = await self.users.find(tenant.tenant_id, "email", email_key(email), most=1)
        if not found:
            raise NotFound("there is no such user")
        return found[0]

    async def get_by_username(self, tenant: Tenant, username: str) -> User:
        """Return the user with this name in the process API; raises NotFound."""
        user = await find_by_name(self.users, tenant.tenant_id, username)
        if user is None:
            raise NotFound("there is no such user")
        return user

    async def create(
        self,
        tenant: Tenant,
        change: UserChange,
        actor: Actor,
        *,
        note: AuditNote | None = None,
        account: User | None = None,
    ) -> User:
        """Create an account, and send a welcome mail if it has no password; `account` has values that no change sets.

        Raises InvalidArgument, AlreadyExists, and PermissionDenied for a user with rights that the caller cannot give.
        """
        if not change.email:
            raise InvalidArgument("email: expected an address, found none")
        now = self.clock.now()
        nobody = account or User(
            tenant_id=tenant.tenant_id,
            id=self.randomness.alphanumeric(_ID_LENGTH),
            email="",
            tenant_ids=(tenant.tenant_id,),
            created_at=now,
        )
        user = applied(change, nobody, labelled=await self._labelled(tenant, change), now=now)
        await self.administrators.guard(None, user, actor)
        chosen = await self._chosen(tenant, user, change)
        try:
            kept = await self.users.insert(user if chosen is None else chosen.of(user), note=note)
        except AlreadyThere as error:
            raise _taken(error) from error
        await self._tell(kept, EventType.NEW_USER_REGISTERED, kept.email, actor)
        await self._tell_of_administrator(replace(nobody, permissions=()), kept, actor)
        await self.welcome.greet(tenant, kept)
        return kept

    async def update(
        self,
        tenant: Tenant,
        user_id: UserId,
        change: UserChange,
        *,
        actor: Actor,
        note: AuditNote | None = None,
        revision: int | None = None,
    ) -> User:
        """Change a user; with `revision` only if the record has that revision.

        Raises NotFound, InvalidArgument, AlreadyExists, InvalidState, PermissionDenied.
        """
        labelled, first = await self._labelled(tenant, change), await self.get(tenant, user_id)
        chosen = await self._chosen(tenant, first, change)
        for _ in range(_ATTEMPTS):
            before = await self.get(tenant, user_id)
            if revision not in (None, before.revision):
                raise InvalidState("another caller changed the user in the meantime", cause=OTHER_REVISION)
            if chosen is not None and before.password_hash != first.password_hash:
                raise InvalidState("another caller changed the password in the meantime")
            after = applied(change, before, labelled=labelled, now=self.clock.now())
            guard = await self.administrators.guard(before, after, actor)
            after = await self._signed_out(
                tenant, before, after if chosen is None else chosen.of(after), actor=actor
            )
            try:
                kept = await self.users.replace(after, note=note, guard=guard)
            except Changed:
                continue
            except AlreadyThere as error:
                raise _taken(error) from error
            await self._after_update(tenant, before, kept, actor=actor)
            return kept
        raise Unavailable.untouched("too many requests change the user at the same time")

    async def expect_changeable(self, tenant: Tenant, user_id: UserId, change: UserChange) -> None:
        """Raise the errors that `update` would raise, apart from the password: NotFound, InvalidArgument."""
        user, labelled = await self.get(tenant, user_id), await self._labelled(tenant, change)
        applied(change, user, labelled=labelled, now=self.clock.now())

    async def delete(
        self, tenant: Tenant, user_id: UserId, actor: Actor, *, note: AuditNote | None = None
    ) -> None:
        """Remove a user with all dependent records; raises NotFound, InvalidState, PermissionDenied, Unavailable.

        The user is gone at once. Another process removes the remaining records if this call cannot.
        """
        for _ in range(_ATTEMPTS):
            user = await self.get(tenant, user_id)
            guard = await self.administrators.guard(user, None, actor)
            if await self.remove_unchanged(user, note=note, guard=guard):
                await self._tell(user, EventType.DELETED, f"user {user.email}", actor)
                return
        raise Unavailable.untouched("too many requests change the user at the same time")

    async def remove_unchanged(
        self, user: User, *, note: AuditNote | None = None, guard: Guard | None = None
    ) -> bool:
        """Remove a user with all dependent records, unless the user was changed or removed since it was read."""
        try:
            await self.removals.take(USERS, user, revision=user.revision, note=note, guard=guard)
        except Changed:
            return False
        return True

    async def _advance(self, removal: Removal) -> None:
        await self.version.advance(removal.owner_id)

    async def _sign_out(self, removal: Removal) -> None:
        """End the sessions of a removed user one by one, so that relying parties get logout tokens."""
        await self.sign_out.finish(self.tenants.of(removal.tenant_id), UserId(removal.owner_id))

    async def _signed_out(self, tenant: Tenant, before: User, after: User, *, actor: Actor) -> User:
        """Return the changed user, whom the same write signs out after a new password or the end of the account."""
        if after.is_active(self.clock.now()) and after.password_hash == before.password_hash:
            return after
        return await self.sign_out.begin(tenant, after, but=self._staying(after, actor))

    def _staying(self, user: User, actor: Actor) -> str:
        """Return the id of the caller's session, which outlasts a new password; empty if the account ends."""
        return actor.session if user.is_active(self.clock.now()) else ""

    async def _after_update(self, tenant: Tenant, before: User, after: User, *, actor: Actor) -> None:
        await self.version.advance(after.user_id)
        has_new_password = after.password_hash != before.password_hash
        if after.not_before != before.not_before:
            await self.sign_out.finish(tenant, after.user_id, but=self._staying(after, actor))
        await self._tell(after, EventType.CHANGED, f"user {after.email}", actor)
        if has_new_password:
            is_own = actor.id == after.id
            event_type = EventType.USER_PASSWORD_CHANGED if is_own else EventType.USER_PASSWORD_RESET
            await self._tell(after, event_type, after.email, actor)
        if after.email != before.email:
            await self._tell(
                after, EventType.USER_EMAIL_CHANGE, new_address(before.email, after.email), actor
            )
            # The link that was sent to the old address is invalid now.
            await self.welcome.greet(tenant, after)
        await self._tell_of_administrator(before, after, actor)

    async def _tell_of_administrator(self, before: User, after: User, actor: Actor) -> None:
        if await self.administrators.makes(after) and not await self.administrators.makes(before):
            await self._tell(after, EventType.NEW_ADMINISTRATOR, after.email, actor)

    async def _tell(self, user: User, event_type: EventType, text: str, actor: Actor) -> None:
        is_own = actor.id == user.id
        await self.events.emit(
            user.tenant_id,
            event_type,
            ip=actor.peer_address or None,
            text=text,
            user_id=user.id,
            session=actor.session if is_own and actor.session else None,
            actor=actor,
        )

    async def _chosen(self, tenant: Tenant, user: User, change: UserChange) -> ChosenPassword | None:
        if change.password is None:
            return None
        return await self.password_choice.choose(tenant, user, change.password)

    async def _labelled(self, tenant: Tenant, change: UserChange) -> Labelled:
        return Labelled(
            await self.roles.known(tenant, change.roles or ()),
            await self.groups.known(tenant, (*(change.groups or ()), *change.joins)),
            self.reserved_usernames,
        )


def _taken(error: AlreadyThere) -> AlreadyExists:
    return AlreadyExists(f"there is a user with this {error.field}", field=error.field)
