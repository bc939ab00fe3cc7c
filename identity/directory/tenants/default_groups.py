"""Groups that self-registered accounts of a tenant join: `registration.default_groups` of its settings.

The setting contains existing groups only. A renamed group is renamed in it, and a removed one is removed, so that new
accounts do not join a later group of the same name by accident.
"""

from dataclasses import replace

from identity.directory.labels import GROUPS
from identity.directory.tenants.tenant_record import DEPLOYMENT, TENANTS
from server.platform.call import TenantId
from server.platform.errors import InvalidArgument, Unavailable
from server.platform.records import Changed, RecordStore

_ATTEMPTS = 10
_MOST_NAMED = 10


class DefaultGroups:
    def __init__(self, store: RecordStore) -> None:
        self._groups = store.of(GROUPS)
        self._tenants = store.of(TENANTS)

    async def expect(self, tenant_id: TenantId, names: tuple[str, ...]) -> None:
        """Raise InvalidArgument, which names groups that the tenant does not have."""
        if not names:
            return
        known = {group.name for group in await self._groups.find_any(tenant_id, "name", names)}
        if missing := [repr(name) for name in dict.fromkeys(names) if name not in known]:
            named = ", ".join(missing[:_MOST_NAMED])
            raise InvalidArgument(f"registration.default_groups: the tenant has no group {named}")

    async def rename(self, tenant_id: TenantId, before: str, after: str) -> None:
        """Rename a group in the settings, or remove it when the name is empty; raises Unavailable."""
        for _ in range(_ATTEMPTS):
            record = await self._tenants.get(DEPLOYMENT, tenant_id)
            if record is None or before not in record.settings.default_groups:
                return
            renamed = (after if name == before else name for name in record.settings.default_groups)
            names = tuple(dict.fromkeys(filter(None, renamed)))
            settings = replace(record.settings, default_groups=names)
            try:
                await self._tenants.replace(replace(record, settings=settings))
            except Changed:
                continue
            return
        raise Unavailable("the settings of the tenant change faster than the group's name")
