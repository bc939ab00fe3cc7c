"""A visit of a SCIM application, which writes some of its pending users and groups, one request after another.

Three sources name the resources: the groups of the tenant, the users of events, and a comparison of all users with those
that the application has. The comparison finds every difference, also one that no event has reported.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta

from identity.clients.scim_applications.application import (
    ScimApplication,
    ScimResource,
    group_links,
    user_links,
)
from identity.clients.scim_applications.documents import group_document, user_document
from identity.clients.scim_applications.service import ResourceKind, Unreachable
from identity.clients.scim_applications.writer import ResourceWriter, TimeIsUp
from identity.delivery.subscribers import WaitingEvents
from identity.directory.client import Client
from identity.directory.labels import Group
from identity.directory.subjects import Subjects
from identity.directory.user import User
from identity.foundation.events.event import Event
from identity.foundation.events.kinds import EventType
from identity.foundation.tenants import Tenant
from server.platform.clock import Clock
from server.platform.records import Records, every

COMPARES_EVERY = timedelta(hours=1)
MOST_EVENTS = 1000
_USERS = 500
_CHUNK = 20
_ADMINISTERED = frozenset({EventType.CREATED, EventType.CHANGED, EventType.DELETED})


@dataclass(frozen=True, slots=True)
class _Named:
    """A user that a source names: the account and the resource at the application, each None without one."""

    user_id: str
    user: User | None
    known: ScimResource | None


@dataclass(slots=True, kw_only=True)
class Visit:
    """`application` has the progress, also after a failure.

    `remote_groups` are ids of groups at the service, by names, and `waiting_groups` the ids of those that refused their
    last request.
    """

    tenant: Tenant
    client: Client
    application: ScimApplication
    writer: ResourceWriter
    users: Records[User]
    groups: Records[Group]
    resources: Records[ScimResource]
    subjects: Subjects
    clock: Clock
    remote_groups: dict[str, str] = field(default_factory=dict)
    waiting_groups: set[str] = field(default_factory=set)
    has_more: bool = False

    async def run(self, waiting: WaitingEvents) -> Unreachable | None:
        """Write what is pending, and return the failure that ended the visit; raises Changed, Unavailable."""
        self._begin_comparison(waiting.events)
        try:
            if self.application.sync_groups:
                await self._write_groups()
            await self._write_users_of(waiting)
            await self._compare()
        except TimeIsUp:
            self.has_more = True
        except Unreachable as failure:
            return failure
        self.has_more |= self.application.is_stale
        return None

    def _begin_comparison(self, events: Sequence[Event]) -> None:
        """Compare every hour, and after events that may change which users the application has."""
        application, now = self.application, self.clock.now()
        is_stale = application.is_stale or any(map(self._changes_scope, events))
        if application.compares_after is None:
            is_due = application.compared_at is None or application.compared_at + COMPARES_EVERY <= now
            if is_stale or is_due:
                application, is_stale = replace(application, compares_after=""), False
        self.application = replace(application, is_stale=is_stale)

    def _changes_scope(self, event: Event) -> bool:
        if event.type not in _ADMINISTERED or event.user_id:
            return False
        text = event.text or ""
        return text == f"client {self.client.id}" or text.startswith("group ")

    async def _write_groups(self) -> None:
        tenant_id, links = self.tenant.tenant_id, group_links(self.application)
        groups = {group.id: group async for group in every(self.groups, tenant_id)}
        known = await self._known_groups(links)
        for group_id, resource in known.items():
            group = groups.get(group_id)
            if group is None or not self._has_group(group.name):
                await self.writer.delete(ResourceKind.GROUPS, resource)
        for group_id, group in groups.items():
            if not self._has_group(group.name):
                continue
            before, document = known.get(group_id), group_document(group)
            after = await self.writer.write(ResourceKind.GROUPS, links, group_id, before, document)
            if after is not None and after.remote_id:
                self.remote_groups[group.name] = after.remote_id
                if after.error:
                    self.waiting_groups.add(after.remote_id)
                if before is not None and before.remote_id != after.remote_id:
                    self._repeat_comparison()

    async def _write_users_of(self, waiting: WaitingEvents) -> None:
        """Write the users that the events name, each once, in the order of the events."""
        events = waiting.events
        firsts: dict[str, int] = {}
        for index, event in enumerate(events):
            if event.user_id:
                firsts.setdefault(event.user_id, index)
        ids = list(firsts)
        for first in range(0, len(ids), _CHUNK):
            await self._write_users([await self._named(user_id) for user_id in ids[first : first + _CHUNK]])
            following = ids[first + _CHUNK : first + _CHUNK + 1]
            handled = firsts[following[0]] if following else len(events)
            self.application = replace(self.application, position=events[handled - 1].id)
        self.application = replace(self.application, position=waiting.position)
        self.has_more |= waiting.has_more

    async def _named(self, user_id: str) -> _Named:
        tenant_id, links = self.tenant.tenant_id, user_links(self.application)
        user = await self.users.get(tenant_id, user_id)
        return _Named(user_id, user, await self.resources.get(tenant_id, f"{links}.{user_id}"))

    async def _compare(self) -> None:
        """Compare the next users by id with those of the application."""
        after = self.application.compares_after
        if after is None:
            return
        tenant_id, links = self.tenant.tenant_id, user_links(self.application)
        users = {user.id: user for user in await self.users.page(tenant_id, after=after, most=_USERS)}
        known = await self._known_after(links, after, most=_USERS)
        ends = [max(page) for page in (users, known) if len(page) == _USERS]
        ids = sorted(user_id for user_id in {*users, *known} if not ends or user_id <= min(ends))
        for first in range(0, len(ids), _CHUNK):
            chunk = ids[first : first + _CHUNK]
            await self._write_users(
                [_Named(user_id, users.get(user_id), known.get(user_id)) for user_id in chunk]
            )
            self.application = replace(self.application, compares_after=chunk[-1])
            # Comparing without writing waits for nothing, so other coroutines get their turn here.
            await asyncio.sleep(0)
        if ends:
            self.has_more = True
        else:
            self._end_comparison()

    async def _write_users(self, named: Sequence[_Named]) -> None:
        """Write users one after another, then the changes of their memberships, together for each group."""
        written: list[ScimResource] = []
        wanted: dict[str, frozenset[str]] = {}
        for each in named:
            resource = await self._write_user(each)
            if resource is not None and resource.remote_id and each.user is not None:
                written.append(resource)
                remote = (self.remote_groups.get(name) for name in each.user.groups)
                wanted[resource.id] = frozenset(filter(None, remote))
        if self.application.sync_groups and written:
            await self.writer.change_members(
                written, wanted, groups=self.remote_groups.values(), waiting=self.waiting_groups
            )

    async def _write_user(self, named: _Named) -> ScimResource | None:
        user, known = named.user, named.known
        if user is None:
            if known is not None:
                await self.writer.delete(ResourceKind.USERS, known)
            return None
        is_active = self._has_user(user) and user.is_active(self.clock.now())
        if known is None and not is_active:
            return None
        subject = self.subjects.of(self.tenant, self.client, user.user_id)
        document = user_document(user, subject, is_active=is_active)
        links = user_links(self.application)
        return await self.writer.write(ResourceKind.USERS, links, user.id, known, document)

    def _has_user(self, user: User) -> bool:
        """Whether the application gets the user: one with a confirmed address, who may use the client."""
        has_group = not self.application.group_sync_prefix or any(map(self._has_group, user.groups))
        return has_group and not user.must_confirm_email and user.may_use(self.client.restrict_group_prefix)

    def _has_group(self, name: str) -> bool:
        return name.startswith(self.application.group_sync_prefix)

    async def _known_groups(self, links: str) -> Mapping[str, ScimResource]:
        known: dict[str, ScimResource] = {}
        async for each in every(self.resources, self.tenant.tenant_id, after=f"{links}."):
            if not each.id.startswith(f"{links}."):
                break
            known[each.local_id] = each
        return known

    async def _known_after(self, links: str, local_id: str, *, most: int) -> Mapping[str, ScimResource]:
        found = await self.resources.page(self.tenant.tenant_id, after=f"{links}.{local_id}", most=most)
        return {each.local_id: each for each in found if each.id.startswith(f"{links}.")}

    def _repeat_comparison(self) -> None:
        self.application = replace(self.application, is_stale=True)

    def _end_comparison(self) -> None:
        self.application = replace(self.application, compares_after=None, compared_at=self.clock.now())
