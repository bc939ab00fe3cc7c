"""Composes the authorization endpoint and the ways to authenticate a user."""

from collections.abc import Mapping

from google.protobuf.descriptor import ServiceDescriptor

from gnomon.identity.v1 import (
    authorization_service_pb2,
    federation_service_pb2,
    sign_in_service_pb2,
)
from identity.access.client_authentication.client_keys import ClientKeys
from identity.access.proof_of_work.proof_of_work import ProofOfWork
from identity.access.rpc.admission import TenantAdmission
from identity.authentication.authorization.asked import AskedRequests
from identity.authentication.authorization.code import AUTHORIZATION_CODES
from identity.authentication.authorization.conclusion import Conclusion
from identity.authentication.authorization.consent import ConsentGate
from identity.authentication.authorization.consent_step import ConsentStep
from identity.authentication.authorization.email_step import EmailStep, SharedSignIn
from identity.authentication.authorization.pending_requests import PendingRequests
from identity.authentication.authorization.session_check import SessionCheck
from identity.authentication.authorization.sign_in import SignInFlow, SignInWatch
from identity.authentication.authorization.sign_in_context import SignInContext
from identity.authentication.authorization.start import AuthorizationStart
from identity.authentication.authorization.steps import CredentialStep, RefreshStep, SecondFactors
from identity.authentication.authorization.terms_gate import TermsGate
from identity.authentication.authorization.terms_step import TermsStep
from identity.authentication.password_sign_in import KnownBrowsers, PasswordSignIn
from identity.authentication.requests.pushed import PUSHED_REQUESTS, PushedRequests
from identity.authentication.requests.pushed_endpoint import PushedRequestHandler
from identity.authentication.requests.request import AUTHORIZATION_REQUESTS
from identity.authentication.requests.request_objects import RequestObjects
from identity.authentication.requests.request_reader import RequestReader
from identity.authentication.requests.response_targets import ResponseTargets
from identity.authentication.requests.sources import (
    PlainRequests,
    RequestsByReference,
    RequestsByValue,
    RequiredPush,
)
from identity.authentication.rpc.authorization import AuthorizationServicer, PushedRequestAdmission
from identity.authentication.rpc.browser import Offers
from identity.authentication.rpc.federation import FederationServicer
from identity.authentication.rpc.sign_in import SignInServicer
from identity.clients.dynamic.metadata_documents import DocumentClients
from identity.directory.authorization_details.detail_types import DetailTypes
from identity.directory.password_hashes.costliest import CostliestHashes
from identity.directory.providers import Providers
from identity.directory.tenants.confirmation import ConfirmationBySettings
from identity.directory.tenants.sign_in_targets import SignInTargets
from identity.directory.tenants.tenant_record import TENANTS
from identity.foundation.single_use import SingleUse
from identity.wiring.access import UserState
from identity.wiring.browsers import BrowserWiring
from identity.wiring.clients.client_screens import screens_on
from identity.wiring.clients.saml_applications import SamlApplicationWiring
from identity.wiring.dependencies import Dependencies
from identity.wiring.federation import upstream_sign_in
from identity.wiring.ldap import ldap_sign_in
from identity.wiring.tokens import TokenWiring

_AUTHORIZATION = authorization_service_pb2.DESCRIPTOR.services_by_name["AuthorizationService"]
_SIGN_IN = sign_in_service_pb2.DESCRIPTOR.services_by_name["SignInService"]
_FEDERATION = federation_service_pb2.DESCRIPTOR.services_by_name["FederationService"]


