"""Composes the tenants of the deployment and the directory version."""

from collections.abc import Coroutine, Iterator, Mapping

from google.protobuf.descriptor import ServiceDescriptor

from gnomon.identity.v1 import sign_in_domain_service_pb2, tenant_service_pb2
from identity.access.callers import Callers
from identity.administration.rpc.sign_in_domain import SignInDomainServicer
from identity.administration.rpc.tenant import TenantServicer
from identity.administration.tenants.administration import TenantAdministration
from identity.administration.tenants.domain_administration import DomainAdministration
from identity.administration.tenants.removal import TenantRemoval
from identity.administration.tenants.txt_records import TxtRecords
from identity.directory.providers import Providers
from identity.directory.tenants.providers import NoProviders, ProviderDirectory
from identity.directory.tenants.sign_in_targets import SignInTargets
from identity.directory.tenants.tenant_directory import TenantDirectory
from identity.records import KINDS
from identity.wiring.dependencies import Dependencies

_TENANT = tenant_service_pb2.DESCRIPTOR.services_by_name["TenantService"]
_DOMAIN = sign_in_domain_service_pb2.DESCRIPTOR.services_by_name["SignInDomainService"]


class TenantWiring:
    def __init__(self, ground: Dependencies) -> None:
        self._ground = ground
        self._providers: ProviderDirectory = (
            Providers(ground.store) if ground.config.federation.enabled else NoProviders()
        )
        self.targets = SignInTargets(ground.tenants, ground.store, self._providers)
        self._directory = TenantDirectory(ground.tenants, ground.store, ground.clock)
        self._removal = TenantRemoval(self._directory, ground.store, KINDS, clock=ground.clock)
        self.administration = self._administration()

    async def open(self) -> None:
        """Load the stored tenants in addition to the configured ones; raises Unavailable."""
        await self._directory.open(self._ground.tenants.ids)

    def loops(self) -> Iterator[Coroutine[None, None, None]]:
        """Background loops that run while the provider runs."""
        yield self._directory.run()
        yield self._removal.run()
        yield self._ground.directory_version.run(self._directory.refresh)

    def servicers(self, callers: Callers) -> Mapping[ServiceDescriptor, object]:
        tenants = self._ground.tenants
        return {
            _TENANT: TenantServicer(tenants, self.administration, callers),
            _DOMAIN: SignInDomainServicer(tenants, self._domain_administration(), callers),
        }

    def _administration(self) -> TenantAdministration:
        ground = self._ground
        return TenantAdministration(
            ground.tenants,
            self._directory,
            self._removal,
            keys=ground.key_publication,
            version=ground.directory_version,
            events=ground.events,
            store=ground.store,
            clock=ground.clock,
        )

    def _domain_administration(self) -> DomainAdministration:
        ground = self._ground
        return DomainAdministration(
            ground.tenants,
            self._providers,
            TxtRecords(ground.config.sign_in_domains),
            events=ground.events,
            store=ground.store,
            clock=ground.clock,
            randomness=ground.randomness,
            config=ground.config.sign_in_domains,
        )
