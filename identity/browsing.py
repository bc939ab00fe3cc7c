"""Composes what meets browsers: authorization, sessions, proof of work, logout, devices."""

from collections.abc import Mapping
from functools import partial

from google.protobuf.descriptor import ServiceDescriptor

from gnomon.identity.v1 import (
    authorization_service_pb2,
    device_service_pb2,
    logout_service_pb2,
    proof_of_work_service_pb2,
    session_service_pb2,
    sign_in_service_pb2,
)
from identity.authorization.asked import AskedRequests
from identity.authorization.beginning import AuthorizationBeginning
from identity.authorization.code import AUTHORIZATION_CODES
from identity.authorization.conclusion import Conclusion
from identity.authorization.consent import ConsentGate
from identity.authorization.consent_step import ConsentStep
from identity.authorization.email_step import EmailStep, SharedSignIn
from identity.authorization.pending import PendingRequests
from identity.authorization.pushed import PUSHED_REQUESTS, PushedRequests
from identity.authorization.pushing import Pushing
from identity.authorization.reading import RequestReader
from identity.authorization.request import AUTHORIZATION_REQUESTS
from identity.authorization.signing_in import SigningIn
from identity.authorization.sources import NoRequestObjects
from identity.authorization.standing import Standing
from identity.authorization.steps import CredentialStep, RefreshStep
from identity.devices.authorization import DeviceAuthorizations
from identity.devices.limits import DeviceStarts, UserCodeGuesses
from identity.devices.verification import DeviceVerification
from identity.federating import upstream_logout
from identity.ground import Ground
from identity.issuing import Issuing
from identity.logout.endpoint import EndSession
from identity.logout.records import LOGOUT_REQUESTS
from identity.logout.wish import LogoutWishes
from identity.presence import Presence
from identity.proof_of_work.proof_of_work import ProofOfWork
from identity.rpc.authorization import AuthorizationServicer, PushDoor
from identity.rpc.device import DeviceServicer
from identity.rpc.logout import LogoutServicer
from identity.rpc.proof_of_work import ProofOfWorkServicer
from identity.rpc.session import SessionServicer
from identity.rpc.sign_in import SignInServicer
from identity.sessions.hints import IdTokenHints
from identity.sign_in.password import PasswordSignIn
from identity.single_use import SingleUse
from identity.tenancy.confirmation import ConfirmationBySettings
from identity.tenancy.sign_in_targets import SignInTargets
from identity.tenancy.tenant_record import TENANTS
from identity.tokens.verification import verified

_AUTHORIZATION = authorization_service_pb2.DESCRIPTOR.services_by_name["AuthorizationService"]
_SIGN_IN = sign_in_service_pb2.DESCRIPTOR.services_by_name["SignInService"]
_SESSION = session_service_pb2.DESCRIPTOR.services_by_name["SessionService"]
_PROOF_OF_WORK = proof_of_work_service_pb2.DESCRIPTOR.services_by_name["ProofOfWorkService"]
_LOGOUT = logout_service_pb2.DESCRIPTOR.services_by_name["LogoutService"]
_DEVICE = device_service_pb2.DESCRIPTOR.services_by_name["DeviceService"]


