"""Who changes the directory by the process API, which the interceptors have let in: the tenant, and whose doing it is."""

from identity.admin.callers import Actor, ActorKind
from identity.directory.user import User
from identity.tenants import Tenant, Tenants
from server.platform.call import Call
from server.platform.records import Records


class Acting:
    def __init__(self, tenants: Tenants, users: Records[User]) -> None:
        self._tenants = tenants
        self._users = users

    def tenant(self, call: Call) -> Tenant:
        """Raises NotFound for a tenant that is disabled."""
        return self._tenants.find(call.tenant_id)

    async def actor(self, call: Call) -> Actor:
        """People's subjects are unique over all tenants, and no client has such a one."""
        subject = call.principal.subject
        for tenant_id in (call.tenant_id, self._tenants.default.tenant_id):
            user = await self._users.get(tenant_id, subject)
            if user is not None:
                return Actor(ActorKind.USER, user.id, user.email)
        return Actor(ActorKind.CLIENT, subject, subject)
