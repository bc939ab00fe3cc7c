"""Composes what keeps tenants."""

from collections.abc import Coroutine, Iterator, Mapping

from google.protobuf.descriptor import ServiceDescriptor

from gnomon.identity.v1 import tenant_service_pb2
from identity.ground import Ground
from identity.kinds import KINDS
from identity.rpc.tenant import Callers, TenantServicer
from identity.tenancy.administration import TenantAdministration
from identity.tenancy.removal import TenantRemoval
from identity.tenancy.tenant_directory import TenantDirectory

_TENANT = tenant_service_pb2.DESCRIPTOR.services_by_name["TenantService"]


class Hosting:
    def __init__(self, ground: Ground) -> None:
        self._ground = ground
        self._directory = TenantDirectory(ground.tenants, ground.store, ground.clock)
        self._removal = TenantRemoval(self._directory, ground.store, KINDS, clock=ground.clock)

    async def open(self) -> None:
        """Know the tenants that are kept beside those of the configuration; raises Unavailable."""
        await self._directory.open(self._ground.tenants.ids)

    def loops(self) -> Iterator[Coroutine[None, None, None]]:
        """What runs for as long as the provider does."""
        yield self._directory.run()
        yield self._removal.run()

    def servicers(self, callers: Callers) -> Mapping[ServiceDescriptor, object]:
        administration = TenantAdministration(
            self._ground.tenants,
            self._directory,
            self._removal,
            events=self._ground.events,
            store=self._ground.store,
            clock=self._ground.clock,
        )
        return {_TENANT: TenantServicer(self._ground.tenants, administration, callers)}