class Browsing:
    servicers: Mapping[ServiceDescriptor, object]

    def __init__(self, ground: Ground, presence: Presence, issuing: Issuing, targets: SignInTargets) -> None:
        self._ground = ground
        self._presence = presence
        self._issuing = issuing
        self._targets = targets
        self._proof_of_work = ProofOfWork(
            SingleUse(ground.store),
            ground.root.derived("proof of work"),
            clock=ground.clock,
            randomness=ground.randomness,
            config=ground.config.pow,
        )
        self._hints = IdTokenHints(partial(verified, keys=ground.keys))
        self._pushed = self._pushed_requests()
        self._reader = RequestReader(
            ground.clients, self._hints, sources=(NoRequestObjects(), self._pushed), clock=ground.clock
        )
        self._pending = PendingRequests(
            ground.store.of(AUTHORIZATION_REQUESTS),
            ground.secrets,
            clock=ground.clock,
            randomness=ground.randomness,
        )
        self._asked = AskedRequests(self._reader, ground.clients, self._pending)
        self.servicers = {
            _AUTHORIZATION: self._authorization(),
            _SIGN_IN: self._sign_in(),
            _SESSION: SessionServicer(
                ground.tenants, self._presence.sessions, self._presence.users, ground.clock
            ),
            _PROOF_OF_WORK: ProofOfWorkServicer(ground.tenants, self._proof_of_work),
            _LOGOUT: self._logout(),
            _DEVICE: self._devices(),
        }

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
        tenants = self._ground.tenants
        email_step = EmailStep(
            self._presence.sessions, self._proof_of_work, asked=self._asked, targets=self._targets
        )
        return SignInServicer(tenants, email_step, SharedSignIn(tenants, self._proof_of_work, self._targets))

    def _authorization(self) -> AuthorizationServicer:
        ground = self._ground
        standing = Standing(self._presence.users, ground.clock)
        conclusion = Conclusion(
            ground.store.of(AUTHORIZATION_CODES),
            self._presence.sessions,
            hasher=ground.secrets,
            clock=ground.clock,
            randomness=ground.randomness,
        )
        consent_gate = ConsentGate(self._presence.consents, self._pending, conclusion)
        return AuthorizationServicer(
            ground.tenants,
            AuthorizationBeginning(
                self._reader,
                self._presence.sessions,
                pending=self._pending,
                standing=standing,
                consent_gate=consent_gate,
                targets=self._targets,
            ),
            credential_step=CredentialStep(
                self._presence.sessions,
                self._proof_of_work,
                asked=self._asked,
                password_sign_in=self._password_sign_in(),
                signing_in=SigningIn(
                    sessions=self._presence.sessions,
                    asked=self._asked,
                    ending=self._presence.ending,
                    consent_gate=consent_gate,
                    events=ground.events,
                ),
            ),
            refresh_step=RefreshStep(
                self._presence.sessions, asked=self._asked, standing=standing, consent_gate=consent_gate
            ),
            consent_step=ConsentStep(
                self._presence.sessions,
                self._presence.consents,
                asked=self._asked,
                standing=standing,
                conclusion=conclusion,
                events=ground.events,
            ),
            push_door=PushDoor(
                self._issuing.authenticator, self._issuing.proofs, Pushing(self._reader, self._pushed)
            ),
            clock=ground.clock,
        )

    def _password_sign_in(self) -> PasswordSignIn:
        ground = self._ground
        return PasswordSignIn(
            self._presence.users,
            ground.passwords,
            protection=self._presence.protection,
            confirmation=ConfirmationBySettings(ground.store.of(TENANTS)),
            clock=ground.clock,
            events=ground.events,
        )

    def _logout(self) -> LogoutServicer:
        ground = self._ground
        end_session = EndSession(
            self._presence.sessions,
            LogoutWishes(ground.clients, self._hints),
            self._presence.ending,
            questions=ground.store.of(LOGOUT_REQUESTS),
            events=ground.events,
            hasher=ground.secrets,
            clock=ground.clock,
            randomness=ground.randomness,
        )
        return LogoutServicer(ground.tenants, end_session, upstream_logout(ground, self._presence))

    def _devices(self) -> DeviceServicer:
        ground = self._ground
        authorizations = DeviceAuthorizations(
            self._issuing.authenticator,
            ground.store,
            starts=DeviceStarts(ground.store, ground.config.device_grant, ground.clock),
            secrets=ground.secrets,
            config=ground.config.device_grant,
            clock=ground.clock,
            randomness=ground.randomness,
        )
        verification = DeviceVerification(
            self._presence.sessions,
            self._proof_of_work,
            guesses=UserCodeGuesses(ground.store, ground.clock),
            clients=ground.clients,
            records=ground.store,
            secrets=ground.secrets,
            clock=ground.clock,
        )
        return DeviceServicer(ground.tenants, authorizations, verification)
