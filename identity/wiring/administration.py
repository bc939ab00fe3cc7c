"""Composes the administration of clients, API keys, events and blocked addresses."""

from collections.abc import Mapping

from google.protobuf.descriptor import ServiceDescriptor

from gnomon.identity.v1 import (
    api_key_service_pb2,
    blacklist_service_pb2,
    client_service_pb2,
    dynamic_client_service_pb2,
    event_service_pb2,
    impersonation_service_pb2,
    personal_data_service_pb2,
    saml_key_service_pb2,
    terms_of_use_service_pb2,
)
from identity.access.api_keys import ApiKeyAdministration, ApiKeys
from identity.access.callers import Callers
from identity.access.login_protection.addresses import Addresses
from identity.access.login_protection.blacklist import Blacklist
from identity.access.login_protection.failures import ADDRESS_FAILURES
from identity.access.networks.rules import NetworkRules
from identity.access.rpc.admission import Admission, TenantAdmission
from identity.access.rpc.api_key import ApiKeyServicer
from identity.access.rpc.blacklist import BlacklistServicer
from identity.administration.event_reader import EventReader
from identity.administration.impersonation import Impersonations
from identity.administration.personal_data.erasures import Erasures
from identity.administration.personal_data.exports import PersonalDataExport
from identity.administration.rpc.event import EventServicer
from identity.administration.rpc.impersonation import ImpersonationServicer
from identity.administration.rpc.personal_data import PersonalDataServicer
from identity.administration.rpc.saml_key import SamlKeyServicer
from identity.administration.rpc.terms_of_use import TermsOfUseServicer
from identity.administration.saml_keys import SamlKeyAdministration
from identity.administration.terms_of_use import TermsAdministration
from identity.clients.administration import ClientAdministration
from identity.clients.dynamic.registration import DynamicRegistration
from identity.clients.rpc.client import ClientServicer
from identity.clients.rpc.dynamic_client import DynamicClientServicer
from identity.clients.sectors import Sectors
from identity.directory.tenants.settings_of_tenants import SettingsOfTenants
from identity.directory.tenants.tenant_record import TENANTS
from identity.records import PERSONAL_SECTIONS
from identity.wiring.access import UserState
from identity.wiring.dependencies import Dependencies

_CLIENTS = client_service_pb2.DESCRIPTOR.services_by_name["ClientService"]
_DYNAMIC_CLIENTS = dynamic_client_service_pb2.DESCRIPTOR.services_by_name["DynamicClientService"]
_API_KEYS = api_key_service_pb2.DESCRIPTOR.services_by_name["ApiKeyService"]
_EVENTS = event_service_pb2.DESCRIPTOR.services_by_name["EventService"]
_TERMS = terms_of_use_service_pb2.DESCRIPTOR.services_by_name["TermsOfUseService"]
_SAML_KEYS = saml_key_service_pb2.DESCRIPTOR.services_by_name["SamlKeyService"]
_IMPERSONATIONS = impersonation_service_pb2.DESCRIPTOR.services_by_name["ImpersonationService"]
_PERSONAL_DATA = personal_data_service_pb2.DESCRIPTOR.services_by_name["PersonalDataService"]
_BLACKLIST = blacklist_service_pb2.DESCRIPTOR.services_by_name["BlacklistService"]


