"""Who administers, and what makes somebody do so.

An API key neither gives nor changes that, whatever it may: it would be as good as an administrator.
"""

from dataclasses import dataclass

from identity.admin.callers import Actor
from identity.directory.labels import Group, Label, Role
from identity.directory.standings import Standings
from identity.directory.user import User
from identity.federation.provider import ProviderFields
from identity.tenants import Tenant
from identity.vocabulary import Permission
from server.platform.call import TenantId
from server.platform.errors import PermissionDenied


@dataclass(frozen=True, slots=True, kw_only=True)
class _Anybody:
    """Has these roles and groups, and nothing else."""

    tenant_id: TenantId
    roles: tuple[str, ...]
    groups: tuple[str, ...] = ()
    tenant_ids: tuple[TenantId, ...] = ()
    permissions: tuple[Permission, ...] = ()


class Administrators:
    def __init__(self, standings: Standings) -> None:
        self._standings = standings

    async def expect_may_change(self, what: User | Label, actor: Actor) -> None:
        """Raise PermissionDenied for an API key when it is an administrator, or makes one."""
        if actor.is_api_key and await self.makes(what):
            raise PermissionDenied("an API key neither makes administrators nor changes them")

    async def expect_may_vouch(self, tenant: Tenant, fields: ProviderFields, actor: Actor) -> None:
        """Raise PermissionDenied for an API key when the provider makes administrators by what it says."""
        anybody = _Anybody(
            tenant_id=tenant.tenant_id,
            roles=tuple(role for mapping in fields.mappings for role in mapping.roles),
            groups=tuple(group for mapping in fields.mappings for group in mapping.groups),
        )
        if actor.is_api_key and (await self._standings.of(anybody)).administers:
            raise PermissionDenied("an API key neither makes providers of administrators nor changes them")

    async def makes(self, what: User | Label) -> bool:
        """Whether the person administers, or whoever has the label does."""
        match what:
            case User():
                return (await self._standings.of(what)).administers
            case Role():
                return Permission.IDENTITY_WRITE in what.permissions
            case Group():
                anybody = _Anybody(tenant_id=what.tenant_id, roles=what.roles)
                return (await self._standings.of(anybody)).administers
            case _:
                return False
