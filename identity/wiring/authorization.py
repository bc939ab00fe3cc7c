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
from identity.authentication.authorization.asked import AskedRequests
from identity.authentication.authorization.code import AUTHORIZATION_CODES
from identity.authentication.authorization.conclusion import Conclusion
from identity.authentication.authorization.consent import ConsentGate
from identity.authentication.authorization.consent_step import ConsentStep
from identity.authentication.authorization.email_step import EmailStep, SharedSignIn
from identity.authentication.authorization.pending_requests import PendingRequests
from identity.authentication.authorization.session_check import SessionCheck
from identity.authentication.authorization.sign_in import SignInFlow
from identity.authentication.authorization.sign_in_context import SignInContext
from identity.authentication.authorization.start import AuthorizationStart
from identity.authentication.authorization.steps import CredentialStep, RefreshStep, SecondFactors
from identity.authentication.password_sign_in import PasswordSignIn
from identity.authentication.requests.pushed import PUSHED_REQUESTS, PushedRequests
from identity.authentication.requests.pushed_endpoint import PushedRequestHandler
from identity.authentication.requests.request import AUTHORIZATION_REQUESTS
from identity.authentication.requests.request_objects import RequestObjects
from identity.authentication.requests.request_reader import RequestReader
from identity.authentication.requests.sources import PlainRequests, RequestsByReference, RequestsByValue
from identity.authentication.rpc.authorization import AuthorizationServicer, PushedRequestAdmission
from identity.authentication.rpc.browser import Offers
from identity.authentication.rpc.federation import FederationServicer
from identity.authentication.rpc.sign_in import SignInServicer
from identity.directory.providers import Providers
from identity.directory.tenants.confirmation import ConfirmationBySettings
from identity.directory.tenants.sign_in_targets import SignInTargets
from identity.directory.tenants.tenant_record import TENANTS
from identity.wiring.access import UserState
from identity.wiring.browsers import BrowserWiring
from identity.wiring.client_screens import screens_on
from identity.wiring.dependencies import Dependencies
from identity.wiring.federation import upstream_sign_in
from identity.wiring.tokens import TokenWiring

_AUTHORIZATION = authorization_service_pb2.DESCRIPTOR.services_by_name["AuthorizationService"]
_SIGN_IN = sign_in_service_pb2.DESCRIPTOR.services_by_name["SignInService"]
_FEDERATION = federation_service_pb2.DESCRIPTOR.services_by_name["FederationService"]


class AuthorizationWiring:
    """`door` holds the dependencies that all ways to sign in share."""

    servicers: Mapping[ServiceDescriptor, object]

    def __init__(
        self,
        ground: Dependencies,
        presence: UserState,
        issuing: TokenWiring,
        browsing: BrowserWiring,
        *,
        targets: SignInTargets,
        second_factors: SecondFactors,
    ) -> None:
        self._ground = ground
        self._presence = presence
        self._issuing = issuing
        self._targets = targets
        self._second_factors = second_factors
        self._confirmation = ConfirmationBySettings(ground.store.of(TENANTS))
        self._pushed = self._pushed_requests()
        objects = RequestObjects(ClientKeys(ground.published_keys), ground.clock)
        self._by_themselves = (RequestsByValue(objects), PlainRequests())
        self._reader = RequestReader(
            ground.clients,
            browsing.hints,
            sources=(self._pushed, RequestsByReference(objects, ground.documents), *self._by_themselves),
            clock=ground.clock,
        )
        self._pending = PendingRequests(
            ground.store.of(AUTHORIZATION_REQUESTS),
            ground.secrets,
            clock=ground.clock,
            randomness=ground.randomness,
        )
        self._conclusion = Conclusion(
            ground.store.of(AUTHORIZATION_CODES),
            presence.sessions,
            hasher=ground.secrets,
            clock=ground.clock,
            randomness=ground.randomness,
        )
        self._consent_gate = ConsentGate(presence.consents, self._pending, self._conclusion)
        self.door = self._door(browsing.proof_of_work)
        self.servicers = {
            _AUTHORIZATION: self._authorization(),
            _SIGN_IN: self._sign_in(),
            _FEDERATION: FederationServicer(
                ground.tenants,
                upstream_sign_in(ground, presence, self.door, domains=targets, second_factors=second_factors),
                screens=screens_on(ground),
                clock=ground.clock,
            ),
        }

    def _door(self, proof_of_work: ProofOfWork) -> SignInContext:
        asked = AskedRequests(self._reader, self._ground.clients, self._pending)
        signing_in = SignInFlow(
            sessions=self._presence.sessions,
            asked=asked,
            ending=self._presence.ending,
            consent_gate=self._consent_gate,
            events=self._ground.events,
        )
        return SignInContext(proof_of_work=proof_of_work, asked=asked, signing_in=signing_in)

    def _pushed_requests(self) -> PushedRequests:
        ground = self._ground
        return PushedRequests(
            ground.store.of(PUSHED_REQUESTS),
            ground.secrets,
            clock=ground.clock,
            randomness=ground.randomness,
            config=ground.config.pushed_authorization,
        )

    def _sign_in(self) -> SignInServicer:
        tenants, proof_of_work = self._ground.tenants, self.door.proof_of_work
        email_step = EmailStep(
            self._presence.sessions, proof_of_work, asked=self.door.asked, targets=self._targets
        )
        return SignInServicer(
            tenants,
            email_step,
            SharedSignIn(tenants, proof_of_work, self._targets),
            offers=self._offers(),
            screens=screens_on(self._ground),
        )

    def _offers(self) -> Offers:
        return Offers(
            registration=self._ground.config.users.registration_enabled,
            password_reset=self._ground.mail.is_open,
        )

    def _authorization(self) -> AuthorizationServicer:
        ground, sessions, asked = self._ground, self._presence.sessions, self.door.asked
        standing = SessionCheck(self._presence.users, ground.clock, confirmation=self._confirmation)
        return AuthorizationServicer(
            ground.tenants,
            AuthorizationStart(
                self._reader,
                sessions,
                pending=self._pending,
                standing=standing,
                consent_gate=self._consent_gate,
                targets=self._targets,
            ),
            credential_step=CredentialStep(
                sessions,
                self.door,
                password_sign_in=self._password_sign_in(),
                second_factors=self._second_factors,
            ),
            refresh_step=RefreshStep(
                sessions, asked=asked, standing=standing, consent_gate=self._consent_gate
            ),
            consent_step=ConsentStep(
                sessions,
                self._presence.consents,
                asked=asked,
                standing=standing,
                conclusion=self._conclusion,
                events=ground.events,
            ),
            push_door=PushedRequestAdmission(
                self._issuing.authenticator,
                self._issuing.proofs,
                PushedRequestHandler(self._reader, self._pushed, sources=self._by_themselves),
            ),
            offered=Providers(ground.store) if ground.config.federation.enabled else None,
            offers=self._offers(),
            screens=screens_on(ground),
            clock=ground.clock,
        )

    def _password_sign_in(self) -> PasswordSignIn:
        ground = self._ground
        return PasswordSignIn(
            self._presence.users,
            ground.passwords,
            protection=self._presence.protection,
            confirmation=self._confirmation,
            clock=ground.clock,
            events=ground.events,
        )