class AuthorizationWiring:
    """`context` holds the dependencies that all ways to sign in share."""

    servicers: Mapping[ServiceDescriptor, object]

    def __init__(
        self,
        dependencies: Dependencies,
        user_state: UserState,
        tokens: TokenWiring,
        browsers: BrowserWiring,
        *,
        targets: SignInTargets,
        second_factors: SecondFactors,
        watch: SignInWatch,
        known_browsers: KnownBrowsers,
    ) -> None:
        self._dependencies = dependencies
        self._user_state = user_state
        self._tokens = tokens
        self._targets = targets
        self._second_factors = second_factors
        self._watch = watch
        self._known_browsers = known_browsers
        self._directories = ldap_sign_in(dependencies, user_state)
        self._saml = SamlApplicationWiring(dependencies, user_state)
        self._confirmation = ConfirmationBySettings(dependencies.store.of(TENANTS))
        self._pushed = self._pushed_requests()
        targets_of_responses = ResponseTargets(dependencies.keys, tokens.encryptions, dependencies.clock)
        objects = RequestObjects(ClientKeys(dependencies.published_keys), dependencies.clock)
        self._by_themselves = (RequestsByValue(objects), PlainRequests())
        self._reader = RequestReader(
            DocumentClients(
                dependencies.clients,
                dependencies.store,
                is_enabled=dependencies.config.dynamic_clients.metadata_documents,
                documents=dependencies.documents,
                destinations=dependencies.destinations,
                version=dependencies.directory_version,
                events=dependencies.events,
                removals=dependencies.removals,
                clock=dependencies.clock,
            ),
            browsers.hints,
            dependencies.subjects,
            details=DetailTypes(dependencies.store),
            sources=(
                self._pushed,
                RequiredPush(),
                RequestsByReference(objects, dependencies.documents),
                *self._by_themselves,
            ),
            targets=targets_of_responses,
            clock=dependencies.clock,
        )
        self._pending = PendingRequests(
            dependencies.store.of(AUTHORIZATION_REQUESTS),
            dependencies.secrets,
            clock=dependencies.clock,
            randomness=dependencies.randomness,
        )
        self._conclusion = Conclusion(
            dependencies.store.of(AUTHORIZATION_CODES),
            user_state.sessions,
            targets=targets_of_responses,
            saml_responses=self._saml.responses,
            hasher=dependencies.secrets,
            clock=dependencies.clock,
            randomness=dependencies.randomness,
            has_session_states=dependencies.config.sessions.check_session_iframe,
        )
        self._consent_gate = ConsentGate(user_state.consents, self._pending, self._conclusion)
        self._terms_gate = TermsGate(
            user_state.terms, self._consent_gate, pending=self._pending, conclusion=self._conclusion
        )
        self.context = self._context(browsers.proof_of_work)
        self.servicers = {
            _AUTHORIZATION: self._authorization(),
            _SIGN_IN: self._sign_in(),
            **self._saml.servicers,
            _FEDERATION: FederationServicer(
                TenantAdmission(dependencies.tenants),
                upstream_sign_in(
                    dependencies, user_state, self.context, domains=targets, second_factors=second_factors
                ),
                screens=screens_on(dependencies),
                clock=dependencies.clock,
            ),
        }

    def _context(self, proof_of_work: ProofOfWork) -> SignInContext:
        asked = AskedRequests(self._reader, self._dependencies.clients, self._pending, self._pushed)
        sign_in_flow = SignInFlow(
            sessions=self._user_state.sessions,
            asked=asked,
            termination=self._user_state.termination,
            terms_gate=self._terms_gate,
            conclusion=self._conclusion,
            watch=self._watch,
            events=self._dependencies.events,
        )
        return SignInContext(proof_of_work=proof_of_work, asked=asked, sign_in_flow=sign_in_flow)

    def _pushed_requests(self) -> PushedRequests:
        dependencies = self._dependencies
        return PushedRequests(
            dependencies.store.of(PUSHED_REQUESTS),
            dependencies.secrets,
            single_use=SingleUse(dependencies.store),
            clock=dependencies.clock,
            randomness=dependencies.randomness,
            config=dependencies.config.pushed_authorization,
        )

    def _sign_in(self) -> SignInServicer:
        tenants, proof_of_work = self._dependencies.tenants, self.context.proof_of_work
        email_step = EmailStep(
            self._user_state.sessions, proof_of_work, asked=self.context.asked, targets=self._targets
        )
        return SignInServicer(
            TenantAdmission(tenants),
            email_step,
            SharedSignIn(tenants, proof_of_work, self._targets),
            offers=self._offers(),
            screens=screens_on(self._dependencies),
        )

    def _offers(self) -> Offers:
        return Offers(
            registration=self._dependencies.config.users.registration_enabled,
            password_reset=self._dependencies.mail.is_open,
            usernames=self._dependencies.config.users.username_sign_in,
        )

    def _authorization(self) -> AuthorizationServicer:
        dependencies, sessions, asked = self._dependencies, self._user_state.sessions, self.context.asked
        standing = SessionCheck(self._user_state.users, dependencies.clock, confirmation=self._confirmation)
        return AuthorizationServicer(
            TenantAdmission(dependencies.tenants),
            AuthorizationStart(
                self._reader,
                sessions,
                asked=asked,
                pending=self._pending,
                standing=standing,
                terms_gate=self._terms_gate,
                conclusion=self._conclusion,
                targets=self._targets,
                saml_reader=self._saml.reader,
            ),
            credential_step=CredentialStep(
                sessions,
                self.context,
                password_sign_in=self._password_sign_in(),
                second_factors=self._second_factors,
            ),
            refresh_step=RefreshStep(
                sessions,
                asked=asked,
                standing=standing,
                terms_gate=self._terms_gate,
                conclusion=self._conclusion,
            ),
            consent_step=ConsentStep(
                sessions,
                self._user_state.consents,
                asked=asked,
                standing=standing,
                conclusion=self._conclusion,
                events=dependencies.events,
            ),
            terms_step=TermsStep(
                sessions,
                self._user_state.terms,
                asked=asked,
                standing=standing,
                consent_gate=self._consent_gate,
                conclusion=self._conclusion,
                termination=self._user_state.termination,
                events=dependencies.events,
            ),
            terms=self._user_state.terms,
            pushed_admission=PushedRequestAdmission(
                self._tokens.authenticator,
                self._tokens.proofs,
                PushedRequestHandler(self._reader, self._pushed, sources=self._by_themselves),
            ),
            offered=Providers(dependencies.store) if dependencies.config.federation.enabled else None,
            offers=self._offers(),
            screens=screens_on(dependencies),
            details=DetailTypes(dependencies.store),
            clock=dependencies.clock,
            directories=self._directories,
        )

    def _password_sign_in(self) -> PasswordSignIn:
        dependencies = self._dependencies
        return PasswordSignIn(
            self._user_state.users,
            dependencies.passwords,
            protection=self._user_state.protection,
            browsers=self._known_browsers,
            confirmation=self._confirmation,
            clock=dependencies.clock,
            events=dependencies.events,
            costliest=CostliestHashes(dependencies.store),
            directories=self._directories,
        )
