"""Composes sign-in through upstream providers."""

from collections.abc import Mapping

from google.protobuf.descriptor import ServiceDescriptor

from gnomon.identity.v1 import provider_service_pb2
from identity.access.administrators import Administrators
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
from identity.authentication.federation.login import UPSTREAM_LOGINS
from identity.authentication.federation.login_redirect import UpstreamLoginRedirect
from identity.authentication.federation.logout import UpstreamLogout
from identity.authentication.federation.lookup import ProviderLookup
from identity.authentication.federation.secrets import ProviderSecrets
from identity.authentication.federation.tokens import UpstreamTokens
from identity.authentication.passkeys.passkey import PASSKEYS
from identity.authentication.passkeys.passkeys import Passkeys
from identity.authentication.rpc.federation import UpstreamSignIn
from identity.directory.provider import PROVIDER_LINKS, PROVIDERS
from identity.directory.providers import Providers
from identity.directory.user import USERS
from identity.foundation.single_use import SingleUse
from identity.wiring.access import UserState
from identity.wiring.dependencies import Dependencies
from identity.wiring.people_administration import PeopleAdministrationWiring

_PROVIDERS = provider_service_pb2.DESCRIPTOR.services_by_name["ProviderService"]


class FederationWiring:
    servicers: Mapping[ServiceDescriptor, object]

    def __init__(
        self, ground: Dependencies, callers: Callers, administering: PeopleAdministrationWiring
    ) -> None:
        administration = ProviderAdministration(
            providers=ground.store.of(PROVIDERS),
            links=ground.store.of(PROVIDER_LINKS),
            users=ground.store.of(USERS),
            images=ground.images,
            administrators=Administrators(ground.standings),
            roles=administering.roles,
            groups=administering.groups,
            destinations=ground.destinations,
            secrets=ProviderSecrets(ground.store, ground.master_keys),
            events=ground.events,
            randomness=ground.randomness,
        )
        servicer = ProviderServicer(
            Admission(ground.tenants, callers),
            administration,
            lookup=ProviderLookup(ground.documents, ground.destinations),
            tenants=ground.tenants,
            offered=Providers(ground.store) if ground.config.federation.enabled else None,
        )
        self.servicers = {_PROVIDERS: servicer}


def upstream_logout(ground: Dependencies, presence: UserState) -> UpstreamLogout | None:
    if not ground.config.federation.enabled:
        return None
    return UpstreamLogout(
        Providers(ground.store),
        ground.published_keys,
        single_use=SingleUse(ground.store),
        sessions=presence.sessions,
        ending=presence.ending,
        events=ground.events,
        clock=ground.clock,
    )


def upstream_sign_in(
    ground: Dependencies,
    presence: UserState,
    door: SignInContext,
    *,
    domains: SignInDomains,
    second_factors: SecondFactors,
) -> UpstreamSignIn | None:
    if not ground.config.federation.enabled:
        return None
    providers, logins = Providers(ground.store), ground.store.of(UPSTREAM_LOGINS)
    leaving = UpstreamLoginRedirect(
        presence.sessions,
        door.proof_of_work,
        asked=door.asked,
        providers=providers,
        hints=Hints(domains),
        logins=logins,
        hasher=ground.secrets,
        clock=ground.clock,
        randomness=ground.randomness,
    )
    accounts = UpstreamAccounts(
        users=presence.users,
        links=ground.store.of(PROVIDER_LINKS),
        domains=domains,
        administers=Administrators(ground.standings).makes,
        version=ground.directory_version,
        signing_out=presence.signing_out,
        passkeys=Passkeys(ground.store.of(PASSKEYS)),
        events=ground.events,
        clock=ground.clock,
        randomness=ground.randomness,
    )
    arriving = UpstreamCallback(
        presence.sessions,
        logins,
        hasher=ground.secrets,
        asked=door.asked,
        clients=ground.clients,
        providers=providers,
        tokens=UpstreamTokens(ground.documents, ProviderSecrets(ground.store, ground.master_keys)),
        id_tokens=UpstreamIdTokens(ground.published_keys, ground.clock),
        accounts=accounts,
        signing_in=door.signing_in,
        second_factors=second_factors,
    )
    return UpstreamSignIn(leaving, arriving)
