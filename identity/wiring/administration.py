"""Composes the administration of clients, API keys, events and blocked addresses."""

from collections.abc import Mapping

from google.protobuf.descriptor import ServiceDescriptor

from gnomon.identity.v1 import (
    api_key_service_pb2,
    blacklist_service_pb2,
    client_service_pb2,
    dynamic_client_service_pb2,
    event_service_pb2,
)
from identity.access.administrators import Administrators
from identity.access.api_keys import ApiKeyAdministration, ApiKeys
from identity.access.callers import Callers
from identity.access.login_protection.addresses import Addresses
from identity.access.login_protection.blacklist import Blacklist
from identity.access.login_protection.failures import ADDRESS_FAILURES
from identity.access.rpc.api_key import ApiKeyServicer
from identity.access.rpc.blacklist import BlacklistServicer
from identity.administration.event_reader import EventReader
from identity.administration.rpc.event import EventServicer
from identity.clients.administration import ClientAdministration
from identity.clients.dynamic.registration import DynamicRegistration
from identity.clients.rpc.client import ClientServicer
from identity.clients.rpc.dynamic_client import DynamicClientServicer
from identity.wiring.access import UserState
from identity.wiring.client_screens import screens_on
from identity.wiring.dependencies import Dependencies

_CLIENTS = client_service_pb2.DESCRIPTOR.services_by_name["ClientService"]
_DYNAMIC_CLIENTS = dynamic_client_service_pb2.DESCRIPTOR.services_by_name["DynamicClientService"]
_API_KEYS = api_key_service_pb2.DESCRIPTOR.services_by_name["ApiKeyService"]
_EVENTS = event_service_pb2.DESCRIPTOR.services_by_name["EventService"]
_BLACKLIST = blacklist_service_pb2.DESCRIPTOR.services_by_name["BlacklistService"]


class AdministrationWiring:
    servicers: Mapping[ServiceDescriptor, object]

    def __init__(self, ground: Dependencies, presence: UserState, callers: Callers) -> None:
        self._ground = ground
        self._presence = presence
        self._callers = callers
        self._administration = self._client_administration()
        self.servicers = {
            _CLIENTS: ClientServicer(ground.tenants, callers, self._administration),
            _DYNAMIC_CLIENTS: self._dynamic_clients(),
            _API_KEYS: self._api_keys(),
            _EVENTS: EventServicer(
                ground.tenants,
                callers,
                reader=EventReader(ground.store, ground.clock),
                events=ground.events,
                clock=ground.clock,
            ),
            _BLACKLIST: self._blacklist(),
        }

    def _client_administration(self) -> ClientAdministration:
        ground = self._ground
        return ClientAdministration(
            ground.store,
            ground.tenants,
            token_sets=self._presence.token_sets,
            consents=self._presence.consents,
            screens=screens_on(ground),
            images=ground.images,
            administrators=Administrators(ground.standings),
            destinations=ground.destinations,
            secrets=ground.secrets,
            version=ground.directory_version,
            events=ground.events,
            clock=ground.clock,
            randomness=ground.randomness,
        )

    def _dynamic_clients(self) -> DynamicClientServicer:
        ground = self._ground
        registration = DynamicRegistration(
            ground.store,
            config=ground.config.dynamic_clients,
            removal=self._administration,
            addresses=Addresses(ground.config.events.login_protection),
            hasher=ground.secrets,
            version=ground.directory_version,
            events=ground.events,
            clock=ground.clock,
            randomness=ground.randomness,
            destinations=ground.destinations,
        )
        return DynamicClientServicer(ground.tenants, registration)

    def _api_keys(self) -> ApiKeyServicer:
        ground = self._ground
        administration = ApiKeyAdministration(
            ground.store,
            ground.secrets,
            events=ground.events,
            clock=ground.clock,
            randomness=ground.randomness,
        )
        keys = ApiKeys(ground.store, ground.secrets)
        return ApiKeyServicer(ground.tenants, self._callers, keys=keys, administration=administration)

    def _blacklist(self) -> BlacklistServicer:
        ground = self._ground
        blacklist = Blacklist(
            ground.store.of(ADDRESS_FAILURES),
            Addresses(ground.config.events.login_protection),
            events=ground.events,
            clock=ground.clock,
        )
        return BlacklistServicer(ground.tenants, self._callers, blacklist)
