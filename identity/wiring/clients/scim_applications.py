"""Composes SCIM applications: their administration and their synchronization."""

from collections.abc import Coroutine, Mapping

from google.protobuf.descriptor import ServiceDescriptor

from gnomon.identity.v1 import scim_application_service_pb2
from identity.access.callers import Callers
from identity.access.rpc.admission import Admission
from identity.clients.relying_parties import RelyingParties
from identity.clients.rpc.scim_application import ScimApplicationServicer
from identity.clients.scim_applications.administration import ScimApplicationAdministration
from identity.clients.scim_applications.application import SCIM_APPLICATIONS, SCIM_RESOURCES
from identity.clients.scim_applications.synchronization import ScimSynchronization
from identity.clients.scim_applications.tokens import ScimTokens
from identity.delivery.http.exchange import Exchange
from identity.directory.client import CLIENTS
from identity.foundation.events.event import EVENTS
from identity.wiring.dependencies import Dependencies

_APPLICATIONS = scim_application_service_pb2.DESCRIPTOR.services_by_name["ScimApplicationService"]


class ScimApplicationWiring:
    servicers: Mapping[ServiceDescriptor, object]

    def __init__(self, dependencies: Dependencies, callers: Callers, exchange: Exchange) -> None:
        self._dependencies = dependencies
        tokens = ScimTokens(dependencies.store, dependencies.master_keys)
        self.administration = ScimApplicationAdministration(
            applications=dependencies.store.of(SCIM_APPLICATIONS),
            resources=dependencies.store.of(SCIM_RESOURCES),
            removals=dependencies.removals,
            stored_events=dependencies.store.of(EVENTS),
            tokens=tokens,
            exchange=exchange,
            destinations=dependencies.destinations,
            relying_parties=RelyingParties(dependencies.store.of(CLIENTS), dependencies.administrators),
            events=dependencies.events,
            clock=dependencies.clock,
            randomness=dependencies.randomness,
        )
        self._synchronization = ScimSynchronization(
            dependencies.store,
            tokens,
            exchange,
            subjects=dependencies.subjects,
            events=dependencies.events,
            clock=dependencies.clock,
            randomness=dependencies.randomness,
        )
        dependencies.events.listen(self._synchronization.news)
        admission = Admission(dependencies.tenants, callers)
        self.servicers = {_APPLICATIONS: ScimApplicationServicer(admission, self.administration)}

    def loop(self) -> Coroutine[None, None, None]:
        """Synchronize applications while the provider runs."""
        return self._synchronization.run(self._dependencies.tenants.all, self._dependencies.pause)
