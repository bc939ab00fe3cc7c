"""The password policy of each tenant, stored with the tenant; a change applies to new passwords at once."""

from dataclasses import replace

from identity.directory.tenants.password_policy import PasswordPolicy
from identity.directory.tenants.tenant_record import DEPLOYMENT, TenantRecord
from identity.foundation.events.events import Actor, Events
from identity.foundation.events.kinds import EventType
from identity.foundation.tenants import Tenant
from server.platform.errors import InvalidState, NotFound
from server.platform.records import Changed, Records


class PasswordPolicies:
    def __init__(self, records: Records[TenantRecord], events: Events) -> None:
        self._records = records
        self._events = events

    async def of(self, tenant: Tenant) -> PasswordPolicy:
        record = await self._records.get(DEPLOYMENT, tenant.tenant_id)
        return PasswordPolicy() if record is None else record.password_policy

    async def change(self, tenant: Tenant, policy: PasswordPolicy, *, actor: Actor) -> PasswordPolicy:
        """Replace the policy; present passwords stay valid. Raises NotFound, InvalidState."""
        record = await self._records.get(DEPLOYMENT, tenant.tenant_id)
        if record is None:
            raise NotFound("there is no such tenant")
        try:
            await self._records.replace(replace(record, password_policy=policy))
        except Changed as error:
            raise InvalidState("another caller changed the tenant in the meantime") from error
        await self._events.emit(tenant.tenant_id, EventType.CHANGED, text="password policy", actor=actor)
        return policy