class AdministrationWiring:
    servicers: Mapping[ServiceDescriptor, object]

    def __init__(
        self,
        dependencies: Dependencies,
        user_state: UserState,
        callers: Callers,
        *,
        erasures: Erasures,
    ) -> None:
        self._dependencies = dependencies
        self._user_state = user_state
        self._admission = Admission(dependencies.tenants, callers)
        self._sectors = Sectors(dependencies.documents)
        self._administration = self._client_administration()
        self.servicers = {
            _CLIENTS: ClientServicer(self._admission, self._administration),
            _DYNAMIC_CLIENTS: self._dynamic_clients(),
            _API_KEYS: self._api_keys(),
            _EVENTS: EventServicer(
                self._admission,
                reader=EventReader(dependencies.store, dependencies.clock, dependencies.pause),
                events=dependencies.events,
                clock=dependencies.clock,
            ),
            _BLACKLIST: self._blacklist(),
            _TERMS: self._terms(),
            _SAML_KEYS: SamlKeyServicer(
                self._admission, SamlKeyAdministration(dependencies.saml_signing_keys, dependencies.events)
            ),
            _IMPERSONATIONS: self._impersonations(),
            _PERSONAL_DATA: PersonalDataServicer(
                self._admission,
                PersonalDataExport(
                    dependencies.store,
                    PERSONAL_SECTIONS,
                    events=dependencies.events,
                    clock=dependencies.clock,
                ),
                erasures,
            ),
        }

    def _client_administration(self) -> ClientAdministration:
        dependencies = self._dependencies
        return ClientAdministration(
            dependencies.store,
            dependencies.tenants,
            administrators=dependencies.administrators,
            removals=dependencies.removals,
            destinations=dependencies.destinations,
            sectors=self._sectors,
            secrets=dependencies.secrets,
            version=dependencies.directory_version,
            events=dependencies.events,
            clock=dependencies.clock,
            randomness=dependencies.randomness,
        )

    def _dynamic_clients(self) -> DynamicClientServicer:
        dependencies = self._dependencies
        registration = DynamicRegistration(
            dependencies.store,
            config=dependencies.config.dynamic_clients,
            removal=self._administration,
            addresses=Addresses(dependencies.config.events.login_protection),
            hasher=dependencies.secrets,
            version=dependencies.directory_version,
            events=dependencies.events,
            clock=dependencies.clock,
            randomness=dependencies.randomness,
            destinations=dependencies.destinations,
            sectors=self._sectors,
        )
        return DynamicClientServicer(TenantAdmission(dependencies.tenants), registration)

    def _api_keys(self) -> ApiKeyServicer:
        dependencies = self._dependencies
        administration = ApiKeyAdministration(
            dependencies.store,
            dependencies.secrets,
            events=dependencies.events,
            clock=dependencies.clock,
            randomness=dependencies.randomness,
        )
        keys = ApiKeys(dependencies.store, dependencies.secrets)
        return ApiKeyServicer(dependencies.tenants, self._admission, keys=keys, administration=administration)

    def _blacklist(self) -> BlacklistServicer:
        dependencies = self._dependencies
        addresses = Addresses(dependencies.config.events.login_protection)
        rules = NetworkRules(
            dependencies.config.networks,
            dependencies.networks,
            addresses,
            events=dependencies.events,
            clock=dependencies.clock,
        )
        blacklist = Blacklist(
            dependencies.store.of(ADDRESS_FAILURES),
            addresses,
            rules=rules,
            events=dependencies.events,
            clock=dependencies.clock,
        )
        return BlacklistServicer(self._admission, blacklist)

    def _impersonations(self) -> ImpersonationServicer:
        dependencies, user_state = self._dependencies, self._user_state
        impersonations = Impersonations(
            accesses=user_state.support,
            settings=SettingsOfTenants(dependencies.store.of(TENANTS)),
            sessions=user_state.sessions,
            users=user_state.users,
            standings=dependencies.standings,
            termination=user_state.termination,
            events=dependencies.events,
            clock=dependencies.clock,
        )
        return ImpersonationServicer(
            self._admission, dependencies.tenants, impersonations, dependencies.clock
        )

    def _terms(self) -> TermsOfUseServicer:
        dependencies, terms = self._dependencies, self._user_state.terms
        administration = TermsAdministration(
            store=dependencies.store,
            terms=terms,
            events=dependencies.events,
            clock=dependencies.clock,
            randomness=dependencies.randomness,
        )
        return TermsOfUseServicer(self._admission, administration, terms)
