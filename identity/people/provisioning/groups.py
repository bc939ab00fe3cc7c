"""Groups for provisioning clients, through the administration of groups and users.

A search reads all groups of the tenant, whatever its filter. A group's members are in the records of the users.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from identity.access.callers import Actor
from identity.directory.labels import Group
from identity.directory.user import User, UserId
from identity.foundation.tenants import Tenant
from identity.people import names
from identity.people.labels import Labels
from identity.people.provisioning import filters, patches
from identity.people.provisioning.answers import WHOLE, Answer, Projection, Search, page
from identity.people.provisioning.attributes import GROUP
from identity.people.provisioning.comparison import matches
from identity.people.provisioning.documents import (
    MOST_MEMBERS,
    Members,
    expect_schema,
    normalized,
    projected,
    read,
    text,
    wants,
)
from identity.people.provisioning.members import (
    Budget,
    MemberChanges,
    is_of_members,
    member_changes,
    members_in,
    replaced,
)
from identity.people.provisioning.operation import Operation
from identity.people.provisioning.refusals import ScimType, refusal
from identity.people.provisioning.user_documents import MOST_OF_NAMES, times
from identity.people.provisioning.users import base_of
from identity.people.user_changes import UserChange
from identity.people.users import UserAdministration
from server.platform.clock import Clock
from server.platform.errors import InvalidArgument, NotFound
from server.platform.records import Records

_FORBIDDEN = re.compile(r"[^A-Za-z0-9\-_/,:*.~@+ ]")
_LONGEST_STEM = 50
_SORTED = frozenset({"id", "displayname", "externalid", "meta.lastmodified"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ProvisionedGroups:
    records: Records[User]
    administration: UserAdministration
    groups: Labels[Group]
    clock: Clock

    async def search(self, tenant: Tenant, search: Search) -> Members:
        """Raises InvalidArgument."""
        condition = filters.parse(search.filter) if search.filter else None
        belonging = await self._belonging(tenant, members_in(condition) if condition is not None else ())
        found = [
            group
            for group in await self.groups.all(tenant)
            if condition is None or matches(condition, _searched(group, belonging, tenant))
        ]
        first = search.start - 1
        chosen = _sorted(found, search)[first : first + search.count]
        resources, left = [], MOST_MEMBERS
        for group in chosen:
            members = await self._members(tenant, group, search.projection, most=left)
            left -= len(members)
            resources.append(_projected(_resource(group, members, tenant), search.projection))
        return page(resources, total=len(found), start=search.start)

    async def get(self, tenant: Tenant, resource_id: str, projection: Projection = WHOLE) -> Answer:
        """Raises NotFound, and InvalidArgument with `tooMany` for more members than an answer has."""
        return await self._answer(tenant, await self.groups.get(tenant, resource_id), projection)

    async def create(
        self, tenant: Tenant, operation: Operation, actor: Actor, projection: Projection = WHOLE
    ) -> Answer:
        """Raises InvalidArgument, AlreadyExists, InvalidState, PermissionDenied."""
        sent = _sent(operation.document)
        joining = replaced(sent.get("members"))
        await self._expect_users(tenant, joining, operation.budget)
        now = self.clock.now()
        new = Group(tenant_id=tenant.tenant_id, id="", name="", created_at=now, changed_at=now)
        group = await self.groups.add(tenant, _changed(new, sent), actor)
        await self._write(tenant, group, joining, actor)
        return await self._answer(tenant, group, projection)

    async def replace(
        self, tenant: Tenant, operation: Operation, actor: Actor, projection: Projection = WHOLE
    ) -> Answer:
        """Raises NotFound and the errors of `create`."""
        sent = _sent(operation.document)
        before = await self.groups.get(tenant, operation.resource_id)
        changes = await self._exact(tenant, before, replaced(sent.get("members")))
        await self._expect_users(tenant, changes, operation.budget)
        group = await self._change(tenant, before, sent, actor)
        await self._write(tenant, group, changes, actor)
        return await self._answer(tenant, group, projection)

    async def patch(
        self, tenant: Tenant, operation: Operation, actor: Actor, projection: Projection = WHOLE
    ) -> Answer:
        """Raises the errors of `replace`."""
        operations = patches.changes(read(operation.document), GROUP)
        before = await self.groups.get(tenant, operation.resource_id)
        others = [operation for operation in operations if not is_of_members(operation)]
        after = patches.patched(_written(before), others, GROUP)
        changes = await self._exact(tenant, before, member_changes(operations))
        await self._expect_users(tenant, changes, operation.budget)
        group = await self._change(tenant, before, after, actor)
        await self._write(tenant, group, changes, actor)
        return await self._answer(tenant, group, projection)

    async def delete(self, tenant: Tenant, operation: Operation, actor: Actor) -> None:
        """Raises NotFound, PermissionDenied."""
        await self.groups.remove(tenant, operation.resource_id, actor)

    async def _change(self, tenant: Tenant, before: Group, members: Members, actor: Actor) -> Group:
        if _changed(before, members) == before:
            return before
        now = self.clock.now()
        return await self.groups.change(
            tenant, before.id, actor, changed=lambda group: replace(_changed(group, members), changed_at=now)
        )

    async def _exact(self, tenant: Tenant, group: Group, changes: MemberChanges) -> MemberChanges:
        """Return the changes with users who leave because all others do, and without users who are members already."""
        if not changes.is_cleared:
            return changes
        users = await self._users(tenant, group, most=MOST_MEMBERS)
        present = {user.id for user in users}
        joins = dict.fromkeys(user_id for user_id in changes.joins if user_id not in present)
        leaves = dict.fromkeys(user.id for user in users if user.id not in changes.joins)
        return MemberChanges(joins=joins, leaves=leaves)

    async def _expect_users(self, tenant: Tenant, changes: MemberChanges, budget: Budget) -> None:
        """Raise InvalidArgument when a user who joins does not exist, before anything is written."""
        budget.spend(len(changes.joins) + len(changes.leaves))
        for user_id in changes.joins:
            if await self.records.get(tenant.tenant_id, user_id) is None:
                raise refusal(ScimType.INVALID_VALUE, "members: expected ids of users, found another one")

    async def _write(self, tenant: Tenant, group: Group, changes: MemberChanges, actor: Actor) -> None:
        for user_id in changes.joins:
            await self._write_user(tenant, user_id, UserChange(joins=(group.name,)), actor)
        for user_id in changes.leaves:
            await self._write_user(tenant, user_id, UserChange(leaves=(group.name,)), actor)

    async def _write_user(self, tenant: Tenant, user_id: str, change: UserChange, actor: Actor) -> None:
        """Write a user unless nothing changes; a deleted user leaves all groups."""
        user = await self.records.get(tenant.tenant_id, user_id)
        if user is None or (
            set(change.joins) <= set(user.groups) and not set(change.leaves) & set(user.groups)
        ):
            return
        try:
            await self.administration.update(tenant, UserId(user_id), change, actor=actor)
        except NotFound:
            return

    async def _answer(self, tenant: Tenant, group: Group, projection: Projection) -> Answer:
        members = await self._members(tenant, group, projection, most=MOST_MEMBERS)
        resource = _resource(group, members, tenant)
        return Answer(_projected(resource, projection), _location(group, tenant))

    async def _members(
        self, tenant: Tenant, group: Group, projection: Projection, *, most: int
    ) -> Sequence[User]:
        if not wants("members", GROUP, attributes=projection.attributes, excluded=projection.excluded):
            return ()
        return await self._users(tenant, group, most=most)

    async def _users(self, tenant: Tenant, group: Group, *, most: int) -> Sequence[User]:
        users = await self.records.find(tenant.tenant_id, "groups", group.name, most=most + 1)
        if len(users) > most:
            raise refusal(
                ScimType.TOO_MANY,
                f"expected at most {MOST_MEMBERS} members in an answer: ask with excludedAttributes=members",
            )
        return users

    async def _belonging(self, tenant: Tenant, ids: Sequence[str]) -> Mapping[str, frozenset[str]]:
        """Return the names of the groups of each of these users."""
        users = [await self.records.get(tenant.tenant_id, user_id) for user_id in dict.fromkeys(ids)]
        return {user.id: frozenset(user.groups) for user in users if user is not None}


def _written(group: Group) -> Members:
    external = {"externalId": group.external_id} if group.external_id else {}
    return {"displayName": group.shown_name, **external}


def _resource(group: Group, members: Sequence[User], tenant: Tenant) -> Members:
    base = base_of(tenant)
    values = [
        {
            "value": user.id,
            "$ref": f"{base}/Users/{user.id}",
            "type": "User",
            "display": user.display_name or user.email,
        }
        for user in members
    ]
    meta = {
        "resourceType": "Group",
        **times(group.created_at, group.changed_at),
        "location": _location(group, tenant),
    }
    own: Members = {"schemas": [GROUP.urn], "id": group.id, **_written(group)}
    return {**own, **({"members": values} if values else {}), "meta": meta}


def _searched(group: Group, belonging: Mapping[str, frozenset[str]], tenant: Tenant) -> Members:
    """Return the resource with only those members that the filter names."""
    members = [{"value": user_id} for user_id, own in belonging.items() if group.name in own]
    return {**_resource(group, (), tenant), **({"members": members} if members else {})}


def _location(group: Group, tenant: Tenant) -> str:
    return f"{base_of(tenant)}/Groups/{group.id}"


def _sorted(groups: list[Group], search: Search) -> list[Group]:
    path = filters.path_key(search.sort_by)
    if not path:
        return groups
    if path not in _SORTED:
        raise refusal(
            ScimType.INVALID_VALUE, "sortBy: expected id, displayName, externalId or meta.lastModified"
        )
    return sorted(groups, key=lambda group: _place(group, path), reverse=search.is_descending)


def _place(group: Group, path: str) -> tuple[str, str]:
    changed = group.changed_at.isoformat() if group.changed_at else ""
    texts = {
        "displayname": group.shown_name.lower(),
        "externalid": group.external_id,
        "meta.lastmodified": changed,
    }
    return texts.get(path, group.id), group.id


def _changed(group: Group, members: Members) -> Group:
    shown, external_id = text(members, "displayName").strip(), text(members, "externalId")
    if not shown:
        raise refusal(ScimType.INVALID_VALUE, "displayName: expected a name, found none")
    if max(len(shown), len(external_id)) > MOST_OF_NAMES:
        raise refusal(
            ScimType.INVALID_VALUE, f"displayName, externalId: expected at most {MOST_OF_NAMES} characters"
        )
    if shown == group.shown_name:
        return replace(group, external_id=external_id)
    name = _name_of(shown)
    return replace(group, name=name, display_name="" if name == shown else shown, external_id=external_id)


def _name_of(shown: str) -> str:
    """Return the name of a group in tokens: the shown name if it may be one, else its letters and a digest."""
    try:
        return names.group(shown)
    except InvalidArgument:
        digest = hashlib.sha256(shown.encode()).hexdigest()[:8]
        return f"{_FORBIDDEN.sub('-', shown)[:_LONGEST_STEM].strip()}-{digest}"


def _sent(document: bytes) -> Members:
    members = read(document)
    expect_schema(members, GROUP.urn)
    return normalized(members, GROUP)


def _projected(members: Members, projection: Projection) -> Members:
    return projected(members, GROUP, attributes=projection.attributes, excluded=projection.excluded)
