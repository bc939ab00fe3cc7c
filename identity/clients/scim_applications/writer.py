"""Writes single users and groups to the SCIM service of an application, and remembers what the service has.

A request goes out only if the document differs from the last one. A resource that the service refuses waits for an hour
and holds no other resource. Many refusals in a row count as a failure of the service.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from identity.clients.scim_applications.application import (
    ScimApplication,
    ScimResource,
    group_links,
    remote_key,
)
from identity.clients.scim_applications.documents import Document, digest_of
from identity.clients.scim_applications.service import (
    Conflict,
    Missing,
    Refused,
    ResourceKind,
    ScimService,
    Unreachable,
)
from server.platform.clock import Clock
from server.platform.records import AlreadyThere, Changed, Records

RETRIES_AFTER = timedelta(hours=1)
MOST_REFUSALS = 20


class TimeIsUp(Exception):
    """The visit must not begin another resource."""


@dataclass(slots=True, kw_only=True)
class ResourceWriter:
    """Raises Unreachable, TimeIsUp, and Changed when another process visits the application.

    `refusals` is the number of refusals in a row.
    """

    application: ScimApplication
    service: ScimService
    resources: Records[ScimResource]
    clock: Clock
    ends_at: datetime
    refusals: int = 0

    def expect_time(self) -> None:
        """Raises TimeIsUp."""
        if self.clock.now() >= self.ends_at:
            raise TimeIsUp

    def is_current(self, known: ScimResource | None, digest: str) -> bool:
        """Whether the service has the document, or refused it less than an hour ago."""
        if known is None or known.digest != digest:
            return False
        return known.retry_at is None or self.clock.now() < known.retry_at

    async def write(
        self, kind: ResourceKind, links: str, local_id: str, known: ScimResource | None, document: Document
    ) -> ScimResource | None:
        """Create or update a resource; returns None if the service has none and gets no inactive one."""
        digest = digest_of(document)
        if self.is_current(known, digest):
            return known
        self.expect_time()
        before = known or ScimResource(
            tenant_id=self.application.tenant_id,
            id=f"{links}.{local_id}",
            application=self.application.links,
        )
        after = replace(before, digest=digest, error="", retry_at=None)
        try:
            if before.remote_id:
                try:
                    await self.service.update(kind, before.remote_id, document)
                    return await self._stored(after)
                except Missing:
                    after = replace(after, remote_id="", groups=())
            if document.get("active") is False:
                await self.forget(known)
                return None
            remote_id = await self._created(kind, links, document)
            return await self._stored(replace(after, remote_id=remote_id))
        except Refused as refusal:
            return await self._refused(after, refusal)

    async def delete(self, kind: ResourceKind, known: ScimResource) -> None:
        """Delete the resource at the service, and forget it."""
        if known.remote_id:
            if known.retry_at is not None and self.clock.now() < known.retry_at:
                return
            self.expect_time()
            try:
                await self.service.delete(kind, known.remote_id)
            except Refused as refusal:
                await self._refused(replace(known, digest=""), refusal)
                return
            self.refusals = 0
        await self.forget(known)

    async def forget(self, known: ScimResource | None) -> None:
        if known is not None:
            await self.resources.take(known.tenant_id, known.id)

    async def change_members(
        self,
        users: Sequence[ScimResource],
        wanted: Mapping[str, frozenset[str]],
        *,
        groups: Collection[str],
        waiting: set[str],
    ) -> None:
        """Bring users into their `wanted` groups; all ids are those at the service, and `groups` are all groups there.

        Memberships in groups that are `waiting` stay as they are; a group that refuses the request becomes one of them.
        """
        joins: dict[str, list[str]] = {}
        leaves: dict[str, list[str]] = {}
        for user in users:
            for group_id in sorted(wanted[user.id] - set(user.groups) - waiting):
                joins.setdefault(group_id, []).append(user.remote_id)
            for group_id in sorted(set(user.groups) & set(groups) - wanted[user.id] - waiting):
                leaves.setdefault(group_id, []).append(user.remote_id)
        for group_id in sorted({*joins, *leaves}):
            self.expect_time()
            try:
                await self.service.change_members(
                    group_id, joins=joins.get(group_id, ()), leaves=leaves.get(group_id, ())
                )
                self.refusals = 0
            except Refused as refusal:
                waiting.add(group_id)
                found = await self._with_remote_id(group_links(self.application), group_id)
                if found is not None:
                    await self._refused(found, refusal)
        changed = [
            replace(user, groups=tuple(sorted(wanted[user.id] - waiting | set(user.groups) & waiting)))
            for user in users
        ]
        differing = [
            after for before, after in zip(users, changed, strict=True) if before.groups != after.groups
        ]
        await self.resources.replace_all(differing)

    async def _created(self, kind: ResourceKind, links: str, document: Document) -> str:
        try:
            return await self.service.create(kind, document)
        except Conflict:
            found = await self.service.find(kind, document)
            if found is None or await self._with_remote_id(links, found) is not None:
                raise
            await self.service.update(kind, found, document)
            return found

    async def _with_remote_id(self, links: str, remote_id: str) -> ScimResource | None:
        found = await self.resources.find(
            self.application.tenant_id, "remote", remote_key(links, remote_id), most=1
        )
        return found[0] if found else None

    async def _stored(self, resource: ScimResource) -> ScimResource:
        self.refusals = 0
        return await self._kept(resource)

    async def _refused(self, resource: ScimResource, refusal: Refused) -> ScimResource:
        retry_at = self.clock.now() + RETRIES_AFTER
        kept = await self._kept(replace(resource, error=str(refusal), retry_at=retry_at))
        self.refusals += 1
        if self.refusals >= MOST_REFUSALS:
            raise Unreachable(f"{refusal} for {MOST_REFUSALS} resources in a row")
        return kept

    async def _kept(self, resource: ScimResource) -> ScimResource:
        """Raises Changed."""
        if resource.revision:
            return await self.resources.replace(resource)
        try:
            return await self.resources.insert(resource)
        except AlreadyThere as error:
            raise Changed from error
