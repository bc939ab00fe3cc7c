"""Composes sign-in through upstream providers."""

from collections.abc import Mapping

from google.protobuf.descriptor import ServiceDescriptor

from gnomon.identity.v1 import provider_link_service_pb2, provider_service_pb2
from identity.access.callers import Callers
from identity.access.rpc.admission import Admission
from identity.administration.providers import ProviderAdministration
from identity.administration.rpc.provider import ProviderServicer
from identity.authentication.authorization.sign_in_context import SignInContext
from identity.authentication.authorization.steps import SecondFactors
from identity.authentication.federation.accounts import UpstreamAccounts
from identity.authentication.federation.callback import UpstreamCallback
from identity.authentication.federation.hints import Hints, SignInDomains
from identity.authentication.federation.id_token import UpstreamIdTokens
from identity.authentication.federation.link_arrival import LinkArrival
from identity.authentication.federation.login import UPSTREAM_LOGINS
from identity.authentication.federation.login_redirect import UpstreamLoginRedirect
from identity.authentication.federation.logout import UpstreamLogout
from identity.authentication.federation.lookup import ProviderLookup
from identity.authentication.federation.own_links import OwnLinks
from identity.authentication.federation.pending_link import PENDING_LINKS
from identity.authentication.federation.people import UpstreamPeople
from identity.authentication.federation.requests import UpstreamRequests
from identity.authentication.federation.secrets import ProviderSecrets
from identity.authentication.federation.tokens import UpstreamTokens
from identity.authentication.passkeys.passkey import PASSKEYS
from identity.authentication.passkeys.passkeys import Passkeys
from identity.authentication.rpc.federation import UpstreamSignIn
from identity.authentication.rpc.provider_link import ProviderLinkServicer
from identity.authentication.saml.arrival import SamlArrivals
from identity.authentication.saml.logout import SamlLogout
from identity.authentication.saml.metadata import SamlMetadata
from identity.authentication.saml.service_provider import ServiceProvider
from identity.authentication.saml.sign_in import SamlResponses
from identity.directory.provider import PROVIDER_LINKS, PROVIDERS
from identity.directory.providers import Providers
from identity.directory.user import USERS
from identity.directory.users import Users
from identity.foundation.single_use import SingleUse
from identity.wiring.access import UserState
from identity.wiring.dependencies import Dependencies
from identity.wiring.linked_accounts import linked_accounts
from identity.wiring.people_administration import PeopleAdministrationWiring

_PROVIDER_LINKS = provider_link_service_pb2.DESCRIPTOR.services_by_name["ProviderLinkService"]
_PROVIDERS = provider_service_pb2.DESCRIPTOR.services_by_name["ProviderService"]


class FederationWiring:
    servicers: Mapping[ServiceDescriptor, object]

    def __init__(
        self, dependencies: Dependencies, callers: Callers, people: PeopleAdministrationWiring
    ) -> None:
        administration = ProviderAdministration(
            providers=dependencies.store.of(PROVIDERS),
            links=dependencies.store.of(PROVIDER_LINKS),
            users=dependencies.store.of(USERS),
            removals=dependencies.removals,
            administrators=dependencies.administrators,
            roles=people.roles,
            groups=people.groups,
            destinations=dependencies.destinations,
            secrets=ProviderSecrets(dependencies.store, dependencies.master_keys),
            saml_keys=dependencies.saml_keys,
            events=dependencies.events,
            randomness=dependencies.randomness,
        )
        servicer = ProviderServicer(
            Admission(dependencies.tenants, callers),
            administration,
            lookup=ProviderLookup(dependencies.documents, dependencies.destinations),
            saml_metadata=SamlMetadata(dependencies.documents, dependencies.destinations),
            offered=Providers(dependencies.store) if dependencies.config.federation.enabled else None,
        )
        self.servicers = {_PROVIDERS: servicer, _PROVIDER_LINKS: self._links(dependencies, callers, people)}

    def _links(
        self, dependencies: Dependencies, callers: Callers, people: PeopleAdministrationWiring
    ) -> ProviderLinkServicer:
        links = OwnLinks(
            pending=dependencies.store.of(PENDING_LINKS),
            links=dependencies.store.of(PROVIDER_LINKS),
            users=Users(dependencies.store.of(USERS)),
            passkeys=Passkeys(dependencies.store.of(PASSKEYS)),
            providers=Providers(dependencies.store),
            requests=_requests(dependencies),
            modification_tokens=people.modification_tokens,
            sign_out=people.sign_out,
            version=dependencies.directory_version,
            last_administrator=dependencies.last_administrator,
            hasher=dependencies.secrets,
            events=dependencies.events,
            clock=dependencies.clock,
            is_enabled=dependencies.config.federation.enabled,
        )
        return ProviderLinkServicer(Admission(dependencies.tenants, callers), links)


