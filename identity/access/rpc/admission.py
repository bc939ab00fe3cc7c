"""Admission of callers of the administration API: resolves the tenant and checks the caller's rights."""

from typing import Protocol

from gnomon.identity.v1 import caller_pb2
from identity.access.callers import Actor, AdministrationArea, Callers, Right
from identity.access.person import Person
from identity.directory.user import UserId
from identity.foundation.tenants import Tenant, Tenants


class Asked(Protocol):
    """A request with a tenant and a caller."""

    tenant_id: str

    @property
    def caller(self) -> caller_pb2.Caller: ...


class AskedOfUser(Asked, Protocol):
    user_id: str


class Admission:
    """Raises NotFound for an unknown tenant, Unauthenticated and PermissionDenied for a caller without the right."""

    def __init__(self, tenants: Tenants, callers: Callers) -> None:
        self._tenants = tenants
        self._callers = callers

    async def of(self, request: Asked, area: AdministrationArea, right: Right) -> tuple[Tenant, Actor]:
        tenant = self._tenants.find(request.tenant_id)
        return tenant, await self._callers.expect(tenant, request.caller, area, right)

    async def of_self_or(
        self, request: AskedOfUser, area: AdministrationArea, right: Right
    ) -> tuple[Tenant, Actor]:
        """Admit the user in a browser as well."""
        tenant, user_id = self._tenants.find(request.tenant_id), UserId(request.user_id)
        return tenant, await self._callers.expect_self_or(tenant, request.caller, user_id, area, right)

    async def of_person(self, request: AskedOfUser) -> Person:
        """Admit only the user in a browser."""
        tenant, user_id = self._tenants.find(request.tenant_id), UserId(request.user_id)
        actor = await self._callers.expect_self(tenant, request.caller, user_id)
        return Person(tenant=tenant, actor=actor)
