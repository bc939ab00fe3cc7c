"""Custom attributes of users: their definitions, and the values of each user."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import msgspec

from identity.access.administrators import Administrators
from identity.access.callers import Actor, ActorKind
from identity.access.tokens.custom_claims import RESERVED
from identity.directory.labels import UserAttribute
from identity.directory.user import User, UserId
from identity.foundation.events.events import Events
from identity.foundation.events.kinds import EventType
from identity.foundation.tenants import Tenant
from identity.people import names
from identity.people.holders import Holders
from server.platform.clock import Clock
from server.platform.errors import (
    AlreadyExists,
    InvalidArgument,
    InvalidState,
    NotFound,
    PermissionDenied,
    Unavailable,
)
from server.platform.records import AlreadyThere, Changed, Records

# A user record holds all of its attributes, and tokens may carry them.
MOST = 64
_LONGEST_VALUE = 8192
_MOST_LEVELS = 500
_ATTEMPTS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class AttributeDraft:
    desc: str
    user_editable: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class UserAttributes:
    attributes: Records[UserAttribute]
    users: Records[User]
    holders: Sequence[Holders]
    administrators: Administrators
    events: Events
    clock: Clock

    async def all(self, tenant: Tenant) -> Sequence[UserAttribute]:
        return await self.attributes.page(tenant.tenant_id, most=MOST)

    async def opened(self, tenant: Tenant, chosen: Collection[str]) -> tuple[str, ...]:
        """Return the names of attributes that a scope opens, without repetitions; raises InvalidArgument."""
        if not RESERVED.isdisjoint(chosen):
            raise InvalidArgument("attributes: a name is reserved for a claim of the provider")
        known = {attribute.id for attribute in await self.all(tenant)}
        return names.among(chosen, known, what="attributes")

    async def create(self, tenant: Tenant, name: str, draft: AttributeDraft, actor: Actor) -> UserAttribute:
        """Raises the errors of `add`."""
        return await self.add(_attribute(tenant, name, draft), actor)

    async def update(
        self, tenant: Tenant, name: str, new_name: str, draft: AttributeDraft, *, actor: Actor
    ) -> UserAttribute:
        """Change an attribute, which keeps its name if `new_name` is empty; raises the errors of `change`."""
        after = _attribute(tenant, new_name or name, draft)
        return await self.change(tenant, name, after=after, actor=actor)

    async def add(self, attribute: UserAttribute, actor: Actor) -> UserAttribute:
        """Raises InvalidArgument, AlreadyExists, InvalidState."""
        _expect_name(attribute.id)
        if len(await self.attributes.page(attribute.tenant_id, most=MOST)) >= MOST:
            raise InvalidState(f"expected at most {MOST} attributes")
        kept = await self._insert(attribute)
        await self._tell(kept, EventType.CREATED, actor)
        return kept

    async def change(self, tenant: Tenant, name: str, *, after: UserAttribute, actor: Actor) -> UserAttribute:
        """Replace the attribute `name` by `after`, also in user records and scopes.

        Raises NotFound, InvalidArgument, AlreadyExists, InvalidState.
        """
        before = await self.attributes.get(tenant.tenant_id, name)
        if before is None:
            raise NotFound("there is no such attribute")
        if after.id == name:
            kept = await self._replace(replace(after, revision=before.revision))
        else:
            kept = await self._rename(tenant, name, after)
        await self._tell(kept, EventType.CHANGED, actor)
        return kept

    async def remove(self, tenant: Tenant, name: str, actor: Actor) -> None:
        """Raises NotFound."""
        attribute = await self.attributes.get(tenant.tenant_id, name)
        if attribute is None:
            raise NotFound("there is no such attribute")
        # An interrupted removal can be repeated. The second pass covers users who get the attribute meanwhile.
        await self._rename_everywhere(tenant, name, "")
        await self.attributes.take(tenant.tenant_id, name)
        await self._rename_everywhere(tenant, name, "")
        await self._tell(attribute, EventType.DELETED, actor)

    async def of_user(self, tenant: Tenant, user_id: UserId) -> Mapping[str, str]:
        """Return the attributes of a user, each value as JSON; raises NotFound."""
        return (await self._user(tenant, user_id)).attributes

    async def set_of_user(
        self, tenant: Tenant, user_id: UserId, values: Mapping[str, str], *, actor: Actor
    ) -> Mapping[str, str]:
        """Set attributes of a user; a JSON null removes one. Raises NotFound, InvalidArgument, PermissionDenied."""
        await self._expect_changeable(tenant, user_id, values, actor=actor)
        for _ in range(_ATTEMPTS):
            user = await self._user(tenant, user_id)
            kept = {name: text for name, text in {**user.attributes, **values}.items() if text != "null"}
            changed = replace(user, attributes=kept, changed_at=self.clock.now())
            guard = await self.administrators.guard(user, changed, actor)
            try:
                await self.users.replace(changed, guard=guard)
            except Changed:
                continue
            await self.events.emit(
                tenant.tenant_id, EventType.CHANGED, text=f"user {user.email}", user_id=user.id, actor=actor
            )
            return kept
        raise Unavailable.untouched("too many requests change the user at the same time")

    async def _expect_changeable(
        self, tenant: Tenant, user_id: UserId, values: Mapping[str, str], *, actor: Actor
    ) -> None:
        known = {attribute.id: attribute for attribute in await self.all(tenant)}
        names.among(values, known, what="attributes")
        for text in values.values():
            _expect_json(text)
        is_own = actor.kind is ActorKind.USER and actor.id == user_id and not actor.is_administrator
        if is_own and not all(known[name].user_editable for name in values):
            raise PermissionDenied("only an administrator can change this attribute")

    async def _insert(self, attribute: UserAttribute) -> UserAttribute:
        try:
            return await self.attributes.insert(attribute)
        except AlreadyThere as error:
            raise AlreadyExists("there is an attribute of this name", field="name") from error

    async def _replace(self, attribute: UserAttribute) -> UserAttribute:
        try:
            return await self.attributes.replace(attribute)
        except Changed as error:
            raise InvalidState("another caller changed the attribute in the meantime") from error

    async def _rename(self, tenant: Tenant, before: str, after: UserAttribute) -> UserAttribute:
        _expect_name(after.id)
        if await self.attributes.get(tenant.tenant_id, after.id) is not None:
            raise AlreadyExists("there is an attribute of this name", field="name")
        # As in `remove`. If this is interrupted while both exist, no record uses the old one, and it can be removed.
        await self._rename_everywhere(tenant, before, after.id)
        kept = await self._insert(after)
        await self.attributes.take(tenant.tenant_id, before)
        await self._rename_everywhere(tenant, before, after.id)
        return kept

    async def _rename_everywhere(self, tenant: Tenant, before: str, after: str) -> None:
        for holders in self.holders:
            await holders.rename(tenant.tenant_id, before, after)

    async def _user(self, tenant: Tenant, user_id: UserId) -> User:
        user = await self.users.get(tenant.tenant_id, user_id)
        if user is None:
            raise NotFound("there is no such user")
        return user

    async def _tell(self, attribute: UserAttribute, event_type: EventType, actor: Actor) -> None:
        await self.events.emit(
            attribute.tenant_id, event_type, text=f"user attribute {attribute.id}", actor=actor
        )


def _attribute(tenant: Tenant, name: str, draft: AttributeDraft) -> UserAttribute:
    return UserAttribute(
        tenant_id=tenant.tenant_id, id=name, desc=draft.desc, user_editable=draft.user_editable
    )


def _expect_name(name: str) -> None:
    names.attribute(name)
    if name in RESERVED:
        raise InvalidArgument("name: reserved for a claim of the provider")


def _expect_json(text: str) -> None:
    if len(text) > _LONGEST_VALUE:
        raise InvalidArgument(f"value: expected at most {_LONGEST_VALUE} characters")
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError) as error:
        raise InvalidArgument("value: expected JSON") from error
    if _is_deeper(value, _MOST_LEVELS):
        raise InvalidArgument(f"value: expected at most {_MOST_LEVELS} levels of nesting")


def _is_deeper(value: object, levels: int) -> bool:
    """Whether the value has more levels; versions of Python differ in how many they read."""
    level = [value]
    for _ in range(levels):
        level = [child for parent in level for child in _children(parent)]
    return bool(level)


def _children(value: object) -> Iterable[object]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()