def _requests(dependencies: Dependencies) -> UpstreamRequests:
    return UpstreamRequests(
        ServiceProvider(dependencies.saml_keys),
        clock=dependencies.clock,
        randomness=dependencies.randomness,
    )


def upstream_logout(dependencies: Dependencies, user_state: UserState) -> UpstreamLogout | None:
    if not dependencies.config.federation.enabled:
        return None
    return UpstreamLogout(
        Providers(dependencies.store),
        dependencies.published_keys,
        single_use=SingleUse(dependencies.store),
        sessions=user_state.sessions,
        termination=user_state.termination,
        events=dependencies.events,
        clock=dependencies.clock,
    )


def upstream_sign_in(
    dependencies: Dependencies,
    user_state: UserState,
    context: SignInContext,
    *,
    domains: SignInDomains,
    second_factors: SecondFactors,
) -> UpstreamSignIn | None:
    if not dependencies.config.federation.enabled:
        return None
    providers, logins = Providers(dependencies.store), dependencies.store.of(UPSTREAM_LOGINS)
    login_redirect = UpstreamLoginRedirect(
        user_state.sessions,
        context.proof_of_work,
        asked=context.asked,
        providers=providers,
        hints=Hints(domains),
        logins=logins,
        requests=_requests(dependencies),
        hasher=dependencies.secrets,
        clock=dependencies.clock,
    )
    accounts = UpstreamAccounts(
        linked=linked_accounts(dependencies, user_state, PROVIDER_LINKS),
        domains=domains,
        clock=dependencies.clock,
        randomness=dependencies.randomness,
    )
    saml_arrivals = SamlArrivals(dependencies.store)
    upstream_people = UpstreamPeople(
        UpstreamTokens(
            dependencies.documents,
            ProviderSecrets(dependencies.store, dependencies.master_keys),
            dependencies.clock,
        ),
        UpstreamIdTokens(dependencies.published_keys, dependencies.clock),
        saml_arrivals=saml_arrivals,
        saml_responses=SamlResponses(
            dependencies.saml_keys,
            SingleUse(dependencies.store),
            events=dependencies.events,
            clock=dependencies.clock,
        ),
    )
    link_arrival = LinkArrival(
        sessions=user_state.sessions,
        pending=dependencies.store.of(PENDING_LINKS),
        links=dependencies.store.of(PROVIDER_LINKS),
        users=user_state.users,
        providers=providers,
        people=upstream_people,
        hasher=dependencies.secrets,
        events=dependencies.events,
    )
    callback = UpstreamCallback(
        user_state.sessions,
        logins,
        hasher=dependencies.secrets,
        asked=context.asked,
        clients=dependencies.clients,
        providers=providers,
        people=upstream_people,
        saml_arrivals=saml_arrivals,
        links=dependencies.store.of(PENDING_LINKS),
        accounts=accounts,
        sign_in_flow=context.sign_in_flow,
        second_factors=second_factors,
    )
    service_provider = ServiceProvider(dependencies.saml_keys)
    logout = SamlLogout(
        providers,
        service_provider,
        single_use=SingleUse(dependencies.store),
        sessions=user_state.sessions,
        termination=user_state.termination,
        events=dependencies.events,
        clock=dependencies.clock,
    )
    return UpstreamSignIn(login_redirect, callback, providers, service_provider, logout, link_arrival)
