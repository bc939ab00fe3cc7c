"""Admission of callers of the administration API: resolves the tenant and checks the right that the contract declares."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, Protocol, cast

from google.protobuf.message import Message

from gnomon.identity.v1 import caller_pb2
from gnomon.rest.v1 import options_pb2
from identity.access.callers import Actor, AdministrationArea, Callers, Right
from identity.access.person import Person
from identity.access.rpc.client_credentials import credentials_of
from identity.access.rpc.operations import Admitted, Names
from identity.directory.user import UserId
from identity.foundation.tenants import Tenant, Tenants
from server.platform.call import Call
from server.platform.errors import NotFound, Unauthenticated
from server.platform.policy import CallerKind, Policy, policies_of, services


class Asked(Protocol):
    """A request with a tenant and a caller."""

    tenant_id: str

    @property
    def caller(self) -> caller_pb2.Caller: ...


class Called(Protocol):
    """A request with a caller."""

    @property
    def caller(self) -> caller_pb2.Caller: ...


class AskedOfUser(Asked, Protocol):
    user_id: str


@dataclass(frozen=True, slots=True)
class DeclaredRight:
    """A right of an operation; with `or_self` the user of the request may call it as well, in a browser.

    Only administrators of the deployment have a right `of_deployment`. With a `tenant_field`, administrators of the
    tenant in that field have it as well.
    """

    area: AdministrationArea
    right: Right
    or_self: bool
    of_deployment: bool = False
    tenant_field: str = ""


@cache
def declared_rights() -> dict[type[Message], DeclaredRight]:
    """Return the rights of the contract by the classes of requests; raises ValueError for one that does not exist."""
    found = {}
    for service in services():
        for policy in policies_of(service).values():
            method = policy.descriptor.GetOptions().Extensions[options_pb2.method]
            if method.HasField("right"):
                rule = method.right
                found[policy.request] = DeclaredRight(
                    AdministrationArea(rule.area),
                    Right(rule.right),
                    rule.or_self,
                    rule.of_deployment,
                    rule.tenant_field,
                )
    return found


_WITHOUT_CREDENTIAL = frozenset({CallerKind.ANYBODY, CallerKind.EDGE})
_PERSON = "person"
_CALLER = ("tenant_id", "caller")
_CLIENT = "client"
_CREDENTIALS = "credentials"


class TenantAdmission:
    """Admits anybody to operations that declare no credential, which may want the `credentials` of a client to check them.

    Raises NotFound for an unknown tenant.
    """

    def __init__(self, tenants: Tenants) -> None:
        self._tenants = tenants

    def admitted(self, policy: Policy, wanted: Names) -> Admitted:
        if policy.caller not in _WITHOUT_CREDENTIAL:
            raise TypeError(f"{policy.name}: the contract declares no right of the caller")
        if _CREDENTIALS in wanted:
            return Admitted(("tenant", "call", _CREDENTIALS), (*_CALLER, _CLIENT), self._client)
        return Admitted(("tenant", "call"), _CALLER, self.anybody)

    async def anybody(self, request: Asked, call: Call) -> Mapping[str, object]:
        return {"tenant": self._tenants.find(request.tenant_id), "call": call}

    async def _client(self, request: Any, call: Call) -> Mapping[str, object]:
        return {**await self.anybody(request, call), _CREDENTIALS: credentials_of(request.client, call)}


class Admission:
    """Raises NotFound for an unknown tenant, Unauthenticated and PermissionDenied for a caller without the right.

    An operation that waits calls the parameter `readmit` meanwhile, so that it ends with the caller's credential.
    """

    def __init__(self, tenants: Tenants, callers: Callers) -> None:
        self._tenants = tenants
        self._callers = callers
        self._of_tenant = TenantAdmission(tenants)
        self._rights: dict[Any, DeclaredRight] = {**declared_rights()}

    def admitted(self, policy: Policy, wanted: Names) -> Admitted:
        """Admit the user alone where a person is wanted, else the callers with the right that the contract declares."""
        if _PERSON in wanted:
            return Admitted((_PERSON,), (*_CALLER, "user_id"), self._person)
        declared = self._rights.get(policy.request)
        if declared is None:
            return self._of_tenant.admitted(policy, wanted)
        if declared.of_deployment or declared.tenant_field:
            return Admitted(("actor",), ("caller",), self._tenant_administrator)
        return Admitted(("tenant", "actor", "readmit"), _CALLER, self._administrator)

    async def _person(self, request: AskedOfUser, _call: Call) -> Mapping[str, object]:
        return {_PERSON: await self.of_person(request)}

    async def _administrator(self, request: Asked, _call: Call) -> Mapping[str, object]:
        tenant, actor = await self.of(request)
        return {"tenant": tenant, "actor": actor, "readmit": partial(self.of, request)}

    async def _tenant_administrator(self, request: Called, _call: Call) -> Mapping[str, object]:
        if self._rights[type(request)].of_deployment:
            return {"actor": await self.of_deployment(request)}
        return {"actor": await self.of_tenant_or_deployment(request)}

    async def of_deployment(self, request: Called) -> Actor:
        """Admit only administrators of the deployment."""
        declared = self._rights[type(request)]
        return await self._callers.expect(
            self._tenants.default, request.caller, declared.area, declared.right
        )

    async def of_tenant_or_deployment(self, request: Called) -> Actor:
        """Admit an administrator of the tenant that the request names, else one of the deployment.

        An unknown tenant gives the same error.
        """
        declared = self._rights[type(request)]
        try:
            tenant = self._tenants.find(getattr(request, declared.tenant_field))
            return await self._callers.expect(tenant, request.caller, declared.area, declared.right)
        except (NotFound, Unauthenticated):
            return await self.of_deployment(request)

    async def of(
        self, request: Asked, area: AdministrationArea | None = None, right: Right | None = None
    ) -> tuple[Tenant, Actor]:
        """Admit a caller with the right that the operation declares, or with another one that depends on the request.

        Raises KeyError for an operation that declares none.
        """
        tenant = self._tenants.find(request.tenant_id)
        if area is not None and right is not None:
            return tenant, await self._callers.expect(tenant, request.caller, area, right)
        declared = self._rights[type(request)]
        if not declared.or_self:
            return tenant, await self._callers.expect(tenant, request.caller, declared.area, declared.right)
        user_id = UserId(cast("AskedOfUser", request).user_id)
        return tenant, await self._callers.expect_self_or(
            tenant, request.caller, user_id, declared.area, declared.right
        )

    async def of_person(self, request: AskedOfUser) -> Person:
        """Admit only the user in a browser."""
        tenant, user_id = self._tenants.find(request.tenant_id), UserId(request.user_id)
        actor = await self._callers.expect_self(tenant, request.caller, user_id)
        return Person(tenant=tenant, actor=actor)
