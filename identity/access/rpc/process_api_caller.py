"""Callers of the process API that change the directory, and their tenant; interceptors have authorized them."""

from collections.abc import Mapping

from identity.access.callers import Actor, ActorKind
from identity.access.rpc.operations import Admitted, Names
from identity.directory.user import User
from identity.foundation.tenants import Tenant, Tenants
from identity.foundation.vocabulary import Permission
from server.platform.audit import AuditNote, note_of
from server.platform.call import Call, Grant
from server.platform.clock import Clock, to_the_millisecond
from server.platform.errors import TenantMismatch
from server.platform.policy import Policy
from server.platform.records import Records


class ProcessApiCallers:
    """`deployment_client_id` is the client of `[bootstrap]`."""

    def __init__(
        self, tenants: Tenants, users: Records[User], clock: Clock, *, deployment_client_id: str
    ) -> None:
        self._tenants = tenants
        self._clock = clock
        self._users = users
        self._deployment_client_id = deployment_client_id

    def admitted(self, policy: Policy, wanted: Names) -> Admitted:
        """Admit callers that the interceptors have authorized; the caller is looked up where an operation wants `actor`."""
        if "note" in wanted and policy.audit is None:
            raise TypeError(f"{policy.name}: the contract has no rule for the audit log")
        gives = [name for name in ("tenant", "actor", "note", "call") if name in wanted]

        async def admit(_request: object, call: Call) -> Mapping[str, object]:
            given: dict[str, object] = {"call": call}
            if "tenant" in gives:
                given["tenant"] = self.tenant(call)
            if "actor" in gives:
                given["actor"] = await self.actor(call)
            if "note" in gives:
                given["note"] = self.note(call)
            return given

        return Admitted(gives, (), admit)

    def tenant(self, call: Call) -> Tenant:
        """Raises NotFound for a tenant that is disabled."""
        return self._tenants.find(call.tenant_id)

    def note(self, call: Call) -> AuditNote:
        """Return the audit log entry for the requested change."""
        return note_of(call, to_the_millisecond(self._clock.now()))

    async def actor(self, call: Call) -> Actor:
        """Return the caller: a user, whose subject is unique over all tenants, or else a client.

        `is_administrator` is true for administrators of the deployment: a user of the default tenant with
        `identity:write`, or the client of `[bootstrap]`.
        """
        subject, own = call.principal.subject, call.principal.permissions
        permissions, default = (
            frozenset(filter(own.__contains__, Permission)),
            self._tenants.default.tenant_id,
        )
        administers = Permission.IDENTITY_WRITE in permissions
        may_act_in_default = default in call.principal.tenant_ids
        for tenant_id in (call.tenant_id, default):
            user = await self._users.get(tenant_id, subject)
            if user is not None:
                return Actor(
                    ActorKind.USER,
                    user.id,
                    user.email,
                    is_administrator=administers and tenant_id == default,
                    administers_deployment=administers and tenant_id == default and may_act_in_default,
                    permissions=permissions,
                    tenant_ids=call.principal.tenant_ids,
                    grants=_grants(call),
                )
        # Clients of other tenants may have the same id.
        is_deployments = call.tenant_id == default and subject == self._deployment_client_id
        is_of_default = administers and call.tenant_id == default
        return Actor(
            ActorKind.CLIENT,
            subject,
            subject,
            is_administrator=administers and is_deployments,
            administers_deployment=is_of_default,
            permissions=permissions,
            tenant_ids=call.principal.tenant_ids,
            grants=_grants(call),
        )

    def expect_may_name(self, call: Call, actor: Actor, tenant_id: str) -> None:
        """Raise TenantMismatch for a tenant in which the caller may not act, unless it administers the deployment."""
        if not actor.is_administrator and tenant_id not in call.principal.tenant_ids:
            raise TenantMismatch(f"the caller may not act in tenant '{tenant_id}'")


def _grants(call: Call) -> frozenset[Grant]:
    """Return the rights from the caller's authorizations; a token without all of them cannot pass any on."""
    return call.principal.grants if call.principal.oauth_scopes is None else frozenset()
