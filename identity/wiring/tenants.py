"""Composes the tenants of the deployment and the directory version."""

from collections.abc import Coroutine, Iterator, Mapping

from google.protobuf.descriptor import ServiceDescriptor

from gnomon.identity.v1 import sign_in_domain_service_pb2, tenant_removal_service_pb2, tenant_service_pb2
from identity.access.callers import Callers
from identity.access.rpc.admission import Admission
from identity.administration.rpc.sign_in_domain import SignInDomainServicer
from identity.administration.rpc.tenant import TenantServicer
from identity.administration.rpc.tenant_removal import TenantRemovalServicer
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
_REMOVAL = tenant_removal_service_pb2.DESCRIPTOR.services_by_name["TenantRemovalService"]
_DOMAIN = sign_in_domain_service_pb2.DESCRIPTOR.services_by_name["SignInDomainService"]


class TenantWiring:
    def __init__(self, dependencies: Dependencies, *, has_engine: bool = False) -> None:
        self._dependencies = dependencies
        self._providers: ProviderDirectory = (
            Providers(dependencies.store) if dependencies.config.federation.enabled else NoProviders()
        )
        self.targets = SignInTargets(dependencies.tenants, dependencies.store, self._providers)
        self.directory = TenantDirectory(dependencies.tenants, dependencies.store, dependencies.clock)
        self._removal = TenantRemoval(
            self.directory,
            dependencies.store,
            KINDS,
            clock=dependencies.clock,
            default=dependencies.tenants.default.tenant_id,
            has_engine=has_engine,
        )
        self.administration = self._administration()

    async def open(self) -> None:
        """Load the stored tenants in addition to the configured ones; raises Unavailable."""
        if await self.directory.open(self._dependencies.tenants.ids):
            await self._dependencies.directory_version.advance()

    def loops(self) -> Iterator[Coroutine[None, None, None]]:
        """Background loops that run while the provider runs."""
        yield self.directory.run()
        yield self._removal.run()
        yield self._dependencies.directory_version.run(self.directory.catch_up)

    def servicers(self, callers: Callers) -> Mapping[ServiceDescriptor, object]:
        tenants = self._dependencies.tenants
        admission = Admission(tenants, callers)
        return {
            _TENANT: TenantServicer(tenants, admission, self.administration),
            _REMOVAL: TenantRemovalServicer(self._removal),
            _DOMAIN: SignInDomainServicer(admission, self._domain_administration()),
        }

    def _administration(self) -> TenantAdministration:
        dependencies = self._dependencies
        return TenantAdministration(
            dependencies.tenants,
            self.directory,
            self._removal,
            keys=dependencies.key_publication,
            version=dependencies.directory_version,
            events=dependencies.events,
            store=dependencies.store,
            clock=dependencies.clock,
        )

    def _domain_administration(self) -> DomainAdministration:
        dependencies = self._dependencies
        return DomainAdministration(
            dependencies.tenants,
            self._providers,
            TxtRecords(dependencies.config.sign_in_domains),
            events=dependencies.events,
            store=dependencies.store,
            clock=dependencies.clock,
            randomness=dependencies.randomness,
            config=dependencies.config.sign_in_domains,
        )
