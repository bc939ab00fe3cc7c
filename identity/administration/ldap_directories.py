"""Administration of the LDAP directories of a tenant."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from identity.access.administrators import Administrators
from identity.access.callers import Actor
from identity.administration.ldap_checks import expect_directory, expect_reachable_servers, is_elsewhere
from identity.authentication.ldap.secrets import LdapSecrets
from identity.authentication.ldap.trial import LdapTrial, TrialResult
from identity.crypto.keys.master_keys import Sealed
from identity.delivery.http.destinations import Destinations
from identity.delivery.ldap.config import LdapConfig
from identity.directory.tenants.ldap_directory import (
    LDAP_DIRECTORIES,
    MOST,
    LdapDirectory,
    LdapFields,
    LdapLink,
)
from identity.directory.user import User
from identity.foundation.events.events import Events
from identity.foundation.events.kinds import EventType
from identity.foundation.randomness import Randomness
from identity.foundation.removals import Removals
from identity.foundation.tenants import Tenant
from server.platform.errors import InvalidArgument, InvalidState, NotFound, PermissionDenied
from server.platform.records import Changed, Records

_ID_LENGTH = 24
_MOST_SHOWN = 100
# Each user costs some reads, and any of them may be an administrator.
_MOST_LOOKED_THROUGH = 200


class Names(Protocol):
    async def known(self, tenant: Tenant, names: Iterable[str]) -> frozenset[str]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class LdapAdministration:
    """An empty `bind_password` keeps the present one."""

    directories: Records[LdapDirectory]
    links: Records[LdapLink]
    removals: Removals
    users: Records[User]
    administrators: Administrators
    roles: Names
    groups: Names
    destinations: Destinations
    secrets: LdapSecrets
    trial: LdapTrial
    events: Events
    randomness: Randomness
    config: LdapConfig

    async def all(self, tenant: Tenant) -> Sequence[LdapDirectory]:
        """List them by id."""
        return await self.directories.page(tenant.tenant_id, most=MOST)

    async def create(
        self, tenant: Tenant, fields: LdapFields, bind_password: str, *, actor: Actor
    ) -> LdapDirectory:
        """Raises InvalidArgument, InvalidState, and PermissionDenied for an API key's directory of administrators."""
        await self._expect(tenant, fields, actor)
        if len(await self.all(tenant)) >= MOST:
            raise InvalidState(f"expected at most {MOST} directories")
        directory = LdapDirectory(
            tenant_id=tenant.tenant_id, id=self.randomness.alphanumeric(_ID_LENGTH), fields=fields
        )
        password = self._password(directory, fields, bind_password)
        kept = await self.directories.insert(replace(directory, bind_password=password))
        await self._tell(EventType.CREATED, kept, actor)
        return kept

    async def change(
        self, tenant: Tenant, directory_id: str, fields: LdapFields, *, bind_password: str, actor: Actor
    ) -> LdapDirectory:
        """Change the whole directory; raises NotFound, InvalidArgument, InvalidState, PermissionDenied."""
        before = await self._find(tenant, directory_id)
        await self._expect_no_administrators(tenant, before, actor)
        await self._expect(tenant, fields, actor, before=before.fields)
        password = self._password(before, fields, bind_password)
        guard = None
        if before.fields.is_enabled and not fields.is_enabled:
            guard = await self.administrators.guard_ways_in(tenant.tenant_id, before.id, actor)
        after = replace(before, fields=fields, bind_password=password)
        try:
            kept = await self.directories.replace(after, guard=guard)
        except Changed as error:
            raise InvalidState("another caller changed the directory in the meantime") from error
        await self._tell(EventType.CHANGED, kept, actor)
        return kept

    async def delete(self, tenant: Tenant, directory_id: str, *, actor: Actor) -> None:
        """Remove the directory and its links to accounts; raises NotFound, InvalidState, PermissionDenied."""
        directory = await self._find(tenant, directory_id)
        await self._expect_no_administrators(tenant, directory, actor)
        guard = await self.administrators.guard_ways_in(tenant.tenant_id, directory.id, actor)
        try:
            await self.removals.take(LDAP_DIRECTORIES, directory, revision=directory.revision, guard=guard)
        except Changed as error:
            raise InvalidState("another caller changed the directory in the meantime") from error
        await self._tell(EventType.DELETED, directory, actor)

    async def test(self, tenant: Tenant, directory_id: str, name: str) -> TrialResult:
        """Connect to each server, bind and look up a user, without a password of the user. Raises NotFound."""
        return await self.trial.of(await self._find(tenant, directory_id), name)

    async def linked(self, tenant: Tenant, directory_id: str) -> Sequence[User]:
        """Return at most 100 users who sign in through the directory; raises NotFound."""
        await self._find(tenant, directory_id)
        links = await self.links.find(tenant.tenant_id, "directory_id", directory_id, most=_MOST_SHOWN)
        found = [await self.users.get(tenant.tenant_id, link.user_id) for link in links]
        return [user for user in found if user is not None]

    async def _find(self, tenant: Tenant, directory_id: str) -> LdapDirectory:
        directory = await self.directories.get(tenant.tenant_id, directory_id)
        if directory is None:
            raise NotFound("there is no such directory")
        return directory

    async def _expect(
        self, tenant: Tenant, fields: LdapFields, actor: Actor, *, before: LdapFields | None = None
    ) -> None:
        await self.administrators.expect_may_vouch(tenant, fields, actor)
        expect_directory(
            fields,
            allow_unencrypted=self.config.allow_unencrypted,
            roles=await self.roles.known(tenant, (role for each in fields.mappings for role in each.roles)),
            groups=await self.groups.known(
                tenant, (group for each in fields.mappings for group in each.groups)
            ),
        )
        expect_reachable_servers(fields, self.destinations, before=before)

    async def _expect_no_administrators(self, tenant: Tenant, directory: LdapDirectory, actor: Actor) -> None:
        """Raise PermissionDenied for an API key if an administrator signs in, or may sign in, through the directory.

        An API key could replace the servers by its own and sign in as that administrator.
        """
        if not actor.is_api_key:
            return
        await self.administrators.expect_may_vouch(tenant, directory.fields, actor)
        links = await self.links.find(
            tenant.tenant_id, "directory_id", directory.id, most=_MOST_LOOKED_THROUGH + 1
        )
        if len(links) > _MOST_LOOKED_THROUGH:
            most = _MOST_LOOKED_THROUGH
            raise PermissionDenied(f"an API key cannot change a directory with more than {most} people")
        for link in links:
            user = await self.users.get(tenant.tenant_id, link.user_id)
            if user is not None:
                await self.administrators.expect_may_change(user, actor)

    def _password(self, directory: LdapDirectory, fields: LdapFields, bind_password: str) -> Sealed | None:
        """Encrypt the new password, or keep the present one; raises InvalidArgument."""
        if not fields.bind_dn:
            return None
        if bind_password:
            return self.secrets.seal(bind_password, directory.tenant_id, directory.id)
        if directory.bind_password is None or is_elsewhere(directory.fields, fields):
            raise InvalidArgument(
                "bind_password: expected the password of bind_dn, since servers or bind_dn are new",
                field="bind_password",
            )
        return directory.bind_password

    async def _tell(self, event_type: EventType, directory: LdapDirectory, actor: Actor) -> None:
        text = f"LDAP directory {directory.name}"
        await self.events.emit(directory.tenant_id, event_type, text=text, actor=actor)
