"""Users for provisioning clients, through the administration of users."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from identity.access.callers import Actor
from identity.directory.labels import Group
from identity.directory.user import User, UserId
from identity.foundation.searches import ascii_lower
from identity.foundation.tenants import Tenant
from identity.people.labels import Labels
from identity.people.provisioning import filters, patches
from identity.people.provisioning.answers import WHOLE, Answer, Projection, Search, page
from identity.people.provisioning.attributes import USER
from identity.people.provisioning.conditions import SEARCHABLE, clauses_of, sort_key_of
from identity.people.provisioning.documents import (
    Members,
    expect_schema,
    normalized,
    projected,
    read,
    text,
    wants,
)
from identity.people.provisioning.operation import Operation
from identity.people.provisioning.refusals import ScimType, refusal
from identity.people.provisioning.user_documents import change_of, location, resource, version_of, written
from identity.people.user_changes import UserChange
from identity.people.users import OTHER_REVISION, UserAdministration
from server.platform.errors import AlreadyExists, InvalidState, Unavailable
from server.platform.query import Condition, Field, FieldType, Operator, Query, Window
from server.platform.records import Records

_ATTEMPTS = 10
_NAME = Field("account_name", FieldType.TEXT)


class Changed(Protocol):
    def __call__(self, before: Members) -> Members: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ProvisionedUsers:
    records: Records[User]
    administration: UserAdministration
    groups: Labels[Group]

    async def search(self, tenant: Tenant, search: Search) -> Members:
        """Raises InvalidArgument."""
        condition = filters.parse(search.filter) if search.filter else None
        ids = await self._names_of_groups(tenant, condition) if condition is not None else {}
        clauses = clauses_of(condition, ids) if condition is not None else ()
        path = filters.path_key(search.sort_by)
        sort = (sort_key_of(path, is_descending=search.is_descending),) if path else ()
        window = Window(limit=search.count, offset=search.start - 1)
        found = await self.records.search(tenant.tenant_id, Query(clauses, SEARCHABLE.order(sort), window))
        groups = await self._groups(tenant, found.items) if _shows_groups(search.projection) else {}
        base = base_of(tenant)
        resources = [_projected(resource(user, groups, base), search.projection) for user in found.items]
        return page(resources, total=found.total, start=search.start)

    async def get(self, tenant: Tenant, resource_id: str, projection: Projection = WHOLE) -> Answer:
        """Raises NotFound."""
        user = await self.administration.get(tenant, UserId(resource_id))
        return await self._answer(tenant, user, projection)

    async def create(
        self, tenant: Tenant, operation: Operation, actor: Actor, projection: Projection = WHOLE
    ) -> Answer:
        """Raises InvalidArgument, AlreadyExists, PermissionDenied."""
        change = change_of(_sent(operation.document), None)
        await self._expect_free_name(tenant, change, None)
        user = await self.administration.create(tenant, change, actor)
        return await self._answer(tenant, user, projection)

    async def replace(
        self, tenant: Tenant, operation: Operation, actor: Actor, projection: Projection = WHOLE
    ) -> Answer:
        """Raises NotFound, InvalidArgument, AlreadyExists, InvalidState, PermissionDenied."""
        sent = _sent(operation.document)
        user = await self._change(
            tenant, operation.resource_id, lambda _: sent, actor, versions=operation.versions
        )
        return await self._answer(tenant, user, projection)

    async def patch(
        self, tenant: Tenant, operation: Operation, actor: Actor, projection: Projection = WHOLE
    ) -> Answer:
        """Raises the errors of `replace`."""
        operations = patches.changes(read(operation.document), USER)
        user = await self._change(
            tenant,
            operation.resource_id,
            lambda before: patches.patched(before, operations, USER),
            actor,
            versions=operation.versions,
        )
        return await self._answer(tenant, user, projection)

    async def delete(self, tenant: Tenant, operation: Operation, actor: Actor) -> None:
        """Raises NotFound, InvalidState, PermissionDenied."""
        user_id = UserId(operation.resource_id)
        if operation.versions:
            expect_version(version_of(await self.administration.get(tenant, user_id)), operation.versions)
        await self.administration.delete(tenant, user_id, actor)

    async def _change(
        self, tenant: Tenant, user_id: str, changed: Changed, actor: Actor, *, versions: tuple[str, ...]
    ) -> User:
        """Write the changed document of the record in its present state, unless nothing changes."""
        for _ in range(_ATTEMPTS):
            before = await self.administration.get(tenant, UserId(user_id))
            expect_version(version_of(before), versions)
            old = written(before)
            new = changed(old)
            if new == old:
                return before
            change = change_of(new, before)
            await self._expect_free_name(tenant, change, before)
            try:
                return await self.administration.update(
                    tenant, before.user_id, change, actor=actor, revision=before.revision
                )
            except InvalidState as error:
                if error.metadata.get("cause") != OTHER_REVISION:
                    raise
        raise Unavailable.untouched("too many requests change the user at the same time")

    async def _expect_free_name(self, tenant: Tenant, change: UserChange, before: User | None) -> None:
        """Raise AlreadyExists when another user has the name in any of its names."""
        name = ascii_lower(change.provisioned.user_name) if change.provisioned else ""
        if before is not None and before.account_name == name:
            return
        is_taken = SEARCHABLE.query(Condition(_NAME, Operator.EQ, name), window=Window(limit=2))
        others = await self.records.matches(tenant.tenant_id, is_taken)
        if any(before is None or other.id != before.id for other in others):
            raise AlreadyExists("there is a user with this userName", field="userName")

    async def _answer(self, tenant: Tenant, user: User, projection: Projection) -> Answer:
        groups = await self._groups(tenant, (user,)) if _shows_groups(projection) else {}
        base = base_of(tenant)
        members = _projected(resource(user, groups, base), projection)
        return Answer(members, location(user.id, base), version_of(user))

    async def _groups(self, tenant: Tenant, users: Sequence[User]) -> Mapping[str, Group]:
        """Return the groups of the users by name."""
        names = frozenset(name for user in users for name in user.groups)
        return {group.name: group for group in await self.groups.named_any(tenant, names)}

    async def _names_of_groups(self, tenant: Tenant, condition: filters.Filter) -> Mapping[str, str]:
        """Return the names of the groups that a filter compares with, by id."""
        texts = frozenset(each for each in filters.values_of(condition) if isinstance(each, str))
        return {group.id: group.name for group in await self.groups.of_ids(tenant, texts)}


def base_of(tenant: Tenant) -> str:
    """Return the address of the server of a tenant."""
    return f"{tenant.issuer}scim/v2"


def expect_version(version: str, versions: tuple[str, ...]) -> None:
    """Raise InvalidState unless the client knows this version: RFC 7644 §3.14."""
    if versions and "*" not in versions and version not in versions:
        raise InvalidState("the resource has another version", cause=OTHER_REVISION)


def _sent(document: bytes) -> Members:
    members = read(document)
    expect_schema(members, USER.urn)
    found = normalized(members, USER)
    found.pop("groups", None)
    if not text(found, "userName"):
        raise refusal(ScimType.INVALID_VALUE, "userName: expected a name, found none")
    return found


def _shows_groups(projection: Projection) -> bool:
    return wants("groups", USER, attributes=projection.attributes, excluded=projection.excluded)


def _projected(members: Members, projection: Projection) -> Members:
    return projected(members, USER, attributes=projection.attributes, excluded=projection.excluded)
