"""Composes sign-in to SAML applications, and their administration."""

from collections.abc import Mapping

from google.protobuf.descriptor import ServiceDescriptor

from gnomon.identity.v1 import saml_application_service_pb2, saml_sign_on_service_pb2
from identity.access.callers import Callers
from identity.access.rpc.admission import Admission, TenantAdmission
from identity.access.tokens.custom_claims import CustomClaims
from identity.authentication.rpc.saml_sign_on import SamlSignOnServicer
from identity.authentication.saml_applications.applications import SamlApplications
from identity.authentication.saml_applications.attributes import AttributeClaims
from identity.authentication.saml_applications.identity_provider import IdentityProvider
from identity.authentication.saml_applications.logout import SamlApplicationLogout
from identity.authentication.saml_applications.name_ids import NameIds
from identity.authentication.saml_applications.request_reader import SamlRequestReader
from identity.authentication.saml_applications.responses import SamlResponses
from identity.clients.relying_parties import RelyingParties
from identity.clients.rpc.saml_application import SamlApplicationServicer
from identity.clients.saml_applications import SamlApplicationAdministration
from identity.directory.client import CLIENTS
from identity.directory.tenants.saml_application import SAML_APPLICATIONS
from identity.foundation.single_use import SingleUse
from identity.wiring.access import UserState
from identity.wiring.dependencies import Dependencies

_APPLICATIONS = saml_application_service_pb2.DESCRIPTOR.services_by_name["SamlApplicationService"]
_SIGN_ON = saml_sign_on_service_pb2.DESCRIPTOR.services_by_name["SamlSignOnService"]


class SamlApplicationWiring:
    servicers: Mapping[ServiceDescriptor, object]

    def __init__(self, dependencies: Dependencies, user_state: UserState) -> None:
        applications = SamlApplications(dependencies.store)
        self.responses = SamlResponses(
            keys=dependencies.saml_signing_keys,
            applications=applications,
            users=user_state.users,
            name_ids=NameIds(dependencies.subjects, dependencies.secrets),
            attribute_claims=AttributeClaims(CustomClaims(dependencies.store), dependencies.subjects),
            single_use=SingleUse(dependencies.store),
            events=dependencies.events,
            events_config=dependencies.config.events,
            clock=dependencies.clock,
            randomness=dependencies.randomness,
        )
        self.reader = SamlRequestReader(
            applications, dependencies.clients, responses=self.responses, clock=dependencies.clock
        )
        provider = IdentityProvider(dependencies.saml_signing_keys)
        self.servicers = {_SIGN_ON: SamlSignOnServicer(TenantAdmission(dependencies.tenants), provider)}


def saml_application_logout(dependencies: Dependencies, user_state: UserState) -> SamlApplicationLogout:
    return SamlApplicationLogout(
        applications=SamlApplications(dependencies.store),
        clients=dependencies.clients,
        users=user_state.users,
        keys=dependencies.saml_signing_keys,
        name_ids=NameIds(dependencies.subjects, dependencies.secrets),
        single_use=SingleUse(dependencies.store),
        clock=dependencies.clock,
        randomness=dependencies.randomness,
    )


def saml_application_administration(
    dependencies: Dependencies, callers: Callers
) -> Mapping[ServiceDescriptor, object]:
    administration = SamlApplicationAdministration(
        applications=dependencies.store.of(SAML_APPLICATIONS),
        relying_parties=RelyingParties(dependencies.store.of(CLIENTS), dependencies.administrators),
        events=dependencies.events,
    )
    admission = Admission(dependencies.tenants, callers)
    return {_APPLICATIONS: SamlApplicationServicer(admission, administration)}
